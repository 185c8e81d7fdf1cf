// What answers prove, and how a row of them is summed up.
import { percentile } from './figures.ts';

/** A stop is answered when the answer says that it is latched; whatever else comes is no answer to it. */
export function isLatched(status: number, text: string): boolean {
  if (status !== 200) return false;
  try {
    return (JSON.parse(text) as { stop?: { latched?: unknown } } | null)?.stop?.latched === true;
  } catch {
    return false;
  }
}

export interface Asked {
  readonly ok: boolean;
  /** Until the last byte, or until it was given up. */
  readonly ms: number;
  /** What came instead, where it is not ok. */
  readonly what: string;
}

export interface Summary {
  readonly count: number;
  /** In milliseconds; infinite where so many were never answered; null of no requests. */
  readonly p50: number | null;
  readonly p99: number | null;
  readonly most: number | null;
  readonly failures: number;
  readonly why: Readonly<Record<string, number>>;
}

/** Of one row of requests. One that failed was never answered, however quickly it was refused. */
export function summary(asked: readonly Asked[]): Summary {
  const times = asked.map(({ ok, ms }) => (ok ? ms : Number.POSITIVE_INFINITY));
  const why: Record<string, number> = {};
  for (const { ok, what } of asked) if (!ok) why[what] = (why[what] ?? 0) + 1;
  return {
    count: asked.length,
    p50: percentile(times, 50),
    p99: percentile(times, 99),
    most: percentile(times, 100),
    failures: asked.filter(({ ok }) => !ok).length,
    why,
  };
}
