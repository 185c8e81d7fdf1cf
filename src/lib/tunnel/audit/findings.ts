import { type AuditFacts, type AuditFinding, type CheckId, checkOfFinding, type FindingCode } from './audit.result.ts';

/** Of the list; the counts are complete. */
const MAX_LISTED = 1_000;

/** Where a line is. */
export interface Place {
  readonly file: string;
  readonly line: number;
}

export interface Findings {
  add(code: FindingCode, at: Place | null, about?: Partial<Pick<AuditFinding, 'seq' | 'session' | 'values'>>): void;
  /** How many belong to a check. */
  countOf(check: CheckId): number;
  counts(): AuditFacts['counts'];
  listed(): readonly AuditFinding[];
  notListed(): number;
}

/** Collects findings: all are counted, the first are listed. */
export function createFindings(): Findings {
  const listed: AuditFinding[] = [];
  const counts = new Map<FindingCode, number>();
  let total = 0;

  return {
    add(code, at, { seq = null, session = null, values = {} } = {}) {
      counts.set(code, (counts.get(code) ?? 0) + 1);
      total += 1;
      if (listed.length >= MAX_LISTED) return;
      listed.push({ code, file: at?.file ?? null, line: at?.line ?? null, seq, session, values });
    },
    countOf: (check) =>
      [...counts].reduce((sum, [code, count]) => sum + (checkOfFinding[code] === check ? count : 0), 0),
    counts: () => [...counts].map(([code, count]) => ({ code, count })),
    listed: () => listed,
    notListed: () => total - listed.length,
  };
}
