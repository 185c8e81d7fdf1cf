import type { MapRestore } from '../../lib/toolkit/map/restore.result.ts';
import { printable, renderVerdict } from '../output.ts';

/** The check of the standstill. `when`: the result is older than the output. */
export function stillnessLine({ verdict, detail }: NonNullable<MapRestore['stillness']>, when: string): string {
  return verdict === 'still'
    ? `standstill  ${renderVerdict('ok')} ${when}: ${printable(detail)}`
    : `standstill  ${renderVerdict('not-checked')} not checked ${when}, confirmed by --it-stands-still: ${printable(detail)}`;
}
