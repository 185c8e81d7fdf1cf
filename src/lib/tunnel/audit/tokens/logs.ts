import { isUtf8 } from 'node:buffer';
import { readLinesOf } from '../files/lines.ts';
import type { Findings } from '../findings.ts';
import type { SessionTotals } from '../records/sessions.ts';
import { findToken } from './tokens.ts';

/**
 * Searches a log file for tokens. Returns whether all of it was searched: not an empty file, a line that is too long, nor
 * bytes that are no text, such as those of a compressed file. Throws FILE_UNREADABLE.
 */
export async function searchLog(
  path: string,
  { tokens, channelIds }: Pick<SessionTotals, 'tokens' | 'channelIds'>,
  findings: Findings,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let isWhole = true;
  const bytes = await readLinesOf(
    path,
    (line, at) => {
      if (line === null) {
        isWhole = false;
        return;
      }
      if (line.includes(0) || !isUtf8(line)) isWhole = false;
      const hit = findToken(
        line.toString('latin1'),
        (own) => tokens.has(own),
        (run) => channelIds.has(run),
      );
      if (hit === null) return;
      const { isCertain, column, length } = hit;
      findings.add(isCertain ? 'token-in-log' : 'token-like-in-log', at, { values: { column, length } });
    },
    signal,
  );
  return isWhole && bytes > 0;
}
