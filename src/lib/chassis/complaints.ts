import type { Clock } from '../lifecycle/index.ts';

export interface Complaint {
  readonly what: string;
  readonly count: number;
  /** Since its last occurrence. */
  readonly ageMs: number;
}

const MAX_KINDS = 32;
const MAX_LENGTH = 300;

/** The oldest complaint with one occurrence, so that a flood of unique texts does not evict repeated ones. */
function evictable(seen: ReadonlyMap<string, { readonly count: number }>): string | undefined {
  const newest = [...seen.keys()].at(-1);
  for (const [what, { count }] of seen) if (count === 1 && what !== newest) return what;
  return seen.keys().next().value;
}

/** Faults of received messages: each text once with its count, bounded. */
export function createComplaints(clock: Clock) {
  const seen = new Map<string, { count: number; at: number }>();
  return {
    add(what: string): void {
      const key = what.slice(0, MAX_LENGTH);
      const count = (seen.get(key)?.count ?? 0) + 1;
      // Deleted first, so that the order is that of the last occurrence.
      seen.delete(key);
      seen.set(key, { count, at: clock.monotonicMs() });
      if (seen.size > MAX_KINDS) seen.delete(evictable(seen) ?? key);
    },
    /** Newest last. */
    list(): Complaint[] {
      const now = clock.monotonicMs();
      return [...seen].map(([what, { count, at }]) => ({ what, count, ageMs: Math.round(now - at) }));
    },
  };
}
