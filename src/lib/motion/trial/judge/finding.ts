import { factById } from '../../../evidence/index.ts';
import { isDoubtfulSuccess } from '../../outcome.ts';
import type { TrialFinding } from '../model.ts';
import type { PlanSample } from '../samples.ts';

/** Verdict on one fact; `measured` is recorded where it differs, instead of `false`. */
export type Verdict = Pick<TrialFinding, 'verdict' | 'why'> & { readonly measured?: string };

/** The finding: where the fact holds, the value of the ledger is recorded, else the measured value or `false`. */
export function finding(fact: TrialFinding['fact'], { verdict, why, measured }: Verdict): TrialFinding {
  const known = factById(fact).value;
  const held = typeof known === 'string' ? known : true;
  const value = verdict === 'holds' ? held : verdict === 'differs' ? (measured ?? false) : null;
  return { fact, verdict, why, value };
}

interface Ordered {
  readonly plans: readonly PlanSample[];
  readonly moveId: number | null;
  readonly sentAtMs: number;
}

/** A state as it is judged: a success with a reason of its failure is none. */
export function stateText(state: string, failReason: number | null): string {
  return isDoubtfulSuccess(state, failReason) ? `${DOUBTFUL}${failReason}` : state;
}

const DOUBTFUL = 'succeeded with fail_reason ';

/** Whether the report contradicts itself, and so contradicts no fact. */
export function isDoubtful(state: string): boolean {
  return state.startsWith(DOUBTFUL);
}

/** The states of this move on the topic since the order was sent, without repetitions. */
export function ownStates({ plans, moveId, sentAtMs }: Ordered): string[] {
  const own = plans.filter(({ actionId, atMs }) => actionId === moveId && atMs >= sentAtMs);
  return own
    .map(({ moveState, failReason }) => stateText(moveState, failReason))
    .filter((state, index, all) => state !== all[index - 1]);
}
