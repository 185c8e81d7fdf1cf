import type { Toolkit } from '../toolkit.ts';
import { keptRecords } from './kept-records.ts';

/**
 * How long each step of a list took here: the median over the records of this robot on this machine, in ms. Only of steps
 * that were looked at, since a skipped one takes no time.
 */
export async function earlierDurations(
  here: Pick<Toolkit, 'site' | 'clock'>,
  list: string,
): Promise<ReadonlyMap<string, number>> {
  const { records } = await keptRecords(here);
  const all = new Map<string, number[]>();
  for (const { record, robot } of records) {
    if (record.checklist.name !== list) continue;
    for (const { id, verdict, tookMs } of robot.steps) {
      if (verdict === 'ok' || verdict === 'wrong') all.set(id, [...(all.get(id) ?? []), tookMs]);
    }
  }
  return new Map([...all].map(([id, times]) => [id, median(times)]));
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}
