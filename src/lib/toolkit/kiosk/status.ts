import { GwError } from '../../error/index.ts';
import {
  type Answerer,
  afterRefusal,
  answererOf,
  loadKioskProfile,
  lookAtPort,
  type PortState,
  profileHash,
  proveClosed,
  readMachineTime,
  readTabletRecord,
  type TabletRecord,
  tabletRedLine,
} from '../../kiosk/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { KioskStatus } from './kiosk.result.ts';
import { changeRecord, sightingNow } from './memory.ts';
import { readTablet } from './reading.ts';
import { type KioskAccess, portScene, rememberOpen, tabletEndpoint, withTablet } from './session.ts';
import { findingsOf, knownRestart, knownSetUp } from './status-findings.ts';

/**
 * Whether the tablet is closed and as its profile says. Dials its port; reads the settings again where there is a
 * connection (an open port, or a cable), and shows what is remembered where there is none. Changes nothing on the
 * tablet. Throws USAGE when the site names no tablet, FILE_UNWRITABLE when the record is damaged.
 */
export async function kioskStatus(toolkit: Toolkit, access: KioskAccess, context: CheckContext): Promise<KioskStatus> {
  const { clock, site } = toolkit;
  const began = clock.monotonicMs();
  const { host, port, profileFile } = tabletEndpoint(toolkit);
  const { state, answeredBy } = await lookAtBridge(toolkit, context);
  const profile = await loadKioskProfile(profileFile).catch((error: unknown) => asProblem(error));
  let isRead = false;
  let notRead: KioskStatus['setUp']['notRead'] = null;
  if (state === 'open' || access.usb === true) {
    if ('code' in profile) notRead = profile;
    else {
      const read = withTablet(toolkit, { ...access, wanted: profile.tablet }, context, (tablet) =>
        readTablet(toolkit, tablet, profile, 'status', context),
      );
      await read.then(
        () => {
          isRead = true;
        },
        (error: unknown) => {
          if (context.signal.aborted) throw error;
          notRead = asProblem(error);
        },
      );
    }
  }
  const record = await readTabletRecord(site.stateDir);
  const now = { wall: clock.wall(), machine: await readMachineTime() };
  const hash = 'code' in profile ? null : profileHash(profile, site.network.robotSegment);
  const setUp = { ...knownSetUp(record, { now, isRead, hash, answeredBy, address: { host, port } }), notRead };
  const restart = knownRestart(record, { now, answeredBy });
  const findings = findingsOf({ port: state, answeredBy, setUp, restart, now });
  return {
    address: { host, port },
    verdict: findings.some(({ verdict }) => verdict === 'wrong')
      ? 'wrong'
      : findings.some(({ verdict }) => verdict === 'not-checked')
        ? 'not-checked'
        : 'ok',
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

/** Dials, and stores what that changes in what is known. */
async function lookAtBridge(
  toolkit: Toolkit,
  context: CheckContext,
): Promise<{ readonly state: PortState; readonly answeredBy: Answerer }> {
  const before: TabletRecord | null = await readTabletRecord(toolkit.site.stateDir);
  const scene = portScene(toolkit, context);
  const first = await lookAtPort(scene);
  // Somebody else may have closed it: then the memory of an open tablet ends, with the same proof as in a lock.
  const isNews = first === 'closed' && before !== null && before.bridge.state !== 'closed';
  const state = isNews ? await proveClosed(scene) : first;
  const seen = await sightingNow(toolkit);
  const answeredBy = state === 'silent' ? 'unknown' : answererOf(before, seen.mac);
  if (state === 'open') await rememberOpen(toolkit);
  if (state === 'closed' && isNews) {
    await changeRecord(toolkit, (record) => afterRefusal(record, scene.endpoint, seen));
  }
  return { state, answeredBy };
}

function asProblem(error: unknown): { readonly code: string; readonly message: string } {
  if (!(error instanceof GwError)) throw error;
  const { code, message } = error;
  return { code, message };
}
