import type { Clock } from '../../lifecycle/index.ts';
import type { RoundTrips } from '../dialer.ts';

/** At once, so that the link is measured before anything behind it is judged. */
const FIRST = 3;
const KEPT_MS = 30_000;
/** Where a server answers none of them, the connection is lost soon after. */
const MAX_PENDING = 20;
/**
 * Project decisions: from these on a link is named as slow. A WLAN in order takes a tenth of it. One long round trip
 * alone may also be this process, which was busy.
 */
const SLOW_MS = 100;
const STALL_MS = 400;

export interface RoundTripMeter extends Disposable {
  /** null: nothing measured yet. */
  current(): RoundTrips | null;
}

export interface RoundTripOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  /** Sends one request that changes nothing. Answers arrive in the order of the requests. */
  readonly ask: (onAnswer: () => void) => void;
  /** Called once, when the link has turned out slow. */
  readonly onSlow: (roundTrips: RoundTrips) => void;
}

/** Measures the round trips of a connection by requests at an interval, which also keep it alive. */
export function measureRoundTrips({ clock, intervalMs, ask, onSlow }: RoundTripOptions): RoundTripMeter {
  let measured: { readonly atMs: number; readonly tookMs: number }[] = [];
  const pending: number[] = [];
  let answers = 0;
  let isReported = false;
  let isOver = false;

  function send(): void {
    if (isOver || pending.length >= MAX_PENDING) return;
    pending.push(clock.monotonicMs());
    ask(() => {
      const sentAtMs = pending.shift();
      if (sentAtMs === undefined || isOver) return;
      const now = clock.monotonicMs();
      measured = [...measured.filter(({ atMs }) => now - atMs < KEPT_MS), { atMs: now, tookMs: now - sentAtMs }];
      answers += 1;
      reportSlow();
      if (answers < FIRST) send();
    });
  }

  /** A request that waits for its answer has taken at least so long. */
  function current(): RoundTrips | null {
    const [oldest] = pending;
    const waitedMs = oldest === undefined ? 0 : clock.monotonicMs() - oldest;
    const took = measured.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b);
    if (took.length === 0 && waitedMs < SLOW_MS) return null;
    const longest = took.at(-1) ?? waitedMs;
    const medianMs = took[Math.floor(took.length / 2)] ?? waitedMs;
    const secondLongest = waitedMs > longest ? (took.at(-1) ?? 0) : (took.at(-2) ?? 0);
    const isSlow = medianMs >= SLOW_MS || secondLongest >= STALL_MS;
    return { medianMs, longestMs: Math.max(longest, waitedMs), isSlow };
  }

  function reportSlow(): void {
    if (isReported || answers < FIRST) return;
    const found = current();
    if (found?.isSlow !== true) return;
    isReported = true;
    onSlow(found);
  }

  send();
  const timer = clock.every(intervalMs, () => {
    send();
    reportSlow();
  });
  return {
    current,
    [Symbol.dispose]() {
      isOver = true;
      timer[Symbol.dispose]();
    },
  };
}
