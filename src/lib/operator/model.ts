import type { ChassisLink } from '../chassis/index.ts';
import type { Clock, Log, ServiceHealth } from '../lifecycle/index.ts';
import type { Motion } from '../motion/index.ts';
import type { Site } from '../site/index.ts';
import type { Journal } from './journal.ts';

/** How the whole daemon is, as `GET /api/health` tells it. */
export interface GatewayHealth {
  /** 'degraded': at least one service is not running. */
  readonly status: 'ok' | 'degraded';
  /** Version of gw. */
  readonly version: string;
  readonly upForMs: number;
  readonly services: readonly ServiceHealth[];
}

/** Another robot of this site. */
export interface Neighbour {
  readonly serial: string;
  readonly address: string;
  readonly state: string;
  /** Since its last beat. */
  readonly ageMs: number;
}

/** What is known of the other robots. 'not-checked' is not 'none': nobody has listened. */
export interface NeighboursView {
  readonly status: 'listening' | 'not-checked';
  /** One sentence for a person. */
  readonly detail: string;
  readonly robots: readonly Neighbour[];
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
