import { nearest, type Path, pathText, type Report } from '../../document/index.ts';
import { findFact } from '../../evidence/index.ts';
import { isRecord } from '../../json/index.ts';
import type { Catalogue } from '../catalogue.ts';
import { compileExpectations } from '../match/matcher.ts';
import { PATH_SYNTAX, parsePath, partsText } from '../match/path.ts';
import { parseTemplate, pathsOf } from '../match/template.ts';
import { MAX_STEPS } from './schema.ts';

/** Kinds of step; a step has exactly one of these keys. */
const KINDS = ['run', 'reads', 'confirm', 'measure', 'unavailable'] as const;

/** Keys that only some kinds of step allow. */
const KEYS_OF: Readonly<Record<string, readonly (typeof KINDS)[number][]>> = {
  with: ['run'],
  withinS: ['run'],
  retry: ['run'],
  moves: ['run'],
  expect: ['run', 'reads', 'measure'],
  shows: ['run', 'reads'],
  values: ['run', 'reads'],
  given: ['run', 'reads'],
  expires: ['confirm'],
  unit: ['measure'],
  mark: ['measure'],
  tool: ['measure'],
};

type Loose = Readonly<Record<string, unknown>>;

/** A step of the file with its position there. */
interface Place {
  readonly step: Loose;
  readonly at: Path;
}

/** A step or section that others may need. */
interface Node {
  readonly at: Path;
  /** Position of its last step; a step that needs it must come later. */
  readonly last: number;
  /** Names of what it needs itself; a section needs its own steps. */
  readonly needs: readonly unknown[];
  /** This version cannot check it, so a step that needs it would always be skipped. */
  readonly isUnavailable: boolean;
}

/** Reports problems that the schema cannot express. Accepts any shape: it runs beside the schema, so that all problems are
 * listed together. */
export function checkSoundness(value: unknown, catalogue: Catalogue, report: Report): void {
  if (!isRecord(value)) return;
  const [steps, sections] = [value.steps, value.sections];
  if ((steps === undefined) === (sections === undefined)) {
    const found = steps === undefined ? 'neither' : 'both';
    report([], { found: `${found} of steps and sections`, expected: 'either steps, or sections with steps' });
  }
  const places: Place[] = [];
  const nodes = new Map<unknown, Node>();
  const name = (id: unknown, node: Node) => {
    if (typeof id !== 'string') return;
    const first = nodes.get(id);
    if (first === undefined) nodes.set(id, node);
    else report([...node.at, 'id'], { expected: `a unique id (${pathText(first.at)} has this one)` });
  };
  const add = (list: unknown, at: Path, gates: readonly unknown[]): unknown[] =>
    listOf(list).map((item, index) => {
      const step = isRecord(item) ? item : {};
      const place = { step, at: [...at, index] };
      places.push(place);
      const isUnavailable = step.unavailable !== undefined;
      const needs = [...listOf(step.needs), ...gates];
      name(step.id, { at: place.at, last: places.length - 1, needs, isUnavailable });
      return step.id;
    });
  const needsOfSections: {
    readonly id: unknown;
    readonly at: Path;
    readonly before: number;
    readonly needs: unknown;
  }[] = [];

  add(steps, ['steps'], []);
  for (const [index, item] of listOf(sections).entries()) {
    const section = isRecord(item) ? item : {};
    const at = ['sections', index];
    const before = places.length;
    const own = listOf(section.needs);
    const gates = add(section.preconditions, [...at, 'preconditions'], own);
    const held = add(section.steps, [...at, 'steps'], [...own, ...gates]);
    needsOfSections.push({ id: section.id, at, before, needs: section.needs });
    const isUnavailable = places.slice(before).some(({ step }) => step.unavailable !== undefined);
    name(section.id, { at, last: places.length - 1, needs: [...own, ...gates, ...held], isUnavailable });
  }
  if (places.length > MAX_STEPS) {
    report(['sections'], { found: `${places.length} steps`, expected: `at most ${MAX_STEPS} steps in one checklist` });
  }

  for (const { id, at, before, needs } of needsOfSections)
    checkNeeds({ id, needs, at, position: before }, nodes, report);
  for (const [position, { step, at }] of places.entries()) {
    checkNeeds({ id: step.id, needs: step.needs, at, position }, nodes, report);
    checkKind(step, at, { position, places, catalogue, report });
    checkFacts(step, at, report);
  }
}

function checkNeeds(
  { id, needs, at, position }: { id: unknown; needs: unknown; at: Path; position: number },
  nodes: ReadonlyMap<unknown, Node>,
  report: Report,
): void {
  for (const [n, need] of listOf(needs).entries()) {
    const place = [...at, 'needs', n];
    const node = nodes.get(need);
    if (node === undefined) {
      const ids = [...nodes.keys()].filter((other) => typeof other === 'string' && other !== id) as string[];
      report(place, { expected: 'the id of another step', suggestion: nearest(String(need), ids) });
    } else if (node.last >= position) {
      const circle = circleThrough(id, need, nodes);
      const found = circle ? `a cycle: ${circle.join(' needs ')}` : `${String(need)}, which comes later`;
      report(place, { found, expected: 'an earlier step' });
    } else if (node.isUnavailable) {
      report(place, { expected: 'a step that can be ok; this version of gw cannot check that one' });
    }
  }
}

/** The ids of a dependency cycle through both; undefined when there is none. */
function circleThrough(from: unknown, to: unknown, nodes: ReadonlyMap<unknown, Node>): string[] | undefined {
  const cameFrom = new Map<unknown, unknown>([[to, from]]);
  const queue = [to];
  for (let current = queue.shift(); current !== undefined; current = queue.shift()) {
    if (current === from) break;
    for (const next of nodes.get(current)?.needs ?? []) {
      if (!nodes.has(next) || cameFrom.has(next)) continue;
      cameFrom.set(next, current);
      queue.push(next);
    }
  }
  if (!cameFrom.has(from)) return undefined;
  const way = [from];
  for (let at = cameFrom.get(from); at !== undefined && at !== from; at = cameFrom.get(at)) way.unshift(at);
  way.unshift(from);
  return way.map(String);
}

interface Around {
  readonly position: number;
  readonly places: readonly Place[];
  readonly catalogue: Catalogue;
  readonly report: Report;
}

function checkKind(step: Loose, at: Path, around: Around): void {
  const { report } = around;
  const given = step.given !== undefined;
  // With `given`, the question under confirm replaces the check.
  const [kind, second] = KINDS.filter((one) => step[one] !== undefined && !(given && one === 'confirm'));
  if (kind === undefined) {
    report(at, { found: `a step without ${KINDS.join(', ')}`, expected: `one of ${KINDS.join(', ')}` });
    return;
  }
  if (second !== undefined) {
    report([...at, second], { found: `${second} beside ${kind}`, expected: `one of ${KINDS.join(', ')}`, at: 'key' });
    return;
  }
  for (const key of ['known', 'remark']) {
    if (step[key] === undefined || step.confirm !== undefined) continue;
    report([...at, key], { found: `${key} beside ${kind}`, expected: `${key} only with confirm`, at: 'key' });
  }
  if (isRecord(step.known)) checkKnown(step.known, [...at, 'known'], around);
  if (given && step.confirm === undefined) {
    report([...at, 'confirm'], { expected: 'the question to ask when the check cannot run' });
  }
  for (const [key, kinds] of Object.entries(KEYS_OF)) {
    if (step[key] === undefined || kinds.includes(kind)) continue;
    const expected = `${key} only with ${kinds.join(', ')}`;
    report([...at, key], { found: `${key} beside ${kind}`, expected, at: 'key' });
  }
  for (const key of ['confirm', 'measure']) checkQuestion(step, [...at, key], around);
  if (kind === 'run') checkRun(step, at, around);
  if (kind === 'reads') checkReads(step, at, around);
  if (kind === 'measure' && step.unit === undefined) {
    report([...at, 'unit'], { expected: "the unit of the measured value; '1' for a count" });
  }
  if (kind !== 'confirm' && kind !== 'unavailable') checkExpect(step, at, kind, report);
}

/** What gw looks at beside a question: one check or its result, with expectations. */
function checkKnown(known: Loose, at: Path, around: Around): void {
  if ((known.run === undefined) === (known.reads === undefined)) {
    around.report(at, { expected: 'either run or reads' });
  } else if (known.run !== undefined) {
    const entry = typeof known.run === 'string' ? around.catalogue[known.run] : undefined;
    if (entry?.moves) around.report([...at, 'run'], { expected: 'a check that moves nothing' });
    else checkRun(known, at, around);
  } else checkReads(known, at, around);
  checkExpect(known, at, 'run', around.report);
}

/** The values that a question shows are those of steps that must be ok before it is asked. */
function checkQuestion({ needs, ...step }: Loose, at: Path, { places, report }: Around): void {
  const text = step[String(at.at(-1))];
  if (typeof text !== 'string') return;
  const template = parseTemplate(text);
  if (template === undefined) report(at, { expected: 'a question with values in braces: {step.value}' });
  for (const path of template === undefined ? [] : pathsOf(template)) {
    const [id, name, more] = path.map((part) => (part.kind === 'key' ? part.key : undefined));
    const found = `{${partsText(path)}}`;
    const source = places.find((place) => place.step.id === id)?.step;
    const names = source?.measure === undefined ? Object.keys(isRecord(source?.values) ? source.values : {}) : [id];
    if (id === undefined || source === undefined || !listOf(needs).includes(id)) {
      report(at, { found, expected: 'the value of a step that this one needs: {step.value}' });
    } else if (name === undefined || more !== undefined || !names.includes(name)) {
      const some = names.length === 0 ? 'none' : names.join(', ');
      report(at, {
        found,
        expected: `one of the values of '${id}' (${some})`,
        suggestion: nearest(name ?? '', names.map(String)),
      });
    }
  }
}

function checkRun(step: Loose, at: Path, { catalogue, report }: Around): void {
  const names = Object.keys(catalogue);
  const entry = typeof step.run === 'string' && Object.hasOwn(catalogue, step.run) ? catalogue[step.run] : undefined;
  if (!entry) {
    if (typeof step.run !== 'string') return;
    const expected = `one of ${names.map((name) => `'${name}'`).join(', ')}`;
    report([...at, 'run'], { expected, suggestion: nearest(step.run, names) });
    return;
  }
  report.schema([...at, 'with'], entry.with, step.with ?? {});
  if (step.retry !== undefined && entry.repeatable !== true) {
    const repeatable = names.filter((name) => catalogue[name]?.repeatable === true);
    report([...at, 'retry'], { expected: `retry only with run: ${repeatable.join(', ')}`, at: 'key' });
  }
  if (entry.moves && step.moves !== true) {
    report([...at, 'moves'], {
      expected: `true: '${String(step.run)}' moves the robot, and the file must state it`,
    });
  }
}

function checkReads(step: Loose, at: Path, { position, places, report }: Around): void {
  const further = places.slice(0, position);
  if (further.some(({ step: other }) => other.id === step.reads && other.run !== undefined)) return;
  const ids = further.flatMap(({ step: { id, run } }) => (typeof id === 'string' && run !== undefined ? [id] : []));
  const expected = 'the id of an earlier step with run:';
  report([...at, 'reads'], { expected, suggestion: nearest(String(step.reads), ids) });
}

function checkExpect(step: Loose, at: Path, kind: string, report: Report): void {
  if (!isRecord(step.expect) || Object.keys(step.expect).length === 0) {
    const expected =
      kind === 'measure'
        ? 'what the value must be: { value: { between: [0.8, 1.2] } }; without it a measured value proves nothing'
        : 'the expected values of the result: a step without expectations proves nothing';
    report([...at, 'expect'], { expected });
  }
  compileExpectations(step.expect, ({ path, ...problem }) => report([...at, 'expect', ...path], problem));
  if (kind === 'measure' && isRecord(step.expect)) {
    for (const path of Object.keys(step.expect)) {
      if (path !== 'value') report([...at, 'expect', path], { expected: 'value, the measured number', at: 'key' });
    }
  }
  if (typeof step.shows === 'string' && !parseTemplate(step.shows)) {
    report([...at, 'shows'], { expected: `text with paths in braces (${PATH_SYNTAX})` });
  }
  for (const [name, value] of Object.entries(isRecord(step.values) ? step.values : {})) {
    const path = isRecord(value) ? value.path : value;
    if (typeof path !== 'string' || parsePath(path)) continue;
    report([...at, 'values', name, ...(isRecord(value) ? ['path'] : [])], { expected: PATH_SYNTAX });
  }
}

function checkFacts(step: Loose, at: Path, report: Report): void {
  for (const [n, id] of listOf(step.facts).entries()) {
    if (typeof id !== 'string' || findFact(id)) continue;
    report([...at, 'facts', n], { expected: 'the id of a fact of the ledger; see `gw evidence list`' });
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
