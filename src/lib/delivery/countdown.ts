import type { Clock } from '../lifecycle/index.ts';
import type { DeliveryView, Plan } from './model.ts';

/** The announcement of a movement that begins by itself. */
export interface Countdown {
  view(): DeliveryView['countdown'];
  /** A page shows it to a person now. */
  shown(id: string): void;
  /** With what would begin now; null: nothing. Whether it begins now, announced for the whole time. */
  look(plan: Plan | null): boolean;
  end(): void;
}

/** Project decision: a page says each second that it shows the countdown. Without that it is not announced. */
const SHOWN_MS = 2_500;

/**
 * Another plan, or none, ends it; a page that falls silent, and a pause of this process, let it begin anew. So whatever
 * begins was shown under this id without a gap.
 */
export function createCountdown(clock: Pick<Clock, 'monotonicMs'>, lastsMs: number): Countdown {
  let count = 0;
  let current: { readonly id: string; readonly plan: Plan; shownMs: number; fromMs: number } | null = null;

  return {
    view() {
      if (current === null) return null;
      const { id, plan, fromMs } = current;
      const station = 'station' in plan.target ? plan.target.station : null;
      return { id, kind: plan.kind, station, leftMs: Math.max(0, lastsMs - (clock.monotonicMs() - fromMs)) };
    },
    shown(id) {
      if (current?.id === id) current.shownMs = clock.monotonicMs();
    },
    look(plan) {
      const nowMs = clock.monotonicMs();
      if (plan === null) current = null;
      else if (current === null || JSON.stringify(current.plan) !== JSON.stringify(plan)) {
        count += 1;
        current = { id: `c${count}`, plan, shownMs: Number.NEGATIVE_INFINITY, fromMs: nowMs };
      } else if (nowMs - current.shownMs > SHOWN_MS) current.fromMs = nowMs;
      return current !== null && current.shownMs >= current.fromMs && nowMs - current.fromMs >= lastsMs;
    },
    end() {
      current = null;
    },
  };
}
