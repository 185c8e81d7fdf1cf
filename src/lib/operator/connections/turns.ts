/** Time for requests per round of the event loop, before new connections and data are read. */
const ROUND_MS = 10;
/**
 * While connections arrive, one ordinary request per this many rounds: the event loop accepts only one connection per
 * round (libuv 1.52, measured), and a stop may be queued behind hundreds of them.
 */
const CROWDED_ROUNDS_PER_REQUEST = 8;

export interface TurnRequest {
  readonly peer: string;
  /** A stop: before everything else. */
  readonly isUrgent: boolean;
}

export interface TurnsOptions<T extends TurnRequest> {
  readonly monotonicMs: () => number;
  /** Calls back after the read phase of this event loop round: `setImmediate`. */
  readonly defer: (callback: () => void) => void;
  /** Handles a request. False when it was aborted meanwhile, which does not use up the turn. */
  readonly run: (request: T) => boolean;
}

/**
 * Request scheduler. Requests run at once while the round has time left; after that stops run first, then one request
 * per peer in turn, so that many connections of one peer count no more than one of another.
 */
export function createRequestTurns<T extends TurnRequest>({ monotonicMs, defer, run }: TurnsOptions<T>) {
  const urgent = createPeerQueue<T>();
  const ordinary = createPeerQueue<T>();
  let roundBeganMs: number | null = null;
  /** Remaining rounds in which more connections are expected. */
  let crowdedRounds = 0;
  let roundsWithoutRequest = 0;

  function beginRound(): number {
    if (roundBeganMs === null) {
      roundBeganMs = monotonicMs();
      defer(endRound);
    }
    return roundBeganMs;
  }

  const hasTime = (beganMs: number) => monotonicMs() - beganMs < ROUND_MS;

  /** Runs at least one request, since a late round would otherwise stop all work. */
  function drain(queue: PeerQueue<T>, beganMs: number): void {
    let hasRun: boolean;
    do {
      const next = queue.shift();
      if (next === undefined) return;
      hasRun = run(next);
    } while (!hasRun || (crowdedRounds === 0 && hasTime(beganMs)));
  }

  function endRound(): void {
    roundBeganMs = monotonicMs();
    drain(urgent, roundBeganMs);
    roundsWithoutRequest += 1;
    if (crowdedRounds === 0 || roundsWithoutRequest >= CROWDED_ROUNDS_PER_REQUEST) {
      roundsWithoutRequest = 0;
      drain(ordinary, roundBeganMs);
    }
    crowdedRounds = Math.max(0, crowdedRounds - 1);
    if (urgent.isEmpty() && ordinary.isEmpty() && crowdedRounds === 0) roundBeganMs = null;
    else defer(endRound);
  }

  return {
    /** A connection was accepted, and more may wait in the kernel. */
    noteAccepted(): void {
      crowdedRounds = 2;
      beginRound();
    },
    /** Runs the request now or queues it. */
    add(request: T): void {
      const queue = request.isUrgent ? urgent : ordinary;
      const isNext = urgent.isEmpty() && queue.isEmpty() && crowdedRounds === 0;
      if (isNext && hasTime(beginRound())) {
        run(request);
        return;
      }
      queue.push(request);
      beginRound();
    },
  };
}

type PeerQueue<T extends TurnRequest> = ReturnType<typeof createPeerQueue<T>>;

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
