import type { SessionEnd } from './mqtt/model.ts';

/** A connection that ends sooner did not settle; the backoff continues. */
export const SETTLED_MS = 60_000;

export interface ShortClosings {
  readonly times: number;
  readonly minMs: number;
  readonly maxMs: number;
  /** How many of them left messages unacknowledged. */
  readonly withMessages: number;
}

export const noClosings: ShortClosings = { times: 0, minMs: Number.POSITIVE_INFINITY, maxMs: 0, withMessages: 0 };

/** Counts how sessions end, one after the other. */
export function countEnd(
  state: {
    shortSessions: number;
    closings: ShortClosings;
    noPuback: { readonly strayAcks: number; readonly overAtMs: number } | null;
  },
  end: SessionEnd,
  { livedMs, nowMs }: { readonly livedMs: number; readonly nowMs: number },
): void {
  const isShort = livedMs < SETTLED_MS;
  state.shortSessions = isShort ? state.shortSessions + 1 : 0;
  const { times, minMs, maxMs, withMessages } = state.closings;
  state.closings =
    isShort && end.kind === 'closed'
      ? {
          times: times + 1,
          minMs: Math.min(minMs, livedMs),
          maxMs: Math.max(maxMs, livedMs),
          withMessages: withMessages + (end.unacknowledged > 0 ? 1 : 0),
        }
      : noClosings;
  if (end.kind === 'no-puback') state.noPuback = { strayAcks: end.strayAcks, overAtMs: Number.POSITIVE_INFINITY };
  else if (state.noPuback !== null && nowMs >= state.noPuback.overAtMs) state.noPuback = null;
}
