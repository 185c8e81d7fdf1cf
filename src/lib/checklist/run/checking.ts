import { asGwError, formatTried, GwError } from '../../error/index.ts';
import { type Clock, onAbort, orAfter } from '../../lifecycle/index.ts';
import type { SoftwareRead } from '../catalogue.ts';
import type { RunStep } from '../file/step.ts';
import { excerpt } from '../match/excerpt.ts';
import { fillTemplate, NOT_THERE } from '../match/template.ts';
import { figuresOf } from './figures.ts';
import { compare, type Outcome } from './outcome.ts';

export interface CheckingOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
}

/** Result of a check, for its step and the steps that read it. */
export interface Checked {
  readonly outcome: Outcome;
  /** Whether the check itself was run; it may have failed. */
  readonly ran: boolean;
  /** By the ids of the steps that read its result. */
  readonly readings: Readonly<Record<string, Outcome>>;
  readonly software: SoftwareRead | null;
  /** Whether the device is a simulator; null: this check did not read it. */
  readonly simulated: boolean | null;
}

/** Runs the check of a step, for it and its readers. A failure is its outcome; never throws. */
export async function check(step: RunStep, readers: readonly RunStep[], options: CheckingOptions): Promise<Checked> {
  const { clock, signal } = options;
  for (let attempt = 0; ; attempt += 1) {
    const checked = await checkOnce(step, readers, options);
    if (checked.outcome.verdict === 'ok' || attempt >= step.retry.times || signal.aborted) {
      return attempt === 0 ? checked : withAttempts(checked, attempt + 1);
    }
    options.onProgress?.(`attempt ${attempt + 1} of ${step.retry.times + 1}: ${checked.outcome.why}`);
    await clock.sleep(step.retry.everyMs, signal).catch(() => {});
    if (signal.aborted) return { ...checked, outcome: failed(step, signal.reason, signal) };
  }
}

/** A step that is ok only at a later attempt says so. */
function withAttempts(checked: Checked, attempts: number): Checked {
  const { outcome } = checked;
  if (outcome.interrupted) return checked;
  const which = outcome.verdict === 'ok' ? `at attempt ${attempts}` : `after ${attempts} attempts`;
  const why = `${outcome.why}; ${which}`;
  const shown = outcome.shown ? `${outcome.shown}; ${which}` : outcome.shown;
  return { ...checked, outcome: { ...outcome, why, shown } };
}

async function checkOnce(step: RunStep, readers: readonly RunStep[], options: CheckingOptions): Promise<Checked> {
  let data: object;
  try {
    data = await withDeadline(step, options);
  } catch (thrown) {
    return { outcome: failed(step, thrown, options.signal), ran: true, readings: {}, software: null, simulated: null };
  }
  const readings = Object.fromEntries(readers.map((reader) => [reader.id, compareRun(reader, data)]));
  const outcome = { ...compareRun(step, data), measured: excerpt(data) };
  const { software, simulated } = step.entry;
  return { outcome, ran: true, readings, software: software?.(data) ?? null, simulated: simulated?.(data) ?? null };
}

function failed(step: RunStep, thrown: unknown, signal: AbortSignal): Outcome {
  if (signal.aborted)
    return { verdict: 'not-checked', why: 'Interrupted while the check was running.', interrupted: true };
  const error = asGwError(thrown);
  const tried = error.tried ? formatTried(error.tried) : null;
  // The remedy of the step is for what the check finds, and nothing was looked at.
  if (error.code === 'NEEDS_GATEWAY') {
    return {
      verdict: 'not-checked',
      why: `Not checked: run it on the gateway. ${error.message}`,
      remedy: error.remedy,
      error: { code: error.code, message: error.message, tried, remedy: error.remedy },
    };
  }
  return {
    verdict: 'wrong',
    why: tried === null ? error.message : `${error.message} Tried ${tried}.`,
    remedy: `${error.remedy} ${step.remedy}`.trim(),
    error: { code: error.code, message: error.message, tried, remedy: error.remedy },
    measured: error.details ? excerpt(error.details) : null,
  };
}

function compareRun(step: RunStep, data: object): Outcome {
  const outcome = compare(step, data);
  const filled = step.shows === null ? null : fillTemplate(step.shows, data);
  // Beside a failure, an incomplete sentence would mislead.
  const shown = outcome.verdict !== 'ok' && filled?.includes(NOT_THERE) ? null : filled;
  const says = step.entry.says?.(data);
  // What it found comes with the place that it looked from; beside a failed expectation it is the reason.
  const why = says === undefined ? outcome.why : outcome.verdict === 'ok' ? says : `${says}; ${outcome.why}`;
  return {
    ...outcome,
    why,
    shown: shown ?? (outcome.verdict === 'ok' ? (says ?? null) : null),
    values: figuresOf(step, data),
  };
}

/** How long an aborted check may take to clean up, such as stopping the robot. */
const UNDO_MS = 3_000;

/** Runs a check with its deadline; one that ignores its signal is abandoned. */
async function withDeadline(step: RunStep, options: CheckingOptions): Promise<object> {
  const { clock } = options;
  const over = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const end = (reason: unknown) => {
    over.abort(reason);
    reject(reason);
  };
  using _timer = clock.after(step.withinMs, () =>
    end(
      new GwError('CHECK_FAILED', `Check '${step.run}' timed out after ${step.withinMs / 1000} s.`, {
        remedy: `Run the step alone with --only ${step.id} to see what it waits for.`,
      }),
    ),
  );
  using _aborted = onAbort(options.signal, () => end(options.signal.reason));
  const context = { signal: over.signal, onProgress: (text: string) => options.onProgress?.(text) };
  const running = step.entry.run(step.options, context);
  try {
    return await Promise.race([running, late]);
  } finally {
    if (over.signal.aborted) await orAfter(clock, UNDO_MS, running);
  }
}
