import type { Checklist, ConfirmStep, Step } from '../file/step.ts';
import type { CompletedStep } from './runner-options.ts';

/** Whether the step makes the robot move, by gw or by the person who answers in place of a check. */
export function drives(step: Step): boolean {
  return step.moves || (step.kind === 'confirm' && step.personMoves);
}

/** The questions on which a step depends, also through others, and whose answers hold only for one run. */
export function expiringFor(step: Step, { steps }: Checklist): readonly ConfirmStep[] {
  const needed = new Set(step.requires.flatMap((one) => one.steps));
  // Needed steps come earlier, so one pass from the end finds all of them.
  for (const one of steps.toReversed()) {
    if (!needed.has(one.id)) continue;
    for (const { steps: further } of one.requires) for (const id of further) needed.add(id);
  }
  return steps.filter((one): one is ConfirmStep => needed.has(one.id) && one.kind === 'confirm' && one.expires);
}

/** The drives about which a person answers in this step: the moving steps that it needs itself. */
export function drivesSeenBy(step: Step, { steps }: Checklist): readonly string[] {
  if (step.kind !== 'confirm' && step.kind !== 'measure') return [];
  const needed = new Set(step.requires.flatMap((one) => (one.of === 'own' ? one.steps : [])));
  return steps.filter((one) => needed.has(one.id) && one.moves).map(({ id }) => id);
}

interface Known {
  readonly checklist: Checklist;
  /** Steps completed in this session. */
  readonly completed: ReadonlySet<string>;
  /** Steps completed in earlier sessions, the newest last. */
  readonly earlier: ReadonlyMap<string, CompletedStep> | undefined;
}

/** Whether a drive that an answer of an earlier session is about has been run again since. */
export function isOutdated(step: Step, { checklist, completed, earlier }: Known): boolean {
  if (!earlier?.has(step.id) || completed.has(step.id)) return false;
  const order = [...earlier.keys()];
  const answered = order.indexOf(step.id);
  return drivesSeenBy(step, checklist).some((id) => completed.has(id) || order.indexOf(id) > answered);
}
