import type { BootProgressWire } from '../../chassis/wire.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { Faults } from '../faults.ts';

const steps: readonly (readonly [progress: number, msg: string])[] = [
  [0, 'starting'],
  [0.2, 'loading parameters'],
  [0.45, 'waiting for lidar'],
  [0.7, 'loading map'],
  [0.9, 'starting navigation'],
  [1, 'ready'],
];
/** Progress at which a robot that does not become ready stops. */
const STALLED_AT = 0.45;

export interface BootOptions {
  readonly clock: Clock;
  /** Unix seconds. */
  readonly now: () => number;
  readonly faults: Faults;
  readonly onChange: (state: 'booting' | 'ready') => void;
}

/** Start of the robot's software, during which only the boot progress is served (vendor facts 1.1). */
export function createBoot({ clock, now, faults, onChange }: BootOptions) {
  let beganMs = clock.monotonicMs();
  let startTime = now();
  let lastsMs = 0;
  let announced: 'booting' | 'ready' = 'ready';

  function fraction(): number {
    const passed = lastsMs <= 0 ? 1 : Math.min(1, (clock.monotonicMs() - beganMs) / lastsMs);
    return faults.is('booting') ? Math.min(STALLED_AT, passed) : passed;
  }

  function announce(): void {
    const state = fraction() < 1 ? 'booting' : 'ready';
    if (state === announced) return;
    announced = state;
    onChange(state);
  }

  return {
    begin(ms: number): void {
      beganMs = clock.monotonicMs();
      startTime = now();
      lastsMs = ms;
      announce();
    },
    isBooting: (): boolean => fraction() < 1,
    progress(): BootProgressWire {
      const progress = fraction();
      return {
        start_time: startTime,
        progress: Math.round(progress * 1000) / 1000,
        logs: steps
          .filter(([at]) => at <= progress)
          .map(([at, msg]) => ({ stamp: startTime + (at * lastsMs) / 1000, progress: at, msg })),
      };
    },
    /** Announces a change of phase. */
    tick: announce,
  };
}
