import { GwError } from '../../error/index.ts';
import {
  afterLock,
  afterOrder,
  afterRefusal,
  afterWireless,
  clearReopening,
  type KioskProfile,
  loadKioskProfile,
  type PortTarget,
  probePort,
  type Responder,
  readTabletRecord,
  responderAfterOrder,
  responderOf,
  type StepOutcome,
  type Tablet,
  tabletRedLine,
  verifyClosed,
  waitUntilDown,
  watchRestart,
} from '../../kiosk/index.ts';
import { firstOf, untilAborted } from '../../lifecycle/index.ts';
import { isLoopback } from '../../net/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { type CheckVerdict, conclude } from '../verdict.ts';
import type { KioskLock, LockOutcome } from './kiosk.result.ts';
import { changeRecord, observeNow, verdictOf } from './memory.ts';
import { readTablet } from './reading.ts';
import { type KioskAccess, portTarget, rememberOpen, statingPort, tabletEndpoint, withTablet } from './session.ts';

export interface LockOptions {
  /** Restart the tablet, and verify that its port stays closed. */
  readonly afterRestart: boolean;
  /** Watch time of the port after the restart. */
  readonly watchMs: number;
}

/** Any tablet may be locked, also one that does not match the profile. */
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
  return await statingPort(toolkit, context, () => lock(toolkit, options, context));
}

async function lock(toolkit: Toolkit, options: KioskAccess & LockOptions, context: CheckContext): Promise<KioskLock> {
  const { clock, site } = toolkit;
  const began = clock.monotonicMs();
  const { host, port, profileFile } = tabletEndpoint(toolkit);
  const target = portTarget(toolkit, context);
  const wasOpen = (await probePort(target)) === 'open';
  if (wasOpen) await rememberOpen(toolkit);
  let reading: KioskLock['reading'] = null;
  const outcome =
    wasOpen || options.usb === true
      ? await withTablet(toolkit, { ...options, expected: anyTablet }, context, async (tablet) => {
          // A missing profile does not keep the tablet open.
          const profile = await loadKioskProfile(profileFile).catch(() => null);
          reading = await readWithinLimit(toolkit, tablet, profile, context);
          return await lockTablet(toolkit, tablet, options, context, wasOpen, profile);
        })
      : await confirmClosed(toolkit, target);
  return {
    address: { host, port },
    ...outcome,
    reading,
    redLine: await tabletRedLine(site.stateDir),
    tookMs: Math.round(clock.monotonicMs() - began),
  };
}

/** Limit of the reading before a lock. Project decision. */
const MAX_READING_MS = 60_000;

/** Reads the current settings; null without a matching profile or after the time limit. */
async function readWithinLimit(
  toolkit: Toolkit,
  tablet: Tablet,
  profile: KioskProfile | null,
  context: CheckContext,
): Promise<KioskLock['reading']> {
  if (profile === null || !matchesProfile(profile, tablet)) return null;
  const limit = new AbortController();
  using _timer = toolkit.clock.after(MAX_READING_MS, () =>
    limit.abort(new GwError('TABLET_LOST', `Reading the settings took longer than ${MAX_READING_MS / 1000} s.`)),
  );
  try {
    const signal = firstOf(context.signal, limit.signal);
    const reading = readTablet(toolkit, tablet, profile, 'lock', { ...context, signal });
    return countReading(await untilAborted(limit.signal, reading));
  } catch (error) {
    if (context.signal.aborted || !(error instanceof GwError)) throw error;
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
async function confirmClosed(toolkit: Toolkit, target: PortTarget): Promise<LockOutcome> {
  target.onProgress('The port is not open; verifying that it is closed');
  const port = await verifyClosed(target);
  const observed = await observeNow(toolkit);
  const before = await readTabletRecord(toolkit.site.stateDir);
  const answeredBy = responderOf(before, observed.mac);
  if (port !== 'closed') {
    const why = port === 'open' ? 'its port still accepts connections' : 'no answer from its address';
    const record = await changeRecord(toolkit, (record) =>
      afterLock(
        record ?? afterRefusal(null, target.endpoint, observed),
        port === 'open' ? 'open' : 'not-verified',
        why,
        'not-checked',
        record === null ? observed : { ...record.bridge.observed, at: observed.at, machine: observed.machine },
      ),
    );
    return outcomeOf(port, false, record?.bridge.afterRestart.verdict ?? 'not-checked', null, 'unknown');
  }
  const after = await changeRecord(toolkit, (record) => afterRefusal(record, target.endpoint, observed));
  const restart = after?.bridge.afterRestart.verdict ?? 'not-checked';
  const outcome = outcomeOf(port, false, restart, null, answeredBy);
  // The refusal of a device that was never connected is not that of the tablet.
  const isKnown = answeredBy === 'same' || (answeredBy === 'unknown' && before !== null && before.tablet !== null);
  const isAccepted = after?.bridge.state === 'closed' && isKnown;
  return isAccepted ? outcome : { ...outcome, verdict: 'not-verified' };
}

/**
 * Locks the connected tablet and records the result. Over USB the settings are read again after a restart. Throws
 * TABLET_REFUSED at the end when wireless debugging stays on, since the tablet is then not closed.
 */
export async function lockTablet(
  toolkit: Toolkit,
  tablet: Tablet,
  { afterRestart, watchMs, usb }: LockOptions & Pick<KioskAccess, 'usb'>,
  context: CheckContext,
  wasOpen: boolean,
  profile: KioskProfile | null,
): Promise<LockOutcome> {
  const target = portTarget(toolkit, context);
  const { onProgress } = context;
  const order = async (restart: boolean) => {
    const observed = await observeNow(toolkit, tablet.facts);
    await changeRecord(toolkit, (record) => (record === null ? null : afterOrder(record, restart, observed)));
    await tablet.service(restart ? 'reboot:' : 'usb:');
  };
  onProgress('Clearing settings that open the port again');
  const { keepsOpening, wirelessStaysOn } = await clearReopening(tablet);
  await changeRecord(toolkit, (record) => (record === null ? null : afterWireless(record, wirelessStaysOn)));
  let restarted: LockOutcome['afterRestart'] = 'not-checked';
  let isUp = !afterRestart;
  if (afterRestart) {
    onProgress('Restarting the tablet');
    await order(true);
    if (await waitUntilDown(target)) {
      const watched = await watchRestart(target, watchMs);
      restarted = watched === 'silent' ? 'not-checked' : watched;
    } else isUp = true;
    if (restarted === 'open') await tablet.reconnect();
  }
  if (isUp || restarted === 'open') {
    onProgress('Switching ADB over TCP off');
    await order(false);
  }
  onProgress('Verifying that the port is closed');
  const port = await verifyClosed(target);
  // A property that opens the port at the next start counts as an observed opening.
  const verdict = keepsOpening !== null && restarted === 'not-checked' ? 'open' : restarted;
  const why = {
    closed: 'its port refuses connections',
    open: 'its port still accepts connections',
    silent: 'no answer from its address',
  }[port];
  // The boot id after a restart is unknown without a new connection.
  const isBootKnown = !afterRestart || isUp || restarted === 'open';
  const { facts } = tablet;
  const observed = await observeNow(toolkit, isBootKnown ? facts : { ...facts, bootId: null });
  const before = await readTabletRecord(toolkit.site.stateDir);
  const answeredBy = responderAfterOrder(before, observed.mac, {
    isUsb: usb === true,
    wasOpen,
    // A restart may bring the tablet back at another address, but not on this machine.
    mayHaveMoved: afterRestart && !isLoopback(target.endpoint.host),
  });
  const isOther = answeredBy === 'other' && port === 'closed';
  const state = port === 'silent' || isOther ? 'not-verified' : port;
  const after = await changeRecord(toolkit, (record) =>
    record === null
      ? null
      : isOther
        ? afterLock(
            record,
            state,
            'another device refuses connections at its address',
            'not-checked',
            record.bridge.observed,
          )
        : afterLock(record, state, why, verdict, observed),
  );
  const wasRestarted = afterRestart && !isUp;
  const readAfterRestart =
    usb === true && wasRestarted ? await readAfterRestartOf(toolkit, tablet, profile, context) : null;
  const stored = after?.bridge.afterRestart.verdict ?? verdict;
  const outcome = {
    ...outcomeOf(port, wasOpen, stored, keepsOpening, answeredBy, verdict !== 'not-checked' && !isOther),
    ...(isOther && { verdict: 'not-verified' as const }),
    wasRestarted,
    readAfterRestart,
  };
  if (!wirelessStaysOn) return outcome;
  const rest =
    outcome.verdict === 'closed' ? 'ADB over TCP is closed' : 'ADB over TCP is not verified as closed either';
  throw new GwError('TABLET_REFUSED', `Wireless debugging stays on after it was switched off; ${rest}.`, {
    remedy: 'Switch wireless debugging off in the developer options of the tablet, and check that it stays off.',
  });
}

/** Over USB: the settings after a restart; null when the tablet is not back, which does not affect the lock. */
async function readAfterRestartOf(
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
  return await readWithinLimit(toolkit, tablet, profile, context);
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
