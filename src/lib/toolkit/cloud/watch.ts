import type { CloudView } from '../../cloud/index.ts';
import { asGwError } from '../../error/index.ts';
import { onAbort } from '../../lifecycle/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { cloudChanges } from './changes.ts';
import type { CloudWatchEvent } from './cloud.result.ts';
import { type CloudOptions, readCloudStatus } from './status.ts';

export interface CloudWatchOptions extends CloudOptions {
  /** For how long; without it until the signal. */
  readonly seconds?: number | undefined;
}

const POLL_MS = 1_000;

/**
 * Follows the cloud link of the running gateway: its state at first, then one event per change. A gateway that does not
 * answer is reported and does not end the watch. An aborted signal is the normal end.
 */
export async function watchCloudLink(
  toolkit: Pick<Toolkit, 'site' | 'dialer' | 'clock' | 'ssh'>,
  options: CloudWatchOptions,
  { signal, onProgress }: CheckContext,
  onEvent: (event: CloudWatchEvent) => void,
): Promise<CloudWatchEvent> {
  const { clock } = toolkit;
  const beganMs = clock.monotonicMs();
  const over = new AbortController();
  const end = () => over.abort();
  using _limit = options.seconds === undefined ? undefined : clock.after(options.seconds * 1_000, end);
  using _aborted = onAbort(signal, end);
  let last: CloudView | null = null;
  let isReported = false;
  while (!over.signal.aborted) {
    const view = await readCloudStatus(toolkit, options, { signal: over.signal, onProgress }).catch(
      (error: unknown) => {
        const { code, message } = asGwError(error);
        if (over.signal.aborted) return null;
        if (code !== 'OPERATOR_NOT_REACHABLE') throw error;
        if (last !== null || !isReported) onEvent({ event: 'unreachable', at: now(), detail: message });
        isReported = true;
        last = null;
        return null;
      },
    );
    if (view !== null) {
      const changes = last === null ? null : cloudChanges(last, view);
      if (changes === null) onEvent(stateOf(view));
      else for (const change of changes) onEvent({ event: 'change', at: now(), ...change });
      last = view;
      isReported = true;
    }
    await clock.sleep(POLL_MS, over.signal).catch(() => {});
  }
  const watchedMs = Math.round(clock.monotonicMs() - beganMs);
  return { event: 'ended', watchedMs, status: (last as CloudView | null)?.status ?? null };

  function now(): string {
    return clock.wall().toISOString();
  }

  function stateOf({ status, detail, outbox, received }: CloudView): CloudWatchEvent {
    return {
      event: 'state',
      at: now(),
      status,
      detail,
      kept: outbox?.kept ? sumOf(outbox.kept) : null,
      discarded: received === null ? null : sumOf(received.discarded),
    };
  }
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
