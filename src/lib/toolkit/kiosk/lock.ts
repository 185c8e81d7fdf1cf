import { GwError } from '../../error/index.ts';
import {
  type Answerer,
  afterLock,
  afterOrder,
  afterRefusal,
  afterWireless,
  answererAfterOrder,
  answererOf,
  clearReopening,
  type KioskProfile,
  loadKioskProfile,
  lookAtPort,
  type PortScene,
  proveClosed,
  readTabletRecord,
  type StepOutcome,
  type Tablet,
  tabletRedLine,
  waitUntilDown,
  watchRestart,
} from '../../kiosk/index.ts';
import { firstOf, untilAborted } from '../../lifecycle/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { KioskLock, LockOutcome } from './kiosk.result.ts';
import { changeRecord, sightingNow, verdictOf } from './memory.ts';
import { readTablet } from './reading.ts';
import { type KioskAccess, portScene, tabletEndpoint, withTablet } from './session.ts';

export interface LockOptions {
  /** Restart the tablet, and prove that its port stays closed over that. */
  readonly afterRestart: boolean;
  /** How long the port is watched after the restart. */
  readonly watchMs: number;
}

/** Any tablet may be closed, also one that is not of the profile. */
const anyTablet = { minSdk: 1 };

/**
 * Switches ADB over TCP off and proves it. The last moment in which the tablet can be read is used for it: how it is
 * then is what is remembered. A port that is closed already is only dialled, unless the tablet is at a cable. Throws
 * why the tablet is not reached.
 */
export async function lockKiosk(
  toolkit: Toolkit,
  options: KioskAccess & LockOptions,
  context: CheckContext,
): Promise<KioskLock> {
  const { clock, site } = toolkit;
  const began = clock.monotonicMs();
  const { host, port, profileFile } = tabletEndpoint(toolkit);
  const scene = portScene(toolkit, context);
  const wasOpen = (await lookAtPort(scene)) === 'open';
  let reading: KioskLock['reading'] = null;
  const outcome =
    wasOpen || options.usb === true
      ? await withTablet(toolkit, { ...options, wanted: anyTablet }, context, async (tablet) => {
          // Without a profile the tablet is closed all the same.
          const profile = await loadKioskProfile(profileFile).catch(() => null);
          reading = await readInTime(toolkit, tablet, profile, context);
          return await lockTablet(toolkit, tablet, options, context, wasOpen, profile);
        })
      : await confirmClosed(toolkit, scene);
  return {
    address: { host, port },
    ...outcome,
    reading,
    redLine: await tabletRedLine(site.stateDir),
    tookMs: Math.round(clock.monotonicMs() - began),
  };
}

/** So long a reading may hold up the closing. Project decision. */
const MAX_READING_MS = 60_000;

/** The settings of this moment; null when it is not the tablet of the profile, or too slow. */
async function readInTime(
  toolkit: Toolkit,
  tablet: Tablet,
  profile: KioskProfile | null,
  context: CheckContext,
): Promise<KioskLock['reading']> {
  if (profile === null || !isFor(profile, tablet)) return null;
  const limit = new AbortController();
  using _timer = toolkit.clock.after(MAX_READING_MS, () =>
    limit.abort(new GwError('TABLET_LOST', 'Reading took too long.')),
  );
  try {
    const signal = firstOf(context.signal, limit.signal);
    const reading = readTablet(toolkit, tablet, profile, 'lock', { ...context, signal });
    return readingOf(await untilAborted(limit.signal, reading));
  } catch (error) {
    if (context.signal.aborted || !(error instanceof GwError)) throw error;
    return null;
  }
}

function readingOf(steps: readonly StepOutcome[]): NonNullable<KioskLock['reading']> {
  const count = (wanted: string) => steps.filter(({ state }) => state === wanted).length;
  return {
    verdict: verdictOf(steps),
    steps: steps.length,
    differing: count('differs') + count('failed'),
    unknown: count('not-checked'),
  };
}

function isFor({ tablet: { model, serial } }: KioskProfile, { facts }: Tablet): boolean {
  return (model === undefined || model === facts.model) && (serial === undefined || serial === facts.serial);
}

/** Nothing to switch off: what is left is the proof. Nobody can be asked to restart it any more. */
async function confirmClosed(toolkit: Toolkit, scene: PortScene): Promise<LockOutcome> {
  scene.onProgress('The port is not open; proving that it is closed');
  const port = await proveClosed(scene);
  const seen = await sightingNow(toolkit);
  const before = await readTabletRecord(toolkit.site.stateDir);
  const answeredBy = answererOf(before, seen.mac);
  if (port !== 'closed') {
    // Silence and an open port are stored as what they are, with nobody connected.
    const why = port === 'open' ? 'its port still takes connections' : 'no answer from its address';
    const record = await changeRecord(toolkit, (record) =>
      afterLock(
        record ?? afterRefusal(null, scene.endpoint, seen),
        port === 'open' ? 'open' : 'not-proven',
        why,
        'not-checked',
        record === null ? seen : { ...record.bridge.seen, at: seen.at, machine: seen.machine },
      ),
    );
    return outcomeOf(port, false, record?.bridge.afterRestart.verdict ?? 'not-checked', null, 'unknown');
  }
  const after = await changeRecord(toolkit, (record) => afterRefusal(record, scene.endpoint, seen));
  const restart = after?.bridge.afterRestart.verdict ?? 'not-checked';
  const outcome = outcomeOf(port, false, restart, null, answeredBy);
  const isBelieved = after?.bridge.state === 'closed' && answeredBy !== 'other';
  return isBelieved ? outcome : { ...outcome, verdict: 'not-proven' };
}

/**
 * Locks the tablet that we are connected to, and stores how it came out. With a cable the settings are read once more
 * after a restart. Throws TABLET_REFUSED, after all that, for a tablet that keeps wireless debugging on: no result may
 * say that it is closed.
 */
export async function lockTablet(
  toolkit: Toolkit,
  tablet: Tablet,
  { afterRestart, watchMs, usb }: LockOptions & Pick<KioskAccess, 'usb'>,
  context: CheckContext,
  wasOpen: boolean,
  profile: KioskProfile | null,
): Promise<LockOutcome> {
  const scene = portScene(toolkit, context);
  const { onProgress } = context;
  const order = async (restart: boolean) => {
    const seen = await sightingNow(toolkit, tablet.facts);
    await changeRecord(toolkit, (record) => (record === null ? null : afterOrder(record, restart, seen)));
    await tablet.service(restart ? 'reboot:' : 'usb:');
  };
  onProgress('Taking away what opens the port again');
  const { keepsOpening, wirelessStaysOn } = await clearReopening(tablet);
  await changeRecord(toolkit, (record) => (record === null ? null : afterWireless(record, wirelessStaysOn)));
  let restarted: LockOutcome['afterRestart'] = 'not-checked';
  let isUp = !afterRestart;
  if (afterRestart) {
    onProgress('The tablet restarts');
    await order(true);
    if (await waitUntilDown(scene)) {
      const seen = await watchRestart(scene, watchMs);
      restarted = seen === 'silent' ? 'not-checked' : seen;
    } else isUp = true;
    if (restarted === 'open') await tablet.reconnect();
  }
  if (isUp || restarted === 'open') {
    onProgress('Switching ADB over TCP off');
    await order(false);
  }
  onProgress('Proving that the port is closed');
  const port = await proveClosed(scene);
  // What will open it at the next start counts as having been seen to.
  const verdict = keepsOpening !== null && restarted === 'not-checked' ? 'open' : restarted;
  const why = {
    closed: 'connections to its port are refused',
    open: 'its port still takes connections',
    silent: 'no answer from its address',
  }[port];
  // Of the start after a restart nothing is known, unless the tablet was connected to again.
  const isBootKnown = !afterRestart || isUp || restarted === 'open';
  const { facts } = tablet;
  const seen = await sightingNow(toolkit, isBootKnown ? facts : { ...facts, bootId: null });
  const before = await readTabletRecord(toolkit.site.stateDir);
  const answeredBy = answererAfterOrder(before, seen.mac, { isUsb: usb === true, wasOpen });
  const isOther = answeredBy === 'other' && port === 'closed';
  const state = port === 'silent' || isOther ? 'not-proven' : port;
  const after = await changeRecord(toolkit, (record) =>
    record === null
      ? null
      : isOther
        ? afterLock(record, state, 'another device refuses at its address', 'not-checked', record.bridge.seen)
        : afterLock(record, state, why, verdict, seen),
  );
  const wasRestarted = afterRestart && !isUp;
  const readAfterRestart = usb === true && wasRestarted ? await readAfter(toolkit, tablet, profile, context) : null;
  const stored = after?.bridge.afterRestart.verdict ?? verdict;
  const outcome = {
    ...outcomeOf(port, wasOpen, stored, keepsOpening, answeredBy, verdict !== 'not-checked' && !isOther),
    ...(isOther && { verdict: 'not-proven' as const }),
    wasRestarted,
    readAfterRestart,
  };
  if (!wirelessStaysOn) return outcome;
  const rest = outcome.verdict === 'closed' ? 'ADB over TCP itself is closed' : 'nor is ADB over TCP proven closed';
  throw new GwError('TABLET_REFUSED', `The tablet keeps wireless debugging on although it was switched off; ${rest}.`, {
    remedy: 'Switch wireless debugging off in the developer options of the tablet, and look whether it stays off.',
  });
}

/** At a cable: the settings after a restart; null when the tablet is not back, which undoes nothing of the lock. */
async function readAfter(
  toolkit: Toolkit,
  tablet: Tablet,
  profile: KioskProfile | null,
  context: CheckContext,
): Promise<KioskLock['reading']> {
  try {
    await tablet.reconnect();
  } catch (error) {
    if (context.signal.aborted || !(error instanceof GwError)) throw error;
    return null;
  }
  return await readInTime(toolkit, tablet, profile, context);
}

function outcomeOf(
  port: LockOutcome['port'],
  wasOpen: boolean,
  afterRestart: LockOutcome['afterRestart'],
  keepsOpening: string | null,
  answeredBy: Answerer,
  isRestartNow = false,
): LockOutcome {
  const state = port === 'silent' ? 'not-proven' : port;
  const verdict = state === 'closed' && afterRestart === 'open' ? 'opens-again' : state;
  const afterRestartBasis = isRestartNow ? 'read-now' : afterRestart === 'not-checked' ? 'none' : 'remembered';
  const notRestarted = { wasRestarted: false, readAfterRestart: null };
  return { verdict, port, wasOpen, afterRestart, afterRestartBasis, keepsOpening, answeredBy, ...notRestarted };
}
