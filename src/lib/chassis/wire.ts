/**
 * Wire shapes of the chassis on port 8090, in its own names: no behaviour. The simulator may import this file and
 * nothing else of the module, so that a wrong conversion in the client is detected.
 *
 * Unless a line says otherwise, shapes are HINWEIS (vendor description). Numbers named `ori` carry no unit in
 * their type here on purpose: the unit on the wire is a fact of the ledger (see docs/evidence.md).
 */

/** @source specification, 'Chassis interface' */
export const paths = {
  deviceInfo: '/device/info',
  bootProgress: '/device/boot_progress',
  moves: '/chassis/moves',
  currentMove: '/chassis/moves/current',
  pose: '/chassis/pose',
  currentMap: '/chassis/current-map',
  maps: '/maps/',
  restartService: '/services/restart_service',
  /** The only source of state. */
  topics: '/ws/v2/topics',
} as const;

export interface DeviceInfoWire {
  axbot_version?: string;
  rosversion?: string;
  rosdistro?: string;
  device?: { model?: string; sn?: string; name?: string; nickname?: string };
  robot?: Record<string, unknown>;
  caps?: Record<string, boolean>;
  /** Without a zone; the clock and zone of the chassis are not shown by the specification. */
  time?: string;
  [more: string]: unknown;
}

export interface BootProgressWire {
  start_time: number;
  /** 0 to 1. */
  progress: number;
  logs: { stamp: number; progress: number; msg: string }[];
}

export type MoveTypeWire = 'standard' | 'charge' | (string & {});
export type MoveStateWire = 'idle' | 'moving' | 'succeeded' | 'failed' | 'cancelled' | (string & {});

export interface MoveRequestWire {
  creator: string;
  type: MoveTypeWire;
  /** Metres on the current map. */
  target_x: number;
  target_y: number;
  target_z?: number;
  /** Radians: BELEGT, specification 'Angles'. Degrees here give fail_reason 103 on a charge order. */
  target_ori?: number | null;
  target_accuracy?: number;
  charge_retry_count?: number;
  properties?: Record<string, unknown>;
}

export interface MoveWire {
  id: number;
  type?: MoveTypeWire;
  state?: MoveStateWire;
  target_x?: number;
  target_y?: number;
  target_ori?: number | null;
  fail_reason?: number;
  fail_reason_str?: string;
  fail_message?: string;
  create_time?: number;
  last_modified_time?: number;
  is_charging?: boolean | null;
  [more: string]: unknown;
}

export interface PoseRequestWire {
  /** Metres. */
  position: [number, number, number];
  /** Radians: BELEGT, specification 'Angles' (1.5708 sent is reported back as 90 degrees). */
  ori: number;
  adjust_position: boolean;
}

export interface MapListItemWire {
  id: number;
  uid: string;
  map_name: string;
  create_time: number;
  map_version: number;
  overlays_version: number;
  image_url?: string;
  thumbnail_url?: string;
  url?: string;
}

export interface MapWire extends MapListItemWire {
  last_modified_time?: number;
  /** Metres: where the lower left pixel lies. */
  grid_origin_x: number;
  grid_origin_y: number;
  /** Metres per pixel. */
  grid_resolution: number;
  /** A JSON text inside the JSON. */
  overlays: string;
}

export interface CurrentMapWire {
  /** -1 when the map was set from data. */
  id: number;
  uid: string;
  map_name: string;
  create_time: number;
  map_version: number;
  overlays_version: number;
}

/** The topics that the live state subscribes to. */
export const topics = {
  pose: '/tracked_pose',
  planning: '/planning_state',
  battery: '/battery_state',
  wheels: '/wheel_state',
  slam: '/slam/state',
  alerts: '/alerts',
  map: '/map/info',
} as const;

export interface TrackedPoseWire {
  topic: '/tracked_pose';
  /** Metres. */
  pos: [number, number];
  /** Degrees: BELEGT, specification 'Angles'. The vendor's text says radians and was wrong on the test device. */
  ori: number;
}

export interface PlanningStateWire {
  topic: '/planning_state';
  map_uid?: string;
  action_id: number;
  action_type: string;
  move_state: MoveStateWire;
  fail_reason: number;
  fail_reason_str: string;
  /** Metres. */
  remaining_distance: number;
  /** Unit of `ori` not shown. */
  target_poses: { pos: [number, number]; ori: number }[];
  stuck_state?: string;
}

export interface BatteryStateWire {
  topic: '/battery_state';
  secs: number;
  voltage: number;
  current: number;
  /** 0 to 1. */
  percentage: number;
  power_supply_status: string;
}

export interface WheelStateWire {
  topic: '/wheel_state';
  control_mode: string;
  emergency_stop_pressed: boolean;
  wheels_released?: boolean;
}

export interface SlamStateWire {
  topic: '/slam/state';
  state: string;
  /** false: position lost. */
  reliable: boolean;
  position_quality?: number;
}

export interface AlertsWire {
  topic: '/alerts';
  alerts: { code: number; level: string; msg: string }[];
}

export interface MapInfoWire {
  topic: '/map/info';
  name: string;
  uid: string;
  map_version: number;
  overlays_version: number;
  overlays: unknown;
}

export type TopicMessageWire =
  | TrackedPoseWire
  | PlanningStateWire
  | BatteryStateWire
  | WheelStateWire
  | SlamStateWire
  | AlertsWire
  | MapInfoWire;

/** Client to chassis. The list form only where `caps.supportsEnableTopicList` says so. */
export type TopicRequestWire = { enable_topic: string | string[] } | { disable_topic: string | string[] };

/** The full set of this connection, newest first; the one message without a `topic`. */
export interface TopicsEnabledWire {
  enabled_topics: string[];
}
