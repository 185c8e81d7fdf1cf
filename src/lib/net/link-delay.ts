import type { Tried } from '../error/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { type Dialer, viaOf } from './dialer.ts';

/**
 * Round trips that one exchange over a link may take, each of them the longest: opening the connection, the request,
 * and one more that starts in a stall. Project decision.
 */
const ROUND_TRIPS = 3;

/** What a deadline for a remote answer grows by, because the SSH link in between takes that long itself; 0 without one. */
export function linkAllowanceMs({ roundTrips }: Dialer): number {
  return ROUND_TRIPS * (roundTrips?.()?.longestMs ?? 0);
}

/**
 * Calls `fn` once when the other side has had `ms` beside the time that its link takes. The link is measured meanwhile, so
 * that a stall which begins after the start counts too.
 */
export function afterOverLink(dialer: Dialer, clock: Clock, ms: number, fn: () => void): Disposable {
  const began = clock.monotonicMs();
  const wait = (leftMs: number): Disposable =>
    clock.after(leftMs, () => {
      const stillMs = ms + linkAllowanceMs(dialer) - (clock.monotonicMs() - began);
      if (stillMs >= 1) timer = wait(stillMs);
      else fn();
    });
  let timer = wait(ms);
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

/** How an address is dialled, for {@link Tried}: the SSH host, and its link where that is slow. */
export function triedOver(dialer: Dialer): Pick<Tried, 'via' | 'slowLink'> {
  const via = viaOf(dialer);
  const roundTrips = dialer.roundTrips?.() ?? null;
  return {
    ...(via !== undefined && { via }),
    ...(roundTrips?.isSlow === true && {
      slowLink: { medianMs: Math.round(roundTrips.medianMs), longestMs: Math.round(roundTrips.longestMs) },
    }),
  };
}
