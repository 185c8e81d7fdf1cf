import { GwError } from '../../error/index.ts';
import {
  applySteps,
  type KioskProfile,
  kioskSteps,
  loadKioskProfile,
  lookAtPort,
  type StepOutcome,
  type Tablet,
  tabletRedLine,
} from '../../kiosk/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { KioskSetup } from './kiosk.result.ts';
import { type LockOptions, lockTablet } from './lock.ts';
import { storeReading, verdictOf } from './memory.ts';
import { type KioskAccess, portScene, tabletEndpoint, withTablet } from './session.ts';

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
    // Until its end nothing is known of a tablet whose settings change.
    await storeReading(toolkit, 'setup', profile, tablet.facts, [], 'not-done');
    const steps = await setUpSteps(toolkit, tablet, profile, context).catch((cause) => {
      if (!context.signal.aborted) throw cause;
      throw new GwError('INTERRUPTED', 'Interrupted; the tablet is set up in part, and open.', {
        remedy: 'Run `gw kiosk setup` again: it goes on where it was. Or close the tablet: `gw kiosk lock`.',
        cause,
      });
    });
    const notInOrder = steps.filter(({ state }) => state !== 'ok' && state !== 'changed');
    const isDone = notInOrder.every(({ state }) => state === 'not-checked');
    const { facts } = tablet;
    await storeReading(toolkit, 'setup', profile, facts, steps, isDone ? verdictOf(steps) : 'not-done');
    const lock =
      options.leaveOpen || !isDone ? null : await lockTablet(toolkit, tablet, options, context, wasOpen, profile);
    const isProven = lock?.verdict === 'closed' && (!options.afterRestart || lock.afterRestart === 'closed');
    const isLocked = options.leaveOpen || isProven;
    return {
      address: { host, port },
      profile: profile.name,
      tablet: facts,
      verdict: !isDone || lock?.readAfterRestart?.verdict === 'differs' ? 'not-done' : isLocked ? 'done' : 'not-locked',
      steps,
      changed: steps.filter(({ state }) => state === 'changed').length,
      lock,
      redLine: await tabletRedLine(site.stateDir),
      tookMs: Math.round(clock.monotonicMs() - began),
    };
  });
}

/** A tablet that restarted on the way has its first steps read once more: those were of the start before. */
async function setUpSteps(
  { clock, site }: Toolkit,
  tablet: Tablet,
  profile: KioskProfile,
  context: CheckContext,
): Promise<StepOutcome[]> {
  const steps = kioskSteps(profile, site.network.robotSegment);
  const scene = { tablet, profile, clock, ...context };
  const { bootId } = tablet.facts;
  const first = await applySteps(steps, scene);
  if (tablet.facts.bootId === bootId) return first;
  const wasChanged = new Set(first.filter(({ state }) => state === 'changed').map(({ id }) => id));
  const second = await applySteps(steps, scene);
  return second.map((row) => (row.state === 'ok' && wasChanged.has(row.id) ? { ...row, state: 'changed' } : row));
}
