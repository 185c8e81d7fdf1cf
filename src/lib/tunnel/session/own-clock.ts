import type { Clock } from '../../lifecycle/index.ts';

/** The clock of one session: monotonic, independent of the cloud and of the proxy. */
export interface ArmedClock {
  /** Whole seconds that it was given; 0 when it had expired before. */
  readonly maxS: number;
  /** When it was armed and when it expires, by the monotonic clock. */
  readonly fromMs: number;
  readonly untilMs: number;
  elapsedMs(): number;
  /** 0 when it has expired. */
  leftMs(): number;
  disarm(): void;
}

/** Calls `onExpiry` once `untilMs` is reached, immediately when it has passed. */
export function armClock(
  clock: Pick<Clock, 'monotonicMs' | 'after'>,
  untilMs: number,
  onExpiry: () => void,
): ArmedClock {
  const fromMs = clock.monotonicMs();
  const leftMs = () => Math.max(0, untilMs - clock.monotonicMs());
  const timer = clock.after(leftMs(), onExpiry);
  return {
    maxS: Math.ceil(leftMs() / 1_000),
    fromMs,
    untilMs,
    elapsedMs: () => clock.monotonicMs() - fromMs,
    leftMs,
    disarm: () => timer[Symbol.dispose](),
  };
}
