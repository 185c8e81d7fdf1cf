import type { MoveRequestWire, MoveWire } from '../chassis/wire.ts';
import type { Drive, Leg } from './drive.ts';
import { DOCKING_DISTANCE_M, dock } from './floor.ts';
import type { Point } from './grid.ts';
import { headingRad, isBeyondRadians, wrapRad } from './heading.ts';
import type { Planner } from './plan.ts';

/** The vendor's numbers that this robot can fail with (vendor facts 4, HINWEIS); the texts are ours. */
const failReasons: Readonly<Record<number, readonly [name: string, message: string]>> = {
  0: ['None', ''],
  3: ['StartingPointOutOfMap', '起点不在地图内'],
  4: ['EndingPointOutOfMap', '终点不在地图内'],
  5: ['StartingPointNotInGround', '起点不可通行'],
  6: ['EndingPointNotInGround', '终点不可通行'],
  9: ['CalculationFailed', '没有可用路径'],
  15: ['MoveTimeout', '移动超时'],
  100: ['ChargeRetryCountExceeded', '对桩重试次数超限'],
  101: ['ChargeDockDetectionError', '未识别到充电桩'],
  103: ['InvalidChargeDock', '充电桩位置无效'],
  104: ['AlreadyInCharging', '正在充电'],
  1000: ['PlatformAlertError', '系统告警'],
  1003: ['MapChanged', '地图已更换'],
};

export function failReasonName(reason: number): string {
  return failReasons[reason]?.[0] ?? 'Unknown';
}

export interface Move {
  readonly id: number;
  readonly order: MoveRequestWire;
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
  /** A dock that is not there is only known once the robot stands before it. */
  failOnArrival?: number;
  /** How long it has not come on, in seconds. */
  stoodS: number;
}

/** Between an order and its refusal lies the time that planning takes. */
const PLANNING_S = 0.3;
/** This long without progress a move is given up. */
const STUCK_S = 30;
const DETECTION_S = 0.8;
/** A charge order whose goal lies further from the dock than this finds no dock. */
const DOCK_FOUND_M = 0.4;
const DOCK_FOUND_RAD = 0.5;
const MOST_MOVES = 200;

export interface MovesOptions {
  readonly drive: Drive;
  /** Unix seconds. */
  readonly now: () => number;
  /** None while no map is set. */
  readonly planner: () => Planner | undefined;
  readonly isCharging: () => boolean;
  /** What keeps the robot from moving at all: a number when moves fail at once, `stand` when they wait. */
  readonly hindrance: () => number | 'stand' | undefined;
  /** A cancel is answered as if it had ended the move, and does not. */
  readonly ignoresCancel: () => boolean;
  readonly onChange: () => void;
}

/**
 * The moves of one robot. The vendor describes states but no transitions; ours: created as moving, ends once as
 * succeeded, failed or cancelled, and a new order cancels the one under way.
 */
export function createMoves(options: MovesOptions) {
  const { drive } = options;
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
    if (state !== 'succeeded') drive.go([]);
    path = [];
    options.onChange();
  }

  function fail(reason: number, afterS = PLANNING_S): void {
    if (running) running.failAfterS = { seconds: afterS, reason };
  }

  /** From the dock the robot first drives straight out; only then it may turn. */
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

  function startStandard(order: MoveRequestWire): void {
    const leg = way({ xM: order.target_x, yM: order.target_y }, wayOutOfDock());
    if (!leg) return;
    // Whatever number comes is taken for radians, as measured: degrees give an absurd heading and no error.
    const ori = order.target_ori;
    drive.go(typeof ori === 'number' ? [leg, { kind: 'turn', yawRad: wrapRad(ori) }] : [leg]);
  }

  function startCharge(order: MoveRequestWire): void {
    const ori = order.target_ori ?? headingRad(dock.yawDeg);
    // The specification measured 103 for degrees; the threshold is not shown, ours is what no radian can be.
    if (isBeyondRadians(ori)) {
      fail(103);
      return;
    }
    if (options.isCharging()) {
      fail(104);
      return;
    }
    const goal = { xM: order.target_x, yM: order.target_y };
    const dockRad = headingRad(dock.yawDeg);
    const found =
      Math.hypot(goal.xM - dock.xM, goal.yM - dock.yM) < DOCK_FOUND_M &&
      Math.abs(wrapRad(ori - dockRad)) < DOCK_FOUND_RAD;
    if (found) {
      // Once seen, the dock itself is what the robot aligns to, not the ordered pose.
      const leg = way(ahead(dock, dockRad));
      if (leg) drive.go([leg, { kind: 'turn', yawRad: dockRad }, { kind: 'reverse', to: dock }]);
      return;
    }
    const leg = way(ahead(goal, ori));
    if (!leg || !running) return;
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
    /** How long the running move has not come on, in seconds. */
    stoodS: (): number => running?.stoodS ?? 0,
    path: () => path,
    /** Metres to the goal of the running move. */
    remainingM: (): number => (running ? Math.round(drive.remainingM() * 1000) / 1000 : 0),

    create(order: MoveRequestWire): Move {
      end('cancelled');
      const now = options.now();
      const move: Move = {
        id: nextId,
        order,
        createTime: now,
        modifiedTime: now,
        state: 'moving',
        failReason: 0,
        isCharging: null,
      };
      nextId += 1;
      history.unshift(move);
      history.length = Math.min(history.length, MOST_MOVES);
      running = { move, stoodS: 0 };
      const hindrance = options.hindrance();
      if (typeof hindrance === 'number') fail(hindrance);
      else if (order.type === 'charge') startCharge(order);
      else startStandard(order);
      options.onChange();
      return move;
    },

    /** false when nothing was under way. */
    cancel(): boolean {
      if (!running) return false;
      if (!options.ignoresCancel()) end('cancelled');
      return true;
    },

    abort(reason: number): void {
      end('failed', reason);
    },

    step(dt: number): void {
      const hindrance = options.hindrance();
      drive.step(dt, running === undefined || hindrance === undefined);
      if (!running) return;
      if (running.failAfterS) {
        running.failAfterS.seconds -= dt;
        if (running.failAfterS.seconds <= 0) end('failed', running.failAfterS.reason);
      } else if (typeof hindrance === 'number') {
        end('failed', hindrance);
      } else {
        running.stoodS = hindrance === 'stand' ? running.stoodS + dt : 0;
        if (running.stoodS > STUCK_S) end('failed', 15);
        else if (!drive.isBusy()) arrive(running);
      }
    },
  };

  function arrive({ move, failOnArrival }: Running): void {
    if (failOnArrival !== undefined) {
      end('failed', failOnArrival);
      return;
    }
    move.isCharging = move.order.type === 'charge' ? true : null;
    end('succeeded');
  }
}

export type Moves = ReturnType<typeof createMoves>;

/** Vendor facts 1.3: the move object; the history lacks the target fields. */
export function moveWire(move: Move, form: 'item' | 'full', succeededWord: string): MoveWire {
  const { order } = move;
  const failed = move.state === 'failed';
  return {
    id: move.id,
    type: order.type,
    state: move.state === 'succeeded' ? succeededWord : move.state,
    creator: order.creator,
    is_charging: move.isCharging,
    fail_reason: failed ? move.failReason : 0,
    fail_reason_str: failed ? failReasonName(move.failReason) : 'None - None',
    fail_message: failed ? (failReasons[move.failReason]?.[1] ?? '') : '',
    create_time: move.createTime,
    last_modified_time: move.modifiedTime,
    ...(form === 'full' && {
      target_x: order.target_x,
      target_y: order.target_y,
      target_z: order.target_z ?? 0,
      target_ori: order.target_ori ?? null,
      target_accuracy: order.target_accuracy ?? 0,
    }),
  };
}

/** Where the docking point of a dock lies: in front of it. */
function ahead({ xM, yM }: Point, yawRad: number): Point {
  return { xM: xM + DOCKING_DISTANCE_M * Math.cos(yawRad), yM: yM + DOCKING_DISTANCE_M * Math.sin(yawRad) };
}
