import { GwError } from '../../error/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import { parseBootId } from '../record/observation.ts';
import type { TabletFacts } from '../record/record.ts';
import type { Bridge, BridgeDevice } from './bridge.ts';
import { type TabletCommand, tabletCommand } from './command.ts';
import { parseAndroidId, parseInteger, parseProperties } from './command-output.ts';
import type { ShellResult } from './shell-frames.ts';
import type { TabletTransport } from './stall.ts';

/** Requirements that a tablet must meet. */
export interface ExpectedTablet {
  readonly model?: string | undefined;
  readonly serial?: string | undefined;
  readonly minSdk: number;
}

/** A connected tablet with the expected identity that has completed its start. */
export interface Tablet {
  /** As of the last connection; `reconnect` may find the same tablet in another boot. */
  readonly facts: TabletFacts;
  /** Runs a command; any exit code is a result. `timeoutMs`: default 20 s. Throws TABLET_LOST and others. */
  run(command: TabletCommand, options?: { readonly timeoutMs?: number }): Promise<ShellResult>;
  /** Output of a command. Throws TABLET_REFUSED when its exit code is not 0. */
  read(command: TabletCommand): Promise<string>;
  properties(): Promise<ReadonlyMap<string, string>>;
  push(file: string, target: string, onBytes: (bytes: number) => void): Promise<void>;
  /** Services of adbd: end ADB over TCP, restart the tablet. */
  service(name: 'usb:' | 'reboot:'): Promise<string>;
  /** After a lost connection: waits for the tablet and verifies its identity. */
  reconnect(): Promise<void>;
}

export interface ConnectOptions {
  readonly bridge: Bridge;
  readonly transport: TabletTransport;
  readonly expected: ExpectedTablet;
  /** Fingerprint of the key of the adb server; null when the key cannot be read. */
  readonly fingerprint: () => Promise<string | null>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  /** Time limit for the authorisation on the tablet. */
  readonly authorizeMs: number;
}

const CALL_TIMEOUT_MS = 20_000;
const POLL_INTERVAL_MS = 250;
const CONNECT_INTERVAL_MS = 3_000;
/** Time limit until a listed tablet is usable. Project decision. */
const USABLE_TIMEOUT_MS = 12_000;
const START_TIMEOUT_MS = 180_000;
const MAX_FACT_CHARS = 200;

/**
 * Connects, waits for the authorisation of this computer on the tablet, and verifies the tablet's identity. Throws
 * TABLET_NOT_CONNECTED, TABLET_UNAUTHORIZED, TABLET_OFFLINE, TABLET_SEVERAL, TABLET_WRONG_DEVICE, TABLET_TOO_OLD,
 * TABLET_BAD_ANSWER.
 */
export async function connectTablet(options: ConnectOptions): Promise<Tablet> {
  const { bridge, transport, expected, clock, signal, onProgress } = options;
  const call = { signal, timeoutMs: CALL_TIMEOUT_MS };
  let id = await usableDevice(options);
  let facts = await readFacts(id);
  checkIdentity(facts, expected);
  await waitUntilStarted(id);

  async function properties(of: string): Promise<ReadonlyMap<string, string>> {
    const { stdout } = await bridge.shell(of, tabletCommand`getprop`, call);
    return parseProperties(stdout);
  }

  async function readFacts(of: string): Promise<TabletFacts> {
    const features = await bridge.features(of, call);
    if (!features.includes('shell_v2')) {
      throw new GwError('TABLET_TOO_OLD', 'adbd of this tablet is older than Android 7.');
    }
    const bootId = await bridge.shell(of, tabletCommand`cat ${'/proc/sys/kernel/random/boot_id'}`, call);
    const androidId = await bridge.shell(of, tabletCommand`settings get ${'secure'} ${'android_id'}`, call);
    return {
      ...factsOf(await properties(of)),
      bootId: parseBootId(bootId.stdout),
      androidId: parseAndroidId(androidId.stdout),
    };
  }

  async function waitUntilStarted(of: string): Promise<void> {
    const began = clock.monotonicMs();
    while ((await properties(of)).get('sys.boot_completed') !== '1') {
      if (clock.monotonicMs() - began > START_TIMEOUT_MS) {
        throw new GwError(
          'TABLET_OFFLINE',
          `The tablet has not completed its start after ${START_TIMEOUT_MS / 1000} s.`,
        );
      }
      onProgress('Waiting for the tablet to start');
      await clock.sleep(1_000, signal);
    }
  }

  return {
    get facts() {
      return facts;
    },
    run: (command, { timeoutMs = CALL_TIMEOUT_MS } = {}) => bridge.shell(id, command, { signal, timeoutMs }),
    async read(command) {
      const { stdout, stderr, exitCode } = await bridge.shell(id, command, call);
      if (exitCode !== 0) throw commandRefused(command, `${stderr}${stdout}`, exitCode);
      return stdout;
    },
    properties: () => properties(id),
    push: (file, target, onBytes) => bridge.push(id, file, target, { signal, transport, onBytes }),
    service: (name) => bridge.service(id, name, call),
    async reconnect() {
      if (transport.kind === 'tcp') await bridge.disconnect(transport.dialled, call);
      id = await usableDevice(options);
      const now = await readFacts(id);
      checkIdentity(now, { ...expected, serial: facts.serial });
      facts = now;
      await waitUntilStarted(id);
    },
  };
}

/** TABLET_REFUSED with the output of the command. */
export function commandRefused(command: string, output: string, exitCode: number): GwError {
  const text = output.trim().split('\n').slice(0, 4).join(' ').slice(0, 400);
  const name = command.split(' ').slice(0, 3).join(' ');
  const message = `The tablet refused '${name}' (exit code ${exitCode}): ${text || 'no output'}`;
  return new GwError('TABLET_REFUSED', message, { details: { command, exitCode } });
}

/** Waits until adb lists the tablet as usable; its adb id. */
async function usableDevice(options: ConnectOptions): Promise<string> {
  const { bridge, transport, expected, clock, signal, onProgress } = options;
  const call = { signal, timeoutMs: CALL_TIMEOUT_MS };
  const began = clock.monotonicMs();
  let connectedAt: number | undefined;
  let hasPrompted = false;
  for (;;) {
    const now = clock.monotonicMs();
    const device = chooseDevice(await bridge.devices(call), transport, expected);
    if (device?.state === 'device') return device.id;
    if (device?.state === 'unauthorized' || device?.state === 'authorizing') {
      if (device.state === 'unauthorized' && !hasPrompted) {
        hasPrompted = true;
        onProgress(promptText(await options.fingerprint()));
      }
      if (now - began > options.authorizeMs) {
        const fingerprint = await options.fingerprint();
        const hint = fingerprint === null ? '' : ` The fingerprint of the gw key is ${fingerprint}.`;
        throw new GwError('TABLET_UNAUTHORIZED', `The tablet has not authorised this computer.${hint}`, {
          tried: triedOf(transport, now - began),
        });
      }
    } else if (now - began > USABLE_TIMEOUT_MS) {
      throw notUsable(device, transport, now - began);
    } else if (device === undefined && transport.kind === 'tcp') {
      if (connectedAt === undefined || now - connectedAt > CONNECT_INTERVAL_MS) {
        connectedAt = now;
        // The answer is late while the tablet prompts; the device list shows the result.
        bridge.connect(transport.dialled, call).catch(() => {});
      }
    }
    await clock.sleep(POLL_INTERVAL_MS, signal);
  }
}

/** Selects the device: the dialled one over TCP; over USB by serial number. Throws TABLET_SEVERAL. */
export function chooseDevice(
  devices: readonly BridgeDevice[],
  transport: TabletTransport,
  expected: Pick<ExpectedTablet, 'serial'>,
): BridgeDevice | undefined {
  if (transport.kind === 'tcp') {
    const { host, port } = transport.dialled;
    return devices.find(({ id }) => id === `${host}:${port}`);
  }
  const named = devices.find(({ id }) => id === expected.serial);
  if (named !== undefined) return named;
  const [first, second] = devices;
  if (second === undefined) return first;
  const ids = devices.map(({ id }) => id).join(', ');
  throw new GwError('TABLET_SEVERAL', `${devices.length} devices are connected: ${ids}.`, {
    details: { devices: devices.map(({ id, state }) => ({ id, state })) },
  });
}

function promptText(fingerprint: string | null): string {
  const hint = fingerprint === null ? '' : ` Compare its fingerprint: ${fingerprint}.`;
  return `Confirm "Allow USB debugging?" on the tablet now.${hint} Tick "Always allow from this computer" and tap Allow.`;
}

function notUsable(device: BridgeDevice | undefined, transport: TabletTransport, forMs: number): GwError {
  const tried = triedOf(transport, forMs);
  if (device !== undefined) {
    return new GwError('TABLET_OFFLINE', `The tablet is connected, but ADB is ${device.state}.`, { tried });
  }
  return transport.kind === 'tcp'
    ? new GwError('TABLET_OFFLINE', 'The port of the tablet is open, but does not answer as ADB.', { tried })
    : new GwError('TABLET_NOT_CONNECTED', 'No tablet found on USB.', {
        remedy: 'Connect it, and enable USB debugging in its developer options.',
      });
}

function triedOf(transport: TabletTransport, forMs: number) {
  if (transport.kind === 'usb') return undefined;
  const { host, port } = transport.endpoint;
  return { address: host, port, action: 'ADB', forMs: Math.round(forMs) };
}

/** Throws TABLET_BAD_ANSWER when the tablet does not report its API level. */
function factsOf(properties: ReadonlyMap<string, string>): Omit<TabletFacts, 'bootId' | 'androidId'> {
  const sdk = parseInteger(properties.get('ro.build.version.sdk'));
  if (sdk === null) throw new GwError('TABLET_BAD_ANSWER', 'The tablet does not report its API level.');
  const fact = (key: string) => (properties.get(key) ?? '').slice(0, MAX_FACT_CHARS);
  return {
    model: fact('ro.product.model'),
    manufacturer: fact('ro.product.manufacturer'),
    serial: fact('ro.serialno'),
    android: fact('ro.build.version.release'),
    sdk,
  };
}

/** Throws TABLET_WRONG_DEVICE, TABLET_TOO_OLD. */
function checkIdentity(facts: TabletFacts, required: ExpectedTablet): void {
  for (const [key, label] of [
    ['model', 'model'],
    ['serial', 'serial number'],
  ] as const) {
    const expected = required[key];
    if (expected !== undefined && facts[key] !== expected) {
      throw new GwError('TABLET_WRONG_DEVICE', `This tablet has the ${label} '${facts[key]}', not '${expected}'.`, {
        details: { expected, found: facts[key] },
      });
    }
  }
  if (facts.sdk < required.minSdk) {
    throw new GwError(
      'TABLET_TOO_OLD',
      `The tablet has Android ${facts.android} (API ${facts.sdk}); API ${required.minSdk} or later is required.`,
    );
  }
}
