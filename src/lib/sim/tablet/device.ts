import type { Clock } from '../../lifecycle/index.ts';
import type { FaultName } from '../faults.ts';
import type { Android, Properties } from './identity.ts';
import type { Packages } from './packages/packages.ts';
import type { Screen, Settings } from './settings.ts';
import type { Storage } from './storage.ts';

/** The faults that affect the tablet. */
export type TabletFault = Extract<FaultName, `tablet-${string}`>;

/** The state of the tablet that its programs use. */
export interface Device {
  readonly clock: Clock;
  readonly storage: Storage;
  readonly properties: Properties;
  readonly settings: Settings;
  readonly packages: Packages;
  readonly screen: Screen;
  /** IPv4 address with prefix length, and SSID of the WLAN. */
  readonly wlan: { readonly address: string; readonly ssid: string };
  android(): Android;
  is(fault: TabletFault): boolean;
  property(name: string): string;
  hasFeature(name: string): boolean;
  /** The device owner, `package/full.Class`. */
  owner: string | undefined;
  /** Once shutting down, a further call requests another restart after it. */
  reboot(): void;
  /** Resolves when a restart begins. */
  goingDown(): Promise<void>;
  /** Sets the port until the next restart, 0 for none, and restarts the bridge. */
  listenOnly(port: number): void;
  /** Restarts the bridge after a short delay, with the settings and properties at that time. */
  restartBridge(): void;
  /** Milliseconds since boot. */
  uptimeMs(): number;
}
