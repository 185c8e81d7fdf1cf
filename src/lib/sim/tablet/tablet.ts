import { type Clock, firstOf, systemClock } from '../../lifecycle/index.ts';
import { createFaults, type FaultName, type Faults } from '../faults.ts';
import { createBridgePort } from './adb/bridge-port.ts';
import { serveConnection } from './adb/connection.ts';
import { createKeyring, type PromptAnswer } from './adb/keyring.ts';
import { createDevice, DEFAULT_IDENTITY, type Identity, type Namespace } from './device.ts';

/** Reported WLAN by default, from an address range for documentation. */
export const DEFAULT_WLAN = { address: '192.0.2.5/28', segment: '192.0.2.0/28', ssid: 'gw-sim' } as const;
const REBOOT_MS = 3000;
const SLOW_REBOOT_MS = 120_000;
/** Fraction of a restart after which the bridge listens again, before the rest of the system is up. */
const BRIDGE_UP_PART = 0.6;
/** Delay before a change takes effect, so that its answer is still delivered. */
const RESTART_DELAY_MS = 100;
const POLL_MS = 50;
const SLOW_PROMPT_MS = 8000;
const SLOW_BYTES_PER_MS = 500;

type TabletFault = Extract<FaultName, `tablet-${string}`>;

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

export type Tablet = Awaited<ReturnType<typeof startTablet>>;

/** Starts a tablet with the Android debug bridge on 127.0.0.1. Throws PORT_IN_USE. */
export async function startTablet(options: TabletOptions = {}) {
  const { clock = systemClock, rebootMs = REBOOT_MS, onPort = () => {}, wlan = DEFAULT_WLAN } = options;
  const faults = options.faults ?? createFaults((name, on) => void applyFault(name, on));
  const identity = { ...DEFAULT_IDENTITY, ...options.identity };
  const ending = new AbortController();
  let phase: 'running' | 'restarting' = 'running';
  /** The bridge does not run: between the shutdown of a restart and its boot. */
  let isDown = false;
  let restarts: Promise<void> = Promise.resolve();

  /** Resolves early when the tablet ends. */
  const sleep = (ms: number) => clock.sleep(ms, ending.signal).catch(() => {});
  const delay = () => sleep(RESTART_DELAY_MS);

  const device = createDevice({
    clock,
    faults,
    identity,
    wlan,
    freeBytes: options.freeBytes,
    restartBridge: () => void bridge.change(delay),
    reboot,
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

  async function brake(bytes: number, signal: AbortSignal): Promise<void> {
    if (!faults.is('tablet-slow')) return;
    await clock.sleep(bytes / SLOW_BYTES_PER_MS, firstOf(signal, ending.signal)).catch(() => {});
  }

  const bridge = createBridgePort({
    wantedPort() {
      if (isDown || ending.signal.aborted) return 0;
      const open = bridge.port();
      if (open !== null && faults.is('tablet-stays-open')) return open;
      if (device.settings().global.get('adb_enabled') !== '1') return 0;
      return Number(device.property('service.adb.tcp.port') || device.property('persist.adb.tcp.port')) || 0;
    },
    serve: (socket) => serveConnection(socket, { device, keys, brake }),
    onPort,
  });

  async function waitFor(part: number): Promise<void> {
    const began = clock.monotonicMs();
    const lastsMs = () => part * (faults.is('tablet-slow-reboot') ? SLOW_REBOOT_MS : rebootMs);
    while (!ending.signal.aborted && clock.monotonicMs() - began < lastsMs()) {
      await sleep(Math.min(POLL_MS, Math.max(1, lastsMs())));
    }
  }

  /** Restarts the tablet, after a restart that has begun; resolves when it shuts down. */
  function reboot(): Promise<void> {
    const { promise: down, resolve } = Promise.withResolvers<void>();
    phase = 'restarting';
    restarts = restarts.then(() => restart(resolve));
    return down;
  }

  async function restart(onDown: () => void): Promise<void> {
    phase = 'restarting';
    await delay();
    isDown = true;
    device.shutDown();
    onDown();
    await bridge.change(async () => {});
    await waitFor(BRIDGE_UP_PART);
    if (ending.signal.aborted) return;
    device.boot();
    if (faults.is('tablet-reopens')) allowBridge();
    isDown = false;
    await bridge.change(async () => {});
    await waitFor(1 - BRIDGE_UP_PART);
    device.setProperty('sys.boot_completed', '1');
    phase = 'running';
  }

  /** Sets debugging over TCP on, at the first port, for the next start of the bridge. */
  function allowBridge(): void {
    device.settings().global.set('adb_enabled', '1');
    device.setProperty('service.adb.tcp.port', String(firstPort));
  }

  async function openPort(): Promise<void> {
    // The screen cannot be used during a restart.
    await restarts;
    allowBridge();
    await bridge.change(
      async () => {},
      () => bridge.port() === firstPort,
    );
  }

  async function settled(): Promise<void> {
    for (let last: unknown; last !== restarts; ) {
      last = restarts;
      await restarts;
      await bridge.settled();
    }
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
  device.setProperty('service.adb.tcp.port', String(firstPort));
  if (options.isPortKept) device.setProperty('persist.adb.tcp.port', String(firstPort));
  device.setProperty('sys.boot_completed', '1');

  return {
    host: bridge.host,
    /** The port that it was started with. */
    port: firstPort,
    identity,
    /** True state of the tablet, for tests. */
    state: () => ({
      /** The open port; null while closed. */
      port: bridge.port(),
      phase,
      connections: bridge.connections(),
      /** Number of 'Allow debugging?' prompts shown. */
      prompts: keys.prompts(),
      allowedKeys: keys.fingerprints(),
      packages: device.packages.list().map((row) => {
        const { name, versionCode, state } = row;
        return { name, versionCode, state, sha256: device.packages.content(row)?.sha256 ?? null };
      }),
      deviceOwner: device.owner ?? null,
      lockTask: device.isLocked,
      /** `package/full.Class` of the activity in front. */
      front: device.front.component,
    }),
    setFault: (name: TabletFault, on: boolean) => faults.set(name, on),
    /** Must be called on every change of shared faults. Resolves when the change is in effect. */
    applyFault,
    /** A person at the tablet switches debugging over TCP on, at its first port. */
    openPort,
    /** A person at the tablet changes a setting. */
    touch: (namespace: Namespace, key: string, value: string) => void device.settings()[namespace].set(key, value),
    /** A person restarts the tablet. */
    async restart(): Promise<void> {
      void device.reboot();
      await settled();
    },
    /** A person resets the tablet to factory settings: it restarts as delivered, with debugging off. */
    async factoryReset(): Promise<void> {
      keys.revoke();
      device.reset();
      void device.reboot();
      await settled();
    },
    /** Resolves when no change of the port and no restart is pending. */
    settled,
    async [Symbol.asyncDispose](): Promise<void> {
      ending.abort();
      await settled();
      await bridge.close();
    },
  };
}
