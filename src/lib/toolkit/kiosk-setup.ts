import { GwError } from '../error/index.ts';
import { applySteps, kioskSteps, loadKioskProfile, lookAtPort, tabletRedLine } from '../kiosk/index.ts';
import type { KioskSetup } from './kiosk.result.ts';
import { type LockOptions, lockTablet } from './kiosk-lock.ts';
import { type KioskAccess, portScene, rememberSetUp, tabletEndpoint, withTablet } from './kiosk-session.ts';
import type { CheckContext, Toolkit } from './toolkit.ts';

export interface SetupOptions extends KioskAccess, LockOptions {
  /** Leave ADB over TCP open at the end, which every later report shows in red. */
  readonly leaveOpen: boolean;
}

/**
 * Sets the tablet up as the profile says, step by step, and closes it. After a step that failed it is left open, so
 * that the technician can go on. Throws KIOSK_PROFILE_INVALID and why the tablet is not reached or lost.
 */
export async function setUpKiosk(toolkit: Toolkit, options: SetupOptions, context: CheckContext): Promise<KioskSetup> {
  const { clock, site } = toolkit;
  const began = clock.monotonicMs();
  const { host, port, profileFile } = tabletEndpoint(toolkit);
  const profile = await loadKioskProfile(profileFile);
  // At a cable the port may have been closed all the time.
  const wasOpen = options.usb !== true || (await lookAtPort(portScene(toolkit, context))) === 'open';
  return await withTablet(toolkit, { ...options, wanted: profile.tablet }, context, async (tablet) => {
    const scene = { tablet, profile, clock, ...context };
    const steps = await applySteps(kioskSteps(profile, site.network.robotSegment), scene).catch((cause) => {
      if (!context.signal.aborted) throw cause;
      throw new GwError('INTERRUPTED', 'Interrupted; the tablet is set up in part, and open.', {
        remedy: 'Run `gw kiosk setup` again: it goes on where it was. Or close the tablet: `gw kiosk lock`.',
        cause,
      });
    });
    const notInOrder = steps.filter(({ state }) => state !== 'ok' && state !== 'changed');
    const isDone = notInOrder.every(({ state }) => state === 'not-checked');
    await rememberSetUp(toolkit, profile, {
      verdict: !isDone ? 'not-done' : notInOrder.length > 0 ? 'not-checked' : 'complete',
      open: notInOrder.map(({ title }) => title),
    });
    const lock = options.leaveOpen || !isDone ? null : await lockTablet(toolkit, tablet, options, context, wasOpen);
    const isProven = lock?.verdict === 'closed' && (!options.afterRestart || lock.afterRestart === 'closed');
    const isLocked = options.leaveOpen || isProven;
    return {
      address: { host, port },
      profile: profile.name,
      tablet: tablet.facts,
      verdict: !isDone ? 'not-done' : isLocked ? 'done' : 'not-locked',
      steps,
      changed: steps.filter(({ state }) => state === 'changed').length,
      lock,
      redLine: await tabletRedLine(site.stateDir),
      tookMs: Math.round(clock.monotonicMs() - began),
    };
  });
}
