import { GwError } from '../../error/index.ts';
import {
  afterOpen,
  afterRefusal,
  loadKioskProfile,
  type PortState,
  probePort,
  profileHash,
  responderOf,
  verifyClosed,
} from '../../kiosk/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { conclude } from '../verdict.ts';
import type { KioskAccess } from './connection.ts';
import type { KioskStatus } from './kiosk.result.ts';
import { closingOf, isOfAnother, type Kiosk, observeNow, openKiosk, remember } from './memory.ts';
import { readTablet } from './reading.ts';
import { withTablet } from './session.ts';
import { statusOf } from './status-findings.ts';

/**
 * Whether the ADB port is closed and the settings match the profile. Probes the port; reads the settings when it is open
 * or over USB, otherwise returns the remembered reading. Changes nothing on the tablet. Throws USAGE when the site file
 * names no tablet, FILE_UNREADABLE when the record is corrupt.
 */
export async function kioskStatus(toolkit: Toolkit, access: KioskAccess, context: CheckContext): Promise<KioskStatus> {
  const kiosk = await openKiosk(toolkit, context, { ...access, mayBeClosed: true });
  const { site, clock, endpoint } = kiosk;
  const before = kiosk.record;
  const port = await probeAndVerify(kiosk);
  const observed = await observeNow(kiosk);
  const answeredBy = port === 'silent' ? 'unknown' : responderOf(before, observed.mac);
  if (port === 'open') await remember(kiosk, observed, afterOpen);
  else if (port === 'closed' && before !== null && before.bridge.state !== 'closed') {
    await remember(kiosk, observed, afterRefusal);
  }
  const profile = await loadKioskProfile(kiosk.profileFile, kiosk.serial).catch(errorOf);
  const isReadable = (port === 'open' || access.usb === true) && !('code' in profile);
  const read = isReadable
    ? withTablet(kiosk, { ...access, expected: profile.tablet }, port, (tablet) =>
        readTablet(kiosk, tablet, profile, 'status'),
      )
    : null;
  const readError = await read?.then(
    () => null,
    (error: unknown) => {
      if (context.signal.aborted) throw error;
      return errorOf(error);
    },
  );
  const { findings, ...rest } = statusOf(kiosk.record, {
    now: { wall: clock.wall(), machine: observed.machine },
    port,
    answeredBy,
    isOfAnother: isOfAnother(kiosk, kiosk.record),
    foundBy: kiosk.foundBy,
    address: endpoint,
    isRead: readError === null,
    notRead: 'code' in profile ? profile : (readError ?? null),
    hash: 'code' in profile ? null : profileHash(profile, site.network.robotSegment),
  });
  const tablet = kiosk.record?.tablet ?? null;
  return { verdict: conclude(findings), port, answeredBy, tablet, ...rest, findings, ...closingOf(kiosk) };
}

/** A tablet recorded as open may have been closed by other means: verified as in a lock. */
async function probeAndVerify(kiosk: Kiosk): Promise<PortState> {
  const state = await probePort(kiosk);
  const isNewlyClosed = state === 'closed' && kiosk.record !== null && kiosk.record.bridge.state !== 'closed';
  return isNewlyClosed ? await verifyClosed(kiosk) : state;
}

function errorOf(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof GwError)) throw error;
  const { code, message } = error;
  return { code, message };
}
