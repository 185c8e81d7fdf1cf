import chalk, { chalkStderr } from 'chalk';
import { formatTried, type GwError } from '../lib/error/index.ts';

/** An error with what was tried and what to do next. For stderr. */
export function renderError(error: GwError): string {
  const lines = [`${chalkStderr.red.bold('gw:')} ${wrap(error.message, 4)}`];
  if (error.tried) lines.push(`  ${chalkStderr.dim('tried')}    ${formatTried(error.tried)}`);
  lines.push(`  ${chalkStderr.dim('do next')}  ${wrap(error.remedy, 11)}`);
  return lines.join('\n');
}

/** Wraps long lines at spaces for the terminal on stderr, with an indent. */
function wrap(text: string, indent: number): string {
  // A terminal without a known width reports 0 columns.
  const width = (process.stderr.columns || Number.POSITIVE_INFINITY) - indent;
  const lines = text.split('\n').flatMap((paragraph) => {
    const broken: string[] = [];
    for (const word of paragraph.split(' ')) {
      const last = broken.at(-1);
      if (last !== undefined && last.length + 1 + word.length <= width) broken[broken.length - 1] = `${last} ${word}`;
      else broken.push(word);
    }
    return broken;
  });
  return lines.join(`\n${' '.repeat(indent)}`);
}

export function renderWarning(text: string): string {
  return `${chalkStderr.yellow('warning:')} ${text}`;
}

/** Result of a line; 'not-checked' and 'not-applicable' are values of their own and never green. */
export type Verdict = 'ok' | 'wrong' | 'not-checked' | 'not-applicable';

/** The verdict before a line, also readable without colour. */
export function renderVerdict(verdict: Verdict): string {
  switch (verdict) {
    case 'ok':
      return chalk.green('ok  ');
    case 'wrong':
      return chalk.red.bold('FAIL');
    case 'not-checked':
      return chalk.yellow('--  ');
    case 'not-applicable':
      return chalk.dim('n/a ');
  }
}

/** A checked part: what it is, its verdict, and what can be done about it. */
interface Found {
  readonly verdict: Verdict;
  readonly title: string;
  readonly detail: string;
  readonly remedy: string | null;
}

/** A part of a text: a line, several, or nothing. */
type Part = string | null | false | readonly Part[];

/** The lines of a text, one below the other. */
export function page(...parts: readonly Part[]): string {
  return parts.flatMap(linesOf).join('\n');
}

function linesOf(part: Part): readonly string[] {
  if (typeof part === 'string') return [part];
  return part ? part.flatMap(linesOf) : [];
}

/** `2 wrong, 1 skipped`: what there is none of is left out. */
export function countsText(counts: readonly (readonly [count: number, words: string])[]): string {
  return counts.flatMap(([count, words]) => (count > 0 ? [`${count} ${words}`] : [])).join(', ');
}

/** Where one result has several things to do next. */
export function doNextLine(remedy: string | null): Part {
  return remedy !== null && `  do next  ${printable(remedy)}`;
}

/** A finding on a line of its own, its remedy below. `lead`: text before the remedy. */
export function findingLines({ verdict, title, detail, remedy }: Found, lead = ''): string[] {
  const first = `${renderVerdict(verdict)} ${printable(title)}: ${printable(detail)}`;
  return remedy === null ? [first] : [first, remedyLine(remedy, lead)];
}

/** Indented as the text beside a verdict. */
export function remedyLine(remedy: string, lead = ''): string {
  return `     ${lead}${printable(remedy)}`;
}

/** The lead of a remedy where others stand beside it. */
export const DO_NEXT = 'do next: ';

/** By its title. */
export type Column = string | { readonly right: string };

/** A column aligned to the right, as numbers read better. */
export function right(title: string): Column {
  return { right: title };
}

/** A plain table for a terminal: columns as wide as their widest cell, two spaces between, no frame. */
export function renderTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const titles = columns.map((column) => (typeof column === 'string' ? column : column.right));
  const widths = titles.map((title, i) => Math.max(...[title, ...rows.map((row) => row[i] ?? '')].map(visibleWidth)));
  const line = (cells: readonly string[]) =>
    columns
      .map((column, i) => pad(cells[i] ?? '', widths[i] ?? 0, typeof column === 'string' ? 'left' : 'right'))
      .join('  ')
      .trimEnd();
  return [chalk.dim(line(titles)), ...rows.map(line)].join('\n');
}

/** Makes external text safe for a terminal: no control characters, escape sequences or bidirectional controls. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '\uFFFD');
}

/** In the largest unit with a value of at least two: `90 s`, `4 min`. */
export function spanText(ms: number): string {
  const [unit, unitMs] = spans.find(([, each]) => ms >= 2 * each) ?? (['s', 1_000] as const);
  return `${Math.floor(ms / unitMs)} ${unit}`;
}

const spans = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** `0.3 s`, `4 min`. */
export function ageText(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h`;
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  const gap = ' '.repeat(Math.max(0, width - visibleWidth(text)));
  return align === 'right' ? gap + text : text + gap;
}

function visibleWidth(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are escape sequences
  return [...text.replace(/\u001b\[[0-9;]*m/g, '')].length;
}
