import { loadKioskProfile, tabletRedLine } from '../../kiosk/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { KioskPlan } from './kiosk.result.ts';
import { verdictOf } from './memory.ts';
import { readTablet } from './reading.ts';
import { type KioskAccess, tabletEndpoint, withTablet } from './session.ts';

/**
 * Compares the tablet with the profile without changes, and stores the reading. Throws KIOSK_PROFILE_INVALID and the
 * errors of {@link withTablet}.
 */
export async function planKiosk(toolkit: Toolkit, access: KioskAccess, context: CheckContext): Promise<KioskPlan> {
  const { clock, site } = toolkit;
  const began = clock.monotonicMs();
  const { host, port, profileFile } = tabletEndpoint(toolkit);
  const profile = await loadKioskProfile(profileFile);
  return await withTablet(toolkit, { ...access, expected: profile.tablet }, context, async (tablet) => {
    const steps = await readTablet(toolkit, tablet, profile, 'plan', context);
    const differing = steps.filter(({ state }) => state === 'differs' || state === 'failed').length;
    const verdict = verdictOf(steps);
    return {
      address: { host, port },
      profile: profile.name,
      tablet: tablet.facts,
      verdict: verdict === 'as-profile' ? 'as-planned' : verdict,
      steps,
      differing,
      redLine: await tabletRedLine(site.stateDir),
      tookMs: Math.round(clock.monotonicMs() - began),
    };
  });
}
