import type { Clock } from '../../../lifecycle/index.ts';

const MAX_HANDSHAKES_PER_S = 20;
const MAX_TOKENS = 1_000;

/** Counts the handshakes of each access token; true for one that is above the limit of the last second. */
export function createHandshakeRate(clock: Pick<Clock, 'monotonicMs'>) {
  /** Times of the handshakes of the last second, by access token. */
  const recent = new Map<string, number[]>();

  return (accessToken: string): boolean => {
    const nowMs = clock.monotonicMs();
    const times = (recent.get(accessToken) ?? []).filter((ms) => nowMs - ms < 1_000);
    times.push(nowMs);
    recent.delete(accessToken);
    recent.set(accessToken, times.slice(-MAX_HANDSHAKES_PER_S - 1));
    const [oldest] = recent.keys();
    if (recent.size > MAX_TOKENS && oldest !== undefined) recent.delete(oldest);
    return times.length > MAX_HANDSHAKES_PER_S;
  };
}
