import {
  applySteps,
  type KioskProfile,
  kioskSteps,
  loadKioskProfile,
  probePort,
  type StepOutcome,
  type Tablet,
  tabletRedLine,
} from '../../kiosk/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { KioskSetup } from './kiosk.result.ts';
import { type LockOptions, lockTablet } from './lock.ts';
import { storeReading, verdictOf } from './memory.ts';
import { type KioskAccess, portTarget, statingPort, tabletEndpoint, withTablet } from './session.ts';

export interface SetupOptions extends KioskAccess, LockOptions {
  /** Leave ADB over TCP open; later reports show that in red. */
  readonly leaveOpen: boolean;
}

/**
 * Configures the tablet by its profile and switches ADB over TCP off. After a failed step ADB stays on, so that the
 * technician can continue. Throws KIOSK_PROFILE_INVALID and the connection errors of {@link withTablet}.
 */
export async function setUpKiosk(toolkit: Toolkit, options: SetupOptions, context: CheckContext): Promise<KioskSetup> {
  return await statingPort(toolkit, context, () => setUp(toolkit, options, context));
}

async function setUp(toolkit: Toolkit, options: SetupOptions, context: CheckContext): Promise<KioskSetup> {
  const { clock, site } = toolkit;
  const began = clock.monotonicMs();
  const { host, port, profileFile } = tabletEndpoint(toolkit);
  const profile = await loadKioskProfile(profileFile);
  // Over USB the port may have been closed before.
  const wasOpen = options.usb !== true || (await probePort(portTarget(toolkit, context))) === 'open';
  return await withTablet(toolkit, { ...options, expected: profile.tablet }, context, async (tablet) => {
    // While settings change, an interrupted run must leave 'not done'.
    await storeReading(toolkit, 'setup', profile, tablet.facts, [], 'not-done');
    const steps = await setUpSteps(toolkit, tablet, profile, context);
    const unfinished = steps.filter(({ state }) => state !== 'ok' && state !== 'changed');
    const isDone = unfinished.every(({ state }) => state === 'not-checked');
    const { facts } = tablet;
    await storeReading(toolkit, 'setup', profile, facts, steps, isDone ? verdictOf(steps) : 'not-done');
    const lock =
      options.leaveOpen || !isDone ? null : await lockTablet(toolkit, tablet, options, context, wasOpen, profile);
    const isVerified = lock?.verdict === 'closed' && (!options.afterRestart || lock.afterRestart === 'closed');
    const isLocked = options.leaveOpen || isVerified;
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

/** Repeats the steps when the tablet restarted meanwhile, since the first ones belong to the former boot. */
async function setUpSteps(
  { clock, site }: Toolkit,
  tablet: Tablet,
  profile: KioskProfile,
  context: CheckContext,
): Promise<StepOutcome[]> {
  const steps = kioskSteps(profile, site.network.robotSegment);
  const stepContext = { tablet, profile, clock, ...context };
  const { bootId } = tablet.facts;
  const first = await applySteps(steps, stepContext);
  if (tablet.facts.bootId === bootId) return first;
  const wasChanged = new Set(first.filter(({ state }) => state === 'changed').map(({ id }) => id));
  const second = await applySteps(steps, stepContext);
  return second.map((row) => (row.state === 'ok' && wasChanged.has(row.id) ? { ...row, state: 'changed' } : row));
}
