import { keptRecords } from '../checklist/kept-records.ts';
import type { Toolkit } from '../toolkit.ts';
import type { Status } from './status.result.ts';

/**
 * The newest record of a checklist for this robot in the state folder of this machine. Where it was written to another
 * place it is not found, and the folder that was searched is named.
 */
export async function newestRecord(toolkit: Pick<Toolkit, 'site' | 'clock'>): Promise<Status['record']> {
  const { folder, records, notes } = await keptRecords(toolkit);
  const [latest] = records;
  if (latest === undefined) {
    return {
      ...{ folder, path: null, endedAt: null, ageMs: null, signature: null },
      status: notes.length === 0 ? 'none' : 'not-checked',
      detail: ['no record of this robot in the state folder', ...notes].join('; '),
    };
  }
  const { path, state, subject } = latest;
  return {
    ...{ status: 'found', folder, path, endedAt: subject.endedAt, signature: state },
    ageMs: toolkit.clock.wall().getTime() - Date.parse(subject.endedAt),
    detail: [
      `checklist ${subject.checklist}: ${subject.verdict}`,
      ...(subject.simulated ? ['SIMULATED ROBOT: not an acceptance'] : []),
      ...notes,
    ].join('; '),
  };
}
