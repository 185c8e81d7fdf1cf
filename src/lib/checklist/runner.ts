import type { Clock } from '../lifecycle/index.ts';
import type { Approval } from './answers.ts';
import { type AskingOptions, askPerson } from './asking.ts';
import type { SoftwareRead } from './catalogue.ts';
import { type Checked, type CheckingOptions, check } from './checking.ts';
import type { Checklist, RunStep, Section, Step } from './load.ts';
import type { Outcome } from './outcome.ts';
import type { ChecklistResult, Deviation, StepResult } from './run.result.ts';
import type { Selection } from './selection.ts';

/** What a person says to a step that came out wrong. */
export type Decision =
  | { readonly kind: 'leave' }
  | { readonly kind: 'again' }
  | ({ readonly kind: 'accept' } & Approval);

/** A step that was taken, with what a later sitting needs to know of it. */
export interface TakenStep {
  readonly result: StepResult;
  /** What came out for the steps that read its result. */
  readonly readings: Readonly<Record<string, Outcome>>;
  readonly software: SoftwareRead | null;
}

export interface RunnerOptions extends AskingOptions, CheckingOptions {
  /** The person's word that the robot may move now. */
  readonly motionAllowed: boolean;
  /** Asks what to do about a wrong step; absent: it is left so. */
  readonly decide?: (result: StepResult, signal: AbortSignal) => Promise<Decision>;
  /** Whose commissioning this is. */
  readonly subject: ChecklistResult['subject'];
  /** The steps of this sitting; all of them when absent. */
  readonly selection?: Selection;
  /** What an earlier sitting of this run took. */
  readonly earlier?: ReadonlyMap<string, TakenStep>;
  readonly onStep?: (event: {
    readonly step: Step;
    readonly section: Section | null;
    readonly index: number;
    readonly of: number;
  }) => void;
  /** Told, and waited for, before anyone sees the result: here it goes to disk. */
  readonly onTaken?: (taken: TakenStep) => Promise<void>;
  readonly onResult?: (result: StepResult) => void;
}

/** What the steps so far gave, for the steps that stand on them. */
interface Sofar {
  readonly checklist: Checklist;
  readonly results: Map<string, StepResult>;
  readonly readings: Map<string, Outcome>;
  readonly readers: readonly RunStep[];
}

/** How often one step is taken again in one sitting, at most; a person has to say so each time. */
const MOST_AGAIN = 50;
const MOST_EARLIER = 20;

/**
 * Goes through a checklist in the order of its file. A step that needs one which is not ok is skipped by name, an
 * accepted deviation notwithstanding; a step that moves the robot runs only with the person's word; an interruption
 * leaves the rest not checked. Never throws for what a step finds or fails at: that is its result.
 */
export async function runSteps(checklist: Checklist, options: RunnerOptions): Promise<ChecklistResult> {
  const { clock, signal, motionAllowed, subject, selection, earlier } = options;
  const began = clock.monotonicMs();
  const startedAt = clock.wall().toISOString();
  const readers = checklist.steps.filter((step) => step.kind === 'run' && step.reads !== null) as RunStep[];
  const sofar: Sofar = { checklist, results: new Map(), readings: new Map(), readers };
  for (const taken of earlier?.values() ?? []) keepReadings(taken.readings, sofar);
  for (const [index, step] of checklist.steps.entries()) {
    const before = earlier?.get(step.id)?.result;
    const chosen = selection === undefined || selection.chosen.has(step.id);
    if (before && !(selection?.again.has(step.id) ?? false) && (!chosen || isSettled(before))) {
      sofar.results.set(step.id, await accepted(before, earlier?.get(step.id), options));
      continue;
    }
    if (!chosen) {
      sofar.results.set(step.id, join(step, leftOut(checklist), { at: null, tookMs: 0, before }));
      continue;
    }
    const section = checklist.sections.find(({ id }) => id === step.section) ?? null;
    options.onStep?.({ step, section, index, of: checklist.steps.length });
    sofar.results.set(step.id, await takeUntilSettled(step, before, sofar, options));
  }
  const steps = [...sofar.results.values()];
  const { name, title, purpose, phase, file } = checklist;
  const counts = countVerdicts(steps);
  return {
    name,
    title,
    purpose,
    phase,
    file,
    subject,
    startedAt,
    tookMs: Math.round(clock.monotonicMs() - began),
    motionAllowed,
    interrupted: signal.aborted,
    ok: steps.length > 0 && counts.ok === steps.length,
    counts,
    sections: checklist.sections.map(({ id, title: text }) => ({ id, title: text })),
    steps,
  };
}

export function countVerdicts(steps: readonly Pick<StepResult, 'verdict'>[]): ChecklistResult['counts'] {
  const count = (verdict: StepResult['verdict']) => steps.filter((step) => step.verdict === verdict).length;
  return { ok: count('ok'), wrong: count('wrong'), skipped: count('skipped'), notChecked: count('not-checked') };
}

/** A resumed run keeps what was found or answered, and takes again what was skipped or could not be looked at. */
function isSettled(result: StepResult): boolean {
  return result.verdict === 'ok' || result.verdict === 'wrong' || result.answer !== null;
}

function leftOut({ name }: Checklist): Outcome {
  return {
    verdict: 'not-checked',
    leftOut: true,
    why: 'It was left out of this run by --only or --from.',
    remedy: `Take it with \`gw checklist run ${name} --resume\`.`,
  };
}

/** Takes a step, and again for as long as a person says so of a wrong one. */
async function takeUntilSettled(
  step: Step,
  before: StepResult | undefined,
  sofar: Sofar,
  options: RunnerOptions,
): Promise<StepResult> {
  const { answers, ...asked } = options;
  const { clock, signal, decide } = options;
  let last = before;
  for (let turn = 0; ; turn += 1) {
    const began = clock.monotonicMs();
    // A question that came out wrong from a file is put to the person when it is taken again.
    const taken = await takeStep(step, sofar, turn === 0 ? options : asked);
    const { interrupted = false } = taken.outcome;
    const at = interrupted ? null : clock.wall().toISOString();
    let result = join(step, taken.outcome, { at, tookMs: Math.round(clock.monotonicMs() - began), before: last });
    if (interrupted) {
      // What an earlier sitting found is not undone by a sitting that did not get so far.
      const shown = last ?? result;
      options.onResult?.(shown);
      return shown;
    }
    const approval = result.verdict === 'ok' ? undefined : answers?.approvals.get(step.id);
    if (approval) result = { ...result, deviation: deviation(approval, clock) };
    const { readings, software } = taken;
    keepReadings(readings, sofar);
    await options.onTaken?.({ result, readings, software });
    options.onResult?.(result);
    if (!isToDecide(result) || approval || !decide || signal.aborted || turn >= MOST_AGAIN) return result;
    const decision = await decideOrLeave(result, decide, signal);
    if (decision.kind === 'leave') return result;
    if (decision.kind === 'accept') {
      const accepted = { ...result, deviation: deviation(decision, clock) };
      await options.onTaken?.({ result: accepted, readings, software });
      options.onResult?.(accepted);
      return accepted;
    }
    last = result;
    if (step.kind === 'run' && step.reads !== null) await takeSourceAgain(step.reads, sofar, asked);
  }
}

/** Wrong, or a check that could not look: a person may be able to do something about it now. */
function isToDecide({ verdict, kind, expectations }: StepResult): boolean {
  return verdict === 'wrong' || (verdict === 'not-checked' && kind === 'run' && expectations.length > 0);
}

/** Runs the check whose result a step reads: that step again would only read the same. */
async function takeSourceAgain(id: string, sofar: Sofar, options: RunnerOptions): Promise<void> {
  const { clock } = options;
  const source = sofar.checklist.steps.find((step) => step.id === id);
  if (source === undefined) return;
  const began = clock.monotonicMs();
  const { outcome, readings, software } = await takeStep(source, sofar, options);
  if (outcome.interrupted) return;
  const tookMs = Math.round(clock.monotonicMs() - began);
  const before = sofar.results.get(id);
  const result = join(source, outcome, { at: clock.wall().toISOString(), tookMs, before });
  sofar.results.set(id, result);
  keepReadings(readings, sofar);
  await options.onTaken?.({ result, readings, software });
  options.onResult?.(result);
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
async function accepted(result: StepResult, taken: TakenStep | undefined, options: RunnerOptions): Promise<StepResult> {
  const approval = options.answers?.approvals.get(result.id);
  if (approval === undefined || taken === undefined || result.verdict === 'ok' || result.deviation !== null)
    return result;
  const kept = { ...result, deviation: deviation(approval, options.clock) };
  await options.onTaken?.({ ...taken, result: kept });
  options.onResult?.(kept);
  return kept;
}

function deviation({ reason, approvedBy }: Approval, clock: Clock): Deviation {
  return { reason, approvedBy, at: clock.wall().toISOString() };
}

function keepReadings(readings: TakenStep['readings'], sofar: Sofar): void {
  for (const [id, outcome] of Object.entries(readings)) sofar.readings.set(id, outcome);
}

async function takeStep(step: Step, sofar: Sofar, options: RunnerOptions): Promise<Checked> {
  const alone = (outcome: Outcome): Checked => ({ outcome, readings: {}, software: null });
  if (options.signal.aborted) {
    return alone({ verdict: 'not-checked', why: 'The run was interrupted before this step.', interrupted: true });
  }
  const missing = missingFor(step, sofar);
  if (missing) return alone(missing);
  if (step.kind !== 'run') return alone(await askPerson(step, options));
  if (step.moves && !options.motionAllowed) {
    return alone({
      verdict: 'not-checked',
      why: 'It moves the robot, and nobody has said that it may.',
      remedy: 'Make sure that nobody stands in the way, then run again with --robot-will-move.',
    });
  }
  if (step.reads === null) return check(step, sofar.readers, options);
  const reading = sofar.readings.get(step.id);
  if (reading !== undefined) return alone(reading);
  const why = `It reads the result of '${step.reads}', which gave none.`;
  return alone({ verdict: 'skipped', why, remedy: `Mend '${step.reads}' first.` });
}

function missingFor(step: Step, { results }: Sofar): Outcome | undefined {
  const open = step.requires.flatMap(({ name, steps, of }) => {
    const first = steps.find((id) => results.get(id)?.verdict !== 'ok');
    return first === undefined ? [] : [{ name, first, of }];
  });
  const own = open.filter(({ of }) => of === 'own');
  const [first] = own.length > 0 ? own : open;
  if (!first) return undefined;
  const named = (own.length > 0 ? own : open).map(({ name }) => name).join(' and ');
  const are = (own.length > 0 ? own : open).length > 1 ? 'are' : 'is';
  const who = own.length > 0 ? 'It' : 'Its whole section';
  return {
    verdict: 'skipped',
    why: `${who} needs ${named}, which ${are} not ok.`,
    remedy: `Mend '${first.first}' first.`,
  };
}

interface Circumstances {
  readonly at: string | null;
  readonly tookMs: number;
  /** How it came out before; the chain of what came earlier goes on from it. */
  readonly before: StepResult | undefined;
}

function join(step: Step, outcome: Outcome, { at, tookMs, before }: Circumstances): StepResult {
  const earlier = before ? [...before.earlier, { at: before.at, verdict: before.verdict, why: before.why }] : [];
  return {
    id: step.id,
    title: step.title,
    proves: step.proves,
    kind: step.kind,
    run: step.kind === 'run' ? step.run : null,
    moves: step.moves,
    section: step.section,
    precondition: step.precondition,
    verdict: outcome.verdict,
    leftOut: outcome.leftOut ?? false,
    why: outcome.why,
    shown: outcome.shown ?? null,
    remedy: outcome.verdict === 'ok' ? null : (outcome.remedy ?? step.remedy),
    at,
    tookMs,
    expectations: outcome.expectations ?? [],
    error: outcome.error ?? null,
    answer: outcome.answer ?? null,
    values: outcome.values ?? [],
    measured: outcome.measured ?? null,
    deviation: null,
    earlier: earlier.slice(-MOST_EARLIER),
  };
}
