import { join, resolve } from 'node:path';
import { z } from 'zod';
import {
  type Catalogue,
  type Checklist,
  type ChecklistResult,
  findChecklist,
  listChecklists,
  loadAnswers,
  loadChecklist,
  type RunnerOptions,
  runSteps,
} from '../checklist/index.ts';
import { type Clock, replaceFile } from '../lifecycle/index.ts';
import { toJson, toJUnit, toMarkdown } from '../report/index.ts';
import { type CatalogueOptions, createCatalogue } from './catalogue.ts';
import type { ChecklistList, ChecklistRun, ChecklistShow } from './checklist-run.result.ts';
import type { CheckContext } from './toolkit.ts';

/** The checklists in a folder, and the checks that checklists may name. */
export async function listLibrary(dir: string): Promise<ChecklistList> {
  const catalogue = createCatalogue();
  const names = await listChecklists(dir);
  const lists = await Promise.all(names.map((name) => loadChecklist(join(dir, `${name}.yaml`), catalogue)));
  return {
    dir,
    checklists: lists.map(({ name, title, purpose, steps }) => ({
      name,
      title,
      purpose,
      runs: steps.filter((step) => step.kind === 'run').length,
      questions: steps.filter((step) => step.kind === 'confirm').length,
      movesRobot: steps.some((step) => step.moves),
    })),
    checks: Object.entries(catalogue).map(([name, { summary, moves, with: schema }]) => ({
      name,
      summary,
      moves,
      options: optionsOf(schema),
    })),
  };
}

function optionsOf(schema: z.ZodType): ChecklistList['checks'][number]['options'] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, option]) => ({
    name,
    required: !option.safeParse(undefined).success,
    description: option.description ?? '',
  }));
}

/** What a checklist proves, step by step. Throws CHECKLIST_UNKNOWN, CHECKLIST_INVALID. */
export async function showChecklist(nameOrFile: string, dir: string): Promise<ChecklistShow> {
  const { name, title, purpose, file, steps } = await open(nameOrFile, dir, createCatalogue());
  return {
    name,
    title,
    purpose,
    file,
    steps: steps.map((step) => ({
      id: step.id,
      title: step.title,
      proves: step.proves,
      kind: step.kind,
      run: step.kind === 'run' ? step.run : null,
      question: step.kind === 'confirm' ? step.question : null,
      needs: [...step.needs],
      moves: step.moves,
      expects:
        step.kind === 'run' ? step.expectations.map(({ path, matcher }) => ({ path, expected: matcher.expected })) : [],
      remedy: step.remedy,
    })),
  };
}

export interface ChecklistRunOptions
  extends Pick<RunnerOptions, 'motionAllowed' | 'ask' | 'onStep' | 'onResult'>,
    Pick<CheckContext, 'signal' | 'onProgress'> {
  readonly nameOrFile: string;
  /** Folder of the built-in checklists. */
  readonly dir: string;
  readonly sitePath: string;
  readonly answersPath?: string | undefined;
  /** Where report files go; none are written without it. */
  readonly outDir?: string | undefined;
  /** Stands in the backups that a step takes. */
  readonly gwVersion: string;
  readonly clock: Clock;
  readonly switchFault?: CatalogueOptions['switchFault'];
}

/**
 * Runs a checklist against the robot of a site file. What a step finds is its result; thrown are only mistakes in
 * what was asked: CHECKLIST_UNKNOWN, CHECKLIST_INVALID, ANSWERS_INVALID, FILE_UNWRITABLE.
 */
export async function runChecklist(options: ChecklistRunOptions): Promise<ChecklistRun> {
  const { nameOrFile, dir, sitePath, answersPath, outDir, clock, switchFault, ask, onStep, onResult } = options;
  const checklist = await open(
    nameOrFile,
    dir,
    createCatalogue({ sitePath, gwVersion: options.gwVersion, ...(switchFault && { switchFault }) }),
  );
  const answers = answersPath === undefined ? undefined : await loadAnswers(answersPath, checklist);
  const result = await runSteps(checklist, {
    clock,
    signal: options.signal,
    motionAllowed: options.motionAllowed,
    subject: await subjectOf(sitePath),
    onProgress: options.onProgress,
    ...(answers && { answers }),
    ...(ask && { ask }),
    ...(onStep && { onStep }),
    ...(onResult && { onResult }),
  });
  return { ...result, written: outDir === undefined ? [] : await writeReports(result, outDir) };
}

async function open(nameOrFile: string, dir: string, catalogue: Catalogue): Promise<Checklist> {
  return loadChecklist(await findChecklist(nameOrFile, dir), catalogue);
}

/** A site file that cannot be read is for a step to find; the report then names no robot. */
async function subjectOf(sitePath: string): Promise<ChecklistResult['subject']> {
  const { loadSite } = await import('../site/index.ts');
  try {
    const { name, chassis } = await loadSite(sitePath);
    return { site: name, serial: chassis.serial };
  } catch {
    return null;
  }
}

/** Writes `<name>.json`, `<name>.junit.xml` and `<name>.md`; a file of an earlier run is replaced whole. */
async function writeReports(result: ChecklistResult, outDir: string): Promise<string[]> {
  const dir = resolve(outDir);
  const files = [
    [join(dir, `${result.name}.json`), toJson(result)],
    [join(dir, `${result.name}.junit.xml`), toJUnit(result)],
    [join(dir, `${result.name}.md`), toMarkdown(result)],
  ] as const;
  for (const [path, text] of files) await replaceFile(path, text);
  return files.map(([path]) => path);
}
