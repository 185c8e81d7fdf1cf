import { GwError } from '../error/index.ts';
import {
  clearReopening,
  lookAtPort,
  type PortScene,
  proveClosed,
  readTabletRecord,
  type Tablet,
  tabletRedLine,
  waitUntilDown,
  watchRestart,
} from '../kiosk/index.ts';
import type { KioskLock, LockOutcome } from './kiosk.result.ts';
import { type KioskAccess, portScene, rememberBridge, tabletEndpoint, withTablet } from './kiosk-session.ts';
import type { CheckContext, Toolkit } from './toolkit.ts';

export interface LockOptions {
  /** Restart the tablet, and prove that its port stays closed over that. */
  readonly afterRestart: boolean;
  /** How long the port is watched after the restart. */
  readonly watchMs: number;
}

/** Any tablet may be closed, also one that is not of the profile. */
const anyTablet = { minSdk: 1 };

/**
 * Switches ADB over TCP off and proves it. A port that is closed already is proven so without a word to the tablet,
 * unless a restart is asked for. Throws why the tablet is not reached.
 */
export async function lockKiosk(
  toolkit: Toolkit,
  options: KioskAccess & LockOptions,
  context: CheckContext,
): Promise<KioskLock> {
  const { clock, site } = toolkit;
  const began = clock.monotonicMs();
  const { host, port } = tabletEndpoint(toolkit);
  const scene = portScene(toolkit, context);
  const wasOpen = (await lookAtPort(scene)) === 'open';
  const outcome =
    wasOpen || options.usb === true
      ? await withTablet(toolkit, { ...options, wanted: anyTablet }, context, (tablet) =>
          lockTablet(toolkit, tablet, options, context, wasOpen),
        )
      : await confirmClosed(toolkit, scene);
  return {
    address: { host, port },
    ...outcome,
    redLine: await tabletRedLine(site.stateDir),
    tookMs: Math.round(clock.monotonicMs() - began),
  };
}

/** Nothing to switch off: what is left is the proof. Nobody can be asked to restart it any more. */
async function confirmClosed(toolkit: Toolkit, scene: PortScene): Promise<LockOutcome> {
  scene.onProgress('The port is not open; proving that it is closed');
  const port = await proveClosed(scene);
  // What an earlier run proved about a restart holds as long as the port was not seen open since.
  const before = (await readTabletRecord(toolkit.site.stateDir))?.bridge;
  const afterRestart = before === undefined || before.state === 'open' ? 'not-checked' : before.afterRestart;
  return await remembered(toolkit, { port, wasOpen: false, afterRestart, keepsOpening: null });
}

/**
 * Locks the tablet that we speak to, and remembers how it came out. Throws TABLET_REFUSED, after all that, for a tablet
 * that keeps wireless debugging on: no result may say that it is closed.
 */
export async function lockTablet(
  toolkit: Toolkit,
  tablet: Tablet,
  { afterRestart, watchMs }: LockOptions,
  context: CheckContext,
  wasOpen: boolean,
): Promise<LockOutcome> {
  const scene = portScene(toolkit, context);
  const { onProgress } = context;
  onProgress('Taking away what opens the port again');
  const { keepsOpening, wirelessStaysOn } = await clearReopening(tablet);
  let restarted: LockOutcome['afterRestart'] = 'not-checked';
  let isUp = !afterRestart;
  if (afterRestart) {
    onProgress('The tablet restarts');
    await tablet.service('reboot:');
    if (await waitUntilDown(scene)) {
      const seen = await watchRestart(scene, watchMs);
      restarted = seen === 'silent' ? 'not-checked' : seen;
    } else isUp = true;
    if (restarted === 'open') await tablet.reconnect();
  }
  if (isUp || restarted === 'open') {
    onProgress('Switching ADB over TCP off');
    await tablet.service('usb:');
  }
  onProgress('Proving that the port is closed');
  const port = await proveClosed(scene);
  const outcome = await remembered(toolkit, { port, wasOpen, afterRestart: restarted, keepsOpening });
  if (!wirelessStaysOn) return outcome;
  const rest = outcome.verdict === 'closed' ? 'ADB over TCP itself is closed' : 'nor is ADB over TCP proven closed';
  throw new GwError('TABLET_REFUSED', `The tablet keeps wireless debugging on although it was switched off; ${rest}.`, {
    remedy: 'Switch wireless debugging off in the developer options of the tablet, and look whether it stays off.',
  });
}

async function remembered(toolkit: Toolkit, seen: Omit<LockOutcome, 'verdict'>): Promise<LockOutcome> {
  const { port, keepsOpening } = seen;
  // What will open it at the next start counts as having been seen to.
  const afterRestart = keepsOpening !== null && seen.afterRestart === 'not-checked' ? 'open' : seen.afterRestart;
  const why = {
    closed: 'the tablet refuses connections',
    open: 'its port still takes connections',
    silent: 'nobody answered at its address',
  }[port];
  const state = port === 'silent' ? 'not-proven' : port;
  await rememberBridge(toolkit, { state, why, afterRestart });
  return { ...seen, afterRestart, verdict: state === 'closed' && afterRestart === 'open' ? 'opens-again' : state };
}
