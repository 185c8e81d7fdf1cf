import type { Clock } from '../../lifecycle/index.ts';
import type { ProxyLimits } from './limits.ts';

/**
 * Slows the other side down. The protocol has no flow control, so the only way is not to read the WebSocket, which holds
 * up every stream; so it is done for moments only, and a program that has not read after `holdMs` loses its connection.
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
  /** The connections together have not taken enough in time. */
  readonly onTotalLate: () => void;
}

export function createBrake({ limits, clock, setHeld, onTotalLate }: BrakeOptions): Brake {
  const holding = new Map<object, Disposable>();
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
  const hold = (key: object, onLate: () => void) => {
    if (holding.has(key)) return;
    const late = () => {
      release(key);
      onLate();
    };
    holding.set(key, clock.after(limits.holdMs, late));
    if (holding.size === 1) setHeld(true);
  };
  /** Reads on when a slow reader has taken a part, not when it has taken all. */
  const isLow = (bytes: number, limit: number) => bytes < (limit / 16) * 7;

  return {
    get queuedBytes() {
      return queuedBytes;
    },
    queued(connection, own, bytes, onLate) {
      queuedBytes += bytes;
      if (own > limits.queueBytes / 2) hold(connection, onLate);
      if (queuedBytes > limits.queueTotalBytes / 2) hold(whole, onTotalLate);
    },
    settled(connection, own, bytes) {
      queuedBytes -= bytes;
      if (isLow(own, limits.queueBytes)) release(connection);
      if (isLow(queuedBytes, limits.queueTotalBytes)) release(whole);
    },
    leave: release,
  };
}
