import type { EvidenceRecord } from './record.ts';

/** The records of this site, for the gate while the daemon runs. */
export interface EvidenceSource {
  /** The records that count now: never more than were read at the start. */
  records(): readonly EvidenceRecord[];
  /** Why the file cannot be used now, as text; null when it was read. */
  trouble(): string | null;
  /** Called after evidence was revoked, and after the file became unreadable or readable again. */
  subscribe(listener: () => void): Disposable;
}

/** Records that never change, for a short-lived process. */
export function fixedEvidence(records: readonly EvidenceRecord[]): EvidenceSource {
  return { records: () => records, trouble: () => null, subscribe: () => ({ [Symbol.dispose]: () => {} }) };
}
