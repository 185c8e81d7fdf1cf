// Validation of answers and summary of a series of requests.
import { percentile } from './figures.ts';

/** Whether the answer to a stop reports it as latched; anything else is a failure. */
export function isLatched(status: number, text: string): boolean {
  if (status !== 200) return false;
  try {
    return (JSON.parse(text) as { stop?: { latched?: unknown } } | null)?.stop?.latched === true;
  } catch {
    return false;
  }
}

export interface RequestResult {
  readonly ok: boolean;
  /** Time to the last byte or the timeout. */
  readonly ms: number;
  /** The answer or error, for a failure. */
  readonly what: string;
}

export interface Summary {
  readonly count: number;
  /** Milliseconds; infinite if that rank failed; null without requests. */
  readonly p50: number | null;
  readonly p99: number | null;
  readonly most: number | null;
  readonly failures: number;
  readonly why: Readonly<Record<string, number>>;
}

/** Summary of a series of requests. A failed one counts as never answered, however quickly it was refused. */
export function summary(results: readonly RequestResult[]): Summary {
  const times = results.map(({ ok, ms }) => (ok ? ms : Number.POSITIVE_INFINITY));
  const why: Record<string, number> = {};
  for (const { ok, what } of results) if (!ok) why[what] = (why[what] ?? 0) + 1;
  return {
    count: results.length,
    p50: percentile(times, 50),
    p99: percentile(times, 99),
    most: percentile(times, 100),
    failures: results.filter(({ ok }) => !ok).length,
    why,
  };
}
