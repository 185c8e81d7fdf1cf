import type { OutputHealth } from '../operator/index.ts';
import type { OutputState } from './line-writer.ts';

/** A log that nobody reads hinders no movement, so it does not degrade the gateway: it is told beside the services. */
export function logHealth(state: OutputState | undefined): OutputHealth {
  if (state === undefined)
    return { status: 'not-checked', droppedLines: null, detail: 'Where the log goes is not known.' };
  const { status, failure, droppedLines } = state;
  const now = {
    writing: 'The log is being written.',
    unread: 'The reader of the log does not read; it waits, and the gateway goes on.',
    discarded: 'The log goes to /dev/null and is kept nowhere.',
    failing: `The log cannot be written: ${failure}.`,
  }[status];
  const lost = droppedLines === 0 ? '' : ` Lines dropped since the start: ${droppedLines}.`;
  return { status, droppedLines, detail: `${now}${lost}` };
}
