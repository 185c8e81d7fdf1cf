import { PAGE_SIZE_BYTES } from './database.ts';
import { keyOf, seqOf } from './keys.ts';
import type { ClassRow, Statements, ThinningRow } from './statements.ts';

/** Bytes of a row beside topic and payload, generously. */
const ROW_OVERHEAD_BYTES = 64;
/** Pages that an insertion may need for the tree above. */
const TREE_PAGES = 4;
/** Telemetry removed in one step: at least so many messages, and at least this share. */
const THIN_MIN = 8;
const THIN_MAX = 1_000;
const THIN_SHARE = 0.01;

/** Pages that a message may need; half-full pages after a split are counted. */
export function pagesFor(payloadBytes: number): number {
  return Math.ceil((2 * (payloadBytes + ROW_OVERHEAD_BYTES)) / PAGE_SIZE_BYTES) + TREE_PAGES;
}

/**
 * Removes the oldest telemetry until so many pages are free below the limit. False when they are not, although no
 * telemetry is left. Both rows are changed in place; called inside a transaction.
 */
export function makeSpace(
  statements: Statements,
  { pages, limit }: { readonly pages: number; readonly limit: number },
  telemetry: ClassRow,
  thinning: ThinningRow,
): boolean {
  while (limit - statements.usedPages() < pages) {
    if (telemetry.kept === 0) return false;
    const step = Math.min(THIN_MAX, Math.max(THIN_MIN, Math.ceil(telemetry.kept * THIN_SHARE)));
    const oldest = statements.oldest(keyOf('telemetry', 0), keyOf('telemetry', telemetry.lastSeq), step);
    const [first, last] = [oldest[0], oldest.at(-1)];
    if (first === undefined || last === undefined) return false;
    statements.removeRange(first.key, last.key);
    telemetry.kept -= oldest.length;
    if (thinning.pending === 0) {
      thinning.fromSeq = seqOf(first.key);
      thinning.fromMs = first.atMs;
    }
    thinning.toSeq = seqOf(last.key);
    thinning.toMs = last.atMs;
    thinning.pending += oldest.length;
    thinning.total += oldest.length;
  }
  return true;
}
