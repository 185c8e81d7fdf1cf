import type { Clock } from '../../lifecycle/index.ts';
import type { ChassisSnapshot } from '../model.ts';

const MAX_KINDS = 32;
const MAX_LENGTH = 300;

/** Faults of received messages: each text once with its count, bounded. */
export function createComplaints(clock: Clock) {
  const seen = new Map<string, { count: number; at: number; isLate: boolean }>();
  return {
    add(what: string, isLate: boolean): void {
      const key = what.slice(0, MAX_LENGTH);
      const count = (seen.get(key)?.count ?? 0) + 1;
      // Deleted first, so that the order is that of the last occurrence.
      seen.delete(key);
      seen.set(key, { count, at: clock.monotonicMs(), isLate });
      if (seen.size > MAX_KINDS) seen.delete(evictable(seen) ?? key);
    },
    /** Newest last. */
    list(): ChassisSnapshot['complaints'] {
      const now = clock.monotonicMs();
      return [...seen].map(([what, { at, ...rest }]) => ({ what, ...rest, ageMs: Math.round(now - at) }));
    },
  };
}

/** The oldest complaint with one occurrence, so that a flood of unique texts does not evict repeated ones. */
function evictable(seen: ReadonlyMap<string, { readonly count: number }>): string | undefined {
  const newest = [...seen.keys()].at(-1);
  for (const [what, { count }] of seen) if (count === 1 && what !== newest) return what;
  return seen.keys().next().value;
}
