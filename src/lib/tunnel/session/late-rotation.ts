import type { Clock } from '../../lifecycle/index.ts';
import type { EndReason } from '../model.ts';

/** So long after such an end, a notification may be the rotation that caused it. Project decision. */
const ROTATION_WITHIN_MS = 10_000;
/** How a rotation ends the session when its proxy notices it before the notification arrives. */
const reasons: ReadonlySet<EndReason> = new Set(['token-refused', 'closed-by-cloud']);

/**
 * Keeps the deadline of a session that a rotation may have ended. A notification does not name its tunnel, so a new tunnel
 * looks the same: within the time for it, it gets the deadline of the session before, and later one of its own.
 */
export function createLateRotation(clock: Pick<Clock, 'monotonicMs'>) {
  let last: { readonly untilMs: number; readonly endedMs: number } | null = null;
  return {
    ended(reason: EndReason, untilMs: number): void {
      last = reasons.has(reason) ? { untilMs, endedMs: clock.monotonicMs() } : null;
    },
    /** The deadline of a session that would otherwise end at `untilMs`. */
    limit(untilMs: number): number {
      if (last === null || clock.monotonicMs() - last.endedMs > ROTATION_WITHIN_MS) return untilMs;
      return Math.min(untilMs, last.untilMs);
    },
  };
}
