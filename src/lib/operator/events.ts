import type { ServerResponse } from 'node:http';
import type { Clock } from '../lifecycle/index.ts';
import type { Scope } from './connections/listener.ts';

/** Live events to browsers (server-sent events): one stream per open page. */
export interface LiveEvents {
  /**
   * Whether this client may subscribe. At the limit, the oldest stream of the peer with the most streams ends in favour
   * of a peer with clearly fewer, so that no single machine blocks the live pages of the others.
   */
  evictFor(listener: Listening): boolean;
  /** Sends the current state and then every change. */
  add(response: ServerResponse, listener: Listening): void;
  /** Who follows at present. */
  listeners(): readonly Listening[];
  /** Ends all streams; later ones are refused. */
  end(): void;
}

/** A subscriber: its socket and the key of its limits (see `peerOf`). */
interface Listening {
  readonly scope: Scope;
  readonly peer: string;
}

type Name = 'state' | 'pose';

export interface LiveEventsOptions {
  /** The data of an event; called at most once per interval, and only while there are subscribers. */
  readonly compose: (name: Name) => unknown;
  /** `state` has everything; `pose`, which changes far more often than the rest, is sent where nothing else has changed. */
  readonly subscribe: Readonly<Record<Name, (listener: () => void) => Disposable>>;
  readonly clock: Clock;
}

/** Separate limits, so that a remote viewer never displaces the tablet. 200 followers take a tenth of one core (measured). */
const maxListeners: Readonly<Record<Scope, number>> = { full: 256, 'read-only': 8, local: 8 };
/** Changes of one moment are one event: a message of the robot and what follows from it. */
const TOGETHER_MS = 5;
/** Two events are at least this far apart, however fast the robot reports: each costs every page a painting. */
const MIN_APART_MS = 40;
/** Ages grow without any change; also lets the client detect a dead connection. */
const TICK_MS = 1_000;
/** A reader this far behind is disconnected; it reconnects and gets the current state. */
const MAX_UNREAD_BYTES = 512 * 1024;
/** Project decision: when all readers together exceed this, the ones furthest behind are disconnected first. */
const MAX_TOTAL_UNREAD_BYTES = 4 * 1024 * 1024;

export function createLiveEvents({ compose, subscribe, clock }: LiveEventsOptions): LiveEvents {
  /** The oldest first. */
  const listeners = new Map<ServerResponse, Listening>();
  let sources: Disposable | undefined;
  let soon: Disposable | undefined;
  let due: Name = 'pose';
  let ended = false;
  let sentAtMs = Number.NEGATIVE_INFINITY;

  const encode = (name: Name) => Buffer.from(`event: ${name}\ndata: ${JSON.stringify(compose(name))}\n\n`);

  function changed(name: Name): void {
    if (name === 'state') due = name;
    soon ??= clock.after(Math.max(TOGETHER_MS, sentAtMs + MIN_APART_MS - clock.monotonicMs()), () => send(due));
  }

  function send(name: Name): void {
    soon?.[Symbol.dispose]();
    soon = undefined;
    due = 'pose';
    sentAtMs = clock.monotonicMs();
    const bytes = encode(name);
    cutOff(bytes.length);
    for (const response of listeners.keys()) response.write(bytes);
  }

  /** Disconnects readers beyond either limit before `more` bytes are sent to each. */
  function cutOff(more: number): void {
    const behind = [...listeners.keys()].filter((response) => response.writableLength > 0);
    let together = behind.reduce((sum, response) => sum + response.writableLength + more, 0);
    for (const response of behind.sort((a, b) => b.writableLength - a.writableLength)) {
      const unread = response.writableLength;
      if (unread <= MAX_UNREAD_BYTES && together <= MAX_TOTAL_UNREAD_BYTES) break;
      together -= unread + more;
      remove(response);
      response.destroy();
    }
  }

  function open(): void {
    using opened = new DisposableStack();
    opened.use(subscribe.state(() => changed('state')));
    opened.use(subscribe.pose(() => changed('pose')));
    opened.use(clock.every(TICK_MS, () => send('state')));
    sources = opened.move();
  }

  function remove(response: ServerResponse): void {
    listeners.delete(response);
    if (listeners.size > 0) return;
    soon?.[Symbol.dispose]();
    sources?.[Symbol.dispose]();
    soon = undefined;
    sources = undefined;
  }

  return {
    evictFor({ scope, peer }) {
      if (ended) return false;
      const streams = [...listeners].filter(([, other]) => other.scope === scope);
      if (streams.length < maxListeners[scope]) return true;
      const byPeer = Map.groupBy(streams, ([, other]) => other.peer);
      const most = [...byPeer.values()].reduce((a, b) => (b.length > a.length ? b : a), []);
      const [oldest] = most[0] ?? [];
      if (oldest === undefined || most.length <= (byPeer.get(peer)?.length ?? 0) + 1) return false;
      remove(oldest);
      oldest.end();
      return true;
    },
    add(response, listener) {
      listeners.set(response, listener);
      response.once('close', () => remove(response));
      response.on('error', () => {});
      response.write(encode('state'));
      if (sources === undefined) open();
    },
    listeners: () => [...listeners.values()],
    end() {
      ended = true;
      for (const response of [...listeners.keys()]) {
        remove(response);
        response.end();
      }
    },
  };
}
