import type { Clock } from '../../lifecycle/index.ts';

/** A client that supervises what it ordered, and sends no keepalive for so long, is gone. Project decision. */
export const KEEP_ALIVE_MS = 3_000;
export const KEEP_ALIVE_CHECK_MS = 250;

export interface KeepAlive extends Disposable {
  /** The client of this run is there. */
  renew(): void;
}

/** Calls `onGone` once, after `KEEP_ALIVE_MS` without `renew`. */
export function createKeepAlive(clock: Clock, onGone: () => void): KeepAlive {
  let renewedMs = clock.monotonicMs();
  const checking = clock.every(KEEP_ALIVE_CHECK_MS, () => {
    if (clock.monotonicMs() - renewedMs <= KEEP_ALIVE_MS) return;
    checking[Symbol.dispose]();
    onGone();
  });
  return {
    renew() {
      renewedMs = clock.monotonicMs();
    },
    [Symbol.dispose]: () => checking[Symbol.dispose](),
  };
}
