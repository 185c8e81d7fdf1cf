import { kioskSteps, loadKioskProfile, planSteps, tabletRedLine } from '../kiosk/index.ts';
import type { KioskPlan } from './kiosk.result.ts';
import { type KioskAccess, tabletEndpoint, withTablet } from './kiosk-session.ts';
import type { CheckContext, Toolkit } from './toolkit.ts';

/** Compares the tablet with the profile and changes nothing. Throws KIOSK_PROFILE_INVALID and why it is not reached. */
export async function planKiosk(toolkit: Toolkit, access: KioskAccess, context: CheckContext): Promise<KioskPlan> {
  const { clock, site } = toolkit;
  const began = clock.monotonicMs();
  const { host, port, profileFile } = tabletEndpoint(toolkit);
  const profile = await loadKioskProfile(profileFile);
  return await withTablet(toolkit, { ...access, wanted: profile.tablet }, context, async (tablet) => {
    const steps = await planSteps(kioskSteps(profile, site.network.robotSegment), {
      tablet,
      profile,
      clock,
      ...context,
    });
    const differing = steps.filter(({ state }) => state === 'differs' || state === 'failed').length;
    const unknown = steps.some(({ state }) => state === 'not-checked');
    return {
      address: { host, port },
      profile: profile.name,
      tablet: tablet.facts,
      verdict: differing > 0 ? 'differs' : unknown ? 'not-checked' : 'as-planned',
      steps,
      differing,
      redLine: await tabletRedLine(site.stateDir),
      tookMs: Math.round(clock.monotonicMs() - began),
    };
  });
}
