import type { AskedStep, StepResult } from '../lib/checklist/index.ts';
import type { Clock } from '../lib/lifecycle/index.ts';
import { countText } from '../lib/text/index.ts';
import type { ChecklistRunOptions } from '../lib/toolkit/checklist/run-options.ts';
import { createLiveLine, type LiveLine } from './live-line.ts';
import { printable, spanText } from './output.ts';
import type { Technician } from './question.ts';
import {
  joinsSkipped,
  renderAcceptance,
  renderPlace,
  renderPrerequisites,
  renderRobotHead,
  renderSectionHead,
  renderSkipped,
  renderStepLine,
  renderStepProgress,
} from './render/checklist.ts';

type Events = Required<Pick<ChecklistRunOptions, 'onProgress' | 'onPrerequisites' | 'onResult' | 'onRobot' | 'onStep'>>;
type StepEvent = Parameters<Events['onStep']>[0];

export interface ChecklistReporter extends Disposable {
  readonly events: Events;
  /** The question as it is shown: with its place in the list. Nothing is redrawn until `resume`. */
  asked<S extends AskedStep>(step: S): S;
  /** Before anything else is written to the terminal. */
  pause(): void;
  resume(): void;
  /** Prints what was held back. */
  end(): void;
}

interface ReporterOptions {
  /** Prints a line that stays. */
  readonly note: (text: string) => void;
  readonly live: LiveLine;
  readonly clock: Pick<Clock, 'monotonicMs' | 'every'>;
}

const TICK_MS = 1_000;
/** It changes while it is shown; a number alone may be that of a robot. */
const COUNTDOWN = /\d (?:s|min|%)(?!\w)/;
/** A shorter wait needs no words. */
const LONG_MS = 10_000;

/**
 * Prints a run of a checklist while it happens: each step once, with its result, and those that are skipped one after
 * the other together. At a terminal the last line says which step runs, and how long it may still take; elsewhere a long
 * wait is said at ever longer intervals, and a stage of an attempt once, because a countdown would fill the file.
 */
export function createChecklistReporter({ note, live, clock }: ReporterOptions): ChecklistReporter {
  const stages = new Set<string>();
  const indexes = new Map<string, number>();
  let now: StepEvent | null = null;
  let section: { readonly id: string; readonly title: string; readonly head: string } | null = null;
  let isHeadPrinted = true;
  let skipped: StepResult[] = [];
  let last: StepResult | null = null;
  let isPaused = false;
  let detail = '';
  let beganMs = 0;
  let nextLineMs = LONG_MS;

  function print(text: string): void {
    live.clear();
    note(text);
  }

  function printHead(): void {
    if (section !== null && !isHeadPrinted) print(section.head);
    isHeadPrinted = true;
  }

  /** `isSectionOver`: a section of which nothing ran is one line. */
  function flush(isSectionOver = false): void {
    const [first] = skipped;
    if (first === undefined) return;
    const isWhole = isSectionOver && section !== null && !isHeadPrinted;
    if (!isWhole) printHead();
    print(`${placeOf(first.id)}${renderSkipped(skipped, isWhole ? (section?.title ?? null) : null)}`);
    isHeadPrinted = true;
    skipped = [];
  }

  function placeOf(id: string): string {
    if (now === null) return '';
    const { of } = now;
    const index = indexes.get(id);
    const place = countText({ n: (index ?? 0) + 1, of });
    return `${index === undefined ? ' '.repeat(place.length) : place} `;
  }

  function begin(): void {
    [isPaused, detail, beganMs, nextLineMs] = [false, '', clock.monotonicMs(), LONG_MS];
    redraw();
  }

  /** How long the running step may still take by its timeouts; empty: it has none. */
  function timeLeft(): string {
    const limitMs = now === null ? null : limitOf(now.step);
    return limitMs === null ? '' : `at most ${spanText(Math.max(0, beganMs + limitMs - clock.monotonicMs()))} left`;
  }

  function redraw(): void {
    if (now === null || isPaused) return;
    const isLong = clock.monotonicMs() - beganMs >= LONG_MS;
    const left = isLong && !/\bleft\b/.test(detail) ? timeLeft() : '';
    live.show(`${renderPlace(now)}: ${printable(detail || now.step.title)}`, left === '' ? '' : ` (${left})`);
  }

  function tick(): void {
    redraw();
    const waitedMs = clock.monotonicMs() - beganMs;
    if (now === null || isPaused || live.isLive || waitedMs < nextLineMs) return;
    nextLineMs = 2 * waitedMs;
    const left = timeLeft();
    print(renderStepProgress(`${now.step.title}: ${spanText(waitedMs)}${left === '' ? '' : `, ${left}`}`));
  }

  const ticking = clock.every(TICK_MS, tick);
  return {
    events: {
      onProgress(text) {
        detail = text;
        const stage = text.replace(/\d+/g, '');
        const isRedrawn = live.isLive && COUNTDOWN.test(text);
        if (!stages.has(stage) && !isRedrawn) {
          flush();
          printHead();
          print(renderStepProgress(text));
        }
        stages.add(stage);
        redraw();
      },
      onPrerequisites: (missing) => print(renderPrerequisites(missing)),
      onResult(step) {
        stages.clear();
        // The same result once more: a person accepted it.
        if (last?.id === step.id && last.at === step.at && step.deviation !== null) {
          return print(renderAcceptance(step.deviation));
        }
        last = step;
        if (!joinsSkipped(skipped.at(-1), step)) flush();
        if (step.verdict === 'skipped' && step.deviation === null) {
          skipped.push(step);
          return;
        }
        printHead();
        print(`${placeOf(step.id)}${renderStepLine(step)}`);
      },
      onRobot(robot) {
        flush(true);
        [section, now] = [null, null];
        indexes.clear();
        print(renderRobotHead(robot));
      },
      onStep(event) {
        stages.clear();
        if (event.section !== null && event.section.id !== section?.id) {
          flush(true);
          const { id, title } = event.section;
          section = { id, title, head: renderSectionHead(title, event) };
          isHeadPrinted = false;
        }
        now = event;
        indexes.set(event.step.id, event.index);
        begin();
      },
    },
    asked(step) {
      flush();
      printHead();
      live.clear();
      isPaused = true;
      return { ...step, question: `${placeOf(step.id)}${step.question}`.trimStart() };
    },
    pause() {
      flush();
      live.clear();
      isPaused = true;
    },
    resume: begin,
    end() {
      flush(true);
      live.clear();
      now = null;
    },
    [Symbol.dispose]() {
      ticking[Symbol.dispose]();
      live.clear();
    },
  };
}

/** Runs a checklist with a reporter; quiet: without one. */
export async function withChecklistReporter<T>(
  { quiet, ...options }: Omit<ReporterOptions, 'live'> & { readonly quiet: boolean },
  work: (reporter: ChecklistReporter | undefined) => Promise<T>,
): Promise<T> {
  using reporter = quiet ? undefined : createChecklistReporter({ ...options, live: createLiveLine() });
  const result = await work(reporter);
  reporter?.end();
  return result;
}

/** Asks between the lines of the reporter. */
export function reportedTechnician(reporter: ChecklistReporter, technician: Technician): Technician {
  return {
    async ask(step, context) {
      try {
        return await technician.ask(reporter.asked(step), context);
      } finally {
        reporter.resume();
      }
    },
    async decide(result, signal) {
      reporter.pause();
      try {
        return await technician.decide(result, signal);
      } finally {
        reporter.resume();
      }
    },
  };
}

function limitOf(step: StepEvent['step']): number | null {
  const run = step.kind === 'confirm' ? step.known : step;
  if (run?.kind !== 'run' || run.reads !== null) return null;
  const { times, everyMs } = run.retry;
  return (times + 1) * run.withinMs + times * everyMs;
}
