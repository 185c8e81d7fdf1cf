import { asGwError, formatTried, GwError } from '../error/index.ts';
import { type Clock, onAbort, orAfter } from '../lifecycle/index.ts';
import type { SoftwareRead } from './catalogue.ts';
import { excerpt } from './excerpt.ts';
import { figuresOf } from './figures.ts';
import type { RunStep } from './load.ts';
import { compare, type Outcome } from './outcome.ts';
import { fillTemplate, NOT_THERE } from './template.ts';

export interface CheckingOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
}

/** What a check gave, for its step and for the steps that read it. */
export interface Checked {
  readonly outcome: Outcome;
  /** Whether the check itself was run; it may have failed. */
  readonly ran: boolean;
  /** By the ids of the steps that read its result. */
  readonly readings: Readonly<Record<string, Outcome>>;
  readonly software: SoftwareRead | null;
}

/** Runs the check of a step, for it and for those that read it. What it fails at is its outcome; it never throws. */
export async function check(step: RunStep, readers: readonly RunStep[], options: CheckingOptions): Promise<Checked> {
  let data: object;
  try {
    data = await withDeadline(step, options);
  } catch (thrown) {
    return { outcome: failed(step, thrown, options.signal), ran: true, readings: {}, software: null };
  }
  const readings = Object.fromEntries(readers.map((reader) => [reader.id, compareRun(reader, data)]));
  const outcome = { ...compareRun(step, data), measured: excerpt(data) };
  return { outcome, ran: true, readings, software: step.entry.software?.(data) ?? null };
}

function failed(step: RunStep, thrown: unknown, signal: AbortSignal): Outcome {
  if (signal.aborted) return { verdict: 'not-checked', why: 'Interrupted while it ran.', interrupted: true };
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

function compareRun(step: RunStep, data: object): Outcome {
  const outcome = compare(step.expectations, data);
  const filled = step.shows === null ? null : fillTemplate(step.shows, data);
  // Beside a failure, half a sentence about what was proven only confuses.
  const shown = outcome.verdict !== 'ok' && filled?.includes(NOT_THERE) ? null : filled;
  return { ...outcome, shown, values: figuresOf(step, data) };
}

/** How long an ended check may take to undo what it did, such as stopping what it set in motion. */
const UNDO_MS = 3_000;

/** Runs a check for at most its time; one that does not listen to its signal is left behind. */
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
      new GwError('CHECK_FAILED', `The check '${step.run}' was not done within ${step.withinMs / 1000} s.`, {
        remedy: 'Look at what it waits for.',
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
