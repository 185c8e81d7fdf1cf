import { type AuditFinding, type FindingCode, MAX_LISTED } from './model.ts';

/** Where a line is. */
export interface Place {
  readonly file: string;
  readonly line: number;
}

export interface Findings {
  add(
    code: FindingCode,
    at: Place | null,
    about?: {
      readonly seq?: number | null;
      readonly session?: string | null;
      readonly values?: Readonly<Record<string, string | number>>;
    },
  ): void;
  count(...codes: readonly FindingCode[]): number;
  counts(): readonly { readonly code: FindingCode; readonly count: number }[];
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
      const place = { file: at?.file ?? null, line: at?.line ?? null };
      listed.push({ code, ...place, seq, session, values });
    },
    count: (...codes) => codes.reduce((sum, code) => sum + (counts.get(code) ?? 0), 0),
    counts: () => [...counts].map(([code, count]) => ({ code, count })),
    listed: () => listed,
    notListed: () => total - listed.length,
  };
}
