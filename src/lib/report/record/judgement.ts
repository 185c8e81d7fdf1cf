import type { CheckRecord, RecordVerification, RobotRecord, StepResult } from '../../checklist/index.ts';
import type { Tone } from '../document.ts';

/** Verification state of a record. Only `verified` may be green. */
export type SignatureState = 'verified' | 'not-verified' | 'wrong' | 'not-signed';

export function signatureState(record: CheckRecord, verification: RecordVerification): SignatureState {
  if (verification.verdict === 'wrong') return 'wrong';
  if (record.signature === null) return 'not-signed';
  return verification.verified ? 'verified' : 'not-verified';
}

export const signatureTone: Readonly<Record<SignatureState, Tone>> = {
  verified: 'good',
  'not-verified': 'open',
  wrong: 'bad',
  'not-signed': 'open',
};

/** Verdict stated by a record, before its verification. */
export type Verdict = 'ok' | 'accepted' | 'wrong' | 'incomplete';

export function verdictOf({
  ok,
  accepted,
  steps,
  redLines,
}: Pick<RobotRecord, 'ok' | 'accepted'> & {
  readonly steps: readonly StepResult[];
  readonly redLines: number;
}): Verdict {
  if (ok) return 'ok';
  if (accepted) return 'accepted';
  return redLines > 0 || steps.some(isBad) ? 'wrong' : 'incomplete';
}

/** Wrong and not accepted. */
export function isBad(step: StepResult): boolean {
  return step.verdict === 'wrong' && step.deviation === null;
}

/** Red first: wrong, wrong but accepted, not checked, skipped. Within these the order of the checklist. */
export function notOkFirst(steps: readonly StepResult[]): StepResult[] {
  const rank = (step: StepResult) =>
    isBad(step) ? 0 : step.verdict === 'wrong' ? 1 : step.verdict === 'not-checked' ? 2 : 3;
  return steps.filter(({ verdict }) => verdict !== 'ok').sort((one, other) => rank(one) - rank(other));
}

/** Everything of all robots that this red line or these steps are about. */
export function allSteps({ robots }: CheckRecord): StepResult[] {
  return robots.flatMap(({ steps }) => steps);
}

export function redLineCount({ robots }: CheckRecord): number {
  return robots.reduce((sum, { redLines }) => sum + redLines.length, 0);
}
