import { GwError } from '../../error/index.ts';
import {
  afterLock,
  afterOrder,
  afterRefusal,
  clearReopening,
  type KioskProfile,
  loadKioskProfile,
  type Responder,
  responderAfterOrder,
  responderOf,
  type StepOutcome,
  type Tablet,
  verifyClosed,
  waitUntilDown,
  watchRestart,
} from '../../kiosk/index.ts';
import { firstOf, untilAborted } from '../../lifecycle/index.ts';
import { isLoopback } from '../../net/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { type CheckVerdict, conclude } from '../verdict.ts';
import type { KioskAccess } from './connection.ts';
import type { KioskLock, LockOutcome } from './kiosk.result.ts';
import { closingOf, isOfAnother, type Kiosk, observeNow, openKiosk, remember } from './memory.ts';
import { readTablet, verdictOf } from './reading.ts';
import { probe, statingPort, withTablet } from './session.ts';

export interface LockOptions {
  /** Restart the tablet, and verify that its port stays closed. */
  readonly afterRestart: boolean;
  /** Watch time of the port after the restart. */
  readonly watchMs: number;
}

/** Any tablet may be locked that the site file does not rule out, also one that does not match the profile. */
const anyTablet = { minSdk: 1 };

/**
 * Switches ADB over TCP off and verifies it. The settings are read just before, since that is the last opportunity. A
 * port that is closed already is only probed, unless over USB. Throws the errors of {@link withTablet}.
 */
export async function lockKiosk(
  toolkit: Toolkit,
  options: KioskAccess & LockOptions,
  context: CheckContext,
): Promise<KioskLock> {
  const kiosk = await openKiosk(toolkit, context, { ...options, mayBeClosed: true });
  return await statingPort(kiosk, async () => {
    const port = await probe(kiosk);
    let reading: KioskLock['reading'] = null;
    const outcome =
      port === 'open' || options.usb === true
        ? await withTablet(
            kiosk,
            { ...options, expected: { ...anyTablet, serial: kiosk.serial } },
            port,
            async (tablet) => {
              // A missing profile does not keep the tablet open.
              const profile = await loadKioskProfile(kiosk.profileFile, kiosk.serial).catch(() => null);
              reading = await readWithinLimit(kiosk, tablet, profile);
              return await lockTablet(kiosk, tablet, options, port === 'open', profile);
            },
          )
        : await confirmClosed(kiosk);
    return { ...outcome, reading, ...closingOf(kiosk) };
  });
}

/** Limit of the reading before a lock. Project decision. */
const MAX_READING_MS = 60_000;

/** Reads the current settings; null without a matching profile or after the time limit. */
async function readWithinLimit(
  kiosk: Kiosk,
  tablet: Tablet,
  profile: KioskProfile | null,
): Promise<KioskLock['reading']> {
  if (profile === null || !matchesProfile(profile, tablet)) return null;
  const limit = new AbortController();
  using _timer = kiosk.clock.after(MAX_READING_MS, () =>
    limit.abort(new GwError('TABLET_LOST', `Reading the settings took longer than ${MAX_READING_MS / 1000} s.`)),
  );
  try {
    const signal = firstOf(kiosk.signal, limit.signal);
    return countReading(await untilAborted(limit.signal, readTablet(kiosk, tablet, profile, 'lock', signal)));
  } catch (error) {
    if (kiosk.signal.aborted || !(error instanceof GwError)) throw error;
    return null;
  }
}

function countReading(steps: readonly StepOutcome[]): NonNullable<KioskLock['reading']> {
  const count = (counted: StepOutcome['state']) => steps.filter(({ state }) => state === counted).length;
  return {
    verdict: verdictOf(steps),
    steps: steps.length,
    differing: count('differs') + count('failed'),
    unknown: count('not-checked'),
  };
}

function matchesProfile({ tablet: { model, serial } }: KioskProfile, { facts }: Tablet): boolean {
  return (model === undefined || model === facts.model) && (serial === undefined || serial === facts.serial);
}

/** Verifies a port that is not open; without a connection nothing can be switched off or restarted. */
async function confirmClosed(kiosk: Kiosk): Promise<LockOutcome> {
  kiosk.onProgress('The port is not open; verifying that it is closed');
  const before = kiosk.record;
  const port = await verifyClosed(kiosk);
  const observed = await observeNow(kiosk);
  const answeredBy = port === 'closed' ? responderOf(before, observed.mac) : 'unknown';
  const { bridge } = await remember(kiosk, observed, (record, endpoint) => {
    if (port === 'closed') return afterRefusal(record, endpoint, observed);
    const { at, machine } = observed;
    const last = { ...record.bridge.observed, at, machine };
    return afterLock(record, port === 'open' ? 'open' : 'not-verified', whys[port], 'not-checked', last);
  });
  const outcome = outcomeOf(port, false, bridge.afterRestart.verdict, null, answeredBy);
  if (port !== 'closed') return outcome;
  // The refusal of a device that was never connected is not that of the tablet.
  const isHere =
    answeredBy === 'unknown' && kiosk.foundBy !== 'remembered' && before !== null && before.tablet !== null;
  const isKnown = !isOfAnother(kiosk, before) && (answeredBy === 'same' || isHere);
  return bridge.state === 'closed' && isKnown ? outcome : { ...outcome, verdict: 'not-verified' };
}

const whys = {
  closed: 'its port refuses connections',
  open: 'its port still accepts connections',
  silent: 'no answer from its address',
};

/**
 * Locks the connected tablet and records the result. Over USB the settings are read again after a restart. Throws
 * TABLET_REFUSED at the end when wireless debugging stays on, since the tablet is then not closed.
 */
export async function lockTablet(
  kiosk: Kiosk,
  tablet: Tablet,
  { afterRestart, watchMs, usb }: LockOptions & Pick<KioskAccess, 'usb'>,
  wasOpen: boolean,
  profile: KioskProfile | null,
): Promise<LockOutcome> {
  const { onProgress } = kiosk;
  const order = async (restart: boolean) => {
    const observed = await observeNow(kiosk, tablet.facts);
    await remember(kiosk, observed, (record) => afterOrder(record, restart, observed));
    await tablet.service(restart ? 'reboot:' : 'usb:');
  };
  onProgress('Clearing settings that open the port again');
  const { keepsOpening, wirelessStaysOn: isWirelessOn } = await clearReopening(tablet);
  // As reported by the tablet; the port of wireless debugging is not dialled.
  await remember(kiosk, await observeNow(kiosk), (record) => {
    return { ...record, bridge: { ...record.bridge, isWirelessOn } };
  });
  let restarted: LockOutcome['afterRestart'] = 'not-checked';
  let isUp = !afterRestart;
  if (afterRestart) {
    onProgress('Restarting the tablet');
    await order(true);
    if (await waitUntilDown(kiosk)) {
      const watched = await watchRestart(kiosk, watchMs);
      restarted = watched === 'silent' ? 'not-checked' : watched;
    } else isUp = true;
    if (restarted === 'open') await tablet.reconnect();
  }
  if (isUp || restarted === 'open') {
    onProgress('Switching ADB over TCP off');
    await order(false);
  }
  onProgress('Verifying that the port is closed');
  const port = await verifyClosed(kiosk);
  // A property that opens the port at the next start counts as an observed opening.
  const verdict = keepsOpening !== null && restarted === 'not-checked' ? 'open' : restarted;
  // The boot id after a restart is unknown without a new connection.
  const isBootKnown = !afterRestart || isUp || restarted === 'open';
  const { facts } = tablet;
  const observed = await observeNow(kiosk, isBootKnown ? facts : { ...facts, bootId: null });
  const answeredBy = responderAfterOrder(kiosk.record, observed.mac, {
    isUsb: usb === true,
    wasOpen,
    // A restart may bring the tablet back at another address, but not on this machine.
    mayHaveMoved: afterRestart && !isLoopback(kiosk.endpoint.host),
  });
  const isOther = answeredBy === 'other' && port === 'closed';
  const after = await remember(kiosk, observed, (record) => {
    const otherWhy = 'another device refuses connections at its address';
    if (isOther) return afterLock(record, 'not-verified', otherWhy, 'not-checked', record.bridge.observed);
    return afterLock(record, port === 'silent' ? 'not-verified' : port, whys[port], verdict, observed);
  });
  const wasRestarted = afterRestart && !isUp;
  const readAfterRestart = usb === true && wasRestarted ? await readAfterRestartOf(kiosk, tablet, profile) : null;
  const isWatched = verdict !== 'not-checked' && !isOther;
  const outcome = {
    ...outcomeOf(port, wasOpen, after.bridge.afterRestart.verdict, keepsOpening, answeredBy, isWatched),
    ...(isOther && { verdict: 'not-verified' as const }),
    wasRestarted,
    readAfterRestart,
  };
  if (!isWirelessOn) return outcome;
  const rest =
    outcome.verdict === 'closed' ? 'ADB over TCP is closed' : 'ADB over TCP is not verified as closed either';
  throw new GwError('TABLET_REFUSED', `Wireless debugging stays on after it was switched off; ${rest}.`, {
    remedy: 'Switch wireless debugging off in the developer options of the tablet, and check that it stays off.',
  });
}

/** Over USB: the settings after a restart; null when the tablet is not back, which does not affect the lock. */
async function readAfterRestartOf(
  kiosk: Kiosk,
  tablet: Tablet,
  profile: KioskProfile | null,
): Promise<KioskLock['reading']> {
  try {
    await tablet.reconnect();
  } catch (error) {
    if (kiosk.signal.aborted || !(error instanceof GwError)) throw error;
    return null;
  }
  return await readWithinLimit(kiosk, tablet, profile);
}

function outcomeOf(
  port: LockOutcome['port'],
  wasOpen: boolean,
  afterRestart: LockOutcome['afterRestart'],
  keepsOpening: string | null,
  answeredBy: Responder,
  isRestartNow = false,
): LockOutcome {
  const state = port === 'silent' ? 'not-verified' : port;
  const verdict = state === 'closed' && afterRestart === 'open' ? 'opens-again' : state;
  const afterRestartBasis = isRestartNow ? 'read-now' : afterRestart === 'not-checked' ? 'none' : 'remembered';
  const notRestarted = { wasRestarted: false, readAfterRestart: null };
  return { verdict, port, wasOpen, afterRestart, afterRestartBasis, keepsOpening, answeredBy, ...notRestarted };
}

/** Whether the tablet itself was seen closed; a refusal by a device that is not identified decides nothing. */
export function portVerdict({ port, verdict, answeredBy }: LockOutcome): CheckVerdict {
  if (port === 'open') return 'wrong';
  return port === 'closed' && verdict !== 'not-verified' && answeredBy === 'same' ? 'ok' : 'not-checked';
}

/** Whether it stays closed after a restart, watched now; what an earlier run watched is not checked. */
export function restartVerdict({ afterRestart, afterRestartBasis }: LockOutcome): CheckVerdict {
  if (afterRestart === 'open') return 'wrong';
  return afterRestart === 'closed' && afterRestartBasis === 'read-now' ? 'ok' : 'not-checked';
}

/** The verdict of a lock by the one rule. The restart is needed where it was requested, or where it is known to open. */
export function concludeLock(lock: LockOutcome, { afterRestart }: { readonly afterRestart: boolean }): CheckVerdict {
  const restart = restartVerdict(lock);
  const need = afterRestart || restart === 'wrong' ? 'needed' : 'optional';
  return conclude([{ verdict: portVerdict(lock) }, { verdict: restart, need }]);
}
