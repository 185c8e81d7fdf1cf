import type { SoftwareRead } from '../catalogue.ts';
import type { Checklist } from '../file/step.ts';
import type { Journal } from '../journal/journal.ts';
import type { ChecklistResult } from '../run.result.ts';
import { runSteps } from './runner.ts';
import type { RunnerOptions } from './runner-options.ts';
import { selectSteps, type Wanted } from './selection.ts';

/** One robot of a run: the same checklist, its checks bound to this robot. */
export interface SessionRobot {
  readonly checklist: Checklist;
  /** null when its site file cannot be read. */
  readonly subject: ChecklistResult['subject'];
}

export interface SessionOptions
  extends Omit<RunnerOptions, 'subject' | 'selection' | 'earlier' | 'onCompleted' | 'keepPhoto'> {
  /** Processed one after the other. */
  readonly robots: readonly SessionRobot[];
  readonly wanted: Wanted;
  /** Absent: a crash loses all results, and photos cannot be stored. */
  readonly journal?: Journal;
  readonly onRobot?: (event: { readonly robot: SessionRobot; readonly index: number; readonly of: number }) => void;
}

export interface SessionRobotResult {
  readonly result: ChecklistResult;
  /** From the newest step that read it. */
  readonly software: SoftwareRead | null;
  /** true: a step met a simulator, at any time of the run. null: no step read whether the device is one. */
  readonly simulated: boolean | null;
}

/** Runs a checklist for one robot after the other; each result is journaled before it is shown. */
export async function runSession(options: SessionOptions): Promise<SessionRobotResult[]> {
  const { robots, wanted, journal, onRobot, ...runner } = options;
  const { clock } = runner;
  const began = clock.monotonicMs();
  const results: SessionRobotResult[] = [];
  for (const [robot, { checklist, subject }] of robots.entries()) {
    onRobot?.({ robot: { checklist, subject }, index: robot, of: robots.length });
    const earlier = journal?.state.completed[robot] ?? new Map();
    let software = [...earlier.values()].reduce<SoftwareRead | null>((last, one) => one.software ?? last, null);
    const met = new Set([...earlier.values()].map(({ simulated }) => simulated));
    const result = await runSteps(checklist, {
      ...runner,
      subject,
      earlier,
      selection: selectSteps(checklist, wanted),
      async onCompleted(completed) {
        software = completed.software ?? software;
        met.add(completed.simulated);
        await journal?.write({
          kind: 'step',
          robot,
          elapsedMs: Math.round(clock.monotonicMs() - began),
          result: completed.result,
          readings: { ...completed.readings },
          software: completed.software,
          simulated: completed.simulated ?? null,
        });
      },
      ...(journal && { keepPhoto: async (step, path) => (await journal.keepPhoto(step.id, path)).name }),
    });
    results.push({ result, software, simulated: met.has(true) || (met.has(false) ? false : null) });
  }
  return results;
}

/**
 * Merges the results of several robots for reports on one list: ids and titles of steps and sections are prefixed with
 * the robot. A single result is returned as is.
 */
export function mergeResults(results: readonly [ChecklistResult, ...ChecklistResult[]]): ChecklistResult {
  const [first, ...more] = results;
  if (more.length === 0) return first;
  const sum = (count: (result: ChecklistResult) => number) => results.reduce((total, one) => total + count(one), 0);
  const nameOf = ({ subject }: ChecklistResult, index: number) => subject?.serial ?? `robot-${index + 1}`;
  return {
    ...first,
    subject: {
      site: results.map(({ subject }) => subject?.site ?? 'not known').join(', '),
      serial: results.map(nameOf).join(', '),
    },
    tookMs: sum(({ tookMs }) => tookMs),
    interrupted: results.some(({ interrupted }) => interrupted),
    ok: results.every(({ ok }) => ok),
    counts: {
      ok: sum(({ counts }) => counts.ok),
      wrong: sum(({ counts }) => counts.wrong),
      skipped: sum(({ counts }) => counts.skipped),
      notChecked: sum(({ counts }) => counts.notChecked),
    },
    sections: results.flatMap((result, index) =>
      result.sections.map((section) => ({ ...section, id: `${nameOf(result, index)}/${section.id}` })),
    ),
    steps: results.flatMap((result, index) => {
      const name = nameOf(result, index);
      return result.steps.map((step) => ({
        ...step,
        id: `${name}/${step.id}`,
        title: `${name}: ${step.title}`,
        ...(step.titleDe !== undefined && { titleDe: `${name}: ${step.titleDe}` }),
        section: step.section === null ? null : `${name}/${step.section}`,
      }));
    }),
  };
}
