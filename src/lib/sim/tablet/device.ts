import type { Clock } from '../../lifecycle/index.ts';
import type { FaultName } from '../faults.ts';
import type { Android } from './identity.ts';
import type { Packages } from './packages.ts';
import type { Properties } from './properties.ts';
import type { Screen } from './screen.ts';
import type { Settings } from './settings.ts';
import type { Storage } from './storage.ts';

/** Faults of the simulator that are faults of its tablet. */
export type TabletFault = Extract<FaultName, `tablet-${string}`>;

/** What the programs of the tablet work on. */
export interface Device {
  readonly clock: Clock;
  readonly storage: Storage;
  readonly properties: Properties;
  readonly settings: Settings;
  readonly packages: Packages;
  readonly screen: Screen;
  /** IPv4 address with the length of its range, and the name of the WLAN. */
  readonly wlan: { readonly address: string; readonly ssid: string };
  android(): Android;
  is(fault: TabletFault): boolean;
  property(name: string): string;
  hasFeature(name: string): boolean;
  /** The device owner, `package/full.Class`. */
  owner: string | undefined;
  /** Once it goes down, a further order is for a restart after it. */
  reboot(): void;
  /** Resolves when a restart begins. */
  goingDown(): Promise<void>;
  /** Sets the port until the next restart, 0 for none, and starts the bridge anew. */
  listenOnly(port: number): void;
  /** Starts the bridge anew in a moment, as settings and properties are then. */
  restartBridge(): void;
  /** Milliseconds since the start. */
  uptimeMs(): number;
}
