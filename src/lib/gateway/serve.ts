import { aborted } from '../lifecycle/index.ts';
import { type GatewayOptions, startGateway } from './gateway.ts';
import type { ServeEvent } from './serve.result.ts';

/**
 * The life of the daemon: start, run until the signal is aborted, stop in order. Resolves with its last event when
 * it was asked to end, also during the start; rejects when it could not start.
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
    // Asked to end before it was ready: everything was undone, so it has ended as asked.
    if (signal.aborted) return ended;
    throw error;
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await aborted(signal);
}
