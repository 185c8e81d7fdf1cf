import { aborted } from '../lifecycle/index.ts';
import { type GatewayOptions, startGateway } from './gateway.ts';
import type { ServeEvent } from './serve.result.ts';

/**
 * Runs the daemon: start, run until the signal is aborted, stop in order. Resolves with its last event after an abort,
 * also during the start; rejects when the start fails.
 */
export async function serve(options: GatewayOptions): Promise<ServeEvent> {
  const { signal, onEvent } = options;
  const ended: ServeEvent = { event: 'ended' };
  try {
    const gateway = await startGateway(options);
    await untilAborted(signal);
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
