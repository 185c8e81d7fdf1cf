/**
 * What the chassis says and hears on port 8090, in its own words: shapes only, no behaviour. The simulator may
 * import this file and nothing else of the room, so that a wrong conversion of the client shows.
 *
 * Unless a line says otherwise, shapes are HINWEIS (vendor description). Numbers named `ori` carry no unit in
 * their type here on purpose: which unit is on the wire is a fact of its own (see docs/evidence.md).
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

export interface BootProgressWire {
  start_time: number;
  /** 0 to 1. */
  progress: number;
  logs: { stamp: number; progress: number; msg: string }[];
}

type MoveTypeWire = 'standard' | 'charge' | (string & {});

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

/** The topics that the live state listens to. */
export const topics = {
  pose: '/tracked_pose',
  planning: '/planning_state',
  battery: '/battery_state',
  wheels: '/wheel_state',
  slam: '/slam/state',
  alerts: '/alerts',
  map: '/map/info',
} as const;

/** Client to chassis. The list form only where `caps.supportsEnableTopicList` says so. */
export type TopicRequestWire = { enable_topic: string | string[] } | { disable_topic: string | string[] };
