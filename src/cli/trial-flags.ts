import { GwError } from '../lib/error/index.ts';
import type { TrialKind } from '../lib/motion/index.ts';

/** What a person on site has to confirm before a trial, by flag. */
export const conditionFlags = {
  'robot-will-move': 'the robot may move',
  'space-free': 'no person and no object is within 1.5 m of the robot and its way',
  'emergency-stop-in-hand': 'a hand is on its emergency stop',
} as const;

interface Given extends Readonly<Partial<Record<keyof typeof conditionFlags, boolean>>> {
  readonly unattended?: boolean | undefined;
  readonly who?: string | undefined;
}

/**
 * The name of the person beside the robot. Throws with every missing condition at once: USAGE where the person is not
 * named, RISK_NOT_ACCEPTED where only confirmations are missing.
 */
export function confirmedBy(kind: TrialKind, given: Given): string {
  const missing = Object.entries(conditionFlags).filter(
    ([name]) => given.unattended !== true && given[name as keyof typeof conditionFlags] !== true,
  );
  const effect = kind === 'pose' ? 'sets another pose of the robot' : 'drives the robot';
  const unconfirmed = `Not confirmed by a person on site: ${missing.map(([, text]) => text).join('; ')}.`;
  const flags = missing.map(([name]) => `--${name}`);
  if (given.who === undefined) {
    const parts = [`This ${effect}, and --who does not name the person beside it.`];
    if (missing.length > 0) parts.push(unconfirmed);
    const check = missing.length > 0 ? 'Stand beside the robot, check each condition, then add' : 'Add';
    throw new GwError('USAGE', parts.join(' '), { remedy: `${check} ${['--who NAME', ...flags].join(' ')}.` });
  }
  if (missing.length > 0) {
    throw new GwError('RISK_NOT_ACCEPTED', `This ${effect}. ${unconfirmed}`, {
      remedy: `Stand beside the robot, check each condition, then add ${flags.join(' ')}.`,
    });
  }
  return given.who;
}
