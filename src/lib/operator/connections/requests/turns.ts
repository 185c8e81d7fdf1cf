/** Time for parsing and for requests per round of the event loop, before new connections and data are read. */
const ROUND_MS = 10;
/** Part of it for received bytes, so that requests have their turn as well. */
const PARSING_MS = 5;
/** Once begun, stops go on for this long while connections arrive: of two hundred at once none waits for two hundred rounds. */
const CROWDED_STOPS_MS = 2;
/** Once begun, parsing goes on for this long while connections arrive, one per round. */
const CROWDED_PARSING_MS = 0.5;
/**
 * While connections arrive, stops, parsing and ordinary requests take at most one part in this many of the time each: the
 * event loop accepts only one connection per round (libuv 1.52, measured), and the stop of a person may be queued behind a
 * thousand of them, among which are stops too.
 */
const CROWDED_PARTS = { stops: 4, parsing: 8, requests: 20 };

/** A request, or what is left of it after it had to wait for something. */
export interface TurnRequest {
  readonly peer: string;
  /** A stop: before everything else. */
  readonly isUrgent: boolean;
  /** False when it was aborted meanwhile, which does not use up the turn. */
  readonly run: () => boolean;
}

/** A connection with received bytes. */
export interface TurnReader {
  readonly peer: string;
}

export interface TurnsOptions<R extends TurnReader> {
  readonly monotonicMs: () => number;
  /** Calls back after the read phase of this event loop round: `setImmediate`. */
  readonly defer: (callback: () => void) => void;
  /** Parses one piece of what a connection received. False when there was nothing to parse. */
  readonly parse: (reader: R) => boolean;
}

/**
 * Scheduler of parsing and requests. Both run at once while the round has time left; after that stops run first, then
 * one piece or request per peer in turn, so that many connections of one peer count no more than one of another.
 */
export function createTurns<R extends TurnReader>({ monotonicMs, defer, parse }: TurnsOptions<R>) {
  const received = createPeerQueue<R>();
  let isParsing = false;
  const urgent = createPeerQueue<TurnRequest>();
  const ordinary = createPeerQueue<TurnRequest>();
  const run = (request: TurnRequest) => request.run();
  let roundBeganMs: number | null = null;
  /** Remaining rounds in which more connections are expected. */
  let crowdedRounds = 0;
  const stops = createShare(CROWDED_PARTS.stops, monotonicMs);
  const parsing = createShare(CROWDED_PARTS.parsing, monotonicMs);
  const requests = createShare(CROWDED_PARTS.requests, monotonicMs);

  function beginRound(): number {
    if (roundBeganMs === null) {
      roundBeganMs = monotonicMs();
      defer(endRound);
    }
    return roundBeganMs;
  }

  const hasTime = (beganMs: number) => monotonicMs() - beganMs < ROUND_MS;

  /** At least one of them, since a late round would otherwise stop all work. */
  function drain<I>(queue: PeerQueue<I>, handle: (item: I) => boolean, hasTimeLeft: () => boolean): void {
    let isDone: boolean;
    do {
      const next = queue.shift();
      if (next === undefined) return;
      isDone = handle(next);
    } while (!isDone || hasTimeLeft());
  }

  function parseOne(reader: R): boolean {
    isParsing = true;
    try {
      return parse(reader);
    } finally {
      isParsing = false;
    }
  }

  function endRound(): void {
    const beganMs = monotonicMs();
    roundBeganMs = beganMs;
    const isCrowded = crowdedRounds > 0;
    const isWithinRound = () => !isCrowded && hasTime(beganMs);
    const parsingMs = isCrowded ? CROWDED_PARSING_MS : PARSING_MS;
    stops(isCrowded, () =>
      drain(urgent, run, () => (isCrowded ? monotonicMs() - beganMs < CROWDED_STOPS_MS : hasTime(beganMs))),
    );
    parsing(isCrowded, () => drain(received, parseOne, () => monotonicMs() - beganMs < parsingMs));
    requests(isCrowded, () => drain(ordinary, run, isWithinRound));
    crowdedRounds = Math.max(0, crowdedRounds - 1);
    if (urgent.isEmpty() && received.isEmpty() && ordinary.isEmpty() && crowdedRounds === 0) roundBeganMs = null;
    else defer(endRound);
  }

  return {
    /** A connection was accepted, and more may wait in the kernel. */
    noteAccepted(): void {
      crowdedRounds = 2;
      beginRound();
    },
    /** Runs the request now or queues it. */
    add(request: TurnRequest): void {
      const queue = request.isUrgent ? urgent : ordinary;
      const isFirst = urgent.isEmpty() && queue.isEmpty() && crowdedRounds === 0;
      // A stop may be among the bytes that are not parsed yet.
      const isNext = isFirst && (request.isUrgent || received.isEmpty());
      if (isNext && hasTime(beginRound())) {
        request.run();
        return;
      }
      queue.push(request);
      beginRound();
    },
    /** Parses one piece now or queues the connection, which must not be queued already. */
    addReceived(reader: R): void {
      const isNext = !isParsing && urgent.isEmpty() && received.isEmpty() && crowdedRounds === 0;
      if (isNext && hasTime(beginRound())) {
        parseOne(reader);
        return;
      }
      received.push(reader);
      beginRound();
    },
  };
}

/** Does work; where it is limited, only after a rest that leaves it one part in `parts` of the time. */
function createShare(parts: number, monotonicMs: () => number) {
  let dueMs = Number.NEGATIVE_INFINITY;
  return (isLimited: boolean, work: () => void): void => {
    const beganMs = monotonicMs();
    if (isLimited && beganMs < dueMs) return;
    work();
    const endedMs = monotonicMs();
    dueMs = endedMs + (endedMs - beganMs) * (parts - 1);
  };
}

interface PeerQueue<T> {
  isEmpty(): boolean;
  push(item: T): void;
  shift(): T | undefined;
}

/** First in, first out for each peer; one of each peer in turn. */
function createPeerQueue<T extends TurnReader>(): PeerQueue<T> {
  const byPeer = new Map<string, T[]>();
  return {
    isEmpty: () => byPeer.size === 0,
    push(item) {
      const queue = byPeer.get(item.peer);
      if (queue === undefined) byPeer.set(item.peer, [item]);
      else queue.push(item);
    },
    shift() {
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
