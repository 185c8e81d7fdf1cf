import {
  type Checklist,
  type Missing,
  type RunStep,
  type Step,
  selectSteps,
  type Wanted,
} from '../../checklist/index.ts';
import type { Prerequisite } from './run.result.ts';
import type { RunRobot } from './run-options.ts';

/** Completed steps of each robot in the journal, by step id. */
type Earlier = readonly ReadonlyMap<string, { readonly result: { readonly verdict: string } }>[];

/**
 * Prerequisites of this session's steps that the site files lack, found before the first step. Reads files only. An
 * unreadable site file is reported by its own step.
 */
export async function findPrerequisites(
  robots: readonly RunRobot[],
  wanted: Wanted,
  earlier: Earlier,
): Promise<Prerequisite[]> {
  const found = await Promise.all(robots.map((robot, index) => ofRobot(robot, wanted, earlier[index] ?? new Map())));
  return found.flat();
}

async function ofRobot(
  { checklist, subject }: RunRobot,
  wanted: Wanted,
  earlier: Earlier[number],
): Promise<Prerequisite[]> {
  const { chosen } = selectSteps(checklist, wanted);
  const isTaken = (step: Step): step is RunStep =>
    step.kind === 'run' && chosen.has(step.id) && earlier.get(step.id)?.result.verdict !== 'ok';
  const byKey = new Map<string, Missing & { steps: string[] }>();
  for (const step of checklist.steps.filter(isTaken)) {
    for (const missing of (await step.entry.missing?.(readingOptions(step, checklist), step.expected)) ?? []) {
      const known = byKey.get(missing.key) ?? { ...missing, steps: [] };
      byKey.set(missing.key, { ...known, steps: [...known.steps, step.id] });
    }
  }
  return [...byKey.values()].map((missing) => ({ serial: subject?.serial ?? null, ...missing }));
}

/** The options of the check that the step runs, or whose result it reads. */
function readingOptions(step: RunStep, { steps }: Checklist): unknown {
  const source = steps.find(({ id }) => id === step.reads);
  return source?.kind === 'run' ? source.options : step.options;
}
