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
/** Project decision: looks are twice a second; without one for so long a touch of a person may wait to be read. */
const PAUSE_MS = 1_250;

/**
 * Another plan, or none, ends it; a page that falls silent, and a pause of this process, let it begin anew. So whatever
 * begins was shown under this id without a gap.
 */
export function createCountdown(clock: Pick<Clock, 'monotonicMs' | 'random'>, lastsMs: number): Countdown {
  let count = firstNumber(clock);
  let lookedMs = clock.monotonicMs();
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
      const isPaused = nowMs - lookedMs > PAUSE_MS;
      lookedMs = nowMs;
      if (plan === null) current = null;
      else if (current === null || JSON.stringify(current.plan) !== JSON.stringify(plan)) {
        count += 1;
        current = { id: `c${count}`, plan, shownMs: Number.NEGATIVE_INFINITY, fromMs: nowMs };
      } else if (isPaused || nowMs - current.shownMs > SHOWN_MS) current.fromMs = nowMs;
      return current !== null && current.shownMs >= current.fromMs && nowMs - current.fromMs >= lastsMs;
    },
    end() {
      current = null;
    },
  };
}

/** Where the numbers of ids begin, so that what a page has of an earlier start of the gateway names nothing of this one. */
export function firstNumber({ random }: Pick<Clock, 'random'>): number {
  return Math.floor(random() * 2 ** 40);
}
