import type { Faults } from '../../faults.ts';
import type { Point } from '../floor/grid.ts';
import type { Drive } from './drive.ts';

/** Way and duration of the faults. Project decision. */
const COAST_S = 4;
const COAST_M_S = 0.3;
const CREEP_M_S = 0.1;
const CREEP_M = 1.2;
const SPIN_RAD_S = Math.PI / 12;
const MISSED_M = 1;

export interface DeedsOptions {
  readonly drive: Drive;
  readonly faults: Faults;
  /** Whether no move runs and nothing keeps the robot from moving by itself. */
  readonly mayMove: () => boolean;
  readonly isFree: (at: Point) => boolean;
}

type Onwards = 'cancel-lies' | 'coasting' | 'succeeds-early';

/** The faults in which the robot does something else than it reports of its moves. */
export function createDeeds({ drive, faults, mayMove, isFree }: DeedsOptions) {
  /** It follows the way of a move that has ended by its report. */
  let onwards: { readonly fault: Onwards; leftS: number } | undefined;
  let creep: { direction: number; leftM: number } | undefined;

  function goOn(fault: Onwards): void {
    onwards = { fault, leftS: fault === 'coasting' ? COAST_S : Number.POSITIVE_INFINITY };
  }

  /** Ends what goes on. */
  function rest(): void {
    if (onwards) drive.go([]);
    onwards = undefined;
  }

  return {
    /** Whether the robot drives although no move runs. */
    goesOn: (): boolean => onwards !== undefined,
    /** Metres per second. */
    speedLimitMS: (): number => (onwards?.fault === 'coasting' ? COAST_M_S : Number.POSITIVE_INFINITY),

    /** Begins what the robot does after a cancel; whether the cancel is reported. */
    cancel(): boolean {
      if (faults.is('cancel-ignored')) return false;
      const fault = (['cancel-lies', 'coasting'] as const).find((name) => faults.is(name));
      if (fault) goOn(fault);
      return true;
    },

    /** How a move under way ends before its goal, given its whole way in metres. */
    endEarly(wholeM: number): 'misses' | 'succeeds-early' | undefined {
      const leftM = drive.remainingM();
      if (faults.is('misses') && leftM <= MISSED_M + drive.brakingM()) return 'misses';
      if (!faults.is('succeeds-early') || leftM > wholeM / 2 || leftM === 0) return undefined;
      goOn('succeeds-early');
      return 'succeeds-early';
    },

    rest,

    /** One step of what goes on; the drive makes its step itself. */
    step(dt: number): void {
      if (!onwards) return;
      onwards.leftS -= dt;
      if (onwards.leftS <= 0 || !faults.is(onwards.fault)) rest();
      else if (!drive.isBusy()) onwards = undefined;
    },

    /** One step of creeping or spinning; false when it does neither. */
    stir(dt: number): boolean {
      const creeps = faults.is('creeping');
      const spins = faults.is('spinning');
      if (onwards || !(creeps || spins) || !mayMove()) {
        creep = undefined;
        return false;
      }
      // Leaving the way at speed would cut a corner.
      if (!creep && drive.speed() !== 0) return false;
      creep ??= { direction: 1, leftM: CREEP_M };
      const isFreeNow = isFree(drive.pose());
      let isBlocked = false;
      const speedMS = creeps ? creep.direction * CREEP_M_S : 0;
      drive.steer(dt, speedMS, spins ? SPIN_RAD_S : 0, (at) => {
        isBlocked = isFreeNow && !isFree(at);
        return !isBlocked;
      });
      creep.leftM -= Math.abs(speedMS) * dt;
      if (isBlocked || creep.leftM <= 0) creep = { direction: -creep.direction, leftM: CREEP_M };
      return true;
    },
  };
}

export type Deeds = ReturnType<typeof createDeeds>;
