import { randomBytes, randomUUID } from 'node:crypto';
import { type Clock, firstOf, systemClock } from '../../lifecycle/index.ts';
import { createFaults, type FaultName, type Faults } from '../faults.ts';
import { createBridgePort, RESTART_DELAY_MS } from './adb/bridge-port.ts';
import { serveConnection, type TabletHost } from './adb/connection.ts';
import { createKeyring, type PromptAnswer } from './adb/keyring.ts';
import { findService } from './adb/services.ts';
import type { Device, TabletFault } from './device.ts';
import {
  createProperties,
  DEFAULT_IDENTITY,
  defaultAndroid,
  type Identity,
  OTHER_IDENTITY,
  oldAndroid,
} from './identity.ts';
import { createPackages } from './packages/packages.ts';
import { homeOf } from './programs/activity.ts';
import { createScreen, createSettings } from './settings.ts';
import { contentOf, createStorage } from './storage.ts';

/** Reported WLAN by default, from an address range for documentation. */
export const DEFAULT_WLAN = { address: '192.0.2.5/28', segment: '192.0.2.0/28', ssid: 'gw-sim' } as const;
const GIB = 1024 ** 3;
const CAPACITY_BYTES = 24 * GIB;
const USED_BYTES = 8 * GIB;
const REBOOT_MS = 3000;
const SLOW_REBOOT_MS = 120_000;
/** Fraction of a restart after which the bridge listens again, before the rest of the system is up. */
const BRIDGE_UP_PART = 0.6;
const POLL_MS = 50;
const SLOW_PROMPT_MS = 8000;
const SLOW_BYTES_PER_MS = 500;
const CUT_AFTER_BYTES = 256 * 1024;
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

export interface TabletOptions {
  /** TCP port on 127.0.0.1; 0, the default, chooses a free one. Not 5555 to 5585: a starting adb server scans these for
   * emulators and would list the tablet twice. */
  readonly port?: number;
  /** Whether the port is open again after a restart (`persist.adb.tcp.port`), as on some kiosk tablets. */
  readonly isPortKept?: boolean;
  /** Answer of the person at the tablet to 'Allow debugging?'; at once by default. */
  readonly prompt?: PromptAnswer;
  readonly identity?: Partial<Identity>;
  /** Duration of a restart; 3 s by default. */
  readonly rebootMs?: number;
  /** Free space of the data partition; 16 GiB by default. */
  readonly freeBytes?: number;
  /** Reported IPv4 address with prefix length, and SSID. */
  readonly wlan?: { readonly address: string; readonly ssid: string };
  /** Shared with a simulator; separate by default. */
  readonly faults?: Faults;
  readonly clock?: Clock;
  /** The port was opened or closed, or could not be opened. */
  readonly onPort?: (port: number | null, problem?: string) => void;
}

/** True state of the tablet, for tests. */
interface TabletState {
  /** The open port; null while closed. */
  readonly port: number | null;
  readonly phase: 'running' | 'restarting';
  readonly connections: number;
  /** Number of 'Allow debugging?' prompts shown. */
  readonly prompts: number;
  /** Fingerprints of the allowed keys. */
  readonly allowedKeys: readonly string[];
  readonly packages: readonly {
    readonly name: string;
    readonly versionCode: number;
    readonly state: string;
    /** SHA-256 of the installed file; null for system packages. */
    readonly sha256: string | null;
  }[];
  readonly deviceOwner: string | null;
  readonly lockTask: boolean;
  /** `package/full.Class` of the activity in front. */
  readonly front: string;
}

export interface Tablet extends AsyncDisposable {
  readonly host: string;
  /** The port that it was started with. */
  readonly port: number;
  readonly identity: Identity;
  state(): TabletState;
  setFault(name: TabletFault, on: boolean): void;
  /** Must be called on every change of shared faults. Resolves when the change is in effect. */
  applyFault(name: FaultName, on: boolean): Promise<void>;
  /** A person at the tablet switches debugging over TCP on, at its first port. */
  openPort(): Promise<void>;
  /** A person at the tablet changes a setting. */
  touch(namespace: 'system' | 'secure' | 'global', key: string, value: string): void;
  /** A person restarts the tablet. */
  restart(): Promise<void>;
  /** A person resets the tablet to factory settings: it restarts as delivered, with debugging off. */
  factoryReset(): Promise<void>;
  /** Resolves when no change of the port and no restart is pending. */
  settled(): Promise<void>;
}

/** Starts a tablet with the Android debug bridge on 127.0.0.1. Throws PORT_IN_USE. */
export async function startTablet(options: TabletOptions = {}): Promise<Tablet> {
  const { clock = systemClock, rebootMs = REBOOT_MS, onPort = () => {} } = options;
  const ownIdentity = { ...DEFAULT_IDENTITY, ...options.identity };
  const faults = options.faults ?? createFaults((name, on) => void applyFault(name, on));
  const android = () => (faults.is('tablet-old') ? oldAndroid : defaultAndroid);
  const identity = () => (faults.is('tablet-other') ? OTHER_IDENTITY : ownIdentity);
  const ending = new AbortController();
  let phase: TabletState['phase'] = 'running';
  /** A restart was requested and has not begun. */
  let isGoingDown = false;
  let startedMs = clock.monotonicMs();
  let down = Promise.withResolvers<void>();

  const properties = createProperties(() => ({ identity: identity(), android: android() }));
  const storage = createStorage({
    clock,
    capacityBytes: CAPACITY_BYTES,
    usedBytes: options.freeBytes === undefined ? USED_BYTES : CAPACITY_BYTES - options.freeBytes,
    isFull: () => faults.is('tablet-full'),
  });
  for (const folder of [
    '/',
    '/data',
    '/data/app',
    '/data/local',
    '/storage',
    '/storage/emulated',
    '/system',
    '/system/bin',
  ]) {
    storage.system.folder(folder);
  }
  for (const folder of ['/data/local/tmp', '/storage/emulated/0', '/storage/emulated/0/Download']) {
    storage.system.folder(folder, 0o771, 2000);
  }

  for (const folder of ['/proc', '/proc/sys', '/proc/sys/kernel', '/proc/sys/kernel/random']) {
    storage.system.folder(folder, 0o555);
  }
  /** Writes a new boot id. */
  function newBoot(): void {
    storage.system.remove(BOOT_ID);
    storage.system.file(BOOT_ID, contentOf(Buffer.from(`${randomUUID()}\n`)), 0o444);
  }
  newBoot();

  const settings = createSettings((namespace, key) => {
    if (namespace === 'global' && key === 'adb_enabled') bridge.request();
  });
  const screen = createScreen();
  const packages = createPackages({
    storage,
    sdk: () => android().sdk,
    refusal: () =>
      faults.is('tablet-refuses-install') ? 'INSTALL_FAILED_USER_RESTRICTED: Install canceled by user' : undefined,
    isOwner: (name) => device.owner?.split('/')[0] === name,
  });
  const keys = createKeyring(
    () =>
      faults.is('tablet-unauthorized')
        ? 'never'
        : faults.is('tablet-slow-prompt')
          ? { afterMs: SLOW_PROMPT_MS }
          : (options.prompt ?? 'at-once'),
    clock,
  );

  const device: Device = {
    clock,
    storage,
    properties,
    settings,
    packages,
    screen,
    wlan: options.wlan ?? DEFAULT_WLAN,
    owner: undefined,
    android,
    is: (fault) => faults.is(fault),
    property: (name) => properties.get(name),
    hasFeature: (name) => android().features.includes(name),
    uptimeMs: () => clock.monotonicMs() - startedMs,
    goingDown: () => down.promise,
    reboot() {
      if (isGoingDown) return;
      isGoingDown = true;
      phase = 'restarting';
      void bridge.inTurn(restart);
    },
    listenOnly(port) {
      properties.system('service.adb.tcp.port', String(port));
      bridge.request();
    },
    restartBridge: () => bridge.request(),
  };

  const host: TabletHost = {
    get version() {
      return android().version;
    },
    get maxPayload() {
      return android().maxPayload;
    },
    banner() {
      const { product, model } = identity();
      const names = `ro.product.name=${product};ro.product.model=${model};ro.product.device=${product}`;
      return `device::${names};features=${android().features.join(',')}`;
    },
    keys,
    isUnresponsive: () => faults.is('tablet-offline'),
    service: (name) => findService(name, device),
    async brake(bytes, signal) {
      if (!faults.is('tablet-slow')) return;
      await clock.sleep(bytes / SLOW_BYTES_PER_MS, firstOf(signal, ending.signal)).catch(() => {});
    },
    cutAfter: () => (faults.is('tablet-cut') ? CUT_AFTER_BYTES : undefined),
  };

  /** The port that the bridge should listen on; 0 for none. */
  function wantedPort(): number {
    if (settings.get('global', 'adb_enabled') !== '1') return 0;
    const text = properties.get('service.adb.tcp.port') || properties.get('persist.adb.tcp.port');
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
    return port <= 65535 ? port : 0;
  }

  const bridge = createBridgePort({
    clock,
    ending: ending.signal,
    wantedPort,
    staysOpen: () => faults.is('tablet-stays-open'),
    isGoingDown: () => isGoingDown,
    serve: (socket) => serveConnection(socket, host),
    onPort,
  });

  async function waitFor(ms: () => number, meanwhile = async () => {}): Promise<void> {
    const began = clock.monotonicMs();
    while (!ending.signal.aborted && !isGoingDown && clock.monotonicMs() - began < ms()) {
      await clock.sleep(Math.min(POLL_MS, Math.max(1, ms())), ending.signal).catch(() => {});
      await meanwhile();
    }
  }

  async function restart(): Promise<void> {
    await clock.sleep(RESTART_DELAY_MS, ending.signal).catch(() => {});
    if (ending.signal.aborted) return;
    isGoingDown = false;
    down.resolve();
    down = Promise.withResolvers();
    properties.forget();
    await bridge.close();
    onPort(null);
    const lasts = () => (faults.is('tablet-slow-reboot') ? SLOW_REBOOT_MS : rebootMs);
    await waitFor(() => lasts() * BRIDGE_UP_PART);
    if (ending.signal.aborted) return;
    startedMs = clock.monotonicMs();
    newBoot();
    screen.isLocked = false;
    screen.start(homeOf(device), 'android.intent.action.MAIN', undefined);
    if (faults.is('tablet-reopens')) allowBridge();
    await bridge.start();
    // The bridge accepts changes again while the restart still holds the queue.
    await waitFor(
      () => lasts() * (1 - BRIDGE_UP_PART),
      () => bridge.apply(),
    );
    // Another restart was requested meanwhile and is next in the queue.
    if (isGoingDown) return;
    properties.system('sys.boot_completed', '1');
    phase = 'running';
  }

  /** Sets debugging over TCP on, at the first port, for the next start of the bridge. */
  function allowBridge(): void {
    settings.system('global', 'adb_enabled', '1');
    properties.system('service.adb.tcp.port', String(firstPort));
  }

  async function openPort(): Promise<void> {
    // The screen cannot be used during a restart.
    if (phase === 'restarting') await bridge.settled(() => phase === 'running');
    allowBridge();
    await bridge.requestAtOnce();
  }

  async function applyFault(name: FaultName, on: boolean): Promise<void> {
    if (name === 'tablet-opened' && on) {
      const opened = openPort();
      // During a restart the port opens after it, too late to wait for.
      if (phase === 'running') await opened;
    } else if (name === 'tablet-unauthorized') {
      if (on) {
        keys.revoke();
        bridge.drop();
      } else keys.allowAll();
    } else if (name === 'tablet-old' || name === 'tablet-other' || name === 'tablet-offline') bridge.drop();
  }

  const firstPort = await bridge.listen(options.port ?? 0);
  properties.system('service.adb.tcp.port', String(firstPort));
  if (options.isPortKept) properties.system('persist.adb.tcp.port', String(firstPort));
  properties.system('sys.boot_completed', '1');

  return {
    host: bridge.host,
    port: firstPort,
    identity: ownIdentity,
    state: () => ({
      port: bridge.port(),
      phase,
      connections: bridge.connections(),
      prompts: keys.prompts(),
      allowedKeys: keys.allowed().map(({ fingerprint }) => fingerprint),
      packages: packages.list().map(({ manifest, state, isSystem, path }) => {
        const file = isSystem ? undefined : storage.find(path);
        const sha256 = typeof file === 'object' && file.kind === 'file' ? file.content.sha256 : null;
        return { name: manifest.name, versionCode: manifest.versionCode, state, sha256 };
      }),
      deviceOwner: device.owner ?? null,
      lockTask: screen.isLocked,
      front: screen.front().component,
    }),
    setFault: (name, on) => faults.set(name, on),
    applyFault,
    openPort,
    touch: (namespace, key, value) => settings.system(namespace, key, value),
    async restart() {
      device.reboot();
      await bridge.settled();
    },
    async factoryReset() {
      keys.revoke();
      settings.reset(randomBytes(8).toString('hex').replace(/^0/, '1'));
      properties.reset();
      device.owner = undefined;
      packages.reset();
      screen.isLocked = false;
      screen.density = undefined;
      screen.volumes.set(3, 7);
      device.reboot();
      await bridge.settled();
    },
    settled: () => bridge.settled(),
    async [Symbol.asyncDispose]() {
      ending.abort();
      down.resolve();
      await bridge.end();
    },
  };
}
