import { findFact } from './ledger.ts';
import type { EvidenceRecord } from './record.ts';
import { confirms } from './standing.ts';

/** What a set of records says about one fact on one device with one software; `none`: they do not speak of it. */
type Verdict = 'differs' | 'none' | 'holds';
/** The one that carries less first. */
const order: readonly Verdict[] = ['differs', 'none', 'holds'];

interface Deciding {
  readonly record: EvidenceRecord;
  readonly verdict: Verdict;
}

/** A fact on one device with one software whose evidence is not what it was. */
export interface EvidenceChange {
  readonly fact: string;
  readonly serial: string;
  readonly software: string;
  /** `contradicted`: a record says that it does not hold. `gone`: the record that verified it is not read any more. */
  readonly how: 'contradicted' | 'gone';
}

/**
 * Of two states of an evidence file what both bear out: a fact that one of them contradicts stays contradicted, and a
 * verification counts only where both have it. So evidence can be taken back while a program runs and never added.
 * Records about facts that the ledger does not hold are left out.
 */
export function narrowRecords(counting: readonly EvidenceRecord[], read: readonly EvidenceRecord[]): EvidenceRecord[] {
  const before = decide(counting);
  const now = decide(read);
  return [...new Set([...before.keys(), ...now.keys()])].flatMap((key) => {
    const [was, is] = [before.get(key), now.get(key)];
    if (was?.verdict === 'differs') return [was.record];
    if (is?.verdict === 'differs') return [is.record];
    return was !== undefined && is !== undefined ? [is.record] : [];
  });
}

/** What `to` bears out less than `from`, or, with the two exchanged, more. */
export function takenBack(from: readonly EvidenceRecord[], to: readonly EvidenceRecord[]): EvidenceChange[] {
  const [before, now] = [decide(from), decide(to)];
  return [...new Set([...before.keys(), ...now.keys()])].flatMap((key) => {
    const was = before.get(key);
    const is = now.get(key);
    const about = (is ?? was)?.record;
    const verdict = is?.verdict ?? 'none';
    if (about === undefined || order.indexOf(verdict) >= order.indexOf(was?.verdict ?? 'none')) return [];
    const { fact, serial, software } = about;
    return [{ fact, serial, software, how: verdict === 'differs' ? ('contradicted' as const) : ('gone' as const) }];
  });
}

/** The newest record about each fact, device and software: the file is appended to, so the last line decides. */
function decide(records: readonly EvidenceRecord[]): ReadonlyMap<string, Deciding> {
  const deciding = new Map<string, Deciding>();
  for (const record of records) {
    const fact = findFact(record.fact);
    if (fact === undefined) continue;
    const key = JSON.stringify([record.fact, record.serial, record.software, record.simulated === true]);
    deciding.set(key, { record, verdict: confirms(record, fact) ? 'holds' : 'differs' });
  }
  return deciding;
}
