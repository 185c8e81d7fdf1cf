import { availableParallelism } from 'node:os';
import { type Clock, onAbort } from '../../lifecycle/index.ts';

/**
 * Priority class. `known`: a device that has signed in before, or a command on the gateway. `new`: no failed attempt.
 * `failed`: its last password was wrong.
 */
export type Lane = 'known' | 'new' | 'failed';

/** Project decisions. Hashing takes memory and a core, so concurrent and waiting attempts are limited. */
export const queueLimits = {
  /** On two cores the hashes of a flood would occupy both while a stop waits. */
  atOnce: availableParallelism() > 2 ? 2 : 1,
  waiting: { known: 16, new: 64, failed: 16 },
  /** Further waiting attempts of one key: two people at one address, or two commands. */
  behindOwn: 3,
  /** Below the 5 s timeout of a command. */
  waitMs: 4_000,
  /** Every fourth turn goes to `failed`, so that a person who mistyped is served during a flood of new addresses. */
  failedEvery: 4,
  /** A refused client that retries within this time keeps its place. */
  placeKeptMs: 60_000,
  /** A client that retries sooner has ignored the Retry-After of one second, and loses its place. */
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
 * The queue in front of the password hash. One attempt at a time per key, so that a client with one address has one
 * place, however many requests it sends; all limits and the cost of an attempt are constant.
 */
export interface SignInQueue {
  /**
   * Runs `work` in turn. null: refused, because the queue is full, too many attempts of the same key wait, the turn did
   * not come in time, or the signal was aborted before. `rank`: within a lane, the lower is served first.
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
  /** For tests and measurements. */
  size(): { readonly waiting: number; readonly places: number };
}

export function createSignInQueue(
  clock: Pick<Clock, 'monotonicMs' | 'after'>,
  atOnce: number = queueLimits.atOnce,
): SignInQueue {
  const lanes: Readonly<Record<Lane, Waiting[]>> = { known: [], new: [], failed: [] };
  /** Keys in the queue or being served, each with the further waiting attempts of that key. */
  const active = new Map<string, ((isNext: boolean) => void)[]>();
  /** Places of refused keys, in the order of their last request. */
  const places = new Map<string, { readonly placeMs: number; readonly sentAwayMs: number }>();
  let serving = 0;
  let turn = 0;

  function placeOf(key: string): number {
    const nowMs = clock.monotonicMs();
    const kept = places.get(key);
    if (kept === undefined) return nowMs;
    const isKept = nowMs - kept.placeMs < queueLimits.placeKeptMs && nowMs - kept.sentAwayMs >= queueLimits.backAfterMs;
    return isKept ? kept.placeMs : nowMs;
  }

  function keepPlace(key: string, placeMs: number): void {
    places.delete(key);
    if (places.size >= queueLimits.places) {
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
    return takeFirst(turn % queueLimits.failedEvery === 0 ? lanes.failed : lanes.new);
  }

  function advance(): void {
    while (serving < atOnce) {
      const waiting = next();
      if (waiting === undefined) return;
      serving += 1;
      waiting.settle(true);
    }
  }

  /** Resolves true when all earlier attempts of the same key have ended, false when it is refused. */
  async function ownTurnOf({ key, signal }: Parameters<SignInQueue['take']>[0]): Promise<boolean> {
    const behind = active.get(key);
    if (behind === undefined) {
      active.set(key, []);
      return true;
    }
    if (behind.length >= queueLimits.behindOwn) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    behind.push(resolve);
    const give = () => {
      const index = behind.indexOf(resolve);
      if (index < 0) return;
      behind.splice(index, 1);
      resolve(false);
    };
    using _late = clock.after(queueLimits.waitMs, give);
    using _left = onAbort(signal, give);
    return await promise;
  }

  async function turnOf({ key, lane, rank = 0, signal }: Parameters<SignInQueue['take']>[0]): Promise<boolean> {
    const placeMs = placeOf(key);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiting: Waiting = { key, lane, rank, placeMs, settle: resolve };
    const line = lanes[lane];
    if (line.length >= queueLimits.waiting[lane]) {
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
    using _late = clock.after(queueLimits.waitMs, give);
    using _left = onAbort(signal, give);
    advance();
    const served = await promise;
    if (served) places.delete(key);
    else if (signal?.aborted !== true) keepPlace(key, placeMs);
    return served;
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

/** Removes the entry to be served first; of two equal ones, the earlier. */
function takeFirst(line: Waiting[]): Waiting | undefined {
  let first = 0;
  for (let i = 1; i < line.length; i += 1) if (isBefore(line[i] as Waiting, line[first] as Waiting)) first = i;
  return line.splice(first, 1)[0];
}
