import type { z } from 'zod';
import type { Degrees } from '../angle/index.ts';
import type { GwError } from '../error/index.ts';
import type { Known } from '../evidence/index.ts';
import type { DeepReadonly } from '../json/index.ts';
import type { Service } from '../lifecycle/index.ts';
import type { Endpoint } from '../net/index.ts';
import type { PoseSample } from './pose-sample.ts';
import type { Standing } from './standing/standing.ts';
import type { identitySchema, linkStateSchema, mapListItemSchema, poseUnitSchema, valueSchemas } from './view.ts';

type Published<S extends z.ZodType> = DeepReadonly<z.infer<S>>;
export type LinkState = Published<typeof linkStateSchema>;
/** Why there is no working connection. */
export type ConnectionFailure = Extract<LinkState, { kind: 'not-connected' }>['failure'];
export type ChassisIdentity = Published<typeof identitySchema>;

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

export interface Pose extends Published<typeof valueSchemas.pose> {
  readonly yawDeg: Degrees;
}
export type Battery = Published<typeof valueSchemas.battery>;
export type Wheels = Published<typeof valueSchemas.wheels>;
export type Positioning = Published<typeof valueSchemas.positioning>;
export type Planning = Published<typeof valueSchemas.planning>;
export type Alert = Published<typeof valueSchemas.alerts>[number];

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
  readonly map: LiveValue<Published<typeof valueSchemas.map>>;
}

export type PoseUnitVerdict = Published<typeof poseUnitSchema>;

export interface ChassisSnapshot {
  readonly link: LinkState;
  /** How long the link has been in this state. */
  readonly linkForMs: number;
  /** Time from a ping of the topic stream to its pong, as gw reads it; null while it is not measured. */
  readonly roundTripMs: number | null;
  readonly identity: ChassisIdentity | null;
  readonly values: LiveValues;
  /** The newest poses of this connection, oldest first; times by the monotonic clock. */
  readonly poses: readonly PoseSample[];
  /** Whether the robot stands, from these poses; 'not-known' without a connection. */
  readonly standing: Standing;
  readonly poseUnit: PoseUnitVerdict;
  /** True from the proof of radians until gw is restarted: the motion gate stays closed. */
  readonly unitContradicted: boolean;
  /** Faults of received messages, and answers that did not come in time; newest last, bounded. */
  readonly complaints: readonly {
    readonly what: string;
    readonly count: number;
    /** Since its last occurrence. */
    readonly ageMs: number;
    /** An answer that did not come in time. */
    readonly isLate: boolean;
  }[];
}

/**
 * Parts of the snapshot that change apart from each other: a value with a message that says something new, `standing` and
 * `unit` with their verdict. Ages, and what is too old, change with time alone.
 */
export type ChassisPart = 'link' | keyof LiveValues | 'standing' | 'unit' | 'complaints';

export interface ForwardedReply {
  readonly status: number;
  readonly body: Uint8Array;
  /** Type of the bytes, regardless of Content-Type; null unless the status is 200. */
  readonly content: 'json' | 'png' | null;
}

export type MapListItem = Published<typeof mapListItemSchema>;

/** An entry of the list of maps that cannot be read, with what can be read of it. */
export interface DamagedMapItem {
  /** Position in the list, from 1. */
  readonly entry: number;
  readonly id: number | null;
  readonly uid: string | null;
  readonly name: string | null;
  /** What is wrong with it, as a clause. */
  readonly why: string;
}

export interface MapListing {
  readonly maps: readonly MapListItem[];
  /** The other entries; each entry of a number that is listed twice is one. */
  readonly damaged: readonly DamagedMapItem[];
  /** The answer, byte for byte. */
  readonly bytes: Uint8Array;
}

export type MapFile = 'data' | 'image' | 'localisation';

export interface CurrentMap {
  readonly id: number;
  readonly uid: string | null;
  readonly name: string | null;
  readonly mapVersion: number | null;
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
  /** One damaged entry does not end the reading of the others; an answer that is no list does. */
  listMaps(signal?: AbortSignal): Promise<MapListing>;
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
   * One of these files as received: `error` says why it is not one, such as a refusal or a map without a grid. Throws
   * where no whole answer came.
   */
  mapFile(
    id: string,
    what: MapFile,
    signal?: AbortSignal,
  ): Promise<{ readonly bytes: Uint8Array; readonly error: GwError | null }>;
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
  /** That of the snapshot, which is expensive. */
  state(): LinkState;
  /** A pose was set: the poses from here on do not continue the earlier ones, and show no movement together. */
  poseWasSet(): void;
  /**
   * Called after every change of one of these parts, by default of any, until the result is disposed. A change of the link
   * concerns them all.
   */
  subscribe(listener: () => void, parts?: readonly ChassisPart[]): Disposable;
}
