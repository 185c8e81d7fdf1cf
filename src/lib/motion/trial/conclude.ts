import type { ChassisSnapshot } from '../../chassis/index.ts';
import type { TrialFinding, TrialOutcome, TrialView } from './model.ts';
import type { Sampler } from './samples.ts';

/** What a trial says at its end. */
export type TrialResult = Pick<TrialView, 'outcome' | 'reason' | 'facts' | 'refusals'>;

interface ConductedTrial {
  /** The chassis that the trial began with. */
  readonly of: Pick<TrialView, 'serial' | 'software'>;
  readonly sampler: Pick<Sampler, 'invalidatedBy'>;
  readonly facts: readonly TrialFinding[];
  /** Why it could not be conducted to its end. */
  readonly failure: string | null;
  readonly signal: AbortSignal;
  /** The chassis as it is now. */
  readonly snapshot: ChassisSnapshot;
}

/** An interrupted or invalid trial verifies nothing; contradictions stay. */
export function conclude({ of, sampler, facts: found, failure, signal, snapshot }: ConductedTrial): TrialResult {
  const { serial, software } = of;
  const isOther = snapshot.identity?.serial !== serial || snapshot.identity?.software !== software;
  const broken = signal.aborted
    ? reasonOf(signal)
    : (sampler.invalidatedBy ?? (isOther ? 'the chassis or its software has changed' : null));
  let facts = [...found];
  if (broken !== null || failure !== null) {
    const why = broken ?? failure ?? '';
    facts = facts.map((fact) =>
      fact.verdict === 'holds'
        ? { ...fact, verdict: 'not-decided', value: null, why: `${fact.why}; but ${why}` }
        : fact,
    );
  }
  if (snapshot.unitContradicted) {
    const fact = 'angles.tracked-pose-ori';
    const why = snapshot.poseUnit.reason;
    facts = [...facts.filter((other) => other.fact !== fact), { fact, verdict: 'differs', why, value: 'radians' }];
  }
  const differing = facts.filter(({ verdict }) => verdict === 'differs');
  if (differing.length > 0) {
    const reason = differing.map(({ fact, why }) => `${fact}: ${why}`).join('; ');
    return { outcome: 'contradicted', reason, facts, refusals: [] };
  }
  if (broken !== null)
    return { outcome: 'cancelled', reason: `The trial was cancelled: ${broken}.`, facts, refusals: [] };
  if (failure !== null) return { outcome: 'not-decided', reason: failure, facts, refusals: [] };
  const open = facts.filter(({ verdict }) => verdict !== 'holds');
  const outcome: TrialOutcome = open.length === 0 && facts.length > 0 ? 'verified' : 'not-decided';
  const reason =
    open.length === 0 ? 'Every fact on trial holds.' : open.map(({ fact, why }) => `${fact}: ${why}`).join('; ');
  return { outcome, reason, facts, refusals: [] };
}

export function refusedFor(refusals: readonly string[]): TrialResult {
  return { outcome: 'refused', reason: refusals.join(' '), facts: [], refusals };
}

function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message.replace(/\.$/, '') : String(signal.reason);
}
