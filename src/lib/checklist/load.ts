import { nearest, parseDocument, type Report, readDocument } from '../document/index.ts';
import type { Catalogue, CatalogueEntry } from './catalogue.ts';
import { compileExpectations, type Expectation } from './matcher.ts';
import { PATH_SYNTAX } from './path.ts';
import { CHECKLIST_MAX_BYTES, type ChecklistFile, checklistSchema, DEFAULT_WITHIN_S, type StepFile } from './schema.ts';
import { parseTemplate, type Template } from './template.ts';

interface StepBase {
  readonly id: string;
  readonly title: string;
  readonly proves: string;
  readonly needs: readonly string[];
  readonly moves: boolean;
  readonly remedy: string;
}

/** gw checks it itself. */
export interface RunStep extends StepBase {
  readonly kind: 'run';
  readonly run: string;
  /** The step whose result this one looks at, instead of running the check again. */
  readonly reads: string | null;
  readonly entry: CatalogueEntry;
  readonly options: unknown;
  readonly expectations: readonly Expectation[];
  readonly shows: Template | null;
  readonly withinMs: number;
}

/** The technician looks and answers. */
export interface ConfirmStep extends StepBase {
  readonly kind: 'confirm';
  readonly question: string;
}

export type Step = RunStep | ConfirmStep;

/** A checklist that was read and found sound: every check it names exists, every matcher is compiled. */
export interface Checklist {
  /** The file as it was named. */
  readonly file: string;
  readonly name: string;
  readonly title: string;
  readonly purpose: string;
  readonly steps: readonly Step[];
}

/** Reads a checklist from text. Throws CHECKLIST_INVALID with every problem. */
export function parseChecklist(text: string | Uint8Array, file: string, catalogue: Catalogue): Checklist {
  return compile(parseDocument({ ...rules(catalogue), text, file }), file, catalogue);
}

/** Reads a checklist from a file of at most 256 KiB. Throws CHECKLIST_UNKNOWN, CHECKLIST_INVALID with every problem. */
export async function loadChecklist(path: string, catalogue: Catalogue): Promise<Checklist> {
  return compile(await readDocument({ ...rules(catalogue), path, notFound: 'CHECKLIST_UNKNOWN' }), path, catalogue);
}

function rules(catalogue: Catalogue) {
  return {
    schema: checklistSchema,
    maxBytes: CHECKLIST_MAX_BYTES,
    error: 'CHECKLIST_INVALID',
    check: (value: unknown, report: Report) => checkSteps(value, catalogue, report),
  } as const;
}

/** What the schema cannot see. Expects any shape: it runs beside the schema, so that all problems come at once. */
function checkSteps(value: unknown, catalogue: Catalogue, report: Report): void {
  const steps =
    isObject(value) && Array.isArray(value.steps) ? value.steps.map((step) => (isObject(step) ? step : {})) : [];
  const positions = new Map<unknown, number>();
  for (const [index, step] of steps.entries()) {
    if (typeof step.id !== 'string') continue;
    const first = positions.get(step.id);
    if (first === undefined) positions.set(step.id, index);
    else report(['steps', index, 'id'], { expected: `an id of its own (steps[${first}] has this one)` });
  }
  for (const [index, step] of steps.entries()) {
    const at = ['steps', index];
    checkNeeds(step, index, steps, positions, report);
    const kinds = KINDS.filter((kind) => step[kind] !== undefined);
    const [kind, second] = kinds;
    if (kind === undefined) {
      report(at, { found: `a step without ${KINDS.join(', ')}`, expected: `one of ${KINDS.join(', ')}` });
    } else if (second !== undefined) {
      report([...at, second], { found: `${second} beside ${kind}`, expected: `one of ${KINDS.join(', ')}`, at: 'key' });
    } else if (kind === 'confirm') refuseKeys(step, at, kind, ['with', 'expect', 'shows', 'withinS', 'moves'], report);
    else {
      if (kind === 'run') checkRun(step, at, catalogue, report);
      else checkReads(step, index, steps, positions, report);
      checkExpect(step, at, report);
    }
  }
}

function checkNeeds(
  step: Loose,
  index: number,
  steps: readonly Loose[],
  positions: ReadonlyMap<unknown, number>,
  report: Report,
): void {
  const needs = Array.isArray(step.needs) ? step.needs : [];
  for (const [n, need] of needs.entries()) {
    const at = ['steps', index, 'needs', n];
    const position = positions.get(need);
    if (position === undefined) {
      const ids = [...positions.keys()].filter((id) => typeof id === 'string' && id !== step.id) as string[];
      report(at, { expected: 'the id of another step', suggestion: nearest(String(need), ids) });
    } else if (position >= index) {
      const cycle = cycleThrough(index, position, steps, positions);
      const found = cycle ? `a circle: ${cycle.join(' needs ')}` : `${String(need)}, which stands further down`;
      report(at, { found, expected: 'a step further up' });
    }
  }
}

/** The ids of a circle that goes from a step to one it needs and back; undefined when there is none. */
function cycleThrough(
  from: number,
  to: number,
  steps: readonly Loose[],
  positions: ReadonlyMap<unknown, number>,
): string[] | undefined {
  const cameFrom = new Map<number, number>([[to, from]]);
  const queue = [to];
  for (let current = queue.shift(); current !== undefined; current = queue.shift()) {
    if (current === from) break;
    const needs = steps[current]?.needs;
    for (const need of Array.isArray(needs) ? needs : []) {
      const next = positions.get(need);
      if (next === undefined || cameFrom.has(next)) continue;
      cameFrom.set(next, current);
      queue.push(next);
    }
  }
  if (!cameFrom.has(from)) return undefined;
  const way = [from];
  for (let at = cameFrom.get(from); at !== undefined && at !== from; at = cameFrom.get(at)) way.unshift(at);
  way.unshift(from);
  return way.map((position) => String(steps[position]?.id));
}

function checkRun(step: Loose, at: Path, catalogue: Catalogue, report: Report): void {
  const names = Object.keys(catalogue);
  const entry = typeof step.run === 'string' && Object.hasOwn(catalogue, step.run) ? catalogue[step.run] : undefined;
  if (!entry) {
    if (typeof step.run === 'string') {
      const expected = `one of ${names.map((name) => `'${name}'`).join(', ')}`;
      report([...at, 'run'], { expected, suggestion: nearest(step.run, names) });
    }
  } else {
    report.schema([...at, 'with'], entry.with, step.with ?? {});
    if (entry.moves && step.moves !== true) {
      report([...at, 'moves'], {
        expected: `true: '${String(step.run)}' moves the robot, and who reads this file must see it`,
      });
    }
  }
}

function checkReads(
  step: Loose,
  index: number,
  steps: readonly Loose[],
  positions: ReadonlyMap<unknown, number>,
  report: Report,
): void {
  const at = ['steps', index];
  const position = positions.get(step.reads);
  const sound = position !== undefined && position < index && steps[position]?.run !== undefined;
  if (!sound) {
    const ids = steps
      .slice(0, index)
      .flatMap(({ id, run }) => (typeof id === 'string' && run !== undefined ? [id] : []));
    const expected = 'the id of a step further up that has run:';
    report([...at, 'reads'], { expected, suggestion: nearest(String(step.reads), ids) });
  }
  refuseKeys(step, at, 'reads', ['with', 'withinS', 'moves'], report);
}

function checkExpect(step: Loose, at: Path, report: Report): void {
  if (!isObject(step.expect) || Object.keys(step.expect).length === 0) {
    report([...at, 'expect'], {
      expected: 'what must stand in the result: a step that expects nothing proves nothing',
    });
  }
  compileExpectations(step.expect, ({ path, ...problem }) => report([...at, 'expect', ...path], problem));
  if (typeof step.shows === 'string' && !parseTemplate(step.shows)) {
    report([...at, 'shows'], { expected: `text with paths in braces (${PATH_SYNTAX})` });
  }
}

function refuseKeys(step: Loose, at: Path, beside: string, keys: readonly string[], report: Report): void {
  for (const key of keys) {
    if (step[key] === undefined) continue;
    report([...at, key], { found: `${key} beside ${beside}`, expected: `${key} only beside run`, at: 'key' });
  }
}

function compile(file: ChecklistFile, path: string, catalogue: Catalogue): Checklist {
  const { name, title, purpose } = file;
  return {
    file: path,
    name,
    title,
    purpose,
    steps: file.steps.map((step) => compileStep(step, file.steps, catalogue)),
  };
}

function compileStep(step: StepFile, steps: readonly StepFile[], catalogue: Catalogue): Step {
  const { id, title, proves, remedy, needs = [] } = step;
  const run = step.run ?? steps.find((other) => other.id === step.reads)?.run;
  const entry = run === undefined ? undefined : catalogue[run];
  if (run === undefined || !entry) {
    return { kind: 'confirm', id, title, proves, needs, remedy, moves: false, question: step.confirm ?? '' };
  }
  return {
    kind: 'run',
    id,
    title,
    proves,
    needs,
    remedy,
    run,
    reads: step.reads ?? null,
    entry,
    // Reading what another step found moves nothing.
    moves: step.reads === undefined && (entry.moves || step.moves === true),
    options: step.reads === undefined ? entry.with.parse(step.with ?? {}) : null,
    expectations: compileExpectations(step.expect, () => {}),
    shows: step.shows === undefined ? null : (parseTemplate(step.shows) ?? null),
    withinMs: (step.withinS ?? DEFAULT_WITHIN_S) * 1000,
  };
}

/** What a step does; exactly one of them. */
const KINDS = ['run', 'reads', 'confirm'] as const;

type Path = readonly PropertyKey[];
type Loose = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
