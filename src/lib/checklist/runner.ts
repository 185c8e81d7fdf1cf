import { asGwError, formatTried, GwError } from '../error/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import type { Answer, Answers } from './answers.ts';
import { excerpt } from './excerpt.ts';
import type { Checklist, ConfirmStep, RunStep, Step } from './load.ts';
import { type MatchVerdict, worse } from './matcher.ts';
import { look } from './path.ts';
import type { ChecklistResult, StepResult } from './run.result.ts';
import { fillTemplate, NOT_THERE } from './template.ts';

export interface RunnerOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The person's word that the robot may move now. */
  readonly motionAllowed: boolean;
  /** Answers given beforehand; they are used before anyone is asked. */
  readonly answers?: Answers;
  /** Asks the technician; absent where nobody can be asked. null: no answer. */
  readonly ask?: (step: ConfirmStep, signal: AbortSignal) => Promise<Answer | null>;
  /** Whose commissioning this is. */
  readonly subject: ChecklistResult['subject'];
  readonly onStep?: (event: { readonly step: Step; readonly index: number; readonly of: number }) => void;
  readonly onResult?: (result: StepResult) => void;
  /** One line for a person about what a running step does. */
  readonly onProgress?: (text: string) => void;
}

/** What came out of one step, before it is joined with what the step is. */
type Outcome = Pick<StepResult, 'verdict' | 'why'> &
  Partial<Pick<StepResult, 'shown' | 'remedy' | 'expectations' | 'error' | 'answer' | 'measured'>>;

/**
 * Goes through a checklist in the order of its file. A step that needs one which is not ok is skipped by name; a
 * step that moves the robot runs only with the person's word; an interruption leaves the rest not checked. Never
 * throws for what a step finds or fails at: that is its result.
 */
export async function runSteps(checklist: Checklist, options: RunnerOptions): Promise<ChecklistResult> {
  const { clock, signal, motionAllowed, subject } = options;
  const began = clock.monotonicMs();
  const startedAt = clock.wall().toISOString();
  const results: StepResult[] = [];
  /** What the checks gave, for the steps that read it again. */
  const found = new Map<string, object>();
  for (const [index, step] of checklist.steps.entries()) {
    options.onStep?.({ step, index, of: checklist.steps.length });
    const stepBegan = clock.monotonicMs();
    const outcome = await takeStep(step, results, found, options);
    const result = join(step, outcome, Math.round(clock.monotonicMs() - stepBegan));
    results.push(result);
    options.onResult?.(result);
  }
  const count = (verdict: StepResult['verdict']) => results.filter((result) => result.verdict === verdict).length;
  const counts = {
    ok: count('ok'),
    wrong: count('wrong'),
    skipped: count('skipped'),
    notChecked: count('not-checked'),
  };
  return {
    name: checklist.name,
    title: checklist.title,
    purpose: checklist.purpose,
    file: checklist.file,
    subject,
    startedAt,
    tookMs: Math.round(clock.monotonicMs() - began),
    motionAllowed,
    interrupted: signal.aborted,
    ok: results.length > 0 && counts.ok === results.length,
    counts,
    steps: results,
  };
}

async function takeStep(
  step: Step,
  before: readonly StepResult[],
  found: Map<string, object>,
  options: RunnerOptions,
): Promise<Outcome> {
  if (options.signal.aborted) return { verdict: 'not-checked', why: 'The run was interrupted before this step.' };
  const missing = step.needs.filter((need) => before.find((result) => result.id === need)?.verdict !== 'ok');
  if (missing.length > 0) {
    const [first = ''] = missing;
    const why = `It needs ${missing.map((id) => `'${id}'`).join(' and ')}, which ${missing.length > 1 ? 'are' : 'is'} not ok.`;
    return { verdict: 'skipped', why, remedy: `Mend '${first}' first.` };
  }
  if (step.kind === 'confirm') return confirm(step, options);
  if (step.moves && !options.motionAllowed) {
    return {
      verdict: 'not-checked',
      why: 'It moves the robot, and nobody has said that it may.',
      remedy: 'Make sure that nobody stands in the way, then run again with --robot-will-move.',
    };
  }
  if (step.reads === null) return check(step, found, options);
  const data = found.get(step.reads);
  if (data !== undefined) return compare(step, data);
  const why = `It reads the result of '${step.reads}', which gave none.`;
  return { verdict: 'skipped', why, remedy: `Mend '${step.reads}' first.` };
}

async function confirm(step: ConfirmStep, options: RunnerOptions): Promise<Outcome> {
  const { signal, answers, ask } = options;
  let answer = answers?.get(step.id) ?? null;
  if (answer === null && ask) {
    try {
      answer = await ask(step, signal);
    } catch (error) {
      if (signal.aborted) return { verdict: 'not-checked', why: 'Interrupted at the question.' };
      throw error;
    }
  }
  const question = { why: `Asked: ${step.question}` };
  if (answer === null) {
    const remedy = `Answer it at a terminal, or with '${step.id}: yes' or 'no' in a file named with --answers.`;
    return { verdict: 'not-checked', why: `Nobody answered: ${step.question}`, remedy };
  }
  const who = answer.by === null ? 'The technician' : answer.by;
  const remark = answer.remark === null ? '' : ` Remark: ${answer.remark}`;
  switch (answer.answer) {
    case 'yes':
      return {
        ...question,
        verdict: 'ok',
        answer,
        shown: `confirmed by ${answer.by ?? 'the technician'}${remark && `;${remark}`}`,
      };
    case 'no':
      return { verdict: 'wrong', answer, why: `${who} answered no: ${step.question}${remark}` };
    case 'skip':
      return { verdict: 'not-checked', answer, why: `${who} left it open: ${step.question}${remark}` };
  }
}

async function check(step: RunStep, found: Map<string, object>, options: RunnerOptions): Promise<Outcome> {
  let data: object;
  try {
    data = await withDeadline(step, options);
  } catch (thrown) {
    if (options.signal.aborted) return { verdict: 'not-checked', why: 'Interrupted while it ran.' };
    const error = asGwError(thrown);
    const tried = error.tried ? formatTried(error.tried) : null;
    return {
      verdict: 'wrong',
      why: tried === null ? error.message : `${error.message} Tried ${tried}.`,
      remedy: `${error.remedy} ${step.remedy}`,
      error: { code: error.code, message: error.message, tried, remedy: error.remedy },
      measured: error.details ? excerpt(error.details) : null,
    };
  }
  found.set(step.id, data);
  return compare(step, data);
}

/** Holds a result against what is expected of it. */
function compare(step: RunStep, data: object): Outcome {
  const expectations = step.expectations.map(({ path, parts, matcher }) => {
    return { path, expected: matcher.expected, ...matcher.match(look(data, parts)) };
  });
  const verdict = expectations.reduce<MatchVerdict>((sum, one) => worse(sum, one.verdict), 'ok');
  const unmet = expectations.filter((one) => one.verdict !== 'ok');
  const why =
    unmet.length === 0
      ? expectations.map(({ path, found }) => `${path}: ${found}`).join('; ')
      : unmet.map(({ path, expected, found }) => `${path}: expected ${expected}, found ${found}`).join('; ');
  const filled = step.shows === null ? null : fillTemplate(step.shows, data);
  // Beside a failure, half a sentence about what was proven only confuses.
  const shown = verdict !== 'ok' && filled?.includes(NOT_THERE) ? null : filled;
  return { verdict, why, shown, expectations, measured: step.reads === null ? excerpt(data) : null };
}

/** Runs a check for at most its time; one that does not listen to its signal is left behind. */
async function withDeadline(step: RunStep, options: RunnerOptions): Promise<object> {
  const { clock } = options;
  const over = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const end = (reason: unknown) => {
    over.abort(reason);
    reject(reason);
  };
  using _timer = clock.after(step.withinMs, () =>
    end(
      new GwError('CHECK_FAILED', `The check '${step.run}' was not done within ${step.withinMs / 1000} s.`, {
        remedy: 'Look at what it waits for.',
      }),
    ),
  );
  const onInterrupt = () => end(options.signal.reason);
  options.signal.addEventListener('abort', onInterrupt, { once: true });
  try {
    const context = { signal: over.signal, onProgress: (text: string) => options.onProgress?.(text) };
    return await Promise.race([step.entry.run(step.options, context), late]);
  } finally {
    options.signal.removeEventListener('abort', onInterrupt);
  }
}

function join(step: Step, outcome: Outcome, tookMs: number): StepResult {
  return {
    id: step.id,
    title: step.title,
    proves: step.proves,
    kind: step.kind,
    run: step.kind === 'run' ? step.run : null,
    moves: step.moves,
    verdict: outcome.verdict,
    why: outcome.why,
    shown: outcome.shown ?? null,
    remedy: outcome.verdict === 'ok' ? null : (outcome.remedy ?? step.remedy),
    tookMs,
    expectations: outcome.expectations ?? [],
    error: outcome.error ?? null,
    answer: outcome.answer ?? null,
    measured: outcome.measured ?? null,
  };
}
