import type { Clock } from '../lifecycle/index.ts';
import type { ReceivedRequest } from './chassis/http/reception.ts';
import type { ReceivedEnrolment } from './cloud/enrolment.ts';
import type { CloudControl, CloudSettings } from './cloud/model.ts';
import type { FaultKind, FaultName } from './faults.ts';
import type { SimEvent } from './sim.result.ts';
import type { Tablet, TabletOptions } from './tablet/index.ts';

/** Optional simulated parts of the site. */
export const simParts = ['voice', 'building', 'password', 'enrolment', 'cloud', 'tablet'] as const;
export type SimPart = (typeof simParts)[number];

export interface SimOptions {
  /** Folder for site file, evidence, secrets and control handle; without it nothing is written. */
  readonly dir?: string;
  /** File to write `dir` to, so that `gw sim fault` finds the last started simulator. */
  readonly pointerFile?: string;
  /** 0, the default, chooses a free port; 'usual' uses 8090 if free. */
  readonly chassisPort?: number | 'usual';
  /** For the site file; 5173 by default. */
  readonly operatorPort?: number;
  /** Simulated parts of the site beside the robot. A password needs `dir`. */
  readonly with?: readonly SimPart[];
  /** Whether the evidence file contains the facts that orders rely on; true by default. */
  readonly evidence?: boolean;
  readonly serial?: string;
  readonly software?: string;
  /** Boot time of the robot; 0, the default, is ready at once. */
  readonly bootMs?: number;
  /** Number of neighbours that send heartbeats to 127.0.0.1, 0 (the default) to 1000. More than 0 needs `dir`. */
  readonly robots?: number;
  /** UDP port of the heartbeats; tests only, 45301 by default. */
  readonly heartbeatPort?: number;
  /** Changes to the announced capabilities; `false` removes one. */
  readonly capabilities?: Readonly<Record<string, boolean>>;
  /** Maximum speed of the robot in metres per second, 0.02 to 1 (the default); its settings limit it further. */
  readonly speedMS?: number;
  /** Minimum interval between two messages of `/tracked_pose`, also while it drives; 100 (the default) to 10,000. */
  readonly poseMs?: number;
  /** Options of the tablet, if there is one. */
  readonly tablet?: Pick<TabletOptions, 'prompt' | 'isPortKept' | 'identity' | 'rebootMs' | 'freeBytes'>;
  /** Settings of the cloud, if there is one. */
  readonly cloud?: CloudSettings;
  readonly clock?: Clock;
  readonly onEvent?: (event: SimEvent) => void;
}

/** The true state of the robot, whatever it reports. Headings in radians, as everywhere in the simulator. */
interface TrueState {
  readonly xM: number;
  readonly yM: number;
  readonly yawRad: number;
  readonly speedMS: number;
  /** A move runs, by its report: some faults drive without one. */
  readonly moving: boolean;
  readonly docked: boolean;
  /** Number of open topic connections. */
  readonly topicConnections: number;
}

export interface SimEnrolment {
  readonly url: string;
  /** The CA certificate, also of the endpoint's own certificate. */
  readonly caPem: string;
  /** The file with the next valid one-time code; null without `dir`. */
  readonly codePath: string | null;
  /** Creates a further code for this serial number, by default that of the robot. */
  newCode(serial?: string): string;
  /** Accepts no certificate any more that it has issued for this serial number, by default that of the robot. */
  revoke(serial?: string): void;
  /** Every complete request, also refused ones; oldest first, at most the last 1000. */
  requests(): readonly ReceivedEnrolment[];
}

export interface Sim extends AsyncDisposable {
  readonly chassis: {
    readonly host: string;
    readonly port: number;
    readonly serial: string;
    readonly software: string;
  };
  readonly voiceUrl: string | null;
  readonly buildingUrl: string | null;
  /** Broker, object storage and tunnel service; null without them. */
  readonly cloud: CloudControl | null;
  /** The enrolment endpoint; null without one. */
  readonly enrolment: SimEnrolment | null;
  /** The tablet; null without one. */
  readonly tablet: Pick<Tablet, 'host' | 'port' | 'identity' | 'state' | 'openPort' | 'settled'> | null;
  /** The written site file; null without `dir`. */
  readonly sitePath: string | null;
  /** The file with the clear device password; null without one. */
  readonly passwordPath: string | null;
  /** Number of neighbours that send heartbeats. */
  readonly robots: number;
  faults(): readonly {
    readonly name: FaultName;
    readonly on: boolean;
    readonly kind: FaultKind;
    readonly effect: string;
  }[];
  setFault(name: FaultName, on: boolean): void;
  /** Resolves when all fault changes are in effect. */
  settled(): Promise<void>;
  state(): TrueState;
  /** Requests to the chassis, oldest first, at most the last 1000. Upgrades have the method UPGRADE. */
  requests(): readonly ReceivedRequest[];
}
