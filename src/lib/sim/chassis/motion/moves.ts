import { DOCKING_DISTANCE_M, dock } from '../floor/floor.ts';
import type { Point } from '../floor/grid.ts';
import type { Planner } from '../floor/plan.ts';
import type { Deeds } from './deeds.ts';
import type { Drive, Leg } from './drive.ts';
import { headingRad, isBeyondRadians, wrapRad } from './heading.ts';
import type { PoseRad } from './kinematics.ts';
import { type MoveOrder, targetOf } from './move-order.ts';

export interface Move {
  readonly id: number;
  readonly order: MoveOrder;
  /** The ordered target, or the chosen charger. */
  goal: (Point & { readonly yawRad: number | null }) | undefined;
  /** Unix seconds. */
  readonly createTime: number;
  modifiedTime: number;
  state: 'moving' | 'succeeded' | 'failed' | 'cancelled';
  failReason: number;
  isCharging: boolean | null;
}

interface Running {
  readonly move: Move;
  failAfterS?: { seconds: number; reason: number };
  /** A missing dock is detected only in front of it. */
  failOnArrival?: number;
  /** Seconds without progress. */
  stuckS: number;
  /** Metres of its whole way. */
  wholeM?: number;
  /** It has given up the rest of its way. */
  misses?: boolean;
}

/** Time of planning, between an order and its failure. */
const PLANNING_S = 0.3;
/** Timeout of a move without progress. */
const STUCK_S = 30;
const DETECTION_S = 0.8;
/** Maximum distance from the goal of a charge order to the dock. */
const DOCK_FOUND_M = 0.4;
const DOCK_FOUND_RAD = 0.5;
const MAX_MOVES = 200;

export interface MovesOptions {
  readonly drive: Drive;
  /** Unix seconds. */
  readonly now: () => number;
  /** Undefined while no map is set. */
  readonly planner: () => Planner | undefined;
  readonly isCharging: () => boolean;
  /** The charger for a charge order without a target; undefined when the map has none. */
  readonly charger: () => PoseRad | undefined;
  /** Why the robot cannot move: a fail reason when moves fail at once, `stand` when they wait. */
  readonly obstruction: () => number | 'stand' | undefined;
  readonly deeds: Deeds;
  /** Whether the heading of a standard order is read as degrees. */
  readonly readsDegrees: () => boolean;
  readonly onChange: () => void;
}

/**
 * The moves of one robot. The vendor describes states but no transitions. Project decision: created as moving, ends
 * once as succeeded, failed or cancelled, and a new order cancels the running one.
 */
export function createMoves(options: MovesOptions) {
  const { drive, deeds } = options;
  const history: Move[] = [];
  let nextId = 1001;
  let running: Running | undefined;
  let path: readonly Point[] = [];

  function end(state: Exclude<Move['state'], 'moving'>, failReason = 0): void {
    if (!running) return;
    const { move } = running;
    running = undefined;
    move.state = state;
    move.failReason = failReason;
    move.modifiedTime = options.now();
    if (state !== 'succeeded' && !deeds.goesOn()) drive.go([]);
    path = [];
    options.onChange();
  }

  function fail(reason: number, afterS = PLANNING_S): void {
    if (running) running.failAfterS = { seconds: afterS, reason };
  }

  /** The robot leaves the dock straight ahead before it may turn. */
  function wayOutOfDock(): readonly Point[] {
    if (!options.isCharging()) return [];
    const { xM, yM, yawRad } = drive.pose();
    return [{ xM, yM }, ahead({ xM, yM }, yawRad)];
  }

  /** Plans to a point; undefined when the move fails. */
  function way(to: Point, out: readonly Point[] = []): Leg | undefined {
    const plan = options.planner()?.plan(out.at(-1) ?? drive.restingPlace(), to);
    if (!plan || 'failReason' in plan) {
      fail(plan?.failReason ?? 2);
      return undefined;
    }
    path = [...out.slice(0, -1), ...plan.points];
    return { kind: 'follow', points: path };
  }

  // Any number is read as radians, as measured: degrees result in a wrong heading and no error.
  function turnAtEnd({ target_ori: ori }: MoveOrder): Leg[] {
    if (typeof ori !== 'number') return [];
    return [{ kind: 'turn', yawRad: options.readsDegrees() ? headingRad(ori) : wrapRad(ori) }];
  }

  function startStandard(order: MoveOrder): void {
    const target = targetOf(order);
    const leg = target && way(target, wayOutOfDock());
    if (leg) drive.go([leg, ...turnAtEnd(order)]);
  }

  function startCharge(order: MoveOrder, running: Running): void {
    const charger = options.charger();
    const goal = targetOf(order) ?? charger;
    // Without a target the charger of the map is used; without one there is no usable dock.
    if (!goal) {
      fail(103);
      return;
    }
    const ori = order.target_ori ?? (goal === charger ? charger.yawRad : headingRad(dock.yawDeg));
    running.move.goal = goalOf(goal, ori);
    // The specification measured 103 for degrees; the threshold 2π is a project decision.
    if (isBeyondRadians(ori)) {
      fail(103);
      return;
    }
    if (options.isCharging()) {
      fail(104);
      return;
    }
    const dockRad = headingRad(dock.yawDeg);
    const found =
      Math.hypot(goal.xM - dock.xM, goal.yM - dock.yM) < DOCK_FOUND_M &&
      Math.abs(wrapRad(ori - dockRad)) < DOCK_FOUND_RAD;
    if (found) {
      // Once detected, the robot aligns to the dock, not to the ordered pose.
      const leg = way(ahead(dock, dockRad));
      if (leg) drive.go([leg, { kind: 'turn', yawRad: dockRad }, { kind: 'reverse', to: dock }]);
      return;
    }
    const leg = way(ahead(goal, ori));
    if (!leg) return;
    const retries = Math.max(0, Math.min(20, order.charge_retry_count ?? 0));
    drive.go([leg, { kind: 'turn', yawRad: wrapRad(ori) }, { kind: 'wait', seconds: DETECTION_S * (1 + retries) }]);
    running.failOnArrival = retries > 0 ? 100 : 101;
  }

  return {
    /** Newest first, bounded. */
    list: (): readonly Move[] => history,
    get: (id: number): Move | undefined => history.find((move) => move.id === id),
    /** The running move, or the last one. */
    latest: (): Move | undefined => history[0],
    isMoving: (): boolean => running !== undefined,
    /** Seconds without progress of the running move. */
    stuckS: (): number => running?.stuckS ?? 0,
    path: () => path,
    /** Metres to the goal of the running move. */
    remainingM: (): number => (running ? Math.round(drive.remainingM() * 1000) / 1000 : 0),

    create(order: MoveOrder): Move {
      end('cancelled');
      deeds.rest();
      const now = options.now();
      const move: Move = {
        id: nextId,
        order,
        goal: goalOf(targetOf(order), order.target_ori),
        createTime: now,
        modifiedTime: now,
        state: 'moving',
        failReason: 0,
        isCharging: null,
      };
      nextId += 1;
      history.unshift(move);
      history.length = Math.min(history.length, MAX_MOVES);
      running = { move, stuckS: 0 };
      const obstruction = options.obstruction();
      if (typeof obstruction === 'number') fail(obstruction);
      else if (order.type === 'charge') startCharge(order, running);
      else startStandard(order);
      options.onChange();
      return move;
    },

    /** False when no move was running. */
    cancel(): boolean {
      if (!running) return false;
      if (deeds.cancel()) end('cancelled');
      return true;
    },

    abort(reason: number): void {
      deeds.rest();
      end('failed', reason);
    },

    step(dt: number): void {
      const obstruction = options.obstruction();
      drive.step(dt, obstruction === undefined || !(running || deeds.goesOn()));
      deeds.step(dt);
      if (!running) return;
      if (running.failAfterS) {
        running.failAfterS.seconds -= dt;
        if (running.failAfterS.seconds <= 0) end('failed', running.failAfterS.reason);
      } else if (typeof obstruction === 'number') {
        end('failed', obstruction);
      } else {
        const waits = obstruction === 'stand';
        running.stuckS = waits ? running.stuckS + dt : 0;
        if (running.stuckS > STUCK_S) end('failed', 15);
        else if (isInTargetZone(running.move)) reachZone();
        else if (!waits && endsEarly(running)) return;
        else if (!drive.isBusy()) arrive(running);
      }
    },
  };

  /** Whether the order allows a target zone and the robot is within it (vendor facts 1.3, HINWEIS). */
  function isInTargetZone({ order, goal }: Move): boolean {
    if (order.use_target_zone !== true || order.type === 'charge' || !goal) return false;
    const { xM, yM } = drive.pose();
    return Math.hypot(goal.xM - xM, goal.yM - yM) <= (order.target_accuracy ?? 0);
  }

  function reachZone(): void {
    end('succeeded');
    drive.go([]);
  }

  /** Whether a fault ends the way of the move, or the report of it, before the goal. */
  function endsEarly(current: Running): boolean {
    if (current.failOnArrival !== undefined) return false;
    if (current.misses) return drive.speed() !== 0;
    current.wholeM ??= drive.remainingM();
    const how = deeds.endEarly(current.wholeM);
    if (how === 'succeeds-early') arrive(current);
    if (how !== 'misses') return how !== undefined;
    current.misses = true;
    drive.go(turnAtEnd(current.move.order));
    return true;
  }

  function arrive({ move, failOnArrival }: Running): void {
    if (failOnArrival !== undefined) {
      end('failed', failOnArrival);
      return;
    }
    move.isCharging = move.order.type === 'charge' ? true : null;
    end('succeeded');
  }
}

function goalOf(point: Point | undefined, yawRad: number | null | undefined): Move['goal'] {
  return point && { xM: point.xM, yM: point.yM, yawRad: yawRad ?? null };
}

/** The docking point of a dock, in front of it. */
function ahead({ xM, yM }: Point, yawRad: number): Point {
  return { xM: xM + DOCKING_DISTANCE_M * Math.cos(yawRad), yM: yM + DOCKING_DISTANCE_M * Math.sin(yawRad) };
}
