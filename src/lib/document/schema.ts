import { z } from 'zod';
import { plural, quoted } from '../text/index.ts';
import { type Problem, pathText } from './problem.ts';
import type { Path, Tree } from './tree.ts';

/**
 * Validates the value at `at` of a parsed tree; every issue becomes one problem (or one per unknown key) with its
 * position.
 */
export function schemaProblems(schema: z.ZodType, value: unknown, at: Path, tree: Tree, file: string): Problem[] {
  const checked = schema.safeParse(value, { reportInput: true });
  const context = { schema, at, tree, file };
  return checked.success ? [] : checked.error.issues.flatMap((issue) => problemsOf(issue, [], context));
}

interface Context {
  readonly schema: z.ZodType;
  readonly at: Path;
  readonly tree: Tree;
  readonly file: string;
}

type Issue = z.core.$ZodIssue;

function problemsOf(issue: Issue, base: Path, context: Context): Problem[] {
  const { schema, tree, file } = context;
  const within = [...base, ...issue.path];
  const path = [...context.at, ...within];
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, within);
    return issue.keys.map((key) => {
      const decimal = decimalIn(key, tree, path);
      if (decimal !== null) {
        const found = `a decimal comma, which ends the value: ${decimal.replace('.', ',')}`;
        return { ...place(tree, file, [...path, key], 'key'), found, expected: pointOf(decimal), suggestion: null };
      }
      const expected = known.length === 0 ? 'no such key here' : `one of ${known.join(', ')}`;
      const suggestion = nearest(key, known) ?? null;
      return {
        ...place(tree, file, [...path, key], 'key'),
        found: `the unknown key ${quoted(key)}`,
        expected,
        suggestion,
      };
    });
  }
  if (issue.code === 'invalid_union') {
    const branch = bestBranch(issue.errors);
    if (branch.some((inner) => inner.path.length > 0 || inner.code === 'unrecognized_keys')) {
      return branch.flatMap((inner) => problemsOf(inner, within, context));
    }
    const expected = [...new Set(issue.errors.flat().map((inner) => expectationOf(inner, [])))].join(', or ');
    return [{ ...place(tree, file, path, 'value'), found: foundAt(tree, path), expected, suggestion: null }];
  }
  if (issue.code === 'invalid_key') {
    const [inner] = issue.issues;
    const found = quoted(String(path.at(-1) ?? ''));
    const expected = inner === undefined ? 'another key' : `a key of ${expectationOf(inner, [])}`;
    return [{ ...place(tree, file, path, 'key'), found, expected, suggestion: null }];
  }
  const suggestion =
    issue.code === 'invalid_value' ? (nearest(textAt(tree, path), issue.values.map(String)) ?? null) : null;
  const expected = expectationOf(issue, schemasAt(schema, within));
  return [{ ...place(tree, file, path, 'value'), found: foundAt(tree, path), expected, suggestion }];
}

/** Position of a problem: the key or value, or the nearest parent present in the file. */
export function place(tree: Tree, file: string, path: Path, at: 'key' | 'value') {
  for (let length = path.length; length >= 0; length -= 1) {
    const entry = tree.entry(path.slice(0, length));
    if (!entry) continue;
    const exact = length === path.length;
    const { line, column } = (exact && at === 'value' ? entry.value : entry.key) ?? entry.value;
    return { file, line, column, path: pathText(path) };
  }
  return { file, line: null, column: null, path: pathText(path) };
}

export function foundAt(tree: Tree, path: Path): string {
  return tree.entry(path)?.shown ?? 'nothing';
}

function textAt(tree: Tree, path: Path): string {
  return foundAt(tree, path).replace(/^'|'$/g, '');
}

/** The branch of a union that fits best. */
function bestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (issues: readonly Issue[]) => Math.max(0, ...issues.map((issue) => issue.path.length));
  return branches.toSorted((a, b) => depth(b) - depth(a) || a.length - b.length)[0] ?? [];
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'keys and values',
  record: 'keys and values',
  array: 'a list',
  null: 'null',
};

function expectationOf(issue: Issue, schemas: readonly z.ZodType[]): string {
  const described = schemas.map((schema) => schema.description).find((text) => text !== undefined);
  switch (issue.code) {
    case 'invalid_type': {
      const words = typeWords[issue.expected] ?? issue.expected;
      const text = typeof issue.input === 'string' ? issue.input : '';
      const decimal = /^[-+]?\d+,\d+$/.test(text) ? text.replace(',', '.') : null;
      if (decimal !== null && words.endsWith('number')) return describe(pointOf(decimal), described);
      const scalar = issue.expected === 'string' && ['number', 'boolean'].includes(typeof issue.input);
      return scalar ? 'text: put it in quotes' : describe(words, described);
    }
    case 'invalid_format': {
      const own = issue.message.startsWith('Invalid') ? undefined : issue.message;
      return own ?? (described === undefined ? `a valid ${issue.format}` : sentence(described));
    }
    case 'too_small':
      return `${issue.inclusive === false ? 'more than' : 'at least'} ${amount(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `${issue.inclusive === false ? 'less than' : 'at most'} ${amount(issue.maximum, issue.origin)}`;
    case 'not_multiple_of':
      return `a multiple of ${issue.divisor}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `'${String(issue.values[0])}'`
        : `one of ${issue.values.map(String).join(', ')}`;
    default:
      return issue.message;
  }
}

function pointOf(decimal: string): string {
  return `a number with a decimal point: ${decimal}`;
}

/** `{ xM: 1,5 }` is the value 1 and a key 5: the number that was meant, with its point. */
function decimalIn(key: string, tree: Tree, path: Path): string | null {
  if (!/^\d+$/.test(key)) return null;
  const at = tree.entry([...path, key])?.key ?? null;
  const [, whole] = (at && /(?<![\w.])([-+]?\d+),$/.exec(tree.textBefore(at))) ?? [];
  return whole === undefined ? null : `${whole}.${key}`;
}

function describe(words: string, described: string | undefined): string {
  return described === undefined ? words : `${words}: ${sentence(described)}`;
}

/** A schema description as the end of a sentence. */
function sentence(text: string): string {
  const first = text.split(/\.\s/)[0]?.replace(/\.$/, '') ?? text;
  return /^[A-Z][a-z]/.test(first) ? first.charAt(0).toLowerCase() + first.slice(1) : first;
}

function amount(value: number | bigint, origin: string): string {
  if (origin === 'string') return plural(Number(value), 'character');
  if (origin === 'array') return plural(Number(value), 'item');
  if (origin === 'object' || origin === 'record') return plural(Number(value), 'key');
  return String(value);
}

function keysAt(schema: z.ZodType, path: Path): string[] {
  return [
    ...new Set(
      schemasAt(schema, path).flatMap((found) => (found instanceof z.ZodObject ? Object.keys(found.shape) : [])),
    ),
  ];
}

/** Every schema that may apply at a path: a union has several. */
function schemasAt(schema: z.ZodType, path: Path): z.ZodType[] {
  let schemas = alternatives(schema);
  for (const part of path) schemas = schemas.flatMap((current) => alternativesOf(child(current, part)));
  return schemas;
}

function child(schema: z.ZodType, part: PropertyKey): unknown {
  if (schema instanceof z.ZodObject) return schema.shape[String(part)];
  if (schema instanceof z.ZodRecord) return schema.valueType;
  if (schema instanceof z.ZodArray) return schema.element;
  return undefined;
}

function alternativesOf(schema: unknown): z.ZodType[] {
  return schema instanceof z.ZodType ? alternatives(schema) : [];
}

/** The schema and the ones it wraps; any layer may hold the description. */
function alternatives(schema: z.ZodType): z.ZodType[] {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodReadonly
  ) {
    return [schema, ...alternativesOf(schema.unwrap())];
  }
  if (schema instanceof z.ZodPipe) return [schema, ...alternativesOf(schema.in)];
  if (schema instanceof z.ZodUnion) return [schema, ...schema.options.flatMap(alternativesOf)];
  return [schema];
}

/** The closest candidate, or undefined when none is close. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const asked = word.slice(0, 80).toLowerCase();
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(asked, candidate.slice(0, 80).toLowerCase());
    if (distance <= allowance(asked, candidate) && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) {
      best = { candidate, distance };
    }
  }
  return best?.candidate;
}

/** Allows a third of the letters to differ, and two letters from a length of four. */
function allowance(word: string, candidate: string): number {
  const length = Math.max(word.length, candidate.length);
  return length < 4 ? 1 : Math.max(2, Math.floor(length / 3));
}

/** Damerau-Levenshtein distance: insertions, deletions, replacements and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(replaced, at(last, j) + 1, at(row, j - 1) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, at(beforeLast, j - 2) + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
