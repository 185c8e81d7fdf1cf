import type { Degrees } from '../angle/index.ts';
import type { Pose } from '../chassis/index.ts';
import type { Actionable } from '../evidence/index.ts';
import type { Service } from '../lifecycle/index.ts';

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
  readonly moveId: number;
  readonly state: 'succeeded' | 'failed' | 'cancelled' | 'unknown';
  /** The number of the chassis, passed through; only 103 has a measured meaning. */
  readonly failReason: number | null;
  readonly failReasonText: string | null;
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

export interface StopLatch {
  readonly latched: boolean;
  readonly reason: string | null;
  readonly by: string | null;
  /** UTC, for people. */
  readonly since: string | null;
}

/** Why an order would be refused now; empty when the gate is open for plain moves. */
export interface GateView {
  readonly open: boolean;
  readonly reasons: readonly string[];
}

export interface MotionStatus {
  readonly gate: GateView;
  readonly stop: StopLatch;
  readonly tour: TourRun | null;
}

/** The one door to movement. Orders that stop the robot are never gated. */
export interface Motion extends Service {
  status(): MotionStatus;
  /** Throws MOTION_REFUSED, MOTION_STOPPED, CHASSIS_NOT_CONNECTED, MOVE_FAILED. Resolves when the move has ended. */
  execute(order: Order, signal?: AbortSignal): Promise<MoveOutcome>;
  /** Checks and starts; the run goes on in the background. Throws TOUR_UNKNOWN, TOUR_RUNNING and as `execute`. */
  startTour(name: string): Promise<TourRun>;
  /** Latches first (durably), then ends the tour and cancels the current move. Never refused. */
  stopRobot(reason: string, by: string): Promise<StopLatch>;
  /** Only for a signed-in person on site; the caller has checked that. */
  clearStop(by: string): Promise<StopLatch>;
  subscribe(listener: () => void): Disposable;
}
