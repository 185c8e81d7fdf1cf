import {
  type KioskProfile,
  kioskSteps,
  planSteps,
  profileHash,
  type Reading,
  type StepOutcome,
  type Tablet,
} from '../../kiosk/index.ts';
import { type Kiosk, observeNow, remember } from './memory.ts';

/**
 * Reads the settings of the profile without changes, and stores the reading. A difference found before the connection
 * was lost is stored too. Throws TABLET_LOST and other connection errors.
 */
export async function readTablet(
  kiosk: Kiosk,
  tablet: Tablet,
  profile: KioskProfile,
  by: Reading['by'],
  signal = kiosk.signal,
): Promise<StepOutcome[]> {
  const outcomes: StepOutcome[] = [];
  let isComplete = false;
  try {
    const { clock, onProgress, site } = kiosk;
    const context = { tablet, profile, clock, signal, onProgress };
    await planSteps(kioskSteps(profile, site.network.robotSegment), context, outcomes);
    isComplete = true;
  } finally {
    if (isComplete || verdictOf(outcomes) === 'differs') await storeReading(kiosk, by, profile, tablet, outcomes);
  }
  return outcomes;
}

/** Stores a reading as the newest one; it replaces the former one together with its doubts. */
export async function storeReading(
  kiosk: Kiosk,
  by: Reading['by'],
  profile: KioskProfile,
  { facts }: Tablet,
  outcomes: readonly StepOutcome[],
  verdict: Reading['verdict'] = verdictOf(outcomes),
): Promise<void> {
  const observed = await observeNow(kiosk, facts);
  const sha256 = profileHash(profile, kiosk.site.network.robotSegment);
  const steps = outcomes.map(({ id, title, state, expected, found }) => {
    return { id, title, state: state === 'changed' ? 'ok' : state, expected, found } as const;
  });
  const reading = { by, profile: { name: profile.name, sha256 }, verdict, steps, observed, doubts: [] };
  await remember(kiosk, observed, (record) => ({ ...record, reading }));
}

/** The verdict of a reading: any difference is `differs`; without one, an unreported step is `not-checked`. */
export function verdictOf(steps: readonly Pick<StepOutcome, 'state'>[]): 'as-profile' | 'differs' | 'not-checked' {
  if (steps.some(({ state }) => state === 'differs' || state === 'failed')) return 'differs';
  const isComplete = steps.length > 0 && steps.every(({ state }) => state === 'ok' || state === 'changed');
  return isComplete ? 'as-profile' : 'not-checked';
}
