import type { ChassisLink } from '../chassis/index.ts';
import type { EvidenceReport } from '../evidence/index.ts';
import type { Clock, Log, ServiceHealth } from '../lifecycle/index.ts';
import type { Motion } from '../motion/index.ts';
import type { Site } from '../site/index.ts';
import type { Journal } from './journal.ts';

/** How the whole daemon is, as `GET /api/health` tells it. */
export interface GatewayHealth {
  /**
   * 'degraded': at least one service is not running, evidence was taken back or cannot be read, a stop could not be
   * kept or is not saved, or a folder has no room.
   */
  readonly status: 'ok' | 'degraded';
  /** Version of gw. */
  readonly version: string;
  readonly upForMs: number;
  readonly services: readonly ServiceHealth[];
  /** The evidence file against what was read at the start. */
  readonly evidence: EvidenceReport;
  readonly disk: {
    /** `stateDir`, where the stop latch is. */
    readonly state: FolderHealth;
    /** `operator.mediaDir`. */
    readonly media: FolderHealth;
  };
  /** Does not count in `status`: a log that nobody reads keeps no robot from driving or stopping. */
  readonly log: OutputHealth;
}

/** A folder of gw, and the room on its file system. */
export interface FolderHealth {
  readonly path: string;
  /** 'low': less than `disk.reserveMb` is free. 'unusable': nothing can be written there. */
  readonly status: 'ok' | 'low' | 'unusable' | 'not-checked';
  /** For gw, as the file system told last; null: not known. */
  readonly freeBytes: number | null;
  readonly totalBytes: number | null;
  /** One sentence for a person. */
  readonly detail: string;
  /** What to do about it; null when nothing is to be done. */
  readonly remedy: string | null;
}

/** How the output of the log fares. */
export interface OutputHealth {
  /**
   * 'unread': its reader does not read at the moment. 'failing': the system refuses writes (a full disk, no reader).
   * 'discarded': it goes to /dev/null.
   */
  readonly status: 'writing' | 'unread' | 'failing' | 'discarded' | 'not-checked';
  /** Since the start; null: not known. */
  readonly droppedLines: number | null;
  /** One sentence for a person. */
  readonly detail: string;
}

/** Another robot of this site. */
export interface Neighbour {
  readonly serial: string;
  /** Where its last beat came from. */
  readonly address: string;
  /** 'late' after 3 beats that did not come, 'gone' after 15. */
  readonly presence: 'alive' | 'late' | 'gone';
  /** Since its last beat. */
  readonly ageMs: number;
  /** Of its gateway, when it said so. */
  readonly upForMs: number;
  /** null: it does not know. */
  readonly moving: boolean | null;
  readonly stopped: boolean | null;
  readonly batteryPercent: number | null;
  /** Metres of its map and degrees; which map is not said. */
  readonly pose: { readonly xM: number; readonly yM: number; readonly yawDeg: number } | null;
  /** Version of its chassis software; null when it does not know. */
  readonly software: string | null;
  readonly heartbeats: number;
  /** Beats that were sent between those that came. */
  readonly lost: number;
  /** Where another device speaks with the same serial, or an old recording is played. */
  readonly conflictWith: string | null;
}

/** What is known of the other robots. 'not-checked' is not 'none': nobody has listened. */
export interface NeighboursView {
  readonly status: 'listening' | 'not-checked';
  /** One sentence for a person. */
  readonly detail: string;
  readonly robots: readonly Neighbour[];
  /** Datagrams on the port of the heartbeat that told nothing, by what was wrong; null when nobody listens. */
  readonly rejected: {
    readonly malformed: number;
    readonly otherVersion: number;
    readonly otherKey: number;
    readonly forged: number;
    readonly replayed: number;
    /** Signed, of a serial that is not known, while the table of serials is full. */
    readonly tableFull: number;
  } | null;
  /** Whether heartbeats of robots that are neither known nor in `fleet.robots` are refused; null: not known. */
  readonly isTableFull: boolean | null;
  /** Where another device speaks with the serial of this robot; null: none was heard. */
  readonly ownSerialFrom: string | null;
  /** The last beat that a person sent to see whether a path works (`gw heartbeat send`). */
  readonly lastTest: { readonly serial: string; readonly address: string; readonly ageMs: number } | null;
  /** What this gateway sends, by its own counters; null: it sends nothing. */
  readonly sending: {
    /** Serial that its heartbeats carry. */
    readonly serial: string;
    readonly heartbeats: number;
    readonly lastAgeMs: number | null;
    /** `accepted`: by the operating system. Whether a datagram arrived, only its receiver can say. */
    readonly ways: readonly {
      readonly to: string;
      readonly from: string | null;
      readonly accepted: number;
      readonly failure: string | null;
    }[];
  } | null;
  /** Datagrams that the kernel threw away on that port because it was full; null: not known. */
  readonly dropped: number | null;
}

export interface OperatorOptions {
  readonly site: Site;
  readonly link: ChassisLink;
  readonly motion: Motion;
  readonly health: () => GatewayHealth;
  readonly neighbours: () => NeighboursView;
  readonly clock: Clock;
  readonly log: Log;
  /** Folder of the built pages: style.css and live.js. */
  readonly assetsDir: string;
  /** The machine's host name, by which tablets may call it; absent, only addresses and configured names work. */
  readonly hostName?: string;
  /** The log events behind `GET /api/protokolle`; absent, those of the operator server alone. */
  readonly journal?: Journal;
}
