import type { Clock } from '../../lifecycle/index.ts';

/** Interval of the pings. @source vendor (HINWEIS) */
const PING_MS = 20_000;
/** Project decision: three intervals, since the vendor calls a missing pong no error. */
const SILENT_MS = 3 * PING_MS;
/** Resolution of the silence. */
const CHECK_MS = 5_000;

export interface KeepAliveOptions {
  readonly clock: Clock;
  /** All bytes received since the connection was opened. */
  readonly bytesRead: () => number;
  readonly ping: (payload: string) => void;
  /** Nothing was received for three intervals. Called at most once. */
  readonly onSilent: (silentMs: number) => void;
}

/** Pings at once and then every 20 s, with the time in milliseconds as text, and watches whether anything arrives. */
export function startKeepAlive({ clock, bytesRead, ping, onSilent }: KeepAliveOptions): Disposable {
  let [lastBytes, lastReceivedMs, lastPingMs] = [bytesRead(), clock.monotonicMs(), clock.monotonicMs()];
  // For the service's log only: no decision uses it.
  const sendPing = () => ping(String(clock.wall().getTime()));
  sendPing();
  const timer = clock.every(CHECK_MS, () => {
    const [bytes, nowMs] = [bytesRead(), clock.monotonicMs()];
    if (bytes !== lastBytes) [lastBytes, lastReceivedMs] = [bytes, nowMs];
    const silentMs = nowMs - lastReceivedMs;
    if (silentMs >= SILENT_MS) {
      timer[Symbol.dispose]();
      onSilent(silentMs);
      return;
    }
    if (nowMs - lastPingMs < PING_MS) return;
    lastPingMs = nowMs;
    sendPing();
  });
  return timer;
}
