import { topics } from '../chassis/wire.ts';
import type { Faults } from './faults.ts';
import { dock } from './floor.ts';
import { headingRad, reportedDegrees, wrapRad } from './heading.ts';
import { type FloorMap, mapPng } from './map-store.ts';
import { failReasonName } from './moves.ts';
import type { Aspect, Robot } from './robot.ts';

/** The unit of every `ori` on the WebSocket but that of `/tracked_pose`; which one is real is not known. */
export type OtherOriUnit = 'radians' | 'degrees';

interface TopicRow {
  /** Re-sent to a late subscriber. */
  readonly latched: boolean;
  /** Milliseconds between messages; absent where only changes are sent. */
  readonly everyMs?: number;
  /** While a move runs. */
  readonly movingMs?: number;
  readonly on?: Aspect;
}

/** The topics that this robot has, with their rhythm. The vendor states few rates; these are ours. */
export const topicTable: Readonly<Record<string, TopicRow>> = {
  [topics.pose]: { latched: true, everyMs: 100 },
  [topics.planning]: { latched: true, movingMs: 500, on: 'planning' },
  [topics.battery]: { latched: false, everyMs: 1000 },
  [topics.wheels]: { latched: false, everyMs: 1000, on: 'wheels' },
  [topics.slam]: { latched: false, everyMs: 1000, on: 'slam' },
  [topics.alerts]: { latched: true, on: 'alerts' },
  [topics.map]: { latched: true, on: 'map' },
  '/map': { latched: true, on: 'map' },
  '/map_v2': { latched: true, on: 'map' },
  '/path': { latched: true, on: 'path' },
  '/robot_model': { latched: true },
  '/sensor_manager_state': { latched: true },
};

/** Topics that came with a capability are unknown to software that does not announce it. */
export function hasTopic(topic: string, faults: Faults): boolean {
  return Object.hasOwn(topicTable, topic) && !(topic === '/map_v2' && faults.is('old-software'));
}

export interface MessageOptions {
  readonly robot: Robot;
  readonly faults: Faults;
  readonly otherOri: OtherOriUnit;
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

/** What a topic says now; undefined when it has nothing to say. */
export function topicMessage(topic: string, options: MessageOptions): object | undefined {
  const body = topicBody(topic, options);
  if (!body) return undefined;
  return { topic, ...(options.faults.is('numbers-as-text') ? (numbersAsText(body) as object) : body) };
}

/** Written out here, as a chassis that puts its values into quotes would. */
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
      const { xM, yM, yawRad } = robot.pose();
      // Degrees as measured (specification, 'Angles'), whatever the vendor's text says.
      const ori = faults.is('radians') ? millionth(yawRad) : reportedDegrees(yawRad);
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
    case topics.battery: {
      const { percentage, status, currentA, voltageV } = robot.battery();
      return {
        secs: now(),
        voltage: millionth(voltageV),
        current: currentA,
        percentage: millionth(percentage),
        power_supply_status: status,
      };
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
          overlays: JSON.parse(map.overlays) as unknown,
        }
      );
    case '/map':
      return map && { ...gridPlace(map), data: mapPng(map, 'full').toString('base64') };
    case '/map_v2':
      return map && { ...gridPlace(map), data_url: mapFile(map) };
    case '/path':
      // Milliseconds here, seconds elsewhere (vendor facts 2).
      return { stamp: Math.round(now() * 1000), positions: robot.moves.path().map(({ xM, yM }) => [xM, yM]) };
    case '/robot_model':
      return { footprint, width: 0.5 };
    case '/sensor_manager_state':
      return { power_state: 'awake' };
    default:
      return undefined;
  }
}

function gridPlace({ grid }: FloorMap): object {
  return {
    resolution: grid.resolutionM,
    size: [grid.width, grid.height],
    origin: [grid.originXM, grid.originYM],
  };
}

/** Relative, and another one when the picture is another one (vendor facts 2). */
export function mapFile(map: FloorMap): string {
  return `static-files/map-${encodeURIComponent(map.uid)}-${map.mapVersion}.png`;
}

function slamBody({ robot, faults }: MessageOptions): object {
  const reliable = robot.isReliable();
  const positioning = robot.maps.current() !== undefined;
  return {
    state: positioning ? 'positioning' : 'inactive',
    reliable,
    ...(!faults.is('old-software') && {
      position_quality: !positioning ? 0 : !reliable ? 1 : faults.is('position-poor') ? 3 : 10,
      lidar_matched: reliable,
      lidar_matching_score: reliable ? 0.93 : 0.21,
    }),
  };
}

function planningBody({ robot, faults, otherOri }: MessageOptions): object {
  const move = robot.moves.latest();
  const ori = (rad: number) => (otherOri === 'degrees' ? reportedDegrees(rad) : millionth(wrapRad(rad)));
  const common = {
    ...(robot.maps.current() && { map_uid: robot.maps.current()?.uid }),
    stuck_state: robot.moves.stoodS() > 5 ? 'move_stucked' : 'none',
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
    };
  }
  const failed = move.state === 'failed';
  const target = {
    pos: [move.order.target_x, move.order.target_y],
    ori: ori(move.order.target_ori ?? 0),
  };
  return {
    ...common,
    action_id: move.id,
    ...(!faults.is('old-software') && { action_type: move.order.type }),
    move_state: move.state === 'succeeded' && faults.is('unknown-state') ? 'finished' : move.state,
    fail_reason: failed ? move.failReason : 0,
    fail_reason_str: failed ? failReasonName(move.failReason) : 'none',
    remaining_distance: robot.moves.remainingM(),
    target_poses: [target],
    move_intent: move.state === 'moving' ? 'target' : 'none',
    intent_target_pose: target,
  };
}

function millionth(value: number): number {
  return Math.round(value * 1e6) / 1e6 + 0;
}
