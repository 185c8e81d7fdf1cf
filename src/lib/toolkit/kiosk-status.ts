import {
  lookAtPort,
  type PortState,
  proveClosed,
  readTabletRecord,
  type TabletRecord,
  tabletRedLine,
} from '../kiosk/index.ts';
import type { Finding } from './finding.result.ts';
import type { KioskStatus } from './kiosk.result.ts';
import { portScene, rememberBridge, tabletEndpoint } from './kiosk-session.ts';
import type { CheckContext, Toolkit } from './toolkit.ts';

/**
 * Whether the tablet is set up and closed: dials its port, and reads what is remembered. Needs no adb and changes
 * nothing on the tablet. Throws USAGE when the site names no tablet, FILE_UNWRITABLE when the record is damaged.
 */
export async function kioskStatus(toolkit: Toolkit, context: CheckContext): Promise<KioskStatus> {
  const { clock, site } = toolkit;
  const began = clock.monotonicMs();
  const { host, port } = tabletEndpoint(toolkit);
  const before = await readTabletRecord(site.stateDir);
  const scene = portScene(toolkit, context);
  const first = await lookAtPort(scene);
  // Somebody else may have closed it: then the memory of an open tablet ends here, with the same proof as in a lock.
  const isNews = first === 'closed' && before !== null && before.bridge.state !== 'closed';
  const state = isNews ? await proveClosed(scene) : first;
  if (state === 'open') await rememberBridge(toolkit, { state, why: 'its port takes connections' });
  if (state === 'closed' && isNews) {
    // Whether it opens at a restart was not looked at: what is known of that stays, unless it was open since.
    const afterRestart = before.bridge.state === 'open' ? 'not-checked' : before.bridge.afterRestart;
    await rememberBridge(toolkit, { state, why: 'the tablet refuses connections', afterRestart });
  }
  const record = await readTabletRecord(site.stateDir);
  return {
    address: { host, port },
    port: state,
    record,
    findings: [portFinding(state), restartFinding(record), setUpFinding(record)],
    redLine: await tabletRedLine(site.stateDir),
    tookMs: Math.round(clock.monotonicMs() - began),
  };
}

const SPEC = 'Cloud and other network paths';

function portFinding(state: PortState): Finding {
  const base = { id: 'port', title: 'ADB over TCP is switched off', spec: SPEC };
  switch (state) {
    case 'closed':
      return { ...base, verdict: 'ok', detail: 'the tablet refuses connections to its port', remedy: null };
    case 'open':
      return {
        ...base,
        verdict: 'wrong',
        detail: 'the port takes connections: who reaches it owns the tablet',
        remedy: 'When the tablet is set up: `gw kiosk lock`.',
      };
    case 'silent':
      return {
        ...base,
        verdict: 'not-checked',
        detail: 'nobody answers at the address of the tablet',
        remedy: 'Wake the tablet, check its WLAN and tablet.host in the site file, then ask again.',
      };
  }
}

function restartFinding(record: TabletRecord | null): Finding {
  const base = { id: 'restart', title: 'It stays off after a restart of the tablet', spec: SPEC };
  switch (record?.bridge.afterRestart) {
    case 'closed':
      return { ...base, verdict: 'ok', detail: `proven ${record.bridge.at}`, remedy: null };
    case 'open':
      return {
        ...base,
        verdict: 'wrong',
        detail: `the port opens at every start (${record.bridge.at})`,
        remedy: 'Switch ADB over TCP off in the developer options of the tablet, then `gw kiosk lock --after-restart`.',
      };
    default:
      return {
        ...base,
        verdict: 'not-checked',
        detail: 'nobody tried a restart since it was last open',
        remedy: 'Prove it while the tablet is open: `gw kiosk lock --after-restart`.',
      };
  }
}

function setUpFinding(record: TabletRecord | null): Finding {
  const base = { id: 'set-up', title: 'The tablet is set up as its profile says', spec: null };
  const setUp = record?.setUp ?? null;
  if (setUp === null) {
    const detail = 'gw has not set it up from this machine';
    return { ...base, verdict: 'not-checked', detail, remedy: 'Run `gw kiosk setup`.' };
  }
  const said = `by '${setUp.profile}', ${setUp.at}`;
  if (setUp.verdict === 'complete') return { ...base, verdict: 'ok', detail: said, remedy: null };
  const open = setUp.open.join(', ');
  if (setUp.verdict === 'not-checked') {
    const remedy = 'Look at the tablet itself for these.';
    return { ...base, verdict: 'not-checked', detail: `${said}; the tablet did not tell everything: ${open}`, remedy };
  }
  return {
    ...base,
    verdict: 'wrong',
    detail: `${said}, but not in order: ${open}`,
    remedy: 'Mend that, then run `gw kiosk setup` again.',
  };
}
