import type { ChassisLink } from '../chassis/index.ts';
import type { CloudView, LinkPath, PathCheck } from '../cloud/index.ts';
import type { Clock, Log } from '../lifecycle/index.ts';
import type { Motion } from '../motion/index.ts';
import type { Site } from '../site/index.ts';
import type { Support } from '../tunnel/index.ts';
import type { GatewayHealth } from './health.ts';
import type { Journal } from './journal.ts';

/** Another robot of this site. */
export interface Neighbour {
  readonly serial: string;
  /** Sender address of its last heartbeat. */
  readonly address: string;
  /** 'late' after 3 missing heartbeats, 'gone' after 15. */
  readonly presence: 'alive' | 'late' | 'gone';
  /** Since its last heartbeat. */
  readonly ageMs: number;
  /** Of its gateway, at its last heartbeat. */
  readonly upForMs: number;
  /** null: unknown to it. */
  readonly moving: boolean | null;
  readonly stopped: boolean | null;
  readonly batteryPercent: number | null;
  /** Metres of its map and degrees; the heartbeat does not name the map. */
  readonly pose: { readonly xM: number; readonly yM: number; readonly yawDeg: number } | null;
  /** Version of its chassis software; null: unknown to it. */
  readonly software: string | null;
  readonly heartbeats: number;
  /** Missing sequence numbers between the received heartbeats. */
  readonly lost: number;
  /** Address of another device that sends with the same serial, or replays old heartbeats. */
  readonly conflictWith: string | null;
}

/** The other robots. 'not-checked' does not mean 'none': the heartbeat is not received. */
export interface NeighboursView {
  readonly status: 'listening' | 'not-checked';
  /** One sentence for a person. */
  readonly detail: string;
  readonly robots: readonly Neighbour[];
  /** Rejected datagrams on the heartbeat port, by reason; null while the heartbeat is not received. */
  readonly rejected: {
    readonly malformed: number;
    readonly otherVersion: number;
    readonly otherKey: number;
    readonly forged: number;
    readonly replayed: number;
    /** Signed, from an unknown serial, while the table of serials is full. */
    readonly tableFull: number;
  } | null;
  /** Whether heartbeats of robots that are neither known nor in `fleet.robots` are rejected; null: unknown. */
  readonly isTableFull: boolean | null;
  /** Address of another device that sends with the serial of this robot; null: none received. */
  readonly ownSerialFrom: string | null;
  /** The last test heartbeat (`gw heartbeat send`). */
  readonly lastTest: { readonly serial: string; readonly address: string; readonly ageMs: number } | null;
  /** Counters of the sent heartbeats; null: none are sent. */
  readonly sending: {
    /** Serial that its heartbeats carry. */
    readonly serial: string;
    readonly heartbeats: number;
    readonly lastAgeMs: number | null;
    /** `accepted`: by the operating system. Whether a datagram arrived only its receiver knows. */
    readonly ways: readonly {
      readonly to: string;
      readonly from: string | null;
      readonly accepted: number;
      readonly failure: string | null;
    }[];
  } | null;
  /** Datagrams that the kernel dropped on that port because its buffer was full; null: unknown. */
  readonly dropped: number | null;
}

export interface OperatorOptions {
  readonly site: Site;
  readonly link: ChassisLink;
  readonly motion: Motion;
  readonly health: () => GatewayHealth;
  readonly neighbours: () => NeighboursView;
  readonly cloud: () => CloudView;
  /** Proves one path to the broker by the cloud link; null without one. */
  readonly checkCloudPath: ((path: LinkPath) => Promise<PathCheck>) | null;
  /** Remote support; null for a site file without `cloud`. */
  readonly support: Pick<Support, 'view' | 'sessions' | 'endOnSite'> | null;
  readonly clock: Clock;
  readonly log: Log;
  /** Folder of the built pages: style.css and main.js. */
  readonly assetsDir: string;
  /** Host name of the machine as an allowed name; absent: only addresses and configured names are allowed. */
  readonly hostName?: string;
  /** The log events behind `GET /api/protokolle`; absent, those of the operator server alone. */
  readonly journal?: Journal;
}
