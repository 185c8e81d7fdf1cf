import { aborted, systemClock } from '../lifecycle/index.ts';
import { type GatewayOptions, startGateway } from './gateway.ts';
import type { ServeEvent } from './serve.result.ts';
import { reportToManager, type ServiceManager } from './service-manager.ts';

/**
 * Runs the daemon: start, run until the signal is aborted or a release needs a restart, stop in order. Resolves with its
 * last event, also after an abort during the start; rejects when the start fails. `manager` gets reports from ready to the
 * end.
 */
export async function serve(
  options: Omit<GatewayOptions, 'onRestart'> & { readonly manager?: ServiceManager | null },
): Promise<ServeEvent> {
  const { signal, onEvent, manager = null, clock = systemClock, log } = options;
  const ended: ServeEvent = { event: 'ended' };
  const restart = Promise.withResolvers<void>();
  try {
    const gateway = await startGateway({
      ...options,
      onRestart(reason) {
        onEvent({ event: 'restarting', reason });
        restart.resolve();
      },
    });
    using _reports = manager === null ? null : reportToManager(manager, { clock, log });
    await Promise.race([untilAborted(signal), restart.promise]);
    onEvent({ event: 'stopping' });
    await gateway.stop();
    return ended;
  } catch (error) {
    // Aborted during the start: all services are stopped again, which is an orderly end.
    if (signal.aborted) return ended;
    throw error;
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await aborted(signal);
}
