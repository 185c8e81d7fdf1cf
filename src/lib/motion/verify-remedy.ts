import type { FactIdMarked } from '../evidence/index.ts';

/** A supervised order that relies on an unverified HINWEIS in order to verify it, with a person on site. */
export const trialKinds = ['stop', 'move', 'pose', 'dock'] as const;
export type TrialKind = (typeof trialKinds)[number];

/** The trial that decides each fact that an order may lack. In the order of the trials: each needs the ones before. */
export const trialOfFact = {
  'vendor.move.cancel': 'stop',
  'angles.tracked-pose-ori': 'move',
  'angles.target-ori': 'move',
  'vendor.move.request': 'move',
  'vendor.move.state': 'move',
  'vendor.move.charge-target': 'dock',
  'angles.pose-ori': 'pose',
  'vendor.pose.request': 'pose',
} as const satisfies Partial<Record<FactIdMarked<'BELEGT' | 'HINWEIS'>, TrialKind>>;

/** What to do about facts that only lack a verification on this device; undefined when there are none. */
export function verifyRemedy(unverified: readonly string[]): string | undefined {
  const trials = new Set(
    Object.entries(trialOfFact).flatMap(([id, kind]) =>
      unverified.includes(id) ? [`\`gw evidence verify ${kind}\``] : [],
    ),
  );
  if (trials.size === 0) return undefined;
  const what = trials.size === 1 ? 'this trial' : 'these trials, in this order';
  return `Verify what is not verified on this device by ${what}, with a hand on the emergency stop: ${[...trials].join(', ')}. Other reasons above name their state.`;
}
