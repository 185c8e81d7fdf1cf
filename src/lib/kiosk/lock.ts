import type { Clock } from '../lifecycle/index.ts';
import { type Dialer, type Endpoint, isLoopback, type Reach, reachEndpoint } from '../net/index.ts';
import { readSetting } from './answers.ts';
import { tabletCommand } from './command.ts';
import type { Tablet } from './tablet.ts';

/** What the port of the tablet says to who dials it. */
export type PortState =
  /** It takes connections. */
  | 'open'
  /** The tablet itself says that nothing listens there. */
  | 'closed'
  /** Nobody answers: the port may be closed, or the tablet may sleep or be elsewhere. */
  | 'silent';

export interface PortScene {
  readonly dialer: Dialer;
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

const DIAL_MS = 2_000;

/** Dials the port once. */
export async function lookAtPort({ dialer, endpoint, clock, signal }: PortScene): Promise<PortState> {
  return portStateOf(await reachEndpoint(dialer, endpoint, { timeoutMs: DIAL_MS, signal, clock }));
}

function portStateOf(reach: Reach): PortState {
  if (reach.reached) return 'open';
  // A connection that is cut at once was taken before.
  if (reach.failure === 'cut') return 'open';
  return reach.failure === 'refused' ? 'closed' : 'silent';
}

const PROOF_DIALS = 3;
const PROOF_EVERY_MS = 500;
const PROOF_WITHIN_MS = 15_000;

/**
 * Proves that nothing listens on the port: the tablet itself refuses several times in a row. A port that stays open
 * or silent for 15 s is told as that; silence is no proof.
 */
export async function proveClosed(scene: PortScene): Promise<PortState> {
  const { clock, signal } = scene;
  const began = clock.monotonicMs();
  let refusals = 0;
  for (;;) {
    const state = await lookAtPort(scene);
    refusals = state === 'closed' ? refusals + 1 : 0;
    if (refusals >= PROOF_DIALS) return 'closed';
    if (state !== 'closed' && clock.monotonicMs() - began >= PROOF_WITHIN_MS) return state;
    await clock.sleep(PROOF_EVERY_MS, signal);
  }
}

/** What stood in the way of closing for good. */
export interface Preparation {
  /** The property that opens the port at every start, when the tablet keeps it. */
  readonly keepsOpening: string | null;
  /** Whether wireless debugging, a port of its own that nobody here dials, is still on although it was switched off. */
  readonly wirelessStaysOn: boolean;
}

/**
 * Takes away what would open the port again: the property that is read at every start, and the wireless debugging of
 * Android 11 and later. Throws TABLET_LOST and others of the line.
 */
export async function clearReopening(tablet: Tablet): Promise<Preparation> {
  const isWirelessOn = async () => {
    const { stdout } = await tablet.run(tabletCommand`settings get ${'global'} ${'adb_wifi_enabled'}`);
    const value = readSetting(stdout);
    // Unset where Android knows no wireless debugging; what is not understood counts as on.
    return value !== null && value !== '0';
  };
  let wirelessStaysOn = await isWirelessOn();
  if (wirelessStaysOn) {
    // What it holds then decides, not what the command said.
    await tablet.run(tabletCommand`settings put ${'global'} ${'adb_wifi_enabled'} ${0}`);
    wirelessStaysOn = await isWirelessOn();
  }
  if (!isPort((await tablet.properties()).get(PERSISTENT))) return { keepsOpening: null, wirelessStaysOn };
  // Only some builds let the shell write it; what it holds then decides, not what the command said.
  await tablet.run(tabletCommand`setprop ${PERSISTENT} ${''}`);
  const kept = (await tablet.properties()).get(PERSISTENT);
  return { keepsOpening: isPort(kept) ? `${PERSISTENT}=${kept}` : null, wirelessStaysOn };
}

const PERSISTENT = 'persist.adb.tcp.port';

function isPort(value: string | undefined): boolean {
  return value !== undefined && Number(value) > 0;
}

/** The port is watched for so long after the tablet is back. Project decision. */
const STEADY_MS = 20_000;
const WATCH_EVERY_MS = 1_000;

/**
 * After a restart: watches the port until it opens again, or for `watchMs`. Once the tablet was silent and is back,
 * 20 s of refusals are enough, since its debug bridge starts before its WLAN. Refusals alone show no restart: without
 * a silence the answer is `silent`, that is not proven. Only a simulator inside this machine has no silence.
 */
export async function watchRestart(scene: PortScene, watchMs: number): Promise<PortState> {
  const { clock, signal, onProgress } = scene;
  const began = clock.monotonicMs();
  let wasAway = false;
  let closedSince: number | undefined;
  let last: PortState = 'silent';
  while (clock.monotonicMs() - began < watchMs) {
    await clock.sleep(WATCH_EVERY_MS, signal);
    const now = clock.monotonicMs();
    onProgress(`The tablet restarts; its port is watched for ${Math.ceil((watchMs - (now - began)) / 1000)} s more`);
    last = await lookAtPort(scene);
    if (last === 'open') return 'open';
    if (last === 'silent') {
      wasAway = true;
      closedSince = undefined;
    } else closedSince ??= now;
    if (wasAway && closedSince !== undefined && now - closedSince >= STEADY_MS) return 'closed';
  }
  // It came back only just, or was never seen to go: its debug bridge may still be on the way.
  return last === 'closed' && (wasAway || !isLoopback(scene.endpoint.host)) ? 'silent' : last;
}

/** After `reboot:` the port may still answer for some moments; resolves when it does not, or when 30 s are over. */
export async function waitUntilDown(scene: PortScene): Promise<boolean> {
  const { clock, signal } = scene;
  const began = clock.monotonicMs();
  while (clock.monotonicMs() - began < 30_000) {
    if ((await lookAtPort(scene)) !== 'open') return true;
    await clock.sleep(WATCH_EVERY_MS / 4, signal);
  }
  return false;
}
