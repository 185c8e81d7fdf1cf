import type { Clock } from '../../lifecycle/index.ts';
import { type Checklist, type RunStep, readBy, type Step, type UnavailableStep } from '../file/step.ts';
import type { Deviation, StepResult } from '../run.result.ts';
import type { Approval } from './answers.ts';
import { askBeside, askPerson } from './asking.ts';
import { type Checked, check } from './checking.ts';
import { drives, drivesSeenBy, expiringFor } from './expiry.ts';
import type { Outcome } from './outcome.ts';
import { isOfOtherValues, questionOf } from './question.ts';
import type { CompletedStep, Decision, RunnerOptions } from './runner-options.ts';

/** Results so far, for the steps that depend on them. */
export interface RunState {
  readonly checklist: Checklist;
  readonly results: Map<string, StepResult>;
  /** Outcomes of the newest run of a check for the steps that read it, by their ids. */
  readonly readings: Map<string, Outcome>;
  /** Checks run in this session: the steps that read them are judged again. */
  readonly ran: Set<string>;
  /** Steps completed in this session. */
  readonly completed: Set<string>;
}

/** Repeats of one step in one session; each is a decision of the technician. */
const MAX_REPEATS = 50;
const MAX_EARLIER_RESULTS = 20;

export function createRunState(checklist: Checklist, earlier: RunnerOptions['earlier']): RunState {
  const run: RunState = { checklist, results: new Map(), readings: new Map(), ran: new Set(), completed: new Set() };
  for (const { readings } of earlier?.values() ?? []) keepReadings(readings, run);
  return run;
}

interface Attempt {
  /** The previous result. */
  readonly before: StepResult | undefined;
  /** Requested by id: an earlier acceptance is discarded. */
  readonly isNamed: boolean;
  /** The previous result is an answer about a drive that was run again since. */
  readonly outdated?: boolean;
  /** Only the check was repeated whose result a question reads beside its answer. */
  readonly keepsAnswer?: boolean;
}

/** Performs a step, and repeats it while the technician asks for that. */
export async function performUntilSettled(
  step: Step,
  { before, isNamed, outdated = false, keepsAnswer = false }: Attempt,
  run: RunState,
  options: RunnerOptions,
): Promise<StepResult> {
  const { answers, ...asked } = options;
  const { clock, signal, decide } = options;
  let last = before;
  for (let turn = 0; ; turn += 1) {
    const began = clock.monotonicMs();
    // When repeated, a question with a prepared answer is asked at the terminal.
    const kept = keepsAnswer && turn === 0 ? (before?.answer ?? null) : null;
    const performed = await performStep(step, run, { ...(turn === 0 ? options : asked), kept });
    const { interrupted = false } = performed.outcome;
    const at = interrupted ? null : clock.wall().toISOString();
    const tookMs = Math.round(clock.monotonicMs() - began);
    const found = joinResult(step, performed.outcome, { at, tookMs, before: last });
    if (interrupted) {
      // An interrupted session does not overwrite an earlier result.
      const shown = outdated ? found : (last ?? found);
      options.onResult?.(shown);
      return shown;
    }
    const result = { ...found, deviation: deviationOf(found, isNamed ? undefined : last, options) };
    const { readings, software, simulated } = performed;
    // Also without new ones: the readings of an older run are stale.
    for (const { id } of readersOf(step.id, run)) run.readings.delete(id);
    keepReadings(readings, run);
    if (performed.ran) run.ran.add(step.id);
    run.completed.add(step.id);
    await options.onCompleted?.({ result, readings, software, simulated });
    options.onResult?.(result);
    const isOpen = isToDecide(result) && result.deviation === null;
    if (!isOpen || !decide || signal.aborted || turn >= MAX_REPEATS) return result;
    const decision = await decideOrLeave(result, decide, signal);
    if (decision.kind === 'leave') return result;
    if (decision.kind === 'accept') {
      const accepted = { ...result, deviation: deviation(decision, clock) };
      await options.onCompleted?.({ result: accepted, readings, software, simulated });
      options.onResult?.(accepted);
      return accepted;
    }
    last = result;
    const source = readBy(step);
    if (source !== null) await rerunSource(step, source, run, options);
  }
}

/**
 * The deviation of a step that is not ok: from the answers file, or the earlier one while the verdict is the same.
 */
function deviationOf(result: StepResult, before: StepResult | undefined, options: RunnerOptions): Deviation | null {
  if (result.verdict === 'ok') return null;
  const approval = options.answers?.approvals.get(result.id);
  if (approval) return deviation(approval, options.clock);
  return before?.verdict === result.verdict ? before.deviation : null;
}

/** Wrong, or not checked by gw: the technician can repeat or accept it. */
function isToDecide({ verdict, kind, expectations, error }: StepResult): boolean {
  if (kind === 'unavailable') return true;
  if (kind === 'confirm' && verdict === 'not-checked') return isUndecided({ expectations, error });
  return (
    verdict === 'wrong' || (verdict === 'not-checked' && kind === 'run' && (expectations.length > 0 || error !== null))
  );
}

/** gw looked at its part of a question, and did not find it ok. */
export function isUndecided({ expectations, error }: Pick<StepResult, 'expectations' | 'error'>): boolean {
  return error !== null || expectations.some(({ verdict }) => verdict !== 'ok');
}

/**
 * Runs the check whose result a step reads: repeating only the step would read the same result. Its other readers are
 * judged again too, and questions about a drive are asked again.
 */
async function rerunSource(step: Step, id: string, run: RunState, options: RunnerOptions): Promise<void> {
  const { decide: _, ...unasked } = options;
  const { checklist, results } = run;
  const source = checklist.steps.find((one) => one.id === id);
  if (source === undefined) return;
  results.set(id, await performUntilSettled(source, { before: results.get(id), isNamed: false }, run, options));
  const readers = new Set(readersOf(id, run).map((reader) => reader.id));
  for (const follower of checklist.steps) {
    const before = results.get(follower.id);
    const seen = drivesSeenBy(follower, checklist).includes(id);
    const outdated = seen || isOfOtherValues(follower, results.get(follower.id), results);
    if (!outdated && !readers.has(follower.id)) continue;
    if (follower.id === step.id || before === undefined || before.leftOut || options.signal.aborted) continue;
    const again = { before, isNamed: false, outdated, keepsAnswer: !outdated };
    results.set(follower.id, await performUntilSettled(follower, again, run, unasked));
  }
}

function readersOf(id: string, { checklist }: RunState): readonly RunStep[] {
  return checklist.steps.flatMap((step) => {
    const reader = step.kind === 'run' ? step : step.kind === 'confirm' ? step.known : null;
    return reader?.reads === id ? [reader] : [];
  });
}

async function decideOrLeave(
  result: StepResult,
  decide: NonNullable<RunnerOptions['decide']>,
  signal: AbortSignal,
): Promise<Decision> {
  try {
    return await decide(result, signal);
  } catch (error) {
    if (signal.aborted) return { kind: 'leave' };
    throw error;
  }
}

/** A step that is kept as it was wrong, and that the answers accept now. */
export async function withApproval(
  result: StepResult,
  performed: CompletedStep | undefined,
  options: RunnerOptions,
): Promise<StepResult> {
  const approval = options.answers?.approvals.get(result.id);
  if (approval === undefined || performed === undefined || result.verdict === 'ok' || result.deviation !== null)
    return result;
  const kept = { ...result, deviation: deviation(approval, options.clock) };
  await options.onCompleted?.({ ...performed, result: kept });
  options.onResult?.(kept);
  return kept;
}

function deviation({ reason, approvedBy }: Approval, clock: Clock): Deviation {
  return { reason, approvedBy, at: clock.wall().toISOString() };
}

function keepReadings(readings: CompletedStep['readings'], run: RunState): void {
  for (const [id, outcome] of Object.entries(readings)) run.readings.set(id, outcome);
}

async function performStep(
  step: Step,
  run: RunState,
  options: RunnerOptions & { readonly kept: StepResult['answer'] },
): Promise<Checked> {
  const alone = (outcome: Outcome): Checked => ({
    ...{ outcome, ran: false, readings: {} },
    ...{ software: null, simulated: null },
  });
  if (options.signal.aborted) {
    return alone({ verdict: 'not-checked', why: 'The run was interrupted before this step.', interrupted: true });
  }
  const missing = missingFor(step, run);
  if (missing) return alone(missing);
  if (step.kind === 'unavailable') return alone(unavailable(step));
  const isStill = !drives(step) || (step.moves && !options.motionAllowed);
  const expired = isStill ? undefined : await renewAnswers(step, run, options);
  if (expired) return alone(expired);
  const asked = step.kind === 'run' ? step : questionOf(step, run.results);
  if ('missing' in asked) return alone(gapIn(asked.missing));
  if (asked.kind === 'confirm' && asked.known !== null) {
    const { known } = asked;
    const looked = known.reads === null ? await check(known, [], options) : alone(readingOf(known, known.reads, run));
    return { ...looked, outcome: await askBeside(asked, looked.outcome, options) };
  }
  if (asked.kind !== 'run') return alone(await askPerson(asked, options));
  if (asked.moves && !options.motionAllowed) {
    return alone({
      verdict: 'not-checked',
      why: 'This step moves the robot, and movement is not allowed.',
      remedy: 'Make sure that the way is clear, then run again with --robot-will-move.',
    });
  }
  if (asked.reads === null) return check(asked, readersOf(asked.id, run), options);
  return alone(readingOf(asked, asked.reads, run));
}

function readingOf({ id }: RunStep, source: string, { readings }: RunState): Outcome {
  const why = `This step reads the result of '${source}', which has none.`;
  return readings.get(id) ?? { verdict: 'skipped', why, remedy: `Fix '${source}' first.` };
}

/** Asks anew, before the robot moves, what only an earlier run answered. Returns why the step does not run. */
async function renewAnswers(step: Step, run: RunState, options: RunnerOptions): Promise<Outcome | undefined> {
  for (const question of expiringFor(step, run.checklist)) {
    if (run.completed.has(question.id)) continue;
    const before = run.results.get(question.id);
    options.onProgress?.(`'${question.id}' was answered in an earlier run, and is asked again before the robot moves`);
    const renewed = await performUntilSettled(question, { before, isNamed: false }, run, options);
    if (options.signal.aborted) {
      return { verdict: 'not-checked', why: 'Interrupted at the question.', interrupted: true };
    }
    run.results.set(question.id, renewed);
    if (renewed.verdict === 'not-checked') {
      return {
        verdict: 'not-checked',
        why: `Not run: the answer to '${question.id}' is of an earlier run, and must be given anew before the robot moves.`,
        remedy: renewed.remedy ?? undefined,
      };
    }
    if (renewed.verdict !== 'ok') break;
  }
  return missingFor(step, run);
}

function gapIn(path: string): Outcome {
  const [step = path] = path.split('.');
  const why = `Not asked: the question shows the value '${path}', which was not measured.`;
  return { verdict: 'not-checked', why, remedy: `Repeat '${step}' with --only ${step}.` };
}

function unavailable({ lacking }: UnavailableStep): Outcome {
  return { verdict: 'not-checked', why: `This version of gw cannot check it: ${lacking}` };
}

function missingFor(step: Step, { results }: RunState): Outcome | undefined {
  const open = step.requires.flatMap(({ name, steps, of }) => {
    const first = steps.find((id) => results.get(id)?.verdict !== 'ok');
    return first === undefined ? [] : [{ name, first, of }];
  });
  const own = open.filter(({ of }) => of === 'own');
  const [first] = own.length > 0 ? own : open;
  if (!first) return undefined;
  const named = (own.length > 0 ? own : open).map(({ name }) => name).join(' and ');
  const are = (own.length > 0 ? own : open).length > 1 ? 'are' : 'is';
  const who = own.length > 0 ? 'This step' : 'This section';
  return {
    verdict: 'skipped',
    why: `${who} needs ${named}, which ${are} not ok.`,
    remedy: `Fix '${first.first}' first.`,
  };
}

interface Circumstances {
  readonly at: string | null;
  readonly tookMs: number;
  /** The previous result; its `earlier` list is continued. */
  readonly before: StepResult | undefined;
}

export function joinResult(step: Step, outcome: Outcome, { at, tookMs, before }: Circumstances): StepResult {
  const earlier = before ? [...before.earlier, { at: before.at, verdict: before.verdict, why: before.why }] : [];
  return {
    id: step.id,
    title: step.title,
    ...(step.titleDe !== undefined && { titleDe: step.titleDe }),
    proves: step.proves,
    kind: step.kind,
    run: step.kind === 'run' ? step.run : step.kind === 'confirm' ? (step.known?.run ?? null) : null,
    moves: step.moves,
    section: step.section,
    precondition: step.precondition,
    verdict: outcome.verdict,
    leftOut: outcome.leftOut ?? false,
    why: outcome.why,
    shown: outcome.shown ?? null,
    remedy: outcome.verdict === 'ok' ? null : (outcome.remedy ?? step.remedy) || null,
    at,
    tookMs,
    expectations: outcome.expectations ?? [],
    error: outcome.error ?? null,
    answer: outcome.answer ?? null,
    values: outcome.values ?? [],
    measured: outcome.measured ?? null,
    deviation: null,
    earlier: earlier.slice(-MAX_EARLIER_RESULTS),
  };
}
