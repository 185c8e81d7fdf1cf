import type { AskedStep, Step } from '../file/step.ts';
import { lookUp, partsText } from '../match/path.ts';
import { fillTemplate, pathsOf } from '../match/template.ts';
import type { StepResult } from '../run.result.ts';

type Results = ReadonlyMap<string, StepResult>;

/**
 * A question with the values that it is about, by `{step.value}` from the results so far. Without one of them there is
 * nothing to ask: a yes to a question with a gap would say nothing.
 */
export function questionOf<S extends AskedStep>(step: S, results: Results): S | { readonly missing: string } {
  const { template } = step;
  if (template === null) return step;
  const values = valuesOf(results);
  const gap = pathsOf(template).find((path) => !lookUp(values, path).exists);
  return gap === undefined ? { ...step, question: fillTemplate(template, values) } : { missing: partsText(gap) };
}

/** Whether an answer is about other values than those of now, such as those of an earlier backup. */
export function isOfOtherValues(step: Step, before: StepResult | undefined, results: Results): boolean {
  if ((step.kind !== 'confirm' && step.kind !== 'measure') || step.template === null) return false;
  const asked = before?.answer?.question;
  if (asked === undefined) return false;
  const now = questionOf(step, results);
  return 'missing' in now || now.question !== asked;
}

function valuesOf(results: Results): object {
  const steps = [...results].map(([id, { values }]) => {
    const named = values.map(({ name, value, unit }) => [name, unit === null ? value : `${value} ${unit}`] as const);
    return [id, Object.fromEntries(named)] as const;
  });
  return Object.fromEntries(steps);
}
