/** Work on requests per round of the event loop, after which new connections and new bytes get their turn. */
const ROUND_MS = 10;
/** The same while connections come in: the event loop accepts only one of them in each round (libuv 1.52, measured). */
const CROWDED_ROUND_MS = 0.5;

export interface TurnsOptions {
  readonly monotonicMs: () => number;
  /** Calls back after what this round of the event loop has read is read: `setImmediate`. */
  readonly defer: (callback: () => void) => void;
  /** A peer's request whose turn has come. */
  readonly run: (request: TurnRequest) => void;
}

export interface TurnRequest {
  readonly peer: string;
  /** A stop: before everything else. */
  readonly isUrgent: boolean;
}

/**
 * Whose request is worked on next. Requests run at once while the round has time left; then stops first, and among
 * equals one request per peer in turn, so that many connections of one peer are no more than one of another.
 */
export function createTurns<T extends TurnRequest>(
  options: Omit<TurnsOptions, 'run'> & { readonly run: (request: T) => void },
) {
  const { monotonicMs, defer, run } = options;
  const urgent = createPeerQueue<T>();
  const ordinary = createPeerQueue<T>();
  let roundBeganMs: number | null = null;
  /** Rounds from now on that are kept short. */
  let crowdedRounds = 0;

  function beginRound(): number {
    if (roundBeganMs === null) {
      roundBeganMs = monotonicMs();
      defer(endRound);
    }
    return roundBeganMs;
  }

  function hasTime(): boolean {
    return monotonicMs() - beginRound() < (crowdedRounds > 0 ? CROWDED_ROUND_MS : ROUND_MS);
  }

  function endRound(): void {
    roundBeganMs = monotonicMs();
    // One at least, or a clock that jumps would end all work.
    do {
      const next = urgent.shift() ?? ordinary.shift();
      if (next === undefined) break;
      run(next);
    } while (monotonicMs() - roundBeganMs < (crowdedRounds > 0 ? CROWDED_ROUND_MS : ROUND_MS));
    crowdedRounds = Math.max(0, crowdedRounds - 1);
    if (urgent.isEmpty() && ordinary.isEmpty() && crowdedRounds === 0) roundBeganMs = null;
    else defer(endRound);
  }

  return {
    /** A connection came in, and more may wait in the kernel. */
    noteAccepted(): void {
      crowdedRounds = 2;
      beginRound();
    },
    /** Runs the request now or in its turn. */
    add(request: T): void {
      const isFirst = urgent.isEmpty() && (request.isUrgent || ordinary.isEmpty());
      if (isFirst && hasTime()) run(request);
      else (request.isUrgent ? urgent : ordinary).push(request);
    },
  };
}

export type Turns<T extends TurnRequest> = ReturnType<typeof createTurns<T>>;

/** First in, first out for each peer; one of each peer in turn. */
function createPeerQueue<T extends TurnRequest>() {
  const byPeer = new Map<string, T[]>();
  return {
    isEmpty: () => byPeer.size === 0,
    push(request: T): void {
      const queue = byPeer.get(request.peer);
      if (queue === undefined) byPeer.set(request.peer, [request]);
      else queue.push(request);
    },
    shift(): T | undefined {
      for (const [peer, queue] of byPeer) {
        const next = queue.shift();
        byPeer.delete(peer);
        if (queue.length > 0) byPeer.set(peer, queue);
        return next;
      }
      return undefined;
    },
  };
}
