import { nearest } from '../../document/index.ts';
import { isRecord } from '../../json/index.ts';
import { excerptText, plainText } from './excerpt.ts';
import { lookUp, PATH_SYNTAX, type PathPart, type PathResult, parsePath, pathWords } from './path.ts';

const MAX_CHARACTERS = 200;
const MAX_REPETITIONS = 3;
/** Each choice can double the cost; a repetition makes it grow with the text length. */
const MAX_CHOICES = 8;
const CHOICES_PER_REPETITION = 2;

/** Longer texts are not matched against a pattern. */
const MAX_MATCHED_CHARACTERS = 128;

/** Outcome of a comparison; a value that was not checked is neither ok nor wrong. */
export type MatchVerdict = 'ok' | 'wrong' | 'not-checked';

export interface Match {
  readonly verdict: MatchVerdict;
  /** What was found, for a person. */
  readonly found: string;
  /** Findings that are not ok, by their own words. Absent where the value has none. */
  readonly findings?: { readonly remedy: string | null };
}

export interface Matcher {
  /** What is expected, for a person: `at least 5`, `one of 'a', 'b'`. */
  readonly expected: string;
  match(result: PathResult): Match;
}

/** A mistake in a written matcher, at a path within it. */
export interface MatcherProblem {
  readonly path: readonly PropertyKey[];
  readonly expected: string;
  readonly suggestion?: string | undefined;
  readonly at?: 'key' | 'value';
}

type ReportProblem = (problem: MatcherProblem) => void;
type Scalar = string | number | boolean | null;

/** Matchers written as a bare word, `findings: all-ok`; text equal to one is compared with `equals:`. */
const words: Readonly<Record<string, Matcher>> = {
  'all-ok': allOk([]),
  'not-empty': notEmpty(),
  exists: exists(true),
};

const makers: Readonly<Record<string, (raw: unknown, report: ReportProblem) => Matcher | undefined>> = {
  equals: (raw, report) => (isScalar(raw) ? equals(raw) : wrong(report, 'one plain value')),
  'one-of': (raw, report) =>
    Array.isArray(raw) && raw.length > 0 && raw.every(isScalar) ? oneOf(raw) : wrong(report, 'a list of plain values'),
  matches: (raw, report) => {
    if (typeof raw !== 'string') return wrong(report, 'a regular expression, in quotes');
    const pattern = compilePattern(raw);
    return pattern instanceof RegExp ? matches(pattern) : wrong(report, pattern.expected);
  },
  'at-least': (raw, report) => (isNumber(raw) ? bounds(raw, Number.POSITIVE_INFINITY) : wrong(report, 'a number')),
  'at-most': (raw, report) => (isNumber(raw) ? bounds(Number.NEGATIVE_INFINITY, raw) : wrong(report, 'a number')),
  between: (raw, report) => {
    const [low, high] = Array.isArray(raw) && raw.length === 2 ? raw : [];
    const isValid = isNumber(low) && isNumber(high) && low <= high;
    return isValid ? bounds(low, high) : wrong(report, 'two numbers, the smaller one first: [0, 10]');
  },
  contains: (raw, report) => (isScalar(raw) ? contains(raw) : wrong(report, 'one plain value')),
  exists: (raw, report) => (typeof raw === 'boolean' ? exists(raw) : wrong(report, 'true or false')),
  'not-empty': (raw, report) => (raw === true ? notEmpty() : wrong(report, 'true')),
  every: (raw, report) => every(raw, report),
  'all-ok': (raw, report) => {
    const fields = isFields(raw) ? Object.entries(raw) : [];
    return fields.length > 0
      ? allOk(fields)
      : wrong(report, 'fields that select findings, with plain values: { section: inward }');
  },
};

export const matcherNames: readonly string[] = Object.keys(makers);

/** Compiles the matcher of one path in `expect`; undefined after a reported problem. */
export function compileMatcher(raw: unknown, report: ReportProblem): Matcher | undefined {
  if (isScalar(raw)) return (typeof raw === 'string' && Object.hasOwn(words, raw) && words[raw]) || equals(raw);
  if (!isRecord(raw)) {
    return wrong(report, `a plain value, ${Object.keys(words).join(', ')}, or one of ${matcherNames.join(', ')}`);
  }
  const parts: (Matcher | undefined)[] = [];
  for (const [name, inner] of Object.entries(raw)) {
    const make = Object.hasOwn(makers, name) ? makers[name] : undefined;
    if (make) {
      parts.push(make(inner, (problem) => report({ ...problem, path: [name, ...problem.path] })));
    } else {
      const expected = `one of the matchers ${matcherNames.join(', ')}`;
      report({ path: [name], expected, suggestion: nearest(name, matcherNames), at: 'key' });
      parts.push(undefined);
    }
  }
  if (Object.keys(raw).length === 0) return wrong(report, `one of the matchers ${matcherNames.join(', ')}`);
  const valid = parts.filter((part) => part !== undefined);
  return valid.length === parts.length ? allOf(valid) : undefined;
}

/**
 * Compiles a pattern of a checklist, or returns what is expected instead. Only patterns whose cost stays bounded on
 * texts of {@link MAX_MATCHED_CHARACTERS} are accepted: no repeated group that holds a repetition or a choice, few
 * repetitions, few choices, no backreference.
 */
function compilePattern(text: string): RegExp | { readonly expected: string } {
  if (text.length > MAX_CHARACTERS) return { expected: `a pattern of at most ${MAX_CHARACTERS} characters` };
  const problem = costProblem(text);
  if (problem !== undefined) return { expected: problem };
  try {
    return new RegExp(text, 'u');
  } catch {
    return { expected: 'a valid regular expression' };
  }
}

function costProblem(text: string): string | undefined {
  /** Per open group: whether it holds a repetition or a choice. */
  const groups: boolean[] = [];
  let repetitions = 0;
  let choices = 0;
  let closed: boolean | undefined;
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i] ?? '';
    const before = closed;
    closed = undefined;
    if (character === '\\') {
      i += 1;
      if (/[1-9k]/.test(text[i] ?? '')) return 'a pattern without backreferences';
    } else if (character === '[') {
      i = endOfClass(text, i);
    } else if (character === '(') {
      groups.push(false);
      // The question mark of (?: and similar groups is not a repetition.
      if (text[i + 1] === '?') i += 1;
    } else if (character === ')') {
      closed = groups.pop() ?? false;
    } else if (character === '|') {
      choices += 1;
      mark(groups);
    } else if ('*+?{'.includes(character)) {
      if (before === true) return 'a pattern in which no repeated group holds a repetition or a choice';
      if (character === '?') choices += 1;
      else repetitions += 1;
      if (repetitions > MAX_REPETITIONS) return `a pattern with at most ${MAX_REPETITIONS} repetitions`;
      mark(groups);
      if (character === '{') while (i + 1 < text.length && text[i] !== '}') i += 1;
      if (text[i + 1] === '?') i += 1;
    }
    if (choices + repetitions * CHOICES_PER_REPETITION > MAX_CHOICES) {
      return `a pattern with at most ${MAX_CHOICES} choices (| and ?; a repetition counts as ${CHOICES_PER_REPETITION})`;
    }
  }
  return undefined;
}

function mark(groups: boolean[]): void {
  groups.fill(true);
}

function endOfClass(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i += 1) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === ']') return i;
  }
  return text.length;
}

/** The matcher for the value at one path. */
export interface Expectation {
  readonly path: string;
  readonly parts: readonly PathPart[];
  readonly matcher: Matcher;
}

/** Compiles a whole `expect`: path to matcher. Valid expectations are returned even beside problems. */
export function compileExpectations(raw: unknown, report: ReportProblem): readonly Expectation[] {
  if (!isRecord(raw)) return [];
  return Object.entries(raw).flatMap(([path, rawMatcher]) => {
    const parts = parsePath(path);
    if (!parts) report({ path: [path], expected: PATH_SYNTAX, at: 'key' });
    const matcher = compileMatcher(rawMatcher, (problem) => report({ ...problem, path: [path, ...problem.path] }));
    return parts && matcher ? [{ path, parts, matcher }] : [];
  });
}

function wrong(report: ReportProblem, expected: string): undefined {
  report({ path: [], expected });
}

/** The worse of two: wrong before not-checked before ok. */
export function worse(a: MatchVerdict, b: MatchVerdict): MatchVerdict {
  const rank = { ok: 0, 'not-checked': 1, wrong: 2 };
  return rank[b] > rank[a] ? b : a;
}

/** A value of a result that was not checked, or whose answer is open: no answer in any form. */
function isOpen(value: unknown): boolean {
  return value === 'not-checked' || value === 'not-decided';
}

/** A matcher for a present value; a missing one never matches, and an open one matches only where it is expected. */
function onValue(expected: string, test: (value: unknown) => boolean | Match): Matcher {
  return {
    expected,
    match(result) {
      if (!result.exists) return { verdict: 'wrong', found: `nothing at ${result.missing}` };
      const outcome = test(result.value);
      if (typeof outcome === 'object') return outcome;
      const verdict = outcome ? 'ok' : isOpen(result.value) ? 'not-checked' : 'wrong';
      return { verdict, found: excerptText(result.value) };
    },
  };
}

function equals(wanted: Scalar): Matcher {
  return onValue(excerptText(wanted), (value) => value === wanted);
}

function oneOf(wanted: readonly Scalar[]): Matcher {
  return onValue(`one of ${wanted.map(excerptText).join(', ')}`, (value) => wanted.some((one) => one === value));
}

function matches(pattern: RegExp): Matcher {
  return onValue(`text matching ${pattern.source}`, (value) => {
    if (typeof value !== 'string' || isOpen(value)) return false;
    return value.length <= MAX_MATCHED_CHARACTERS && pattern.test(value);
  });
}

function bounds(low: number, high: number): Matcher {
  const expected =
    low === Number.NEGATIVE_INFINITY
      ? `at most ${high}`
      : high === Number.POSITIVE_INFINITY
        ? `at least ${low}`
        : `between ${low} and ${high}`;
  return onValue(expected, (value) => isNumber(value) && value >= low && value <= high);
}

function contains(wanted: Scalar): Matcher {
  return onValue(`a value containing ${excerptText(wanted)}`, (value) => {
    if (isOpen(value)) return false;
    if (typeof value === 'string') return typeof wanted === 'string' && value.includes(wanted);
    return Array.isArray(value) && value.some((item) => item === wanted);
  });
}

function exists(wanted: boolean): Matcher {
  return {
    expected: wanted ? 'a value' : 'no value',
    match(result) {
      const hasValue = result.exists && result.value !== null;
      const verdict = hasValue === wanted ? 'ok' : 'wrong';
      return {
        verdict: result.exists && isOpen(result.value) ? 'not-checked' : verdict,
        found: result.exists ? excerptText(result.value) : `nothing at ${result.missing}`,
      };
    },
  };
}

function notEmpty(): Matcher {
  return onValue('a value that is not empty', (value) => {
    if (isOpen(value)) return false;
    if (typeof value === 'string' || Array.isArray(value)) return value.length > 0;
    return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  });
}

const NAMED = 5;

/** A list of findings in which those with these fields, at least one, have the verdict 'ok'. */
function allOk(fields: readonly (readonly [key: string, value: Scalar])[]): Matcher {
  const which = fields.map(([key, wanted]) => `${key} ${excerptText(wanted)}`).join(', ');
  const isMeant = (finding: unknown) => fields.every(([key, wanted]) => fieldOf(finding, key) === wanted);
  return onValue(`every finding${which && ` with ${which}`} ok`, (value) => {
    if (!Array.isArray(value) || value.length === 0) return false;
    const meant = value.filter(isMeant);
    if (meant.length === 0) return { verdict: 'wrong', found: 'no such finding' };
    const notOk = meant.filter((finding) => fieldOf(finding, 'verdict') !== 'ok');
    if (notOk.length === 0) return { verdict: 'ok', found: `${meant.length} of ${meant.length} ok` };
    // What does not concern this machine shows nothing, neither fine nor wrong.
    const shows = (verdict: unknown) => !isOpen(verdict) && verdict !== 'not-applicable';
    const bad = notOk.filter((finding) => shows(fieldOf(finding, 'verdict')));
    const named = (bad.length > 0 ? bad : notOk).slice(0, NAMED).map(findingText);
    const more = (bad.length > 0 ? bad : notOk).length - named.length;
    const kind = bad.length > 0 ? 'wrong' : 'not checked';
    const list = [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
    const count = bad.length > 0 ? bad.length : notOk.length;
    return {
      verdict: bad.length > 0 ? 'wrong' : 'not-checked',
      found: `${count} of ${meant.length} ${kind}: ${list}`,
      findings: { remedy: firstRemedy(bad.length > 0 ? bad : notOk) },
    };
  });
}

function firstRemedy(findings: readonly unknown[]): string | null {
  const remedies = findings.map((finding) => fieldOf(finding, 'remedy'));
  return (remedies.find((remedy) => typeof remedy === 'string' && remedy !== '') as string | undefined) ?? null;
}

function fieldOf(finding: unknown, key: string): unknown {
  const result = lookUp(finding, [{ kind: 'key', key }]);
  return result.exists ? result.value : undefined;
}

function findingText(finding: unknown): string {
  const field = (key: string) => {
    const value = fieldOf(finding, key);
    return typeof value === 'string' ? value : undefined;
  };
  const name = field('title') ?? field('id') ?? 'untitled finding';
  const detail = field('detail');
  return excerptText(detail === undefined ? name : `${name} (${detail})`).replace(/^'|'$/g, '');
}

/** Display name of a list item that is not a finding: a service, a route. */
function itemName(item: unknown, index: number): string {
  const names = ['title', 'name', 'path', 'id'].map((key) => fieldOf(item, key));
  const name = names.find((one) => typeof one === 'string');
  return name === undefined ? `number ${index + 1}: ` : `${plainText(name)}: `;
}

/** A non-empty list, each item of which meets the given expectations. */
function every(raw: unknown, report: ReportProblem): Matcher | undefined {
  if (!isRecord(raw) || Object.keys(raw).length === 0) {
    return wrong(report, 'what each item must meet: { rateHz: { at-least: 1 } }');
  }
  const expectations = compileExpectations(raw, report);
  if (expectations.length < Object.keys(raw).length) return undefined;
  const expected = expectations.map(({ parts, matcher }) => `${pathWords(parts)} ${matcher.expected}`).join(', ');
  return onValue(`every item with ${expected}`, (value) => {
    if (!Array.isArray(value) || value.length === 0) return false;
    let verdict: MatchVerdict = 'ok';
    const failures: string[] = [];
    for (const [index, item] of value.entries()) {
      for (const { parts, matcher } of expectations) {
        const match = matcher.match(lookUp(item, parts));
        verdict = worse(verdict, match.verdict);
        if (match.verdict !== 'ok') failures.push(`${itemName(item, index)}${pathWords(parts)} ${match.found}`);
      }
    }
    const found = failures.length === 0 ? `${value.length} of ${value.length}` : failures.slice(0, NAMED).join('; ');
    return { verdict, found };
  });
}

function allOf(parts: readonly Matcher[]): Matcher {
  const [first] = parts;
  if (parts.length === 1 && first) return first;
  return {
    expected: parts.map((part) => part.expected).join(' and '),
    match(result) {
      const results = parts.map((part) => part.match(result));
      const verdict = results.reduce<MatchVerdict>((sum, result) => worse(sum, result.verdict), 'ok');
      const found = results.find((result) => result.verdict === verdict)?.found ?? '';
      return { verdict, found };
    },
  };
}

function isFields(raw: unknown): raw is Readonly<Record<string, Scalar>> {
  return isRecord(raw) && Object.values(raw).every(isScalar);
}

function isScalar(raw: unknown): raw is Scalar {
  return raw === null || typeof raw === 'string' || typeof raw === 'number' || typeof raw === 'boolean';
}

function isNumber(raw: unknown): raw is number {
  return typeof raw === 'number' && Number.isFinite(raw);
}
