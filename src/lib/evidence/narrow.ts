import { findFact } from './ledger.ts';
import type { EvidenceRecord } from './record.ts';
import { confirms } from './reliance.ts';

/** Verdict of a set of records on one fact, device and software; `none`: no record about it. */
type Verdict = 'differs' | 'none' | 'holds';
/** Weakest first. */
const order: readonly Verdict[] = ['differs', 'none', 'holds'];

interface Deciding {
  readonly record: EvidenceRecord;
  readonly verdict: Verdict;
}

/** A changed verdict for a fact on one device with one software. */
export interface EvidenceChange {
  readonly fact: string;
  readonly serial: string;
  readonly software: string;
  /** `contradicted`: a record says that it does not hold. `gone`: the verifying record is no longer in the file. */
  readonly how: 'contradicted' | 'gone';
}

/**
 * The intersection of two states of an evidence file: a fact that one of them contradicts stays contradicted, and a
 * verification counts only where both have it. So evidence can be revoked while a program runs and never added.
 * Records about unknown facts are left out.
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

/** Facts that are weaker in `to` than in `from`; with the arguments exchanged, stronger. */
export function revocations(from: readonly EvidenceRecord[], to: readonly EvidenceRecord[]): EvidenceChange[] {
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
