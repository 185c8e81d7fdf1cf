import {
  applySteps,
  type KioskProfile,
  kioskSteps,
  loadKioskProfile,
  type StepOutcome,
  type Tablet,
} from '../../kiosk/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { KioskAccess } from './connection.ts';
import type { KioskSetup } from './kiosk.result.ts';
import { type LockOptions, lockTablet } from './lock.ts';
import { closingOf, type Kiosk, openKiosk } from './memory.ts';
import { storeReading, verdictOf } from './reading.ts';
import { probe, statingPort, withTablet } from './session.ts';

export interface SetupOptions extends KioskAccess, LockOptions {
  /** Leave ADB over TCP open; later reports show that in red. */
  readonly leaveOpen: boolean;
}

/**
 * Configures the tablet by its profile and switches ADB over TCP off. After a failed step ADB stays on, so that the
 * technician can continue. Throws KIOSK_PROFILE_INVALID and the connection errors of {@link withTablet}.
 */
export async function setUpKiosk(toolkit: Toolkit, options: SetupOptions, context: CheckContext): Promise<KioskSetup> {
  const kiosk = await openKiosk(toolkit, context, options);
  const profile = await loadKioskProfile(kiosk.profileFile, kiosk.serial);
  return await statingPort(kiosk, async () => {
    const port = await probe(kiosk);
    return await withTablet(kiosk, { ...options, expected: profile.tablet }, port, async (tablet) => {
      // While settings change, an interrupted run must leave 'not done'.
      await storeReading(kiosk, 'setup', profile, tablet, [], 'not-done');
      const steps = await setUpSteps(kiosk, tablet, profile);
      const unfinished = steps.filter(({ state }) => state !== 'ok' && state !== 'changed');
      const isDone = unfinished.every(({ state }) => state === 'not-checked');
      await storeReading(kiosk, 'setup', profile, tablet, steps, isDone ? verdictOf(steps) : 'not-done');
      const { facts } = tablet;
      const lock =
        options.leaveOpen || !isDone ? null : await lockTablet(kiosk, tablet, options, port === 'open', profile);
      const isVerified = lock?.verdict === 'closed' && (!options.afterRestart || lock.afterRestart === 'closed');
      const isLocked = options.leaveOpen || isVerified;
      return {
        profile: profile.name,
        tablet: facts,
        verdict:
          !isDone || lock?.readAfterRestart?.verdict === 'differs' ? 'not-done' : isLocked ? 'done' : 'not-locked',
        steps,
        changed: steps.filter(({ state }) => state === 'changed').length,
        lock,
        ...closingOf(kiosk),
      };
    });
  });
}

/** Repeats the steps when the tablet restarted meanwhile, since the first ones belong to the former boot. */
async function setUpSteps(
  { clock, signal, onProgress, site }: Kiosk,
  tablet: Tablet,
  profile: KioskProfile,
): Promise<StepOutcome[]> {
  const steps = kioskSteps(profile, site.network.robotSegment);
  const stepContext = { tablet, profile, clock, signal, onProgress };
  const { bootId } = tablet.facts;
  const first = await applySteps(steps, stepContext);
  if (tablet.facts.bootId === bootId) return first;
  const wasChanged = new Set(first.filter(({ state }) => state === 'changed').map(({ id }) => id));
  const second = await applySteps(steps, stepContext);
  return second.map((row) => (row.state === 'ok' && wasChanged.has(row.id) ? { ...row, state: 'changed' } : row));
}
