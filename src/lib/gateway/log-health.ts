import type { OutputHealth } from '../operator/index.ts';
import type { OutputState } from './line-writer.ts';

/** The state of the log output; separate from the status of the gateway, since it does not affect movement. */
export function logHealth(state: OutputState | undefined): OutputHealth {
  if (state === undefined)
    return { status: 'not-checked', droppedLines: null, detail: 'The destination of the log is unknown.' };
  const { status, failure, droppedLines } = state;
  const now = {
    writing: 'The log is written.',
    unread: 'The reader of the log is not reading; lines wait, and the gateway continues.',
    discarded: 'The log goes to /dev/null and is discarded.',
    failing: `The log cannot be written: ${failure}.`,
  }[status];
  const lost = droppedLines === 0 ? '' : ` Lines dropped since the start: ${droppedLines}.`;
  return { status, droppedLines, detail: `${now}${lost}` };
}
