import { StringDecoder } from 'node:string_decoder';
import type { Input, Program } from '../process.ts';
import { openOperand, readCount, type ToyOptions, toy } from '../toy.ts';

const LONGEST_PATTERN = 500;
const LONGEST_LINE = 64 * 1024;

/** A character, or any one. */
type Sign = string | undefined;

interface Choice {
  readonly isBegin: boolean;
  readonly isEnd: boolean;
  /** What stands between `.*`. */
  readonly parts: readonly (readonly Sign[])[];
}

/** One choice of a pattern; undefined where it has more than this tablet knows. */
function readChoice(text: string, isExtended: boolean): Choice | undefined {
  const isBegin = text.startsWith('^');
  const isEnd = /(^|[^\\])(\\\\)*\$$/.test(text);
  const inner = text.slice(isBegin ? 1 : 0, isEnd ? -1 : undefined);
  const parts: Sign[][] = [[]];
  for (let at = 0; at < inner.length; at += 1) {
    const char = inner[at] ?? '';
    const last = parts.at(-1);
    if (char === '.' && inner[at + 1] === '*') {
      parts.push([]);
      at += 1;
    } else if (char === '.') last?.push(undefined);
    else if (char === '\\') {
      const next = inner[at + 1] ?? '';
      // An escaped letter, digit or bracket means something of its own.
      if (!(isExtended ? /^[^A-Za-z0-9<>`']$/ : /^[.*^$\\/[\]-]$/).test(next)) return undefined;
      last?.push(next);
      at += 1;
    } else if ('[*'.includes(char) || (isExtended && '(){}+?'.includes(char))) return undefined;
    else last?.push(char);
  }
  return { isBegin, isEnd, parts };
}

/** The choices of a pattern, apart at `|`, which plain patterns write `\|`. */
function choicesOf(pattern: string, isExtended: boolean): string[] {
  const choices = [''];
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at] ?? '';
    const escaped = char === '\\' ? (pattern[at + 1] ?? '') : undefined;
    if (isExtended ? char === '|' : escaped === '|') choices.push('');
    else choices.push(`${choices.pop() ?? ''}${char}${escaped ?? ''}`);
    if (escaped !== undefined) at += 1;
  }
  return choices;
}

const fits = (line: string, part: readonly Sign[], at: number) =>
  at >= 0 &&
  at + part.length <= line.length &&
  part.every((sign, index) => sign === undefined || sign === line[at + index]);

function find(line: string, part: readonly Sign[], from: number): number {
  if (!part.includes(undefined)) return line.indexOf(part.join(''), from);
  for (let at = from; at + part.length <= line.length; at += 1) if (fits(line, part, at)) return at;
  return -1;
}

function matchesChoice(line: string, { isBegin, isEnd, parts }: Choice): boolean {
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const mustBegin = isBegin && index === 0;
    const place = mustBegin ? 0 : isEnd && isLast ? line.length - part.length : find(line, part, at);
    if (place < at || !fits(line, part, place)) return false;
    at = place + part.length;
    if (mustBegin && isEnd && isLast && at !== line.length) return false;
  }
  return true;
}

/**
 * Whether a line has a pattern: plain text with `^`, `$`, `.`, `.*` and `|`. Expressions of a stranger could keep this
 * process busy for ever, so there are no others; undefined where somebody asks for them.
 */
function matcher(patterns: readonly string[], options: ToyOptions): ((line: string) => boolean) | undefined {
  const fold = (text: string) => (options.has('i') ? text.toLowerCase() : text);
  const tests: ((line: string) => boolean)[] = [];
  for (const pattern of patterns.map(fold)) {
    if (pattern.length > LONGEST_PATTERN) return undefined;
    if (options.has('F')) {
      tests.push((line) => (options.has('x') ? line === pattern : line.includes(pattern)));
      continue;
    }
    for (const text of choicesOf(pattern, options.has('E'))) {
      const choice = readChoice(text, options.has('E'));
      if (choice === undefined) return undefined;
      const whole = options.has('x') ? { ...choice, isBegin: true, isEnd: true } : choice;
      tests.push((line) => matchesChoice(line, whole));
    }
  }
  return (line) => tests.some((test) => test(fold(line)));
}

/** The lines of an input one by one; undefined for one that is too long to be looked at. */
async function* linesOf(input: Input): AsyncGenerator<string | undefined> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for (let bytes = await input.read(); bytes !== undefined; bytes = await input.read()) {
    const found = (rest + decoder.write(bytes)).split('\n');
    rest = found.pop() ?? '';
    for (const line of found) yield line.length > LONGEST_LINE ? undefined : line;
    if (rest.length > LONGEST_LINE) yield undefined;
  }
  rest += decoder.end();
  if (rest !== '') yield rest;
}

const FOUND = 0;
const NOT_FOUND = 1;
const PROBLEM = 2;

const grep = toy('grep', {
  usage: '[-EFchilnqsvxH] [-m NUMBER] [-e PATTERN] [PATTERN] [FILE…]',
  flags: 'EFchilnqsvxH',
  valued: 'me',
  async run(process) {
    const { options, out, fail } = process;
    const given = options.get('e');
    const [first, ...others] = process.operands;
    const pattern = given ?? first;
    if (pattern === undefined) return fail('Needs 1 argument (see "grep --help")', PROBLEM);
    const paths = given === undefined ? others : process.operands;
    const matches = matcher(pattern.split('\n'), options);
    if (!matches) return fail(`bad regex '${pattern}': this simulated tablet knows ^ $ . .* and | only`, PROBLEM);
    const most = readCount(options.get('m') ?? String(Number.MAX_SAFE_INTEGER).slice(0, 15));
    if (most === undefined) return fail(`not integer: ${options.get('m')}`, PROBLEM);
    const isNamed = options.has('H') || (paths.length > 1 && !options.has('h'));
    let isAnywhere = false;
    let code = FOUND;
    for (const path of paths.length === 0 ? ['-'] : paths) {
      const input = openOperand(process, path);
      if ('problem' in input) {
        code = PROBLEM;
        if (!options.has('s')) await fail(`${path}: ${input.problem}`);
        continue;
      }
      const shownPath = path === '-' ? '(standard input)' : path;
      const name = isNamed ? `${shownPath}:` : '';
      let found = 0;
      let number = 0;
      if (most > 0) {
        for await (const line of linesOf(input)) {
          number += 1;
          if (line === undefined) {
            code = await fail(`${path}:${number}: a line too long for this simulated tablet`, PROBLEM);
            break;
          }
          if (matches(line) === options.has('v')) continue;
          found += 1;
          isAnywhere = true;
          if (options.has('q')) return FOUND;
          if (options.has('l')) break;
          const isShown = !options.has('c');
          if (isShown && !(await out(`${name}${options.has('n') ? `${number}:` : ''}${line}\n`))) return FOUND;
          if (found >= most) break;
        }
      }
      if (options.has('l')) {
        if (found > 0) await out(`${shownPath}\n`);
      } else if (options.has('c') && !options.has('q')) await out(`${name}${found}\n`);
    }
    return code === PROBLEM ? PROBLEM : isAnywhere ? FOUND : NOT_FOUND;
  },
});

export const grepPrograms: Readonly<Record<string, Program>> = { grep };
