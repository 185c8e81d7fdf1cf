import type { Degrees } from '../angle/index.ts';
import type { Pose } from '../chassis/index.ts';
import type { Actionable } from '../evidence/index.ts';
import type { Service } from '../lifecycle/index.ts';
import type { Trials } from './trial/model.ts';
import type { TrialKind } from './verify-remedy.ts';

/** Target of a move; without `yawDeg` the chassis chooses its heading. */
export interface Goal {
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg?: Degrees;
}

/** Every order that moves the robot. Its values must be actionable: see the evidence module. */
export type Order =
  | { readonly kind: 'move'; readonly goal: Actionable<Goal> }
  | { readonly kind: 'dock'; readonly goal: Actionable<Goal & { readonly yawDeg: Degrees }> }
  | { readonly kind: 'pose'; readonly pose: Actionable<Pose> };

/** An order after which the robot is to stand at a goal. */
export type DriveOrder = Exclude<Order, { kind: 'pose' }>;

/** The pose of the robot against its goal, after the chassis has reported success. */
export interface Arrival {
  /** By poses alone. 'elsewhere': it stands, but too far from the goal, or in another heading. */
  readonly verdict: 'at-goal' | 'elsewhere' | 'moves' | 'not-known';
  /** Why, as a clause. */
  readonly reason: string;
  readonly goal: { readonly xM: number; readonly yM: number; readonly yawDeg: number | null };
  /** The pose at rest; null unless the robot is known to stand. */
  readonly pose: { readonly xM: number; readonly yM: number; readonly yawDeg: number } | null;
  readonly distanceM: number | null;
  /** Null also for a goal without a heading. */
  readonly turnDeg: number | null;
  /** Within the tolerance; null: not compared. */
  readonly isAtPlace: boolean | null;
  readonly isAtHeading: boolean | null;
}

export interface MoveOutcome {
  /** Null for a pose order, and when the reply to the order was lost. */
  readonly moveId: number | null;
  /**
   * Only 'succeeded' is success: of a drive, the robot stands at its goal. 'unknown': gw could not determine how it ended
   * and has cancelled it.
   */
  readonly state: 'succeeded' | 'failed' | 'cancelled' | 'unknown';
  /** The number of the chassis, passed through; only 103 has a measured meaning. */
  readonly failReason: number | null;
  readonly failReasonText: string | null;
  /** Why it did not succeed, as text for the user; null when it did. */
  readonly reason: string | null;
  /** Null unless the chassis reported the success of a drive. */
  readonly arrival: Arrival | null;
  readonly tookMs: number;
}

export interface TourRun {
  readonly id: string;
  /** Alerts that the person who ordered it passes, by their numbers. Absent or empty: none. */
  readonly although?: readonly number[];
  readonly tour: string;
  readonly stations: readonly string[];
  readonly state: 'running' | 'succeeded' | 'failed' | 'stopped';
  /** Index of the current or last target station. */
  readonly at: number;
  readonly outcomes: readonly MoveOutcome[];
  /** Why it ended, when it did not succeed. */
  readonly reason: string | null;
}

/** A single drive to a station of the site file, or to the dock. */
export interface DriveRun {
  readonly id: string;
  readonly kind: 'move' | 'dock';
  /** Alerts that the person who ordered it passes, by their numbers. Absent or empty: none. */
  readonly although?: readonly number[];
  /** Null for the dock. */
  readonly station: string | null;
  readonly state: 'running' | 'succeeded' | 'failed' | 'stopped';
  /** How its move ended; null while it runs, and when no order was sent. */
  readonly outcome: MoveOutcome | null;
  /** Why it ended, when it did not succeed. */
  readonly reason: string | null;
}

/** How a run belongs to the client that ordered it. */
export interface RunOptions {
  /**
   * The client supervises the run: without `keepAlive` of its id for 3 s it is ended and its move cancelled. Absent or
   * false: it continues without its client, as a tour that a person starts on the tablet.
   */
  readonly keepAlive?: boolean | undefined;
  /** Alerts that a person passes for this run, by their numbers: only for a signed-in person; the caller verifies that. */
  readonly although?: readonly number[] | undefined;
}

/** Target of a single drive. */
export type DriveTarget = { readonly station: string } | { readonly dock: true };

/** A running move that this gw process did not order: of another program, or of gw before it was killed. */
export interface UnownedMove {
  readonly moveId: number;
  /** Type as the chassis reports it, passed through. */
  readonly type: string;
  /** It was running when gw started or the chassis reconnected, and `motion.unownedMove` is not 'leave'. */
  readonly isBeingCancelled: boolean;
}

export interface StopLatch {
  readonly latched: boolean;
  readonly reason: string | null;
  readonly by: string | null;
  /** UTC, for people. */
  readonly since: string | null;
  /**
   * Whether this state survives a restart of gw, a crash or a power cut. 'pending': the disk has not answered yet. A
   * stop holds in memory either way.
   */
  readonly saved: boolean | 'pending';
  /** Why it is not saved; null when it is saved or pending. */
  readonly unsavedBecause: string | null;
  /** Why its poses say that the robot drove on after this stop, or after a cancel that led to it. Absent: they do not. */
  readonly disobeyed?: string | undefined;
  /** Stops requested while this one held; null without any. In memory only. */
  readonly repeated: RepeatedStops | null;
}

export interface RepeatedStops {
  readonly count: number;
  /** The first 16 requesters. */
  readonly by: readonly string[];
  readonly last: { readonly reason: string; readonly by: string /** UTC, for people. */; readonly at: string };
}

/** A cancel whose effect the poses of the robot do not show yet. Until they do, no order passes. */
export interface StopProof {
  /** 'drives-on': the chassis acknowledged the cancel, and the robot went further than braking explains. */
  readonly verdict: 'awaited' | 'drives-on';
  /** Why, as a clause. */
  readonly reason: string;
  /** The chassis answered the cancel: its word, not the deed. */
  readonly acknowledged: boolean;
  /** Since the cancel was ordered. */
  readonly forMs: number;
}

/** Whether the robot stands, from its poses; see standstill.ts. */
export interface Standstill {
  /** 'drives-on': it does not obey an acknowledged cancel. 'not-known' is not standing. */
  readonly verdict: 'stands' | 'moves' | 'drives-on' | 'not-known';
  /** Why, as a clause. */
  readonly reason: string;
  /** A cancel was sent, and the poses do not show yet that the robot stands: no order passes. */
  readonly isOwed: boolean;
}

/** Why a stop could not be saved now, and the remedy. */
export interface KeepingTrouble {
  readonly reason: string;
  readonly remedy: string;
}

/** Why an order would be refused now; empty when the gate is open for plain moves. */
export interface GateView {
  readonly open: boolean;
  readonly reasons: readonly string[];
  /** Ids of the facts that only lack a verification on this chassis. Absent or empty: none. */
  readonly unverified?: readonly string[];
  /** The alerts that alone close it: a signed-in person may pass them by their numbers. Absent or empty: none. */
  readonly passableAlerts?: readonly number[];
}

/** The pose of the robot is wrong or not known: it must be set before it drives. */
export interface PoseAlarmView {
  readonly reason: string;
  /** UTC, for people; null where it is not known. */
  readonly since: string | null;
}

export interface MotionStatus {
  readonly gate: GateView;
  /** Closes the gate for everything but setting the pose. Null or absent: none. */
  readonly poseAlarm?: PoseAlarmView | null;
  readonly stop: StopLatch;
  readonly standstill: Standstill;
  /** Why a stop could not be saved, which closes the gate; null while it could. */
  readonly keepingTrouble: KeepingTrouble | null;
  readonly tour: TourRun | null;
  /** The current or last single drive. */
  readonly drive: DriveRun | null;
  /** The running trial; null without one. Its details are for signed-in persons only. */
  readonly trial: { readonly kind: TrialKind } | null;
  /** Null also while the chassis is not connected: then it is unknown. */
  readonly unownedMove: UnownedMove | null;
}

/** The single path to movement. Orders that stop the robot are never gated. */
export interface Motion extends Service {
  status(): MotionStatus;
  /** Supervised first orders: through the same gate, with their own rules. */
  readonly trials: Trials;
  /**
   * Executes one order and resolves with its outcome, whatever it is: check `state`. Throws when no order was sent: MOTION_REFUSED, MOTION_STOPPED, TOUR_RUNNING, CHASSIS_NOT_CONNECTED, CHASSIS_BOOTING,
   * CHASSIS_WRONG_DEVICE, CHASSIS_REFUSED. Aborting the signal cancels the move.
   */
  execute(order: Order, signal?: AbortSignal): Promise<MoveOutcome>;
  /** Checks and starts; the run continues in the background. Throws TOUR_UNKNOWN, TOUR_RUNNING and as `execute`. */
  startTour(name: string, options?: RunOptions): Promise<TourRun>;
  /** The same for a single drive. Throws STATION_UNKNOWN, also for a dock that the site file does not name. */
  startDrive(target: DriveTarget, options?: RunOptions): Promise<DriveRun>;
  /** The client of this running tour or drive is there. false: no such run, or one that no client supervises. */
  keepAlive(id: string): boolean;
  /**
   * Ends the tour, or the single drive, and cancels its move; nothing is latched. Never refused. With an `id` only the
   * run of that id, otherwise the running one. Waits up to two seconds for its end. Null: there was none yet.
   */
  endTour(by: string, id?: string): Promise<TourRun | null>;
  endDrive(by: string, id?: string): Promise<DriveRun | null>;
  /**
   * Latches in memory, ends the running activity, cancels the current move and saves the latch concurrently: no step
   * waits for another. Resolves when disk and chassis have answered, waiting 500 ms for the disk and 150 ms for the chassis
   * at most; `saved` says whether it is on disk by then. Never refused.
   */
  stopRobot(reason: string, by: string): Promise<StopLatch>;
  /** Resolves when the present state of the stop latch is on the disk, or a later one is. */
  untilStopSaved(): Promise<void>;
  /** Only for a signed-in person on site; the caller verifies that. Throws FILE_UNWRITABLE: then it stays latched. */
  clearStop(by: string): Promise<StopLatch>;
  /** Called after every change of the stop latch or the tour. */
  subscribe(listener: () => void): Disposable;
}
