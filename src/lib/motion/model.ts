import type { z } from 'zod';
import type { Degrees } from '../angle/index.ts';
import type { Pose } from '../chassis/index.ts';
import type { GwError } from '../error/index.ts';
import type { Actionable } from '../evidence/index.ts';
import type { DeepReadonly } from '../json/index.ts';
import type { Service } from '../lifecycle/index.ts';
import type { PlaceMap } from '../site/index.ts';
import type { Trials } from './trial/model.ts';
import type {
  driveRunSchema,
  frameFaultSchema,
  gateViewSchema,
  goalArrivalSchema,
  keepingTroubleSchema,
  motionStatusSchema,
  moveOutcomeSchema,
  poseAlarmSchema,
  repeatedStopsSchema,
  standstillSchema,
  stopLatchSchema,
  tourRunSchema,
  unownedMoveSchema,
} from './view.ts';

type Published<S extends z.ZodType> = DeepReadonly<z.infer<S>>;
export type Arrival = Published<typeof goalArrivalSchema>;
export type MoveOutcome = Published<typeof moveOutcomeSchema>;
export type TourRun = Published<typeof tourRunSchema>;
export type DriveRun = Published<typeof driveRunSchema>;
export type UnownedMove = Published<typeof unownedMoveSchema>;
export type StopLatch = Published<typeof stopLatchSchema>;
export type RepeatedStops = Published<typeof repeatedStopsSchema>;
export type Standstill = Published<typeof standstillSchema>;
export type KeepingTrouble = Published<typeof keepingTroubleSchema>;
export type FrameFault = Published<typeof frameFaultSchema>;
export type GateView = Published<typeof gateViewSchema>;
export type PoseAlarmView = Published<typeof poseAlarmSchema>;
export type MotionStatus = Published<typeof motionStatusSchema>;

/** A place in the frame of one map; null: which map is not known, and no order passes. */
interface InMap {
  readonly map: PlaceMap | null;
}

/** Target of a move, metres on its map; without `yawDeg` the chassis chooses its heading. */
export interface Goal extends InMap {
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg?: Degrees;
}

/** Every order that moves the robot. Its values must be actionable: see the evidence module. */
export type Order =
  | { readonly kind: 'move'; readonly goal: Actionable<Goal> }
  | { readonly kind: 'dock'; readonly goal: Actionable<Goal & { readonly yawDeg: Degrees }> }
  | { readonly kind: 'pose'; readonly pose: Actionable<Pose & InMap> };

/** An order after which the robot is to stand at a goal. */
export type DriveOrder = Exclude<Order, { kind: 'pose' }>;

/** How a run belongs to the client that ordered it. */
export interface RunOptions {
  /**
   * The client supervises the run: without `keepAlive` of its id for 3 s it is ended and its move cancelled. Absent or
   * false: it continues without its client, as a tour that a person starts on the tablet.
   */
  readonly keepAlive?: boolean | undefined;
  /** Alerts that a person passes for this run, by their numbers: only for a signed-in person; the caller verifies that. */
  readonly although?: readonly number[] | undefined;
  /** Who ordered it. 'itself': no person; a drive then needs every fact verified on this chassis. Absent: not known. */
  readonly by?: DriveRun['by'] | undefined;
}

/** Target of a single drive. */
export type DriveTarget = { readonly station: string } | { readonly dock: true };

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

/** The single path to movement. Orders that stop the robot are never gated. */
export interface Motion extends Service {
  status(): MotionStatus;
  /** Those parts of the status that cost nothing: of two hundred stops in a moment each one changes it. */
  runs(): Pick<MotionStatus, 'tour' | 'drive' | 'stop'>;
  /** Supervised first orders: through the same gate, with their own rules. */
  readonly trials: Trials;
  /**
   * Executes one order and resolves with its outcome, whatever it is: check `state`. Throws when no order was sent: MOTION_REFUSED, MOTION_STOPPED, TOUR_RUNNING, CHASSIS_NOT_CONNECTED, CHASSIS_BOOTING,
   * CHASSIS_WRONG_DEVICE, CHASSIS_REFUSED. Aborting the signal cancels the move.
   */
  execute(order: Order, signal?: AbortSignal): Promise<MoveOutcome>;
  /** Checks and starts; the run continues in the background. Throws TOUR_UNKNOWN, TOUR_RUNNING and as `execute`. */
  startTour(name: string, options?: RunOptions): Promise<TourRun>;
  /**
   * Pauses the running tour: its move is cancelled, nothing is latched, and the tour stays at its station. With an `id` only
   * the run of that id. Waits up to two seconds for the pause. Throws TOUR_NOT_RUNNING, and nothing else.
   */
  pauseTour(by: string, id?: string): Promise<TourRun>;
  /** Drives on to the station of this paused tour. Throws TOUR_NOT_PAUSED, and as `execute`: then it stays paused. */
  resumeTour(name: string, options?: Pick<RunOptions, 'although'>): Promise<TourRun>;
  /** The same for a single drive. Throws STATION_UNKNOWN, also for a dock that the site file does not name. */
  startDrive(target: DriveTarget, options?: RunOptions): Promise<DriveRun>;
  /** Why a drive that begins by itself would be refused now; null: it would not. Throws STATION_UNKNOWN. */
  refusalOfUnattended(target: DriveTarget): GwError | null;
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
