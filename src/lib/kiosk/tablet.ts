import { GwError } from '../error/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { readAndroidId, readProperties, readWhole } from './answers.ts';
import type { Bridge, BridgeDevice } from './bridge.ts';
import { type TabletCommand, tabletCommand } from './command.ts';
import type { TabletWay } from './movement.ts';
import type { ShellResult } from './shell-frames.ts';
import { readBootId } from './sighting.ts';

/** What a tablet tells about itself. */
export interface TabletFacts {
  readonly model: string;
  readonly manufacturer: string;
  readonly serial: string;
  /** Version for people: `13`. */
  readonly android: string;
  /** API level. */
  readonly sdk: number;
  /** Of this start of the tablet (Linux' boot_id); null where it is not reported. */
  readonly bootId: string | null;
  /** Made anew by a reset to factory settings, other than the serial number; null where it is not reported. */
  readonly androidId: string | null;
}

/** Which tablet is expected. */
export interface TabletWanted {
  readonly model?: string | undefined;
  readonly serial?: string | undefined;
  readonly minSdk: number;
}

/** A tablet that works, is the right one, and has started. */
export interface Tablet {
  /** As read at the last connection: after `reconnect` it may be another start of the same tablet. */
  readonly facts: TabletFacts;
  /** Runs a command, whatever its exit code. `timeoutMs`: 20 s when not given. Throws TABLET_LOST and others. */
  run(command: TabletCommand, options?: { readonly timeoutMs?: number }): Promise<ShellResult>;
  /** What a command prints. Throws TABLET_REFUSED when it ends with another exit code than 0. */
  read(command: TabletCommand): Promise<string>;
  properties(): Promise<ReadonlyMap<string, string>>;
  push(file: string, target: string, onBytes: (bytes: number) => void): Promise<void>;
  /** Asks the debug bridge itself: to end TCP, to restart the tablet. */
  service(name: 'usb:' | 'reboot:'): Promise<string>;
  /** After a cut: waits until the tablet is back, and makes sure that it is the same. */
  reconnect(): Promise<void>;
}

export interface ConnectOptions {
  readonly bridge: Bridge;
  readonly way: TabletWay;
  readonly wanted: TabletWanted;
  /** Of the key that the adb server shows to the tablet; null when it cannot be told. */
  readonly fingerprint: () => Promise<string | null>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
  /** How long a person may take to allow this computer on the tablet. */
  readonly authorizeMs: number;
}

const CALL_MS = 20_000;
const POLL_MS = 250;
const CONNECT_AGAIN_MS = 3_000;
/** So long a tablet may be listed without working. Decision of ours. */
const WORKING_WITHIN_MS = 12_000;
const STARTED_WITHIN_MS = 180_000;
const MAX_WORD_CHARS = 200;

/**
 * Connects, waits for the person who allows this computer, and makes sure that it is the right tablet. Throws
 * TABLET_NOT_CONNECTED, TABLET_UNAUTHORIZED, TABLET_OFFLINE, TABLET_SEVERAL, TABLET_WRONG_DEVICE, TABLET_TOO_OLD,
 * TABLET_BAD_ANSWER.
 */
export async function connectTablet(options: ConnectOptions): Promise<Tablet> {
  const { bridge, way, wanted, clock, signal, onProgress } = options;
  const call = { signal, timeoutMs: CALL_MS };
  let id = await workingDevice(options);
  let facts = await readFacts(id);
  checkIdentity(facts, wanted);
  await waitUntilStarted(id);

  async function properties(of: string): Promise<ReadonlyMap<string, string>> {
    const { stdout } = await bridge.shell(of, tabletCommand`getprop`, call);
    return readProperties(stdout);
  }

  async function readFacts(of: string): Promise<TabletFacts> {
    const features = await bridge.features(of, call);
    if (!features.includes('shell_v2')) {
      throw new GwError('TABLET_TOO_OLD', 'The debug bridge of this tablet is older than that of Android 7.');
    }
    const bootId = await bridge.shell(of, tabletCommand`cat ${'/proc/sys/kernel/random/boot_id'}`, call);
    const androidId = await bridge.shell(of, tabletCommand`settings get ${'secure'} ${'android_id'}`, call);
    return {
      ...factsOf(await properties(of)),
      bootId: readBootId(bootId.stdout),
      androidId: readAndroidId(androidId.stdout),
    };
  }

  async function waitUntilStarted(of: string): Promise<void> {
    const began = clock.monotonicMs();
    while ((await properties(of)).get('sys.boot_completed') !== '1') {
      if (clock.monotonicMs() - began > STARTED_WITHIN_MS) {
        throw new GwError('TABLET_OFFLINE', 'The tablet has not come to the end of its start.');
      }
      onProgress('The tablet is still starting');
      await clock.sleep(1_000, signal);
    }
  }

  return {
    get facts() {
      return facts;
    },
    run: (command, { timeoutMs = CALL_MS } = {}) => bridge.shell(id, command, { signal, timeoutMs }),
    async read(command) {
      const { stdout, stderr, exitCode } = await bridge.shell(id, command, call);
      if (exitCode !== 0) throw refused(command, `${stderr}${stdout}`, exitCode);
      return stdout;
    },
    properties: () => properties(id),
    push: (file, target, onBytes) => bridge.push(id, file, target, { signal, way, onBytes }),
    service: (name) => bridge.service(id, name, call),
    async reconnect() {
      if (way.kind === 'tcp') await bridge.disconnect(way.dialled, call);
      id = await workingDevice(options);
      const now = await readFacts(id);
      checkIdentity(now, { ...wanted, serial: facts.serial });
      facts = now;
      await waitUntilStarted(id);
    },
  };
}

/** What the tablet said when it did not do something, in one error. */
export function refused(command: string, said: string, exitCode: number): GwError {
  const text = said.trim().split('\n').slice(0, 4).join(' ').slice(0, 400);
  const what = command.split(' ').slice(0, 3).join(' ');
  return new GwError('TABLET_REFUSED', `The tablet refused '${what}' (exit code ${exitCode}): ${text || 'no word'}`, {
    details: { command, exitCode },
  });
}

/** Waits until adb lists the tablet as working; the id by which adb knows it. */
async function workingDevice(options: ConnectOptions): Promise<string> {
  const { bridge, way, wanted, clock, signal, onProgress } = options;
  const call = { signal, timeoutMs: CALL_MS };
  const began = clock.monotonicMs();
  let connectedAt: number | undefined;
  let asked = false;
  for (;;) {
    const now = clock.monotonicMs();
    const device = chooseDevice(await bridge.devices(call), way, wanted);
    if (device?.state === 'device') return device.id;
    if (device?.state === 'unauthorized' || device?.state === 'authorizing') {
      if (device.state === 'unauthorized' && !asked) {
        asked = true;
        onProgress(promptText(await options.fingerprint()));
      }
      if (now - began > options.authorizeMs) {
        const fingerprint = await options.fingerprint();
        const shown = fingerprint === null ? '' : ` The fingerprint of gw's key is ${fingerprint}.`;
        throw new GwError('TABLET_UNAUTHORIZED', `The tablet has not allowed this computer.${shown}`, {
          tried: triedOf(way, now - began),
        });
      }
    } else if (now - began > WORKING_WITHIN_MS) {
      throw notWorking(device, way, now - began);
    } else if (device === undefined && way.kind === 'tcp') {
      if (connectedAt === undefined || now - connectedAt > CONNECT_AGAIN_MS) {
        connectedAt = now;
        // Its answer comes late where the tablet asks somebody; the list of devices tells what became of it.
        bridge.connect(way.dialled, call).catch(() => {});
      }
    }
    await clock.sleep(POLL_MS, signal);
  }
}

/** The one device that is meant. Over the network there is one; at cables there may be several. */
export function chooseDevice(
  devices: readonly BridgeDevice[],
  way: TabletWay,
  wanted: Pick<TabletWanted, 'serial'>,
): BridgeDevice | undefined {
  if (way.kind === 'tcp') return devices.find(({ id }) => id === `${way.dialled.host}:${way.dialled.port}`);
  const named = devices.find(({ id }) => id === wanted.serial);
  if (named !== undefined) return named;
  const [first, second] = devices;
  if (second === undefined) return first;
  const ids = devices.map(({ id }) => id).join(', ');
  throw new GwError('TABLET_SEVERAL', `${devices.length} devices are connected: ${ids}.`, {
    details: { devices: devices.map(({ id, state }) => ({ id, state })) },
  });
}

function promptText(fingerprint: string | null): string {
  const shown = fingerprint === null ? '' : ` It must show the fingerprint ${fingerprint}.`;
  return `The tablet asks whether to allow USB debugging: look at it now.${shown} Tick "Always allow from this computer" and tap Allow.`;
}

function notWorking(device: BridgeDevice | undefined, way: TabletWay, forMs: number): GwError {
  const tried = triedOf(way, forMs);
  if (device !== undefined) {
    return new GwError('TABLET_OFFLINE', `The tablet is there, but its debug bridge does not work (${device.state}).`, {
      tried,
    });
  }
  return way.kind === 'tcp'
    ? new GwError('TABLET_OFFLINE', 'The port of the tablet is open, but no debug bridge speaks there.', { tried })
    : new GwError('TABLET_NOT_CONNECTED', 'No tablet is at a cable of this machine.', {
        remedy: 'Connect it, and switch USB debugging on in its developer options.',
      });
}

function triedOf(way: TabletWay, forMs: number) {
  if (way.kind === 'usb') return undefined;
  return { address: way.endpoint.host, port: way.endpoint.port, action: 'ADB', forMs: Math.round(forMs) };
}

/** Throws TABLET_BAD_ANSWER when the tablet does not tell its API level. */
function factsOf(properties: ReadonlyMap<string, string>): Omit<TabletFacts, 'bootId' | 'androidId'> {
  const sdk = readWhole(properties.get('ro.build.version.sdk'));
  if (sdk === null) throw new GwError('TABLET_BAD_ANSWER', 'The tablet does not tell its Android version.');
  const word = (key: string) => (properties.get(key) ?? '').slice(0, MAX_WORD_CHARS);
  return {
    model: word('ro.product.model'),
    manufacturer: word('ro.product.manufacturer'),
    serial: word('ro.serialno'),
    android: word('ro.build.version.release'),
    sdk,
  };
}

/** Throws TABLET_WRONG_DEVICE, TABLET_TOO_OLD. */
function checkIdentity(facts: TabletFacts, wanted: TabletWanted): void {
  for (const [key, what] of [
    ['model', 'model'],
    ['serial', 'serial number'],
  ] as const) {
    const expected = wanted[key];
    if (expected !== undefined && facts[key] !== expected) {
      throw new GwError('TABLET_WRONG_DEVICE', `This tablet has the ${what} '${facts[key]}', not '${expected}'.`, {
        details: { expected, found: facts[key] },
      });
    }
  }
  if (facts.sdk < wanted.minSdk) {
    throw new GwError(
      'TABLET_TOO_OLD',
      `The tablet has Android ${facts.android} (API ${facts.sdk}); API ${wanted.minSdk} or later is needed.`,
    );
  }
}
