import { onAbort } from '../../lifecycle/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { Status } from './status.result.ts';
import { readStatus, type StatusOptions, type StatusResult } from './status.ts';

export interface StatusWatchOptions extends StatusOptions {
  /** For how long; without it until the signal. */
  readonly seconds?: number | undefined;
}

const POLL_MS = 1_000;

/**
 * Reads the status once a second until the time is over, and returns the last one. An aborted signal is the normal end,
 * once there is one. Throws as `readStatus`.
 */
export async function watchStatus(
  toolkit: Toolkit,
  options: StatusWatchOptions,
  { signal, onProgress }: CheckContext,
  onStatus: (status: Status) => void,
): Promise<StatusResult> {
  const { clock } = toolkit;
  const over = new AbortController();
  const end = () => over.abort();
  using _limit = options.seconds === undefined ? undefined : clock.after(options.seconds * 1_000, end);
  using _aborted = onAbort(signal, end);
  let last: StatusResult | null = null;
  while (last === null || !over.signal.aborted) {
    const reading = readStatus(toolkit, options, { signal, onProgress });
    const read = await reading.catch((error: unknown) => {
      if (last !== null && over.signal.aborted) return last;
      throw error;
    });
    last = read;
    onStatus(last.status);
    await clock.sleep(POLL_MS, over.signal).catch(() => {});
  }
  return last;
}
