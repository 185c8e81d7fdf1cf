import type { Clock } from '../lifecycle/index.ts';
import { type Dialer, type Endpoint, isLoopback, type Reach, reachEndpoint } from '../net/index.ts';
import { tabletCommand } from './adb/command.ts';
import { parseSetting } from './adb/command-output.ts';
import type { Tablet } from './adb/tablet.ts';

/** Result of a connection attempt to the ADB port. */
export type PortState =
  /** Accepts connections. */
  | 'open'
  /** Refuses connections: nothing listens. */
  | 'closed'
  /** No answer: the port may be closed, or the tablet asleep or elsewhere. */
  | 'silent';

export interface PortTarget {
  readonly dialer: Dialer;
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

const DIAL_TIMEOUT_MS = 2_000;

/** Probes the port with one connection attempt. */
export async function probePort({ dialer, endpoint, clock, signal }: PortTarget): Promise<PortState> {
  return portStateOf(await reachEndpoint(dialer, endpoint, { timeoutMs: DIAL_TIMEOUT_MS, signal, clock }));
}

function portStateOf(reach: Reach): PortState {
  if (reach.reached) return 'open';
  // A connection that is reset at once was accepted first.
  if (reach.failure === 'cut') return 'open';
  return reach.failure === 'refused' ? 'closed' : 'silent';
}

const MIN_REFUSALS = 3;
const DIAL_INTERVAL_MS = 500;
const VERIFY_TIMEOUT_MS = 15_000;

/**
 * Verifies that nothing listens on the port: three refusals in a row. Returns `open` or `silent` for a port that stays
 * so for 15 s; silence verifies nothing.
 */
export async function verifyClosed(target: PortTarget): Promise<PortState> {
  const { clock, signal } = target;
  const began = clock.monotonicMs();
  let refusals = 0;
  for (;;) {
    const state = await probePort(target);
    refusals = state === 'closed' ? refusals + 1 : 0;
    if (refusals >= MIN_REFUSALS) return 'closed';
    if (state !== 'closed' && clock.monotonicMs() - began >= VERIFY_TIMEOUT_MS) return state;
    await clock.sleep(DIAL_INTERVAL_MS, signal);
  }
}

/** What can open a port again. */
export interface Reopening {
  /** Property that opens the port at every start and could not be cleared. */
  readonly keepsOpening: string | null;
  /** Whether wireless debugging, which has a port of its own, is still on after it was switched off. */
  readonly wirelessStaysOn: boolean;
}

/**
 * Clears what opens a port again: the property that Android reads at every start, and wireless debugging of Android 11
 * and later. Throws TABLET_LOST and other connection errors.
 */
export async function clearReopening(tablet: Tablet): Promise<Reopening> {
  const isWirelessOn = async () => {
    const { stdout } = await tablet.run(tabletCommand`settings get ${'global'} ${'adb_wifi_enabled'}`);
    const value = parseSetting(stdout);
    // Unset before Android 11; an unknown value counts as on.
    return value !== null && value !== '0';
  };
  let wirelessStaysOn = await isWirelessOn();
  if (wirelessStaysOn) {
    // The value read back decides, not the output of the command.
    await tablet.run(tabletCommand`settings put ${'global'} ${'adb_wifi_enabled'} ${0}`);
    wirelessStaysOn = await isWirelessOn();
  }
  if (!isPort((await tablet.properties()).get(PERSISTENT))) return { keepsOpening: null, wirelessStaysOn };
  // Only some builds let the shell write it, so the value read back decides.
  await tablet.run(tabletCommand`setprop ${PERSISTENT} ${''}`);
  const readBack = (await tablet.properties()).get(PERSISTENT);
  return { keepsOpening: isPort(readBack) ? `${PERSISTENT}=${readBack}` : null, wirelessStaysOn };
}

const PERSISTENT = 'persist.adb.tcp.port';

function isPort(value: string | undefined): boolean {
  return value !== undefined && Number(value) > 0;
}

/** Watch time after the tablet is back. Project decision. */
const STEADY_MS = 20_000;
const WATCH_INTERVAL_MS = 1_000;

/**
 * After a restart: watches the port until it opens again, or for `watchMs`. Once the tablet was silent and answers again,
 * 20 s of refusals are enough, since adbd starts before the WLAN. Refusals without a silence before are no restart and
 * return `silent`, except on a loopback address, where a simulated tablet is never silent.
 */
export async function watchRestart(target: PortTarget, watchMs: number): Promise<PortState> {
  const { clock, signal, onProgress } = target;
  const began = clock.monotonicMs();
  let wasAway = false;
  let closedSince: number | undefined;
  let last: PortState = 'silent';
  while (clock.monotonicMs() - began < watchMs) {
    await clock.sleep(WATCH_INTERVAL_MS, signal);
    const now = clock.monotonicMs();
    onProgress(`Tablet restarting; watching its port for ${Math.ceil((watchMs - (now - began)) / 1000)} s more`);
    last = await probePort(target);
    if (last === 'open') return 'open';
    if (last === 'silent') {
      wasAway = true;
      closedSince = undefined;
    } else closedSince ??= now;
    if (wasAway && closedSince !== undefined && now - closedSince >= STEADY_MS) return 'closed';
  }
  // It came back too late or never disappeared, so adbd may still start.
  return last === 'closed' && (wasAway || !isLoopback(target.endpoint.host)) ? 'silent' : last;
}

/** After `reboot:` the port may still answer; resolves with true when it does not, with false after 30 s. */
export async function waitUntilDown(target: PortTarget): Promise<boolean> {
  const { clock, signal } = target;
  const began = clock.monotonicMs();
  while (clock.monotonicMs() - began < 30_000) {
    if ((await probePort(target)) !== 'open') return true;
    await clock.sleep(WATCH_INTERVAL_MS / 4, signal);
  }
  return false;
}
