import type { Degrees } from '../angle/index.ts';
import type { Tried } from '../error/index.ts';
import type { Known } from '../evidence/index.ts';
import type { Service } from '../lifecycle/index.ts';
import type { DialFailure, Endpoint } from '../net/index.ts';

/** Why there is no working connection, beyond what a dial can fail with. */
export type ConnectionFailure =
  | DialFailure
  /** HTTP or WebSocket answered, but not as a chassis does. */
  | 'bad-answer'
  /** A chassis answered that has another serial number. */
  | 'wrong-device'
  /** Connected, but nothing was heard for longer than the heartbeat allows. */
  | 'silent';

/** How gw stands to the chassis right now. */
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
  /** The identity of the device: BELEGT by its use as thing name; read from `GET /device/info`, never shortened. */
  readonly serial: string;
  readonly model: string | null;
  /** Chassis software version (`axbot_version`, HINWEIS). */
  readonly software: string | null;
  /** Announced capabilities; absent means no (HINWEIS). */
  readonly capabilities: Readonly<Record<string, boolean>>;
}

/** Why a value is no longer what the robot says now. */
export type StaleReason = 'no-connection' | 'not-received-since-reconnect' | 'too-old' | 'newer-rejected';

/** A value out of the topic stream, with how well it is known and how old it is. */
export type LiveValue<T> =
  | {
      readonly status: 'not-heard';
      /** Set where messages came and none could be used: what was wrong with the last one. */
      readonly rejected?: string;
    }
  | (Known<T> & {
      readonly status: 'heard';
      /** Since its arrival, by the monotonic clock. */
      readonly ageMs: number;
      /** No connection any more, not received since it came back, too old, or a newer message was rejected. */
      readonly stale: boolean;
      /** Set while it is stale. */
      readonly staleReason?: StaleReason;
      /** Set while the newest message of this topic could not be used: what was wrong with it. */
      readonly rejected?: string;
      /**
       * Set where the parts of a value are not equally well known. The mark of the whole is then that of its
       * weakest part.
       */
      readonly parts?: Readonly<Record<string, Omit<Known<unknown>, 'value'>>>;
    });

/** Where the robot is. The topic and its `ori` are BELEGT, the shape of its position is HINWEIS. */
export interface Pose {
  /** Metres on the current map. */
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg: Degrees;
}

export interface Battery {
  /** 0 to 100. */
  readonly percent: number;
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

/** The last or running move, as the topic tells it. Its `ori` values have no known unit and stay raw in `raw`. */
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
  readonly planning: LiveValue<Planning>;
  readonly battery: LiveValue<Battery>;
  readonly wheels: LiveValue<Wheels>;
  readonly positioning: LiveValue<Positioning>;
  readonly alerts: LiveValue<readonly Alert[]>;
  readonly map: LiveValue<ActiveMap>;
}

/**
 * What the samples of `/tracked_pose` say about its unit, by what cannot be otherwise (unit-judge.ts). Radians
 * contradict the measured fact. Not decided is neither green nor an error.
 */
export interface PoseUnitVerdict {
  readonly verdict: 'degrees' | 'radians' | 'not-decided';
  readonly samples: number;
  /** Largest |ori| seen; null without samples. */
  readonly largest: number | null;
  /** For a person: why this verdict. */
  readonly reason: string;
  /**
   * Signs that the unit may be radians which are no proof: one sentence for a person, null without such signs. While
   * it is set the verdict is 'not-decided', however the samples were judged before; a later proof takes it back.
   */
  readonly doubt: string | null;
}

export interface ChassisSnapshot {
  readonly link: LinkState;
  /** How long the link has been in this kind of state. */
  readonly linkForMs: number;
  readonly identity: ChassisIdentity | null;
  readonly values: LiveValues;
  readonly poseUnit: PoseUnitVerdict;
  /** True from the moment radians were proven until gw is started anew: the motion gate stays closed. */
  readonly unitContradicted: boolean;
  /** What was wrong with what the chassis said, newest last, bounded; each with its count. */
  readonly complaints: readonly { readonly what: string; readonly count: number; readonly ageMs: number }[];
}

export interface ForwardedReply {
  readonly status: number;
  readonly body: Uint8Array;
  /** What the bytes are, whatever the chassis calls them; null unless the status is 200. */
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

/** The reading side of the REST interface. Calls that move the robot stand in moves.ts, for the motion room only. */
export interface ChassisClient extends AsyncDisposable {
  readonly endpoint: Endpoint;
  /** Identity, checked against the expected serial if one was given. Throws CHASSIS_WRONG_DEVICE among others. */
  identity(signal?: AbortSignal): Promise<ChassisIdentity>;
  /** Device information as it came (unknown fields kept). */
  deviceInfo(signal?: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
  /** `startTimeS`: when this start began, in Unix seconds by the clock of the chassis. */
  bootProgress(signal?: AbortSignal): Promise<{
    readonly progress: number;
    readonly step: string | null;
    readonly startTimeS: number | null;
  }>;
  listMaps(signal?: AbortSignal): Promise<readonly MapListItem[]>;
  /** A map's data as it came; `overlays` is still the JSON text of the wire. */
  map(id: string, signal?: AbortSignal): Promise<Readonly<Record<string, unknown>>>;
  /** The same, byte for byte, after it was checked to be a map. */
  mapBytes(id: string, signal?: AbortSignal): Promise<Uint8Array>;
  /** The map in use; null when none is. `id` is -1 for one that was set from data and never stored (HINWEIS). */
  currentMap(signal?: AbortSignal): Promise<CurrentMap | null>;
  /** Localisation data (`.pbstream`): bytes that only the chassis understands (HINWEIS). */
  mapLocalisation(id: string, signal?: AbortSignal): Promise<Uint8Array>;
  mapPng(id: string, signal?: AbortSignal): Promise<Uint8Array>;
  /**
   * A read for the operator server: the reply's bytes as they came, bounded, checked to be JSON or a PNG. Concurrent
   * identical reads are one.
   */
  forward(path: string, options: { readonly maxBytes: number; readonly signal?: AbortSignal }): Promise<ForwardedReply>;
}

/** The chassis as the daemon sees it: a service that keeps the topic stream and the live state. */
export interface ChassisLink extends Service {
  readonly client: ChassisClient;
  snapshot(): ChassisSnapshot;
  /** Called after every change of the link or a value; returns the way to stop it. */
  subscribe(listener: () => void): Disposable;
}
