import { loadKioskProfile } from '../../kiosk/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { KioskAccess } from './connection.ts';
import type { KioskPlan } from './kiosk.result.ts';
import { closingOf, openKiosk } from './memory.ts';
import { readTablet, verdictOf } from './reading.ts';
import { probe, withTablet } from './session.ts';

/**
 * Compares the tablet with the profile without changes, and stores the reading. Throws KIOSK_PROFILE_INVALID and the
 * errors of {@link withTablet}.
 */
export async function planKiosk(toolkit: Toolkit, access: KioskAccess, context: CheckContext): Promise<KioskPlan> {
  const kiosk = await openKiosk(toolkit, context, access);
  const profile = await loadKioskProfile(kiosk.profileFile, kiosk.serial);
  const port = access.usb === true ? null : await probe(kiosk);
  return await withTablet(kiosk, { ...access, expected: profile.tablet }, port, async (tablet) => {
    const steps = await readTablet(kiosk, tablet, profile, 'plan');
    const verdict = verdictOf(steps);
    return {
      profile: profile.name,
      tablet: tablet.facts,
      verdict: verdict === 'as-profile' ? 'as-planned' : verdict,
      steps,
      differing: steps.filter(({ state }) => state === 'differs' || state === 'failed').length,
      ...closingOf(kiosk),
    };
  });
}
