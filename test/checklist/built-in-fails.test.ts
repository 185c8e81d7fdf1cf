import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  type Checklist,
  type ChecklistResult,
  type Given,
  givens,
  listChecklists,
  type PathPart,
  parseAnswers,
  parseChecklist,
  parsePath,
  runSteps,
} from '../../src/lib/checklist/index.ts';
import { pathWords } from '../../src/lib/checklist/match/path.ts';
import { createCatalogue } from '../../src/lib/toolkit/catalogue/catalogue.ts';
import { builtIn, still } from './kit.ts';

/**
 * Every expectation of every built-in step must be able to fail, on its own and by name; every question and every
 * measured value too. The results are derived from the expectations here: the tests of the checks cover the detection
 * of faults.
 */

type Raw = Readonly<Record<string, unknown>>;
interface RawStep {
  readonly id: string;
  readonly run?: string;
  readonly reads?: string;
  readonly confirm?: string;
  readonly measure?: string;
  readonly given?: Given;
  readonly unavailable?: string;
  readonly expect?: Raw;
  readonly remark?: string;
  readonly values?: Readonly<Record<string, string | { readonly path: string }>>;
  /** What gw looks at beside the question. */
  readonly known?: { readonly run?: string; readonly reads?: string; readonly expect: Raw };
}

/** A value that satisfies the matcher. */
function meeting(written: unknown): unknown {
  if (written === 'all-ok') return [{ verdict: 'ok' }];
  if (written === 'not-empty' || written === 'exists') return 'x';
  if (typeof written !== 'object' || written === null) return written;
  const matcher = written as Raw;
  if ('every' in matcher) {
    const item = {};
    for (const [path, inner] of Object.entries(matcher.every as Raw)) put(item, path, meeting(inner));
    return [item];
  }
  if ('all-ok' in matcher) return [{ ...(matcher['all-ok'] as Raw), verdict: 'ok' }];
  if ('one-of' in matcher) return (matcher['one-of'] as unknown[])[0];
  if ('between' in matcher) return (matcher.between as number[])[0];
  return Object.values(matcher)[0];
}

function partsOf(path: string): readonly PathPart[] {
  const parts = parsePath(path);
  if (!parts) throw new Error(`${path} is no path`);
  return parts;
}

/** Sets a value at a path, creating missing parents. */
function put(into: object, path: string, value: unknown): void {
  const parts = partsOf(path);
  let here = into as Record<string, unknown>;
  for (const [n, part] of parts.entries()) {
    const next = parts[n + 1];
    const empty = next === undefined ? value : next.kind === 'key' ? {} : [];
    if (part.kind === 'key') {
      const there = here[part.key];
      // Two steps may read different items of one list.
      if (next === undefined && Array.isArray(there) && Array.isArray(value)) there.push(...value);
      else if (next === undefined || there === undefined) here[part.key] = empty;
      here = here[part.key] as typeof here;
    } else {
      const list = here as unknown as Raw[];
      const found = part.kind === 'item' ? list.find((item) => item[part.field] === part.value) : list[part.index];
      const item = found ?? (part.kind === 'item' ? { [part.field]: part.value } : {});
      if (!found) list.push(item);
      here = item as typeof here;
    }
  }
}

/** The check of a step, and the one beside its question. */
function looksOf({ reads, expect: expected, known }: RawStep): readonly Pick<RawStep, 'reads' | 'expect'>[] {
  return [{ ...(reads !== undefined && { reads }), ...(expected && { expect: expected }) }, ...(known ? [known] : [])];
}

/** A result for every check that satisfies all expectations except `broken`. */
function resultsOf(steps: readonly RawStep[], broken?: { readonly id: string; readonly path: string }) {
  const results = new Map<string, object>();
  for (const step of steps) {
    for (const { reads, expect: expected } of looksOf(step)) {
      const source = reads ?? step.id;
      const result = results.get(source) ?? {};
      results.set(source, result);
      for (const [path, written] of Object.entries(expected ?? {})) {
        put(result, path, structuredClone(meeting(written)));
      }
    }
    for (const [name, written] of Object.entries(step.values ?? {})) {
      if (!steps.some(({ confirm }) => confirm?.includes(`{${step.id}.${name}}`))) continue;
      const path = typeof written === 'string' ? written : written.path;
      put(results.get(step.reads ?? step.id) ?? {}, path, { value: 'x', mark: 'BELEGT', source: 'test', unit: null });
    }
  }
  const step = steps.find(({ id }) => id === broken?.id);
  if (broken && step) {
    const look = looksOf(step).find(({ expect: expected }) => Object.hasOwn(expected ?? {}, broken.path));
    const value = look?.expect?.[broken.path] === null ? 'something' : null;
    put(results.get(look?.reads ?? step.id) ?? {}, broken.path, value);
  }
  return results;
}

let results: ReadonlyMap<string, object>;
let now = '';

/** The list; its checks keep name and options, and have the results of the test. */
function compiled(text: string, given: readonly Given[]): Checklist {
  const checks = Object.entries(createCatalogue()).map(([name, { summary, moves, with: options }]) => {
    return [name, { summary, moves, with: options, given, run: async () => results.get(now) ?? {} }] as const;
  });
  return parseChecklist(text, 'list.yaml', Object.fromEntries(checks));
}

async function run(checklist: Checklist, found: typeof results, answers: string): Promise<ChecklistResult> {
  results = found;
  return runSteps(checklist, {
    ...still(),
    motionAllowed: true,
    answers: parseAnswers(answers, 'answers.yaml', checklist),
    onStep: ({ step }) => {
      now = step.id;
    },
  });
}

function rawSteps(list: {
  steps?: RawStep[];
  sections?: { preconditions?: RawStep[]; steps: RawStep[] }[];
}): RawStep[] {
  return [
    ...(list.steps ?? []),
    ...(list.sections ?? []).flatMap(({ preconditions = [], steps }) => [...preconditions, ...steps]),
  ];
}

const none = '{}\n';

describe.each(await listChecklists(builtIn))('the built-in checklist %s', async (name) => {
  const text = await readFile(`${builtIn}/${name}.yaml`, 'utf8');
  const steps = rawSteps(parse(text));
  const list = compiled(text, givens);
  const good = (step: RawStep) => {
    const yes = step.remark === undefined ? 'yes' : '{ answer: yes, remark: nothing }';
    const value = step.measure === undefined ? yes : String(meeting(step.expect?.value));
    const isQuestion = (step.confirm !== undefined && step.given === undefined) || step.measure !== undefined;
    return isQuestion ? [`${step.id}: ${value}\n`] : [];
  };
  const answers = steps.flatMap(good).join('') || none;
  const lacking = steps.flatMap(({ id, unavailable }) => (unavailable === undefined ? [] : [id]));

  test('is ok when every result matches', async () => {
    const result = await run(list, resultsOf(steps), answers);
    const open = result.steps.filter(({ verdict, id }) => verdict !== 'ok' && !lacking.includes(id));
    expect(open.map(({ id, why }) => `${id}: ${why}`)).toEqual([]);
    expect(result.ok).toBe(lacking.length === 0);
  });

  test('asks where it lacks the means to check, and unsupported checks are never ok', async () => {
    const bare = compiled(text, []);
    const instead = steps.filter((step) => step.given !== undefined).map(({ id }) => id);
    const answeredWith = async (answer: string) => {
      const more = instead.map((id) => `${id}: ${answer}\n`).join('');
      const result = await run(bare, resultsOf(steps), `${answers === none ? '' : answers}${more}` || none);
      return result.steps.filter(({ id }) => instead.includes(id)).map(({ verdict }) => verdict);
    };
    expect(await answeredWith('yes')).toEqual(instead.map(() => 'ok'));
    for (const verdict of await answeredWith('no')) expect(['wrong', 'skipped']).toContain(verdict);
    const result = await run(list, resultsOf(steps), answers);
    for (const id of lacking) {
      expect(result.steps.find((step) => step.id === id)).toMatchObject({
        verdict: 'not-checked',
        kind: 'unavailable',
      });
    }
  });

  test('has no expectation that cannot fail on its own, named by its path', async () => {
    for (const step of steps.filter(({ run: check, reads, known }) => check ?? reads ?? known)) {
      const looks = step.given === undefined ? looksOf(step) : [step];
      for (const path of looks.flatMap(({ expect: expected }) => Object.keys(expected ?? {}))) {
        const result = await run(list, resultsOf(steps, { id: step.id, path }), answers);
        const completed = result.steps.find(({ id }) => id === step.id);
        expect(completed?.verdict, `${step.id}, ${path}`).not.toBe('ok');
        if (completed?.verdict !== 'skipped')
          expect(completed?.why, step.id).toContain(`${pathWords(parsePath(path) ?? [])}: expected`);
        expect(result.ok).toBe(false);
      }
    }
  });

  test("has no question whose 'no', and no measured value whose bound, is ignored", async () => {
    for (const step of steps.filter((one) => good(one).length > 0)) {
      const bad = step.confirm === undefined ? `${step.id}: 1000000` : `${step.id}: no`;
      const others = steps.filter(({ id }) => id !== step.id).flatMap(good);
      const result = await run(list, resultsOf(steps), `${others.join('')}${bad}\n`);
      const completed = result.steps.find(({ id }) => id === step.id);
      expect(completed, step.id).toMatchObject({ verdict: 'wrong', remedy: expect.stringMatching(/\w/) });
      expect(result.ok).toBe(false);
    }
  });
});
