import { topics } from '../../chassis/wire.ts';
import type { Faults } from '../faults.ts';
import { dock } from './floor/floor.ts';
import { type FloorMap, mapPng, parseOverlays, pictureDigest } from './maps/map-store.ts';
import type { PoseRad } from './motion/drive.ts';
import { headingRad, radOfTurn, reportedDegrees, reportedDegreesOfTurn, wrapRad } from './motion/heading.ts';
import { failReasonName } from './motion/move-wire.ts';
import type { Aspect, Robot } from './robot.ts';

/** The unit of every `ori` on the WebSocket except in `/tracked_pose`; the unit of real robots is unknown. */
export type OtherOriUnit = 'radians' | 'degrees';

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
  '/detailed_battery_state': { latched: false, everyMs: 1000, restMs: 5000 },
  [topics.wheels]: { latched: false, everyMs: 1000, restMs: 2000, on: 'wheels' },
  [topics.slam]: { latched: false, everyMs: 1000, restMs: 2000, on: 'slam' },
  [topics.alerts]: { latched: true, on: 'alerts' },
  [topics.map]: { latched: true, on: 'map' },
  '/map': { latched: true, on: 'map' },
  '/map_v2': { latched: true, on: 'map' },
  '/path': { latched: true, on: 'path' },
  '/trajectory': { latched: true, movingMs: 1000 },
  '/global_positioning_state': { latched: true, on: 'global-positioning' },
  // Sent in answer to `/twist` only.
  '/twist_feedback': { latched: false },
  '/robot_model': { latched: true },
  '/sensor_manager_state': { latched: true },
};

const newerTopics = ['/map_v2', '/detailed_battery_state'];

/** Topics that software without the corresponding capability does not have. */
export function hasTopic(topic: string, faults: Faults): boolean {
  return Object.hasOwn(topicTable, topic) && !(newerTopics.includes(topic) && faults.is('old-software'));
}

export interface MessageOptions {
  readonly robot: Robot;
  readonly faults: Faults;
  readonly otherOri: OtherOriUnit;
  /** For the fault `noisy-pose`. */
  readonly noise: (pose: PoseRad) => PoseRad;
  /** Unix seconds. */
  readonly now: () => number;
}

/** The robot's outline: x to the right, y to the front, not closed (vendor facts 1.2). */
export const footprint = [
  [-0.2, -0.25],
  [0.2, -0.25],
  [0.25, 0],
  [0.2, 0.25],
  [-0.2, 0.25],
  [-0.25, 0],
];

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
  const { robot, faults, now } = options;
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
        ...(!faults.is('old-software') && {
          cov: [
            [0.0004, 0],
            [0, 0.0004],
          ],
        }),
      };
    }
    case topics.planning:
      return planningBody(options);
    case topics.battery:
      return batteryBody(options);
    case '/detailed_battery_state': {
      const body = batteryBody(options);
      const cells = Array.from({ length: CELLS }, () => millionth(body.voltage / CELLS));
      return { ...body, cell_voltages: cells, ...batteryHealth };
    }
    case topics.wheels:
      return {
        control_mode: robot.controlMode(),
        emergency_stop_pressed: robot.emergencyStop(),
        ...(!faults.is('old-software') && { wheels_released: robot.controlMode() === 'manual' }),
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
      return map && { ...gridPlace(map), data: mapPng(map, 'full').toString('base64') };
    case '/map_v2':
      return map && { stamp: thousandth(map.modifiedTime), ...gridPlace(map), data_url: mapFile(map) };
    case '/path':
      // Milliseconds here, seconds elsewhere (vendor facts 2).
      return { stamp: Math.round(now() * 1000), positions: pathPositions(options) };
    case '/trajectory':
      return { points: robot.trail.points().map(({ xM, yM }) => [millionth(xM), millionth(yM)]) };
    case '/global_positioning_state':
      return globalPositioningBody(options);
    case '/robot_model':
      return { footprint, width: 0.5 };
    case '/sensor_manager_state':
      return { power_state: 'awake' };
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

function gridPlace({ grid }: FloorMap): object {
  return {
    resolution: grid.resolutionM,
    size: [grid.width, grid.height],
    origin: [grid.originXM, grid.originYM],
  };
}

/** Relative URL that changes with the picture (vendor facts 2). */
export function mapFile(map: FloorMap): string {
  return `static-files/map-${pictureDigest(map)}.png`;
}

const CELLS = 7;
/** A worn battery. Project decision. */
const batteryHealth = { capacity: 19, design_capacity: 20, state_of_health: 0.95, cycle_count: 12 } as const;

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

/** With the heading as third value since 2.12; its unit is as unknown as that of every `ori` except the pose's. */
function pathPositions({ robot, faults, otherOri }: MessageOptions): number[][] {
  const points = robot.moves.path();
  return points.map(({ xM, yM }, index) => {
    const from = points[index + 1] ? { xM, yM } : (points[index - 1] ?? { xM, yM });
    const to = points[index + 1] ?? { xM, yM };
    const heading = oriOf(Math.atan2(to.yM - from.yM, to.xM - from.xM), otherOri);
    return [xM, yM, ...(faults.is('old-software') ? [] : [heading])];
  });
}

function globalPositioningBody({ robot, otherOri }: MessageOptions): object | undefined {
  const positioning = robot.globalPositioning.state();
  if (!positioning) return undefined;
  const { state, pose, message } = positioning;
  return {
    state,
    // Text in the vendor's book, a number in its client.
    score: state === 'succeeded' ? '93.0' : '0.0',
    needs_confirmation: false,
    ...(pose && { pose: { pos: [millionth(pose.xM), millionth(pose.yM)], ori: oriOf(pose.yawRad, otherOri) } }),
    message,
  };
}

/** An `ori` in the unit of all topics except `/tracked_pose`. */
export function oriOf(rad: number, unit: OtherOriUnit): number {
  return unit === 'degrees' ? reportedDegrees(rad) : millionth(wrapRad(rad));
}

function slamBody({ robot, faults }: MessageOptions): object {
  const reliable = robot.isLocalised();
  const positioning = robot.maps.current() !== undefined;
  return {
    state: positioning ? 'positioning' : 'inactive',
    reliable,
    ...(!faults.is('old-software') && {
      position_quality: !positioning ? 0 : !reliable ? 1 : faults.is('position-poor') ? 3 : 10,
      lidar_matched: reliable,
      lidar_matching_score: reliable ? 0.93 : 0.21,
      lidar_reliable: reliable,
      // Sent only while the lidar is not reliable; here the loss is complete at once.
      ...(!reliable && { position_loss_progress: 1 }),
      wheel_slipping: false,
      inter_constraint_count: reliable ? 24 : 0,
      good_constraint_count: reliable ? 24 : 0,
    }),
  };
}

function planningBody({ robot, faults, otherOri }: MessageOptions): object {
  const move = robot.moves.latest();
  const ori = (rad: number) => oriOf(rad, otherOri);
  const common = {
    ...(robot.maps.current() && { map_uid: robot.maps.current()?.uid }),
    stuck_state: robot.moves.stuckS() > 5 ? 'move_stucked' : 'none',
    charger_pose: { pos: [dock.xM, dock.yM], ori: ori(headingRad(dock.yawDeg)) },
    going_back_to_charger: move?.state === 'moving' && move.order.type === 'charge',
  };
  if (!move) {
    return {
      ...common,
      action_id: 0,
      ...(!faults.is('old-software') && { action_type: 'none' }),
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
  const goal = move.goal && { pos: [move.goal.xM, move.goal.yM], ori: ori(move.goal.yawRad ?? 0) };
  return {
    ...common,
    action_id: move.id,
    ...(!faults.is('old-software') && { action_type: move.order.type }),
    move_state: move.state === 'succeeded' && faults.is('unknown-state') ? 'finished' : move.state,
    fail_reason: failed ? move.failReason : 0,
    fail_reason_str: failed ? failReasonName(move.failReason) : 'none',
    remaining_distance: robot.moves.remainingM(),
    target_poses: goal ? [goal] : [],
    move_intent: move.state === 'moving' ? 'target' : 'none',
    intent_target_pose: goal ?? { pos: [0, 0], ori: 0 },
    ...(move.order.type === 'along_given_route' && {
      given_route_passed_point_count: robot.moves.passedRoutePoints(),
    }),
  };
}

function thousandth(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function millionth(value: number): number {
  return Math.round(value * 1e6) / 1e6 + 0;
}
