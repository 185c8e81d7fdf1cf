import type { Clock } from '../../lifecycle/index.ts';

/** Project decisions. */
export const failedTryRules = {
  wrongTries: 5,
  wrongTriesWithinMs: 60_000,
  /** How long an address with a failed attempt has lower priority. */
  rememberedMs: 15 * 60_000,
  /** A failed attempt costs a hash, so this many cannot be made within `wrongTriesWithinMs` to displace a block. */
  keys: 8_192,
} as const;

/** Failed sign-in attempts by client. The cost of a call does not depend on their number. */
export interface FailedTries {
  /** Remaining time of the block of this key; 0: not blocked. */
  blockedForMs(key: string): number;
  /** Remembered failed attempts, `wrongTries` at most. */
  count(key: string): number;
  add(key: string): void;
  size(): number;
}

export function createFailedTries(clock: Pick<Clock, 'monotonicMs'>): FailedTries {
  const { wrongTries, wrongTriesWithinMs, rememberedMs, keys } = failedTryRules;
  /** In the order of the last failure; each list ascending. */
  const stampsByKey = new Map<string, readonly number[]>();

  function remembered(key: string, nowMs: number): readonly number[] {
    return (stampsByKey.get(key) ?? []).filter((stamp) => nowMs - stamp < rememberedMs);
  }

  return {
    blockedForMs(key) {
      const nowMs = clock.monotonicMs();
      const oldest = stampsByKey.get(key)?.at(-wrongTries);
      return oldest === undefined ? 0 : Math.max(0, oldest + wrongTriesWithinMs - nowMs);
    },
    count: (key) => remembered(key, clock.monotonicMs()).length,
    add(key) {
      const nowMs = clock.monotonicMs();
      const stamps = [...remembered(key, nowMs), nowMs].slice(-wrongTries);
      stampsByKey.delete(key);
      if (stampsByKey.size >= keys) {
        const [oldest] = stampsByKey.keys();
        if (oldest !== undefined) stampsByKey.delete(oldest);
      }
      stampsByKey.set(key, stamps);
    },
    size: () => stampsByKey.size,
  };
}
