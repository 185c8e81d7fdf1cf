import {
  type KioskProfile,
  kioskSteps,
  planSteps,
  type Reading,
  type StepOutcome,
  type Tablet,
} from '../../kiosk/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { storeReading } from './memory.ts';

/**
 * Reads the settings of the profile without changes, and stores the reading. A difference found before the connection
 * was lost is stored too. Throws TABLET_LOST and other connection errors.
 */
export async function readTablet(
  toolkit: Toolkit,
  tablet: Tablet,
  profile: KioskProfile,
  by: Reading['by'],
  context: CheckContext,
): Promise<StepOutcome[]> {
  const { clock, site } = toolkit;
  const outcomes: StepOutcome[] = [];
  const { facts } = tablet;
  try {
    await planSteps(kioskSteps(profile, site.network.robotSegment), { tablet, profile, clock, ...context }, outcomes);
  } catch (error) {
    const hasDifference = outcomes.some(({ state }) => state === 'differs' || state === 'failed');
    if (hasDifference) await storeReading(toolkit, by, profile, facts, outcomes);
    throw error;
  }
  await storeReading(toolkit, by, profile, facts, outcomes);
  return outcomes;
}
