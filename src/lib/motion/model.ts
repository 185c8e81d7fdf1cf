import type { Degrees } from '../angle/index.ts';
import type { Pose } from '../chassis/index.ts';
import type { Actionable } from '../evidence/index.ts';
import type { Service } from '../lifecycle/index.ts';
import type { TrialKind, Trials } from './trial/model.ts';

/** Where the robot is to be; without `yawDeg` the chassis chooses its heading. */
export interface Goal {
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg?: Degrees;
}

/** Every order that moves the robot. Its values must be actionable: see the evidence room. */
export type Order =
  | { readonly kind: 'move'; readonly goal: Actionable<Goal> }
  | { readonly kind: 'dock'; readonly goal: Actionable<Goal & { readonly yawDeg: Degrees }> }
  | { readonly kind: 'pose'; readonly pose: Actionable<Pose> };

export interface MoveOutcome {
  /** Null for a pose order, and when the reply to the order was lost. */
  readonly moveId: number | null;
  /** Only 'succeeded' is success. 'unknown': gw could not learn how it ended; it has cancelled it. */
  readonly state: 'succeeded' | 'failed' | 'cancelled' | 'unknown';
  /** The number of the chassis, passed through; only 103 has a measured meaning. */
  readonly failReason: number | null;
  readonly failReasonText: string | null;
  /** For a person: why it did not succeed; null when it did. */
  readonly reason: string | null;
  readonly tookMs: number;
}

export interface TourRun {
  readonly id: string;
  readonly tour: string;
  readonly stations: readonly string[];
  readonly state: 'running' | 'succeeded' | 'failed' | 'stopped';
  /** Index of the station that the robot drives to, or drove to last. */
  readonly at: number;
  readonly outcomes: readonly MoveOutcome[];
  /** Why it ended, when it did not succeed. */
  readonly reason: string | null;
}

/** A single drive that a person ordered: to a station of the site file, or to the dock. */
export interface DriveRun {
  readonly id: string;
  readonly kind: 'move' | 'dock';
  /** Null for the dock. */
  readonly station: string | null;
  readonly state: 'running' | 'succeeded' | 'failed' | 'stopped';
  /** How its move ended; null while it runs, and when nothing was ordered after all. */
  readonly outcome: MoveOutcome | null;
  /** Why it ended, when it did not succeed. */
  readonly reason: string | null;
}

/** Where a single drive is to go. */
export type DriveTarget = { readonly station: string } | { readonly dock: true };

/** A move under way that is none of gw's: of another program, or of gw before it was killed. */
export interface UnownedMove {
  readonly moveId: number;
  /** The chassis' own word, passed through. */
  readonly type: string;
  /** It was under way when gw started or the chassis came back, and the site file does not say to leave it. */
  readonly isBeingCancelled: boolean;
}

export interface StopLatch {
  readonly latched: boolean;
  readonly reason: string | null;
  readonly by: string | null;
  /** UTC, for people. */
  readonly since: string | null;
  /**
   * Whether a restart of gw, a crash or a power cut would find it as it stands here. 'pending': the disk has not
   * answered yet. A stop holds in memory either way.
   */
  readonly saved: boolean | 'pending';
  /** Why it is not saved, for a person; null when it is, or is on its way. */
  readonly unsavedBecause: string | null;
  /** Stops that were asked for while this one held; null when there was none. Known in memory only. */
  readonly repeated: RepeatedStops | null;
}

export interface RepeatedStops {
  readonly count: number;
  /** The first 16 who asked. */
  readonly by: readonly string[];
  readonly last: { readonly reason: string; readonly by: string /** UTC, for people. */; readonly at: string };
}

/** Why a stop could not outlive gw now, and what to do about it. */
export interface KeepingTrouble {
  readonly reason: string;
  readonly remedy: string;
}

/** Why an order would be refused now; empty when the gate is open for plain moves. */
export interface GateView {
  readonly open: boolean;
  readonly reasons: readonly string[];
}

export interface MotionStatus {
  readonly gate: GateView;
  readonly stop: StopLatch;
  /** Why the gate is closed for want of a disk that keeps a stop; null while it keeps one. */
  readonly keepingTrouble: KeepingTrouble | null;
  readonly tour: TourRun | null;
  /** The current or last single drive. */
  readonly drive: DriveRun | null;
  /** The trial under way; null while there is none. What it does and found is for signed-in persons only. */
  readonly trial: { readonly kind: TrialKind } | null;
  /** Null also while the chassis is not connected: then nothing is known. */
  readonly unownedMove: UnownedMove | null;
}

/** The one door to movement. Orders that stop the robot are never gated. */
export interface Motion extends Service {
  status(): MotionStatus;
  /** Supervised first orders: through the same gate, by rules of their own. */
  readonly trials: Trials;
  /**
   * Carries out one order and resolves with how it ended, whatever the end: look at `state`. Throws when nothing
   * was ordered: MOTION_REFUSED, MOTION_STOPPED, TOUR_RUNNING, CHASSIS_NOT_CONNECTED, CHASSIS_BOOTING,
   * CHASSIS_WRONG_DEVICE, CHASSIS_REFUSED. Aborting the signal cancels the move.
   */
  execute(order: Order, signal?: AbortSignal): Promise<MoveOutcome>;
  /** Checks and starts; the run goes on in the background. Throws TOUR_UNKNOWN, TOUR_RUNNING and as `execute`. */
  startTour(name: string): Promise<TourRun>;
  /** The same for a single drive. Throws STATION_UNKNOWN, also for a dock that the site file does not name. */
  startDrive(target: DriveTarget): Promise<DriveRun>;
  /**
   * Ends the tour, or the single drive, and cancels its move; nothing is latched. Never refused. With an `id` only the
   * run of that id, otherwise whichever is under way. Waits up to two seconds for its end. Null: there was none yet.
   */
  endTour(by: string, id?: string): Promise<TourRun | null>;
  endDrive(by: string, id?: string): Promise<DriveRun | null>;
  /**
   * Latches in memory, ends what drives, cancels the current move and saves the latch, all at once: no step waits for
   * another. Resolves after 500 ms at most; `saved` says whether the disk has it by then. Never refused.
   */
  stopRobot(reason: string, by: string): Promise<StopLatch>;
  /** Only for a signed-in person on site; the caller has checked that. Throws FILE_UNWRITABLE: then it stays latched. */
  clearStop(by: string): Promise<StopLatch>;
  /** Called after every change of the stop latch or the tour. */
  subscribe(listener: () => void): Disposable;
}
