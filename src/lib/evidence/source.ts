import type { EvidenceRecord } from './record.ts';

/** Where the gate takes the records of this site from while the daemon runs. */
export interface EvidenceSource {
  /** The records that count now: never more than were read at the start. */
  records(): readonly EvidenceRecord[];
  /** Why the file cannot be relied on now, for a person; null when it was read. */
  trouble(): string | null;
  /** Called after evidence was taken back, and after the file became unreadable or readable again. */
  subscribe(listener: () => void): Disposable;
}

/** Records that never change, for a life that is shorter than the file is. */
export function fixedEvidence(records: readonly EvidenceRecord[]): EvidenceSource {
  return { records: () => records, trouble: () => null, subscribe: () => ({ [Symbol.dispose]: () => {} }) };
}
