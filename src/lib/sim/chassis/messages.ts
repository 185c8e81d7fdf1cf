import { topics } from '../../chassis/wire.ts';
import type { Faults } from '../faults.ts';
import { dock } from './floor/floor.ts';
import { mapPng, parseOverlays } from './maps/map-store.ts';
import { headingRad, radOfTurn, reportedDegrees, reportedDegreesOfTurn, wrapRad } from './motion/heading.ts';
import type { PoseRad } from './motion/kinematics.ts';
import { failReasonName } from './motion/move-wire.ts';
import type { Aspect, Robot } from './robot.ts';

interface TopicRow {
  /** Re-sent to a late subscriber. */
  readonly latched: boolean;
  /** Milliseconds between messages; absent when sent on change only. */
  readonly everyMs?: number;
  /** While a move runs. */
  readonly movingMs?: number;
  /** While the robot rests and the fault `rest-rates` is on. */
  readonly restMs?: number;
  readonly on?: Aspect;
}

/**
 * The topics of this robot, with their rates. The vendor states few rates: these are a project decision, those at
 * rest were observed by a public integrator (HINWEIS).
 */
export const topicTable: Readonly<Record<string, TopicRow>> = {
  [topics.pose]: { latched: true, everyMs: 100, restMs: 935 },
  [topics.planning]: { latched: true, movingMs: 500, on: 'planning' },
  [topics.battery]: { latched: false, everyMs: 1000, restMs: 5000 },
  [topics.wheels]: { latched: false, everyMs: 1000, restMs: 2000, on: 'wheels' },
  [topics.slam]: { latched: false, everyMs: 1000, restMs: 2000, on: 'slam' },
  [topics.alerts]: { latched: true, on: 'alerts' },
  [topics.map]: { latched: true, on: 'map' },
  '/map': { latched: true, on: 'map' },
  '/path': { latched: true, on: 'path' },
};

export interface MessageOptions {
  readonly robot: Robot;
  readonly faults: Faults;
  /** For the fault `noisy-pose`. */
  readonly noise: (pose: PoseRad) => PoseRad;
  /** Unix seconds. */
  readonly now: () => number;
}

/** The current message of a topic; undefined when there is none. */
export function topicMessage(topic: string, options: MessageOptions): object | undefined {
  const body = topicBody(topic, options);
  if (!body) return undefined;
  const sent = options.faults.is('half-readable') ? halfReadable(topic, body) : body;
  return { topic, ...(options.faults.is('numbers-as-text') ? (numbersAsText(sent) as object) : sent) };
}

/** For the fault `half-readable`. */
function halfReadable(topic: string, body: object): object {
  if (topic === topics.wheels) return { ...body, control_mode: 0 };
  if (topic === topics.slam) return { ...body, state: 0 };
  if (topic !== topics.alerts) return body;
  return { alerts: (body as { alerts: object[] }).alerts.map((alert) => ({ ...alert, level: 2 })) };
}

/** For the fault `numbers-as-text`. */
function numbersAsText(value: unknown): unknown {
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return value.map(numbersAsText);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, numbersAsText(member)]));
}

function topicBody(topic: string, options: MessageOptions): object | undefined {
  const { robot, now } = options;
  const map = robot.maps.current();
  switch (topic) {
    case topics.pose: {
      if (!map) return undefined;
      const { xM, yM, yawRad } = reportedPose(options);
      // Degrees as measured (specification, 'Angles'), contrary to the vendor's text.
      const ori = reportedOri(yawRad, options);
      return {
        pos: [millionth(xM), millionth(yM)],
        ori,
        cov: [
          [0.0004, 0],
          [0, 0.0004],
        ],
      };
    }
    case topics.planning:
      return planningBody(options);
    case topics.battery:
      return batteryBody(options);
    case topics.wheels:
      return {
        control_mode: robot.controlMode(),
        emergency_stop_pressed: robot.emergencyStop(),
        wheels_released: robot.controlMode() === 'manual',
      };
    case topics.slam:
      return slamBody(options);
    case topics.alerts:
      return { alerts: robot.alerts() };
    case topics.map:
      return (
        map && {
          name: map.name,
          uid: map.uid,
          map_version: map.mapVersion,
          overlays_version: map.overlaysVersion,
          overlays: parseOverlays(map.overlays),
        }
      );
    case '/map':
      return (
        map && {
          resolution: map.grid.resolutionM,
          size: [map.grid.width, map.grid.height],
          origin: [map.grid.originXM, map.grid.originYM],
          data: mapPng(map, 'full').toString('base64'),
        }
      );
    case '/path':
      // Milliseconds here, seconds elsewhere (vendor facts 2).
      return { stamp: Math.round(now() * 1000), positions: pathPositions(options) };
    default:
      return undefined;
  }
}

/** Project decision: range and speed of the reported pose under the fault `drifting-pose`. */
const drift = { radiusM: 0.15, turnRad: 0.1, periodS: 7 } as const;

function reportedPose(options: MessageOptions): PoseRad {
  const { faults, noise } = options;
  const pose = driftingPose(options);
  return faults.is('noisy-pose') ? noise(pose) : pose;
}

function driftingPose({ robot, faults, now }: MessageOptions): PoseRad {
  const pose = robot.pose();
  if (!faults.is('drifting-pose') || !robot.isAtRest()) return pose;
  const phase = (2 * Math.PI * now()) / drift.periodS;
  return {
    xM: pose.xM + drift.radiusM * Math.cos(phase),
    yM: pose.yM + drift.radiusM * Math.sin(phase),
    yawRad: wrapRad(pose.yawRad + drift.turnRad * Math.sin(phase)),
  };
}

function reportedOri(yawRad: number, { robot, faults }: MessageOptions): number {
  const sign = faults.is('clockwise') ? -1 : 1;
  if (faults.is('radians-unwrapped')) {
    const turnedRad = robot.turnedRad();
    return millionth(sign * (turnedRad + wrapRad(yawRad - turnedRad)));
  }
  return oriOfTurn(sign * yawRad, faults);
}

function oriOfTurn(yawRad: number, faults: Faults): number {
  if (faults.is('radians-0-2pi')) return millionth(radOfTurn(yawRad));
  if (faults.is('radians')) return millionth(wrapRad(yawRad));
  return faults.is('degrees-0-360') ? reportedDegreesOfTurn(yawRad) : reportedDegrees(yawRad);
}

function batteryBody({ robot, faults, now }: MessageOptions) {
  const { percentage, status, currentA, voltageV } = robot.battery();
  return {
    secs: Math.floor(now()),
    voltage: millionth(voltageV),
    current: currentA,
    percentage: millionth(percentage * (faults.is('battery-to-100') ? 100 : 1)),
    power_supply_status: status,
  };
}

/** With the heading as third value since 2.12. */
function pathPositions({ robot }: MessageOptions): number[][] {
  const points = robot.moves.path();
  return points.map(({ xM, yM }, index) => {
    const from = points[index + 1] ? { xM, yM } : (points[index - 1] ?? { xM, yM });
    const to = points[index + 1] ?? { xM, yM };
    return [xM, yM, otherOri(Math.atan2(to.yM - from.yM, to.xM - from.xM))];
  });
}

/** Every `ori` except that of `/tracked_pose` is in radians here; the unit of real robots is unknown. */
function otherOri(rad: number): number {
  return millionth(wrapRad(rad));
}

function slamBody({ robot, faults }: MessageOptions): object {
  const reliable = robot.isLocalised();
  const positioning = robot.maps.current() !== undefined;
  return {
    state: positioning ? 'positioning' : 'inactive',
    reliable,
    position_quality: !positioning ? 0 : !reliable ? 1 : faults.is('position-poor') ? 3 : 10,
    lidar_matched: reliable,
    lidar_matching_score: reliable ? 0.93 : 0.21,
    lidar_reliable: reliable,
    // Sent only while the lidar is not reliable; here the loss is complete at once.
    ...(!reliable && { position_loss_progress: 1 }),
    wheel_slipping: false,
    inter_constraint_count: reliable ? 24 : 0,
    good_constraint_count: reliable ? 24 : 0,
  };
}

function planningBody({ robot, faults }: MessageOptions): object {
  const move = robot.moves.latest();
  const common = {
    ...(robot.maps.current() && { map_uid: robot.maps.current()?.uid }),
    stuck_state: robot.moves.stuckS() > 5 ? 'move_stucked' : 'none',
    charger_pose: { pos: [dock.xM, dock.yM], ori: otherOri(headingRad(dock.yawDeg)) },
    going_back_to_charger: move?.state === 'moving' && move.order.type === 'charge',
  };
  if (!move) {
    return {
      ...common,
      action_id: 0,
      action_type: 'none',
      move_state: 'none',
      fail_reason: 0,
      fail_reason_str: 'none',
      remaining_distance: 0,
      target_poses: [],
      move_intent: 'none',
      intent_target_pose: { pos: [0, 0], ori: 0 },
    };
  }
  const failed = move.state === 'failed';
  // An order without a valid destination has no goal.
  const goal = move.goal && { pos: [move.goal.xM, move.goal.yM], ori: otherOri(move.goal.yawRad ?? 0) };
  return {
    ...common,
    action_id: move.id,
    action_type: move.order.type,
    move_state: move.state === 'succeeded' && faults.is('unknown-state') ? 'finished' : move.state,
    fail_reason: failed ? move.failReason : 0,
    fail_reason_str: failed ? failReasonName(move.failReason) : 'none',
    remaining_distance: robot.moves.remainingM(),
    target_poses: goal ? [goal] : [],
    move_intent: move.state === 'moving' ? 'target' : 'none',
    intent_target_pose: goal ?? { pos: [0, 0], ori: 0 },
  };
}

function millionth(value: number): number {
  return Math.round(value * 1e6) / 1e6 + 0;
}
