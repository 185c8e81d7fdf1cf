import { GwError } from '../../error/index.ts';
import {
  afterRefusal,
  loadKioskProfile,
  type PortState,
  probePort,
  profileHash,
  type Responder,
  readMachineTime,
  readTabletRecord,
  responderOf,
  type TabletRecord,
  tabletRedLine,
  verifyClosed,
} from '../../kiosk/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { conclude } from '../verdict.ts';
import type { KioskStatus } from './kiosk.result.ts';
import { changeRecord, observeNow } from './memory.ts';
import { readTablet } from './reading.ts';
import { type KioskAccess, portTarget, rememberOpen, tabletEndpoint, withTablet } from './session.ts';
import { findingsOf, knownAt, knownRestart, knownSetUp } from './status-findings.ts';

/**
 * Whether the ADB port is closed and the settings match the profile. Probes the port; reads the settings when it is open
 * or over USB, otherwise returns the remembered reading. Changes nothing on the tablet. Throws USAGE when the site file
 * names no tablet, FILE_UNREADABLE when the record is corrupt.
 */
export async function kioskStatus(toolkit: Toolkit, access: KioskAccess, context: CheckContext): Promise<KioskStatus> {
  const { clock, site } = toolkit;
  const began = clock.monotonicMs();
  const { host, port, profileFile } = tabletEndpoint(toolkit);
  const { state, answeredBy } = await probeBridge(toolkit, context);
  const profile = await loadKioskProfile(profileFile).catch((error: unknown) => errorOf(error));
  let isRead = false;
  let notRead: KioskStatus['setUp']['notRead'] = null;
  if (state === 'open' || access.usb === true) {
    if ('code' in profile) notRead = profile;
    else {
      const read = withTablet(toolkit, { ...access, expected: profile.tablet }, context, (tablet) =>
        readTablet(toolkit, tablet, profile, 'status', context),
      );
      await read.then(
        () => {
          isRead = true;
        },
        (error: unknown) => {
          if (context.signal.aborted) throw error;
          notRead = errorOf(error);
        },
      );
    }
  }
  const record = await readTabletRecord(site.stateDir);
  const now = { wall: clock.wall(), machine: await readMachineTime() };
  const hash = 'code' in profile ? null : profileHash(profile, site.network.robotSegment);
  const setUp = { ...knownSetUp(record, { now, isRead, hash, answeredBy, address: { host, port } }), notRead };
  const restart = knownRestart(record, { now, answeredBy });
  const findings = findingsOf({ port: state, answeredBy, setUp, restart, now, known: knownAt(record, { host, port }) });
  return {
    address: { host, port },
    verdict: conclude(findings),
    port: state,
    answeredBy,
    tablet: record?.tablet ?? null,
    setUp,
    restart,
    findings,
    redLine: await tabletRedLine(site.stateDir),
    tookMs: Math.round(clock.monotonicMs() - began),
  };
}

/** Probes the port, and records a changed state. */
async function probeBridge(
  toolkit: Toolkit,
  context: CheckContext,
): Promise<{ readonly state: PortState; readonly answeredBy: Responder }> {
  const before: TabletRecord | null = await readTabletRecord(toolkit.site.stateDir);
  const target = portTarget(toolkit, context);
  const first = await probePort(target);
  // A tablet recorded as open may have been closed by other means: verified as in a lock.
  const isNewlyClosed = first === 'closed' && before !== null && before.bridge.state !== 'closed';
  const state = isNewlyClosed ? await verifyClosed(target) : first;
  const observed = await observeNow(toolkit);
  const answeredBy = state === 'silent' ? 'unknown' : responderOf(before, observed.mac);
  if (state === 'open') await rememberOpen(toolkit);
  if (state === 'closed' && isNewlyClosed) {
    await changeRecord(toolkit, (record) => afterRefusal(record, target.endpoint, observed));
  }
  return { state, answeredBy };
}

function errorOf(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof GwError)) throw error;
  const { code, message } = error;
  return { code, message };
}
