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
  type Missing,
  mergeResults,
  parseAnswers,
  type RedLine,
  type RunStep,
  readPhoto,
  runSession,
  type Step,
  selectSteps,
  type Wanted,
} from '../../checklist/index.ts';
import { GwError } from '../../error/index.ts';
import { replaceFile } from '../../lifecycle/index.ts';
import type { Ssh } from '../../net/index.ts';
import { toJson, toJUnit, toMarkdown } from '../../report/index.ts';
import type { Site } from '../../site/index.ts';
import { createCatalogue } from '../catalogue/catalogue.ts';
import type { ChecklistList, ChecklistRun, ChecklistShow, Prerequisite } from './checklist.result.ts';
import { earlierDurations } from './durations.ts';
import { checkRecordFree, openJournal, redLinesOf, writeRecord } from './finished-record.ts';
import type { ChecklistRunOptions, RunRobot } from './run-options.ts';

/** So few that the gateway does not yet refuse further attempts. */
const TRIES = 3;

interface Attempt {
  readonly ssh: Ssh | undefined;
  readonly password: string;
  readonly signal: AbortSignal;
}

/**
 * Runs a checklist against one robot after the other and writes the record. A failed step is a result; thrown are only
 * invalid input and write errors: SITE_FILE_NOT_FOUND, CHECKLIST_UNKNOWN, CHECKLIST_INVALID,
 * ANSWERS_INVALID, ATTACHMENT_INVALID, STEP_UNKNOWN, NOTHING_TO_RESUME, CHECKLIST_CHANGED, JOURNAL_BROKEN, RUN_OPEN,
 * FILE_EXISTS, FILE_UNWRITABLE, USAGE.
 */
export async function runChecklist(options: ChecklistRunOptions): Promise<ChecklistRun> {
  const { nameOrFile, dir, outDir, clock, gwVersion, onWarning = () => {} } = options;
  const wanted: Wanted = { only: options.only ?? [], from: options.from ?? null };
  const technician = options.technician ?? { name: null, initials: null };
  const [first, ...more] = options.sitePaths;
  const openAll = async (checks: ChecklistRunOptions['checks']): Promise<readonly [RunRobot, ...RunRobot[]]> => {
    const openOne = async (sitePath: string): Promise<RunRobot> => {
      const read = await siteOf(sitePath).catch((error: unknown) => ({ error }));
      const site = read !== null && 'error' in read ? null : read;
      // Only a readable site file allows programs, before anything of the list runs.
      const programs = site?.checklists?.programs ?? [];
      const catalogue = createCatalogue({ ...checks, sitePath, clock, gwVersion, programs });
      const checklist = await open(nameOrFile, dir, catalogue);
      if (read !== null && 'error' in read) throw read.error;
      return { checklist, site, subject: site && { site: site.name, serial: site.chassis.serial } };
    };
    return [await openOne(first), ...(await Promise.all(more.map(openOne)))];
  };
  const who = technician.name ?? technician.initials ?? undefined;
  let robots = await openAll({ ...options.checks, who });
  const isAsked = !options.dryRun && usesPassword(robots[0].checklist, wanted);
  const password = isAsked ? await askedPassword(options, options.checks?.ssh) : null;
  if (password !== null) robots = await openAll({ ...options.checks, who, password });
  const [{ checklist }] = robots;
  const answers = await answersOf(options, checklist);
  // Invalid photos are reported before the run and not in the middle of it.
  for (const { photos } of answers?.answers.values() ?? []) for (const photo of photos) await readPhoto(photo);
  selectSteps(checklist, wanted);
  if (options.recordPath !== undefined) await checkRecordFree(options.recordPath);

  const isKept = !options.noRecord && !options.dryRun;
  await using journal = isKept ? await openJournal(robots, { ...options, checklist, onWarning }) : undefined;
  const prerequisites = await findPrerequisites(robots, wanted, journal?.state.completed ?? []);
  if (prerequisites.length > 0) options.onPrerequisites?.(prerequisites);
  const [{ site }] = robots;
  const durations =
    options.onStep && site ? await earlierDurations({ site, clock: options.clock }, checklist.name) : undefined;
  const sessions = await runSession({
    ...options,
    durations,
    technician,
    robots,
    wanted,
    ...(answers && { answers }),
    ...(journal && { journal }),
    onRobot: ({ robot: { subject }, index, of }) => {
      if (of > 1 && subject) options.onRobot?.({ ...subject, index });
    },
  });
  const results = sessions.map(({ result }) => result) as [ChecklistResult, ...ChecklistResult[]];
  for (const id of unusedApprovals(answers?.approvals.keys(), results)) {
    onWarning(`The deviation for '${id}' is unused: the step is ok.`);
  }
  const redLines: readonly RedLine[][] = await Promise.all(robots.map(({ site }) => redLinesOf(site)));
  const merged = mergeResults(results);
  const isClean = redLines.every((lines) => lines.length === 0);
  // Report files count red lines as well.
  const result = {
    ...{ ...merged, ok: merged.ok && isClean },
    ...(options.noRecord && { noRecord: true as const }),
    ...(sessions.some(({ simulated }) => simulated) && { simulated: true as const }),
  };
  const record =
    journal === undefined || (result.interrupted && options.recordPath === undefined)
      ? null
      : await writeRecord({
          journal,
          robots,
          sessions,
          redLines,
          checklist,
          technician,
          gwVersion,
          clock,
          onWarning,
          path: options.recordPath,
        });
  const isClosed = ({ verdict, deviation }: ChecklistResult['steps'][number]) => verdict === 'ok' || deviation !== null;
  return {
    ...result,
    robots: results.map(({ subject, ok, counts }, index) => ({
      site: subject?.site ?? null,
      serial: subject?.serial ?? null,
      ok: ok && redLines[index]?.length === 0,
      counts,
      redLines: redLines[index] ?? [],
    })),
    deviations: result.steps.filter(({ verdict, deviation }) => verdict !== 'ok' && deviation !== null).length,
    accepted: result.steps.every(isClosed) && isClean,
    prerequisites,
    leftOut: result.steps.filter((step) => step.leftOut).length,
    resumed: (journal?.state.resumedAt.length ?? 0) > 0 || (options.resume ?? false),
    record,
    written: outDir === undefined ? [] : await writeReports(result, checklist.name, outDir),
  };
}

/**
 * The typed device password; null: none, or each was rejected. A running gateway judges it before the first step, since
 * a mistyped one would be noticed only where it is used. One that no gateway can judge is kept: its step says why.
 */
async function askedPassword(
  { askPassword, sitePaths, signal, onWarning = () => {} }: ChecklistRunOptions,
  ssh: Ssh | undefined,
): Promise<string | null> {
  for (let turn = 1; askPassword && turn <= TRIES; turn += 1) {
    const password = await askPassword(signal);
    if (password === null) return null;
    const rejected = await Promise.all(sitePaths.map((path) => isRejected(path, { ssh, password, signal })));
    if (!rejected.includes(true)) return password;
    const then =
      turn === TRIES ? 'The steps that sign in are questions.' : 'Type it again, or press Enter to answer questions.';
    onWarning(`The gateway rejects this device password. ${then}`);
  }
  return null;
}

async function isRejected(sitePath: string, { ssh, password, signal }: Attempt): Promise<boolean> {
  const [{ openToolkit }, { operatorAccess }] = await Promise.all([
    import('../toolkit.ts'),
    import('../operator/access.ts'),
  ]);
  try {
    const toolkit = await openToolkit(sitePath, ssh);
    await using _session = await operatorAccess(toolkit, { signal, onProgress: () => {} }).signIn(password);
    return false;
  } catch (error) {
    return error instanceof GwError && error.details?.status === 401;
  }
}

/** The checklists in a folder, and the checks that checklists may name. */
export async function listLibrary(dir: string): Promise<ChecklistList> {
  const catalogue = createCatalogue();
  const names = await listChecklists(dir);
  const lists = await Promise.all(names.map((name) => loadChecklist(join(dir, `${name}.yaml`), catalogue)));
  return {
    dir,
    checklists: lists.map(({ name, title, purpose, phase, sections, steps }) => ({
      name,
      title,
      purpose,
      phase,
      sections: sections.length,
      runs: steps.filter((step) => step.kind === 'run').length,
      questions: steps.filter((step) => step.kind === 'confirm').length,
      measurements: steps.filter((step) => step.kind === 'measure').length,
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
  const { name, title, purpose, phase, file, sha256, sections, steps } = await open(nameOrFile, dir, createCatalogue());
  return {
    name,
    title,
    purpose,
    phase,
    file,
    sha256,
    sections: sections.map(({ id, title: text, about, needs }) => ({ id, title: text, about, needs: [...needs] })),
    steps: steps.map((step) => ({
      id: step.id,
      title: step.title,
      proves: step.proves,
      section: step.section,
      precondition: step.precondition,
      kind: step.kind,
      run: checkOf(step)?.run ?? null,
      question: step.kind === 'confirm' || step.kind === 'measure' ? step.question : null,
      instead: step.kind === 'confirm' ? step.instead : null,
      expires: step.kind === 'confirm' && step.expires,
      lacking: step.kind === 'unavailable' ? step.lacking : null,
      unit: step.kind === 'measure' ? step.unit : null,
      needs: [...step.needs],
      facts: [...step.facts],
      moves: step.moves,
      expects:
        (step.kind === 'measure' ? step : checkOf(step))?.expectations.map(({ path, matcher }) => {
          return { path, expected: matcher.expected };
        }) ?? [],
      remedy: step.remedy,
    })),
  };
}

/** The check that gw makes in this step, alone or beside a question. */
function checkOf(step: Step): RunStep | null {
  return step.kind === 'run' ? step : step.kind === 'confirm' ? step.known : null;
}

async function answersOf({ answersPath, readAnswers }: ChecklistRunOptions, checklist: Checklist) {
  if (readAnswers) return parseAnswers(await readAnswers(), 'standard input', checklist);
  return answersPath === undefined ? undefined : await loadAnswers(answersPath, checklist);
}

/** Whether the device password would turn a question of this session into a check. */
function usesPassword(checklist: Checklist, wanted: Wanted): boolean {
  const { chosen } = selectSteps(checklist, wanted);
  return checklist.steps.some((step) => step.kind === 'confirm' && step.instead === 'password' && chosen.has(step.id));
}

async function open(nameOrFile: string, dir: string, catalogue: Catalogue): Promise<Checklist> {
  return loadChecklist(await findChecklist(nameOrFile, dir), catalogue);
}

/** An invalid site file is reported by a step, and the report then names no robot. Throws SITE_FILE_NOT_FOUND. */
async function siteOf(sitePath: string): Promise<Site | null> {
  const { loadSite } = await import('../../site/index.ts');
  try {
    return await loadSite(sitePath);
  } catch (error) {
    if (error instanceof GwError && error.code === 'SITE_FILE_NOT_FOUND') throw error;
    return null;
  }
}

function unusedApprovals(ids: Iterable<string> | undefined, results: readonly ChecklistResult[]): string[] {
  const steps = results.flatMap((result) => result.steps);
  return [...(ids ?? [])].filter((id) => steps.every((step) => step.id !== id || step.verdict === 'ok'));
}

/** Writes `<name>.json`, `<name>.junit.xml` and `<name>.md`, each atomically replaced. */
async function writeReports(result: ChecklistResult, name: string, outDir: string): Promise<string[]> {
  const dir = resolve(outDir);
  const files = [
    [join(dir, `${name}.json`), toJson(result)],
    [join(dir, `${name}.junit.xml`), toJUnit(result)],
    [join(dir, `${name}.md`), toMarkdown(result)],
  ] as const;
  for (const [path, text] of files) await replaceFile(path, text);
  return files.map(([path]) => path);
}

/** Completed steps of each robot in the journal, by step id. */
type Earlier = readonly ReadonlyMap<string, { readonly result: { readonly verdict: string } }>[];

/**
 * Prerequisites of this session's steps that the site files lack, found before the first step. Reads files only. An
 * unreadable site file is reported by its own step.
 */
async function findPrerequisites(
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
  const taken = checklist.steps.flatMap((step) => {
    const isTaken = chosen.has(step.id) && earlier.get(step.id)?.result.verdict !== 'ok';
    return isTaken ? (checkOf(step) ?? []) : [];
  });
  const byKey = new Map<string, Missing & { steps: string[] }>();
  for (const step of taken) {
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
