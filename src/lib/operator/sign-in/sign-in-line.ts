import { availableParallelism } from 'node:os';
import type { Clock } from '../../lifecycle/index.ts';

/**
 * Who is served first. `known`: a device that has signed in before, or a command on the gateway. `new`: nothing is held
 * against it. `failed`: its last password was wrong.
 */
export type Lane = 'known' | 'new' | 'failed';

/** Project decisions. Hashing takes memory and a core: so many at once, so many waiting, the others are sent away. */
export const lineRules = {
  /** On two cores the hashes of a flood would hold both while a stop waits. */
  atOnce: availableParallelism() > 2 ? 2 : 1,
  waiting: { known: 16, new: 64, failed: 16 },
  /** Of one key, behind the one of it that is in the line: two people at one address, or two commands. */
  behindOwn: 3,
  /** Below the 5 s after which a command gives a request up. */
  waitMs: 4_000,
  /** Each fourth turn is that of `failed`, so that a person who mistyped is served during a flood of new addresses. */
  failedEvery: 4,
  /** Who was sent away and comes back within this time is served before those who came later. */
  placeKeptMs: 60_000,
  /** Who comes back sooner has not waited for the second that the answer asks for, and loses the place. */
  backAfterMs: 900,
  places: 8_192,
} as const;

interface Waiting {
  readonly key: string;
  readonly lane: Lane;
  readonly rank: number;
  readonly placeMs: number;
  readonly settle: (served: boolean) => void;
}

/**
 * The line before the password hash. One try at a time for each key, so that a client with one address has one place,
 * however many requests it sends; every bound is a constant, and so is what one try costs.
 */
export interface SignInLine {
  /**
   * Runs `work` when it is the caller's turn. Null: sent away, because the line is full, enough of the same key wait for
   * their own, or the turn did not come in time; also when the signal aborts before the turn. `rank`: within a lane,
   * the lower is served first.
   */
  take<T>(
    who: {
      readonly key: string;
      readonly lane: Lane;
      readonly rank?: number;
      readonly signal?: AbortSignal | undefined;
    },
    work: () => Promise<T>,
  ): Promise<T | null>;
  /** For tests and measurements: what is held at this moment. */
  size(): { readonly waiting: number; readonly places: number };
}

export function createSignInLine(
  clock: Pick<Clock, 'monotonicMs' | 'after'>,
  atOnce: number = lineRules.atOnce,
): SignInLine {
  const lanes: Readonly<Record<Lane, Waiting[]>> = { known: [], new: [], failed: [] };
  /** In the line or being served, each with those of the same key behind it. */
  const active = new Map<string, ((isNext: boolean) => void)[]>();
  /** Of the keys that were sent away; in the order in which they last asked. */
  const places = new Map<string, { readonly placeMs: number; readonly sentAwayMs: number }>();
  let serving = 0;
  let turn = 0;

  function placeOf(key: string): number {
    const nowMs = clock.monotonicMs();
    const kept = places.get(key);
    if (kept === undefined) return nowMs;
    const isKept = nowMs - kept.placeMs < lineRules.placeKeptMs && nowMs - kept.sentAwayMs >= lineRules.backAfterMs;
    return isKept ? kept.placeMs : nowMs;
  }

  function keepPlace(key: string, placeMs: number): void {
    places.delete(key);
    if (places.size >= lineRules.places) {
      const [idle] = places.keys();
      if (idle !== undefined) places.delete(idle);
    }
    places.set(key, { placeMs, sentAwayMs: clock.monotonicMs() });
  }

  function next(): Waiting | undefined {
    if (lanes.known.length > 0) return takeFirst(lanes.known);
    if (lanes.failed.length === 0) return takeFirst(lanes.new);
    if (lanes.new.length === 0) return takeFirst(lanes.failed);
    turn += 1;
    return takeFirst(turn % lineRules.failedEvery === 0 ? lanes.failed : lanes.new);
  }

  function advance(): void {
    while (serving < atOnce) {
      const waiting = next();
      if (waiting === undefined) return;
      serving += 1;
      waiting.settle(true);
    }
  }

  /** Whether the key is the caller's now: at once, or when those of the same key before it are through. */
  async function ownTurnOf({ key, signal }: Parameters<SignInLine['take']>[0]): Promise<boolean> {
    const behind = active.get(key);
    if (behind === undefined) {
      active.set(key, []);
      return true;
    }
    if (behind.length >= lineRules.behindOwn) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    behind.push(resolve);
    const give = () => {
      const index = behind.indexOf(resolve);
      if (index < 0) return;
      behind.splice(index, 1);
      resolve(false);
    };
    using _late = clock.after(lineRules.waitMs, give);
    signal?.addEventListener('abort', give, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener('abort', give);
    }
  }

  async function turnOf({ key, lane, rank = 0, signal }: Parameters<SignInLine['take']>[0]): Promise<boolean> {
    const placeMs = placeOf(key);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiting: Waiting = { key, lane, rank, placeMs, settle: resolve };
    const line = lanes[lane];
    if (line.length >= lineRules.waiting[lane]) {
      const last = line.reduce((worst, other) => (isBefore(worst, other) ? other : worst));
      if (!isBefore(waiting, last)) {
        keepPlace(key, placeMs);
        return false;
      }
      line.splice(line.indexOf(last), 1);
      last.settle(false);
    }
    line.push(waiting);
    const give = () => {
      const index = line.indexOf(waiting);
      if (index < 0) return;
      line.splice(index, 1);
      resolve(false);
    };
    using _late = clock.after(lineRules.waitMs, give);
    signal?.addEventListener('abort', give, { once: true });
    try {
      advance();
      const served = await promise;
      if (served) places.delete(key);
      else if (signal?.aborted !== true) keepPlace(key, placeMs);
      return served;
    } finally {
      signal?.removeEventListener('abort', give);
    }
  }

  return {
    async take(who, work) {
      if (who.signal?.aborted === true || !(await ownTurnOf(who))) return null;
      try {
        if (!(await turnOf(who))) return null;
        try {
          return await work();
        } finally {
          serving -= 1;
          advance();
        }
      } finally {
        const next = active.get(who.key)?.shift();
        if (next === undefined) active.delete(who.key);
        else next(true);
      }
    },
    size: () => ({
      waiting: lanes.known.length + lanes.new.length + lanes.failed.length,
      places: places.size,
    }),
  };
}

function isBefore(one: Waiting, other: Waiting): boolean {
  return one.rank === other.rank ? one.placeMs < other.placeMs : one.rank < other.rank;
}

/** The first to be served; of two that are equal, the one that was there before. */
function takeFirst(line: Waiting[]): Waiting | undefined {
  let first = 0;
  for (let i = 1; i < line.length; i += 1) if (isBefore(line[i] as Waiting, line[first] as Waiting)) first = i;
  return line.splice(first, 1)[0];
}
