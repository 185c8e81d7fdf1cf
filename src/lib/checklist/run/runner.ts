import { type Checklist, readBy, type Step } from '../file/step.ts';
import type { ChecklistResult, StepResult } from '../run.result.ts';
import { planned } from './dry-run.ts';
import { isOutdated } from './expiry.ts';
import type { Outcome } from './outcome.ts';
import { isOfOtherValues } from './question.ts';
import type { RunnerOptions } from './runner-options.ts';
import {
  createRunState,
  isUndecided,
  joinResult,
  performUntilSettled,
  type RunState,
  withApproval,
} from './step-runner.ts';

/**
 * Runs a checklist in file order. A step that needs one which is not ok is skipped, also when that one is an accepted
 * deviation; a step that moves the robot runs only when movement is allowed; an interruption leaves the rest
 * not-checked. A failed step is a result and never an exception.
 */
export async function runSteps(checklist: Checklist, options: RunnerOptions): Promise<ChecklistResult> {
  const { clock, signal, motionAllowed, subject, selection, earlier } = options;
  const began = clock.monotonicMs();
  const startedAt = clock.wall().toISOString();
  const run = createRunState(checklist, earlier);
  const anew = toRunAgain(run, options);
  let failedAt: string | undefined;
  for (const [index, step] of checklist.steps.entries()) {
    const before = earlier?.get(step.id)?.result;
    const chosen = selection === undefined || selection.chosen.has(step.id);
    const again = (selection?.again.has(step.id) ?? false) || anew.has(step.id);
    const source = readBy(step);
    const follows = before !== undefined && source !== null && run.ran.has(source);
    const outdated =
      isOutdated(step, { checklist, completed: run.completed, earlier }) || isOfOtherValues(step, before, run.results);
    const isKept = !again && !follows && !outdated && (!chosen || isSettled(before, step));
    if (before && isKept) {
      run.results.set(step.id, await withApproval(before, earlier?.get(step.id), options));
      continue;
    }
    if (!chosen && !follows && !outdated) {
      run.results.set(step.id, joinResult(step, leftOut(checklist), { at: null, tookMs: 0, before }));
      continue;
    }
    if (options.dryRun || failedAt !== undefined) {
      const outcome = failedAt === undefined ? planned(step, options) : stopped(failedAt);
      const result = before ?? joinResult(step, outcome, { at: null, tookMs: 0, before });
      // Nothing was found that could be remedied.
      run.results.set(step.id, options.dryRun ? { ...result, remedy: null } : result);
      continue;
    }
    const section = checklist.sections.find(({ id }) => id === step.section) ?? null;
    const leftMs = expectedMs(checklist.steps.slice(index), options);
    options.onStep?.({ step, section, index, of: checklist.steps.length, leftMs });
    const isNamed = selection?.named.has(step.id) ?? false;
    const keepsAnswer = follows && !again && !outdated;
    const attempt = { before, isNamed, outdated, keepsAnswer };
    const result = await performUntilSettled(step, attempt, run, options);
    run.results.set(step.id, result);
    if (options.failFast && result.verdict === 'wrong' && result.deviation === null) failedAt = step.id;
  }
  const steps = [...run.results.values()];
  const { name, title, titleDe, purpose, phase, file } = checklist;
  const counts = countVerdicts(steps);
  return {
    name,
    title,
    ...(titleDe !== undefined && { titleDe }),
    purpose,
    phase,
    file,
    subject,
    startedAt,
    tookMs: Math.round(clock.monotonicMs() - began),
    motionAllowed,
    interrupted: signal.aborted,
    ...(options.dryRun && { dryRun: true as const }),
    ok: steps.length > 0 && counts.ok === steps.length,
    counts,
    sections: checklist.sections.map(({ id, title, titleDe }) => ({
      id,
      title,
      ...(titleDe !== undefined && { titleDe }),
    })),
    steps,
  };
}

/** Of steps that keep their result, are left out or may not move the robot: nothing. */
function expectedMs(steps: readonly Step[], options: RunnerOptions): number | null {
  const { selection, earlier, durations, motionAllowed } = options;
  let sum = 0;
  for (const step of steps) {
    const isChosen = selection === undefined || selection.chosen.has(step.id);
    const isKept = isSettled(earlier?.get(step.id)?.result, step) && selection?.again.has(step.id) !== true;
    if (!isChosen || isKept || step.kind === 'unavailable' || (step.moves && !motionAllowed)) continue;
    const took = durations?.get(step.id);
    if (took === undefined) return null;
    sum += took;
  }
  return sum;
}

export function countVerdicts(steps: readonly Pick<StepResult, 'verdict'>[]): ChecklistResult['counts'] {
  const count = (verdict: StepResult['verdict']) => steps.filter((step) => step.verdict === verdict).length;
  return { ok: count('ok'), wrong: count('wrong'), skipped: count('skipped'), notChecked: count('not-checked') };
}

/**
 * Checks to run again because a step reads their result and their last run gave it only 'not-checked'. One that moves
 * the robot runs only when movement is allowed.
 */
function toRunAgain({ checklist, readings }: RunState, options: RunnerOptions): ReadonlySet<string> {
  const { selection, earlier, motionAllowed } = options;
  const ids = new Set<string>();
  for (const step of checklist.steps) {
    const read = readBy(step);
    if (read === null || readings.get(step.id)?.verdict !== 'not-checked') continue;
    const before = earlier?.get(step.id)?.result;
    const chosen = selection === undefined || selection.chosen.has(step.id);
    const source = checklist.steps.find(({ id }) => id === read);
    const mayRun = source !== undefined && (!source.moves || motionAllowed);
    if (chosen && mayRun && !isSettled(before, step)) ids.add(read);
  }
  return ids;
}

/**
 * A resumed run keeps ok, wrong and answered steps, and repeats skipped and not-checked ones, also an answered one of
 * which gw could not decide its part. Of an answer that expired,
 * only a yes is left: a step that moves the robot asks for it anew.
 */
function isSettled(result: StepResult | undefined, step: Step): boolean {
  if (result === undefined) return false;
  if (step.kind === 'confirm' && step.expires) return result.verdict === 'ok';
  if (result.verdict === 'ok' || result.verdict === 'wrong') return true;
  return result.answer !== null && !isUndecided(result);
}

function stopped(failedAt: string): Outcome {
  const why = `Not run: --fail-fast ended the run at '${failedAt}', which is wrong.`;
  return { verdict: 'not-checked', why, remedy: `Fix '${failedAt}' first.` };
}

function leftOut({ name }: Checklist): Outcome {
  return {
    verdict: 'not-checked',
    leftOut: true,
    why: 'Left out by --only or --from.',
    remedy: `Run it with \`gw checklist run ${name} --resume\`.`,
  };
}
