import type { Degrees } from '../angle/index.ts';
import type { Tried } from '../error/index.ts';
import type { Known } from '../evidence/index.ts';
import type { Service } from '../lifecycle/index.ts';
import type { DialFailure, Endpoint } from '../net/index.ts';
import type { PoseSample, PoseUnit } from './pose-sample.ts';
import type { Standing } from './standing/standing.ts';

/** Why there is no working connection, in addition to the failures of a dial. */
export type ConnectionFailure =
  | DialFailure
  /** The peer speaks HTTP or WebSocket, but does not respond as a chassis. */
  | 'bad-answer'
  /** A chassis with another serial number. */
  | 'wrong-device'
  /** Connected, but no data received within the heartbeat timeout. */
  | 'silent';

/** State of the connection to the chassis. */
export type LinkState =
  | { readonly kind: 'connecting'; readonly tried: Tried }
  | {
      readonly kind: 'not-connected';
      readonly failure: ConnectionFailure;
      /** One sentence for a person, without the address (that is in `tried`). */
      readonly detail: string;
      readonly tried: Tried;
      /** Set with failure 'wrong-device'. */
      readonly foundSerial?: string;
    }
  /** The chassis answers 503 while it starts. */
  | { readonly kind: 'booting'; readonly progress: number | null; readonly step: string | null; readonly tried: Tried }
  | { readonly kind: 'connected'; readonly tried: Tried };

export interface ChassisIdentity {
  /** The identity of the device: BELEGT by its use as cloud thing name; read from `GET /device/info`, never shortened. */
  readonly serial: string;
  readonly model: string | null;
  /** Chassis software version (`axbot_version`, HINWEIS). */
  readonly software: string | null;
  /** Announced capabilities; absent means no (HINWEIS). */
  readonly capabilities: Readonly<Record<string, boolean>>;
}

/** Why a value is no longer current. */
export type StaleReason = 'no-connection' | 'not-received-since-reconnect' | 'too-old' | 'newer-rejected';

/** A value from the topic stream, with evidence mark and age. */
export type LiveValue<T> =
  | {
      readonly status: 'not-received';
      /** Set where every message was rejected: the fault of the last one. */
      readonly rejected?: string;
    }
  | (Known<T> & {
      readonly status: 'received';
      /** Since its arrival, by the monotonic clock. */
      readonly ageMs: number;
      /** No connection, not received since the reconnect, too old, or a newer message was rejected. */
      readonly stale: boolean;
      /** Set while it is stale. */
      readonly staleReason?: StaleReason;
      /**
       * Set from a rejected message of this topic until one is read well, also over a reconnect: its fault. Meanwhile the
       * value holds what the rejected messages say against a drive (closing.ts).
       */
      readonly rejected?: string;
      /**
       * Set where the parts of a value have different marks. The mark of the whole is then the weakest of them.
       */
      readonly parts?: Readonly<Record<string, Omit<Known<unknown>, 'value'>>>;
    });

/** Pose of the robot. The topic and its `ori` are BELEGT, the shape of its position is HINWEIS. */
export interface Pose {
  /** Metres on the current map. */
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg: Degrees;
}

export interface Battery {
  /** 0 to 100, read as a share of 1 (HINWEIS). */
  readonly percent: number;
  /** Set while the scale is not decided: the percent if this chassis counts to 100. */
  readonly orPercent?: number;
  readonly status: string;
}

export interface Wheels {
  readonly controlMode: string;
  readonly emergencyStopPressed: boolean;
  /** Absent where the software does not send it (depends on the model), null where it cannot be read. */
  readonly wheelsReleased?: boolean | null;
}

export interface Positioning {
  readonly state: string;
  readonly reliable: boolean;
  /** 0 unknown, 1 lost, 3 poor, 8 good, 10 excellent; absent where the software does not send it, null where it cannot be read. */
  readonly quality?: number | null;
}

/** The last or running move from `/planning_state`. Its `ori` values have no known unit and stay in `raw`. */
export interface Planning {
  readonly actionId: number;
  readonly actionType: string;
  readonly moveState: string;
  readonly failReason: number;
  readonly failReasonText: string;
  readonly remainingDistanceM: number | null;
  readonly raw: Readonly<Record<string, unknown>>;
}

export interface Alert {
  readonly code: number;
  readonly level: string;
  readonly message: string;
}

interface ActiveMap {
  readonly name: string;
  readonly uid: string;
  readonly mapVersion: number | null;
  readonly overlaysVersion: number | null;
}

export interface LiveValues {
  readonly pose: LiveValue<Pose>;
  readonly planning: LiveValue<Planning> & {
    /** Set while a rejected message reports a running move. */
    readonly rejectedMoving?: true;
  };
  readonly battery: LiveValue<Battery>;
  readonly wheels: LiveValue<Wheels>;
  readonly positioning: LiveValue<Positioning>;
  readonly alerts: LiveValue<readonly Alert[]>;
  readonly map: LiveValue<ActiveMap>;
}

/**
 * Verdict on the unit of `/tracked_pose`, from its samples (unit/judge.ts). Radians contradict the measured fact.
 * 'not-decided' is neither green nor an error.
 */
export interface PoseUnitVerdict {
  readonly verdict: PoseUnit;
  readonly samples: number;
  /** Largest |ori| seen; null without samples. */
  readonly largest: number | null;
  /** One sentence: why this verdict. */
  readonly reason: string;
  /**
   * Indications of radians that prove nothing, or of a heading that fits no unit: one sentence, null without them. While
   * it is set the verdict is 'not-decided', whatever it was before; a later proof of degrees clears it.
   */
  readonly doubt: string | null;
  /** Set where the heading fits neither unit while the robot drives; only courses that fit degrees clear it. */
  readonly misfit?: true;
}

export interface ChassisSnapshot {
  readonly link: LinkState;
  /** How long the link has been in this state. */
  readonly linkForMs: number;
  readonly identity: ChassisIdentity | null;
  readonly values: LiveValues;
  /** The newest poses of this connection, oldest first; times by the monotonic clock. */
  readonly poses: readonly PoseSample[];
  /** Whether the robot stands, from these poses; 'not-known' without a connection. */
  readonly standing: Standing;
  readonly poseUnit: PoseUnitVerdict;
  /** True from the proof of radians until gw is restarted: the motion gate stays closed. */
  readonly unitContradicted: boolean;
  /** Faults of received messages, newest last, bounded; each with its count. */
  readonly complaints: readonly { readonly what: string; readonly count: number; readonly ageMs: number }[];
}

export interface ForwardedReply {
  readonly status: number;
  readonly body: Uint8Array;
  /** Type of the bytes, regardless of Content-Type; null unless the status is 200. */
  readonly content: 'json' | 'png' | null;
}

export interface MapListItem {
  readonly id: number;
  readonly uid: string | null;
  readonly name: string;
  readonly mapVersion: number | null;
  readonly overlaysVersion: number | null;
}

export interface CurrentMap {
  readonly id: number;
  readonly uid: string | null;
  readonly name: string | null;
}

/** The read calls of the REST interface. Calls that move the robot are in moves.ts, for the motion module only. */
export interface ChassisClient extends AsyncDisposable {
  readonly endpoint: Endpoint;
  /** Identity, checked against the expected serial if one was given. Throws CHASSIS_WRONG_DEVICE among others. */
  identity(signal?: AbortSignal): Promise<ChassisIdentity>;
  /** Device information unchanged (unknown fields kept). */
  deviceInfo(signal?: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
  /** `startTimeS`: when this start began, in Unix seconds by the clock of the chassis. */
  bootProgress(signal?: AbortSignal): Promise<{
    readonly progress: number;
    readonly step: string | null;
    readonly startTimeS: number | null;
  }>;
  listMaps(signal?: AbortSignal): Promise<readonly MapListItem[]>;
  /** Map data unchanged; `overlays` is still the JSON text of the wire. */
  map(id: string, signal?: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
  /** The same byte for byte, after its shape was checked. */
  mapBytes(id: string, signal?: AbortSignal): Promise<Uint8Array>;
  /** The current map; null when none is. `id` is -1 for one that was set from data and never stored (HINWEIS). */
  currentMap(signal?: AbortSignal): Promise<CurrentMap | null>;
  /** Localisation data (`.pbstream`): opaque bytes of the chassis (HINWEIS). */
  mapLocalisation(id: string, signal?: AbortSignal): Promise<Uint8Array>;
  mapPng(id: string, signal?: AbortSignal): Promise<Uint8Array>;
  /**
   * A read for the operator server: the bytes of the response, bounded, verified to be JSON or a PNG. Concurrent
   * identical reads are coalesced.
   */
  forward(path: string, options: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<ForwardedReply>;
}

/** The chassis link of the daemon: a service that maintains the topic stream and the live state. */
export interface ChassisLink extends Service {
  readonly client: ChassisClient;
  snapshot(): ChassisSnapshot;
  /** A pose was set: the poses from here on do not continue the earlier ones, and show no movement together. */
  poseWasSet(): void;
  /** Called after every change of the link or a value, until the result is disposed. */
  subscribe(listener: () => void): Disposable;
}
