import type { Clock } from '../../lifecycle/index.ts';
import type { ProxyLimits } from './limits.ts';

/**
 * Slows the other side down. The protocol has no flow control, so the only way is not to read the WebSocket, which holds
 * up every stream; so it is done for moments only, and a program that has not read after `holdMs` loses its connection,
 * at once with every other one that has taken nothing meanwhile: else each of them would hold up the rest in its turn.
 * Project decision.
 */
export interface Brake {
  /** Bytes that wait for all local connections, with their overhead. */
  readonly queuedBytes: number;
  /** Bytes were queued for a connection. `onLate`: it has not taken them in time. */
  queued(connection: object, own: number, bytes: number, onLate: () => void): void;
  /** Bytes were written, or given up; `own` is what is left for the connection. */
  settled(connection: object, own: number, bytes: number): void;
  /** The connection is over. */
  leave(connection: object): void;
}

export interface BrakeOptions {
  readonly limits: ProxyLimits;
  readonly clock: Clock;
  /** Stops and continues reading the WebSocket. */
  readonly setHeld: (isHeld: boolean) => void;
  /** The connections together have not taken enough in time, though each of them has taken something. */
  readonly onTotalLate: () => void;
}

/** A connection that data was queued for. */
interface Waiting {
  own: number;
  /** Since the hold began. */
  hasTaken: boolean;
  readonly onLate: () => void;
}

export function createBrake({ limits, clock, setHeld, onTotalLate }: BrakeOptions): Brake {
  const holding = new Map<object, Disposable>();
  const connections = new Map<object, Waiting>();
  /** Stands for all connections together. */
  const whole = {};
  let queuedBytes = 0;

  const release = (key: object) => {
    const timer = holding.get(key);
    if (timer === undefined) return;
    timer[Symbol.dispose]();
    holding.delete(key);
    if (holding.size === 0) setHeld(false);
  };
  /** One of which little waits, such as a page in a hidden tab, holds up no other. */
  const isStalled = ({ own, hasTaken }: Waiting) => !hasTaken && own > limits.queueBytes / 64;
  const late = (key: object) => {
    release(key);
    for (const [connection, waiting] of [...connections]) {
      if (connection !== key && !isStalled(waiting)) continue;
      connections.delete(connection);
      waiting.onLate();
    }
    const left = [...connections.values()].reduce((sum, { own }) => sum + own, 0);
    if (key === whole && left > limits.queueTotalBytes / 2) onTotalLate();
  };
  const hold = (key: object) => {
    if (holding.has(key)) return;
    holding.set(
      key,
      clock.after(limits.holdMs, () => late(key)),
    );
    if (holding.size > 1) return;
    for (const waiting of connections.values()) waiting.hasTaken = false;
    setHeld(true);
  };
  /** Reads on when a slow reader has taken a part, not when it has taken all. */
  const isLow = (bytes: number, limit: number) => bytes < (limit / 16) * 7;

  return {
    get queuedBytes() {
      return queuedBytes;
    },
    queued(connection, own, bytes, onLate) {
      queuedBytes += bytes;
      const waiting = connections.get(connection);
      if (waiting) waiting.own = own;
      else connections.set(connection, { own, hasTaken: false, onLate });
      if (own > limits.queueBytes / 2) hold(connection);
      if (queuedBytes > limits.queueTotalBytes / 2) hold(whole);
    },
    settled(connection, own, bytes) {
      queuedBytes -= bytes;
      const waiting = connections.get(connection);
      if (waiting) {
        waiting.own = own;
        waiting.hasTaken ||= bytes > 0;
      }
      if (isLow(own, limits.queueBytes)) release(connection);
      if (isLow(queuedBytes, limits.queueTotalBytes)) release(whole);
    },
    leave(connection) {
      connections.delete(connection);
      release(connection);
    },
  };
}
