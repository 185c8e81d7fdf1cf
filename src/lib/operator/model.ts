import type { z } from 'zod';
import type { ChassisLink } from '../chassis/index.ts';
import type { CloudView, LinkPath, PathCheck } from '../cloud/index.ts';
import type { DayList, Delivery } from '../delivery/index.ts';
import type { DeepReadonly } from '../json/index.ts';
import type { Clock, Log } from '../lifecycle/index.ts';
import type { Motion } from '../motion/index.ts';
import type { Site } from '../site/index.ts';
import type { Support } from '../tunnel/index.ts';
import type { neighboursSchema } from './answers/neighbours.ts';
import type { GatewayHealth } from './health.ts';
import type { Journal } from './journal.ts';
import type { LogSetting } from './log-level.ts';

/** The other robots. 'not-checked' does not mean 'none': the heartbeat is not received. */
export type NeighboursView = DeepReadonly<z.infer<typeof neighboursSchema>>;
export type Neighbour = NeighboursView['robots'][number];

export interface OperatorOptions {
  readonly site: Site;
  readonly link: ChassisLink;
  readonly motion: Motion;
  /** Absent: the site file sets up no deliveries. */
  readonly delivery?: Delivery;
  /** What the robot drove, for the manager; absent in tests. */
  readonly dayList?: Pick<DayList, 'list'>;
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
  /** Folder of the generated contracts: openapi.json and asyncapi.json. */
  readonly contractsDir: string;
  /** Host name of the machine as an allowed name; absent: only addresses and configured names are allowed. */
  readonly hostName?: string;
  /** The level of the written log; absent: it cannot be changed while it runs. */
  readonly logSetting?: LogSetting;
  /** The log events behind `GET /api/protokolle`; absent, those of the operator server alone. */
  readonly journal?: Journal;
}
