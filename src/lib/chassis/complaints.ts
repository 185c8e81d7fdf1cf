import type { Clock } from '../lifecycle/index.ts';

export interface Complaint {
  readonly what: string;
  readonly count: number;
  /** Since it was last heard. */
  readonly ageMs: number;
}

const MOST_KINDS = 32;
const LONGEST = 300;

/** The oldest that was heard once, so that a flood of names of their own does not push out what is heard again and again. */
function leastOf(heard: ReadonlyMap<string, { readonly count: number }>): string | undefined {
  const newest = [...heard.keys()].at(-1);
  for (const [what, { count }] of heard) if (count === 1 && what !== newest) return what;
  return heard.keys().next().value;
}

/** What was wrong with what the chassis said: each thing once with its count, and only so many of them. */
export function createComplaints(clock: Clock) {
  const heard = new Map<string, { count: number; at: number }>();
  return {
    add(what: string): void {
      const key = what.slice(0, LONGEST);
      const count = (heard.get(key)?.count ?? 0) + 1;
      // Deleted first, so that the order is that of the last time it was heard.
      heard.delete(key);
      heard.set(key, { count, at: clock.monotonicMs() });
      if (heard.size > MOST_KINDS) heard.delete(leastOf(heard) ?? key);
    },
    /** Newest last. */
    list(): Complaint[] {
      const now = clock.monotonicMs();
      return [...heard].map(([what, { count, at }]) => ({ what, count, ageMs: Math.round(now - at) }));
    },
  };
}
