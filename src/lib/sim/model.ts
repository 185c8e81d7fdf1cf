import type { Clock } from '../lifecycle/index.ts';
import type { SeenRequest } from './chassis/chassis.ts';
import type { OtherOriUnit } from './chassis/messages.ts';
import type { Cloud } from './cloud/cloud.ts';
import type { SeenEnrolment } from './cloud/enrolment.ts';
import type { FaultKind, FaultName } from './faults.ts';
import type { SimPart } from './parts.ts';
import type { SimEvent } from './sim.result.ts';
import type { Tablet, TabletOptions } from './tablet/index.ts';

export interface SimOptions {
  /** Where site file, evidence, secrets and the control handle are written; without it nothing is written. */
  readonly dir?: string;
  /** A file that names `dir` for `gw sim fault`, so that it finds the last started simulator. */
  readonly pointerFile?: string;
  /** 0, the default, takes a free port; 'usual' takes 8090 where that is free. */
  readonly chassisPort?: number | 'usual';
  /** For the site file; 5173 by default. */
  readonly operatorPort?: number;
  /** What the site has beside the robot. A password needs `dir`. */
  readonly with?: readonly SimPart[];
  /** Whether the evidence file of the site says that orders were verified; true by default. */
  readonly evidence?: boolean;
  readonly serial?: string;
  readonly software?: string;
  /** How long the robot starts; 0, the default, is ready at once. */
  readonly bootMs?: number;
  /** How many neighbours beat on UDP to 127.0.0.1, 0 (the default) to 1000. More than 0 needs `dir`. */
  readonly robots?: number;
  /** Where they beat; tests alone choose another than 45301, that of the heartbeat. */
  readonly heartbeatPort?: number;
  /** Announced capabilities beside those that the simulator has; `false` takes one away. */
  readonly capabilities?: Readonly<Record<string, boolean>>;
  /** Unit of every `ori` on the WebSocket but that of `/tracked_pose`; radians by default. */
  readonly otherOri?: OtherOriUnit;
  /** Of the tablet, where there is one. */
  readonly tablet?: Pick<TabletOptions, 'prompt' | 'isPortKept' | 'identity' | 'rebootMs' | 'freeBytes'>;
  readonly clock?: Clock;
  readonly onEvent?: (event: SimEvent) => void;
}

/** Where the simulated robot truly is, whatever it reports. Radians, because the simulator thinks in them. */
interface TrueState {
  readonly xM: number;
  readonly yM: number;
  readonly yawRad: number;
  readonly speedMS: number;
  readonly moving: boolean;
  readonly docked: boolean;
  /** Open topic connections. */
  readonly topicConnections: number;
}

interface SimEnrolment {
  readonly url: string;
  /** The certificate of its authority, which also issued its own. */
  readonly caPem: string;
  /** The file with the one-time code that is good next; null without `dir`. */
  readonly codePath: string | null;
  /** A further code for the serial number of the robot. */
  newCode(): string;
  /** Every request that came whole, refused ones too; oldest first, at most the last 1000. */
  requests(): readonly SeenEnrolment[];
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
  readonly cloud: Pick<Cloud, 'places' | 'broker'> | null;
  /** The enrolment endpoint; null without one. */
  readonly enrolment: SimEnrolment | null;
  /** The tablet; null without one. */
  readonly tablet: Pick<Tablet, 'host' | 'port' | 'identity' | 'state' | 'openPort' | 'settled'> | null;
  /** The written site file; null without `dir`. */
  readonly sitePath: string | null;
  /** The file with the clear device password; null without one. */
  readonly passwordPath: string | null;
  /** How many neighbours beat. */
  readonly robots: number;
  faults(): readonly {
    readonly name: FaultName;
    readonly on: boolean;
    readonly kind: FaultKind;
    readonly does: string;
  }[];
  setFault(name: FaultName, on: boolean): void;
  /** Resolves when the faults that were switched have taken hold. */
  settled(): Promise<void>;
  state(): TrueState;
  /** What reached the chassis, oldest first, at most the last 1000. Upgrades have the method UPGRADE. */
  requests(): readonly SeenRequest[];
}
