import { createServer, type Server, type Socket } from 'node:net';
import { type Clock, systemClock } from '../../lifecycle/index.ts';
import { createFaults, type FaultName, type Faults } from '../faults.ts';
import { closeServer, listenOn } from '../listen.ts';
import { type ConnectionHost, serveConnection } from './connection.ts';
import type { Device, TabletFault } from './device.ts';
import { DEFAULT_IDENTITY, type Identity, OTHER_IDENTITY, oldAndroid, usualAndroid } from './identity.ts';
import { createKeyring, type PromptAnswer } from './keyring.ts';
import { createPackages } from './packages.ts';
import { homeOf } from './programs/activity.ts';
import { createProperties } from './properties.ts';
import { createScreen } from './screen.ts';
import { findService } from './services.ts';
import { createSettings } from './settings.ts';
import { createStorage } from './storage.ts';

const HOST = '127.0.0.1';
/** Where it says it is, unless told otherwise: an address range for examples. */
export const USUAL_WLAN = { address: '192.0.2.5/28', segment: '192.0.2.0/28', ssid: 'gw-sim' } as const;
const GIB = 1024 ** 3;
const CAPACITY_BYTES = 24 * GIB;
const USED_BYTES = 8 * GIB;
const MOST_CONNECTIONS = 32;
const REBOOT_MS = 3000;
const SLOW_REBOOT_MS = 120_000;
/** Between the order and the moment when the tablet is away, so that the order's answer is still heard. */
const GOES_DOWN_MS = 100;
/** When in a restart the bridge is there again, before the rest of the system is. */
const BRIDGE_UP_PART = 0.6;
const POLL_MS = 50;
const SLOW_PROMPT_MS = 8000;
const SLOW_BYTES_PER_MS = 500;
const CUT_AFTER_BYTES = 256 * 1024;

export interface TabletOptions {
  /** TCP port on 127.0.0.1; 0, the default, takes a free one. Not 5555 to 5585: an adb server that starts looks there
   * for emulators, and would list the tablet twice. */
  readonly port?: number;
  /** Whether the port is open again after a restart (`persist.adb.tcp.port`), as makers of kiosk tablets set it. */
  readonly isPortKept?: boolean;
  /** What the person at the tablet does with 'Allow debugging?'; allows at once by default. */
  readonly prompt?: PromptAnswer;
  readonly identity?: Partial<Identity>;
  /** How long a restart takes; 3 s by default. */
  readonly rebootMs?: number;
  /** Free space of its data partition; 16 GiB by default. */
  readonly freeBytes?: number;
  /** IPv4 address with the length of its range, and the name of the WLAN that it says it is in. */
  readonly wlan?: { readonly address: string; readonly ssid: string };
  /** Shared with a simulator; its own by default. */
  readonly faults?: Faults;
  readonly clock?: Clock;
  /** The port was opened or closed, or could not be opened. */
  readonly onPort?: (port: number | null, problem?: string) => void;
}

/** What a test may know about it without asking it. */
export interface TabletState {
  /** Where it listens now; null where it does not. */
  readonly port: number | null;
  readonly phase: 'running' | 'restarting';
  readonly connections: number;
  /** How often 'Allow debugging?' stood on the screen. */
  readonly prompts: number;
  /** Fingerprints of the allowed keys. */
  readonly allowedKeys: readonly string[];
  readonly packages: readonly {
    readonly name: string;
    readonly versionCode: number;
    readonly state: string;
    /** SHA-256 of the installed file; null for those of the system. */
    readonly sha256: string | null;
  }[];
  readonly deviceOwner: string | null;
  readonly lockTask: boolean;
  /** `package/full.Class` in front on the screen. */
  readonly front: string;
}

export interface Tablet extends AsyncDisposable {
  readonly host: string;
  /** The port that it was started with. */
  readonly port: number;
  readonly identity: Identity;
  state(): TabletState;
  setFault(name: TabletFault, on: boolean): void;
  /** Has to be told of every change of a fault, where the faults are shared. */
  switched(name: FaultName, on: boolean): void;
  /** Somebody at the tablet switches debugging over TCP on again, at its first port. */
  openPort(): Promise<void>;
  /** Resolves when port and restart have come to rest. */
  settled(): Promise<void>;
}

/** Starts a tablet that speaks the debug bridge's protocol on 127.0.0.1. Throws PORT_IN_USE. */
export async function startTablet(options: TabletOptions = {}): Promise<Tablet> {
  const { clock = systemClock, rebootMs = REBOOT_MS, onPort = () => {} } = options;
  const ownIdentity = { ...DEFAULT_IDENTITY, ...options.identity };
  const faults = options.faults ?? createFaults((name, on) => switched(name, on));
  const android = () => (faults.is('tablet-old') ? oldAndroid : usualAndroid);
  const identity = () => (faults.is('tablet-other') ? OTHER_IDENTITY : ownIdentity);
  const ending = new AbortController();
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let openPort: number | null = null;
  let phase: TabletState['phase'] = 'running';
  let startedMs = clock.monotonicMs();
  let down = Promise.withResolvers<void>();
  let turn: Promise<unknown> = Promise.resolve();
  /** What changes the port comes one after the other. */
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = turn.then(() => (ending.signal.aborted ? undefined : work()));
    turn = done.catch(() => {});
    return done;
  };

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
  storage.system.link('/sdcard', '/storage/emulated/0');

  const settings = createSettings((namespace, key, value) => {
    if (namespace === 'global' && key === 'adb_enabled') device.listenOnly(value === '1' ? portOfProperties() : 0);
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
    wlan: options.wlan ?? USUAL_WLAN,
    owner: undefined,
    android,
    is: (fault) => faults.is(fault),
    property: (name) => properties.get(name),
    hasFeature: (name) => android().features.includes(name),
    uptimeMs: () => clock.monotonicMs() - startedMs,
    goingDown: () => down.promise,
    reboot() {
      if (phase === 'restarting') return;
      phase = 'restarting';
      void inTurn(restart);
    },
    listenOnly(port) {
      properties.system('service.adb.tcp.port', String(port));
      void inTurn(() => restartBridge(port));
    },
    restartBridge() {
      void inTurn(() => restartBridge(portOfProperties()));
    },
  };

  const host: ConnectionHost = {
    get version() {
      return android().version;
    },
    get mostPayload() {
      return android().mostPayload;
    },
    banner() {
      const { product, model } = identity();
      const names = `ro.product.name=${product};ro.product.model=${model};ro.product.device=${product}`;
      return `device::${names};features=${android().features.join(',')}`;
    },
    keys,
    isDeaf: () => faults.is('tablet-offline'),
    service: (name) => findService(name, device),
    async brake(bytes, signal) {
      if (!faults.is('tablet-slow')) return;
      await clock.sleep(bytes / SLOW_BYTES_PER_MS, AbortSignal.any([signal, ending.signal])).catch(() => {});
    },
    cutAfter: () => (faults.is('tablet-cut') ? CUT_AFTER_BYTES : undefined),
  };

  /** Where the bridge listens after it was started anew; 0 for nowhere. */
  function portOfProperties(): number {
    for (const name of ['service.adb.tcp.port', 'persist.adb.tcp.port']) {
      const text = properties.get(name);
      if (/^-?\d{1,5}$/.test(text)) return Math.max(0, Number(text) <= 65535 ? Number(text) : 0);
    }
    return 0;
  }

  function drop(): void {
    for (const socket of sockets) socket.destroy();
  }

  async function listen(port: number): Promise<void> {
    const fresh = createServer({ noDelay: true }, (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      serveConnection(socket, host);
    });
    fresh.maxConnections = MOST_CONNECTIONS;
    openPort = await listenOn(fresh, HOST, port);
    server = fresh;
  }

  async function close(): Promise<void> {
    const was = server;
    server = undefined;
    openPort = null;
    const closed = was && closeServer(was);
    drop();
    await closed;
  }

  /** Opens or closes the port; a port that cannot be had stays closed, and is told. */
  async function moveTo(port: number): Promise<void> {
    if (server) await close();
    if (port <= 0 || settings.get('global', 'adb_enabled') !== '1') {
      onPort(null);
      return;
    }
    try {
      await listen(port);
      onPort(openPort);
    } catch (error) {
      onPort(null, error instanceof Error ? error.message : String(error));
    }
  }

  async function restartBridge(port: number): Promise<void> {
    if (phase === 'restarting') return;
    await clock.sleep(GOES_DOWN_MS, ending.signal).catch(() => {});
    if (ending.signal.aborted) return;
    if (faults.is('tablet-stays-open') && openPort !== null && port !== openPort) drop();
    else await moveTo(port);
  }

  async function waitFor(ms: () => number): Promise<void> {
    const began = clock.monotonicMs();
    while (!ending.signal.aborted && clock.monotonicMs() - began < ms()) {
      await clock.sleep(Math.min(POLL_MS, Math.max(1, ms())), ending.signal).catch(() => {});
    }
  }

  async function restart(): Promise<void> {
    await clock.sleep(GOES_DOWN_MS, ending.signal).catch(() => {});
    if (ending.signal.aborted) return;
    down.resolve();
    down = Promise.withResolvers();
    await close();
    onPort(null);
    const lasts = () => (faults.is('tablet-slow-reboot') ? SLOW_REBOOT_MS : rebootMs);
    await waitFor(() => lasts() * BRIDGE_UP_PART);
    if (ending.signal.aborted) return;
    properties.forget();
    startedMs = clock.monotonicMs();
    screen.isLocked = false;
    screen.start(homeOf(device), 'android.intent.action.MAIN', undefined);
    const kept = portOfProperties();
    if (faults.is('tablet-reopens')) {
      properties.system('service.adb.tcp.port', String(firstPort));
      settings.put('global', 'adb_enabled', '1');
    }
    await moveTo(faults.is('tablet-reopens') ? firstPort : kept);
    await waitFor(() => lasts() * (1 - BRIDGE_UP_PART));
    properties.system('sys.boot_completed', '1');
    phase = 'running';
  }

  function switched(name: FaultName, on: boolean): void {
    if (name === 'tablet-unauthorized') {
      if (on) {
        keys.revoke();
        drop();
      } else keys.answerAll();
    } else if (name === 'tablet-old' || name === 'tablet-other' || name === 'tablet-offline') drop();
  }

  await listen(options.port ?? 0);
  const firstPort = openPort ?? 0;
  properties.system('service.adb.tcp.port', String(firstPort));
  if (options.isPortKept) properties.system('persist.adb.tcp.port', String(firstPort));
  properties.system('sys.boot_completed', '1');

  return {
    host: HOST,
    port: firstPort,
    identity: ownIdentity,
    state: () => ({
      port: openPort,
      phase,
      connections: sockets.size,
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
    switched,
    openPort: () =>
      inTurn(async () => {
        settings.put('global', 'adb_enabled', '1');
        properties.system('service.adb.tcp.port', String(firstPort));
        if (openPort !== firstPort) await moveTo(firstPort);
      }),
    async settled() {
      for (let last: unknown; last !== turn; ) {
        last = turn;
        await last;
      }
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      down.resolve();
      await turn;
      await close();
    },
  };
}
