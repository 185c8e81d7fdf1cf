import chalk, { chalkStderr } from 'chalk';
import { formatTried, type GwError } from '../lib/error/index.ts';
import { visibleWidth, widthOf, wrapWords } from './wrap.ts';

/** An error with what was tried and what to do next. For stderr. */
export function renderError(error: GwError): string {
  const lines = [`${chalkStderr.red.bold('gw:')} ${wrap(error.message, 4)}`];
  if (error.tried) lines.push(`  ${chalkStderr.dim('tried')}    ${formatTried(error.tried)}`);
  lines.push(`  ${chalkStderr.dim('do next')}  ${wrap(error.remedy, 11)}`);
  return lines.join('\n');
}

/** Wraps long lines at spaces for the terminal on stderr, with an indent. */
function wrap(text: string, indent: number): string {
  const width = widthOf(process.stderr) - indent;
  const lines = text.split('\n').flatMap((paragraph) => wrapWords(paragraph, width));
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

/** A line with a verdict. */
interface Judged {
  readonly verdict: Verdict | 'not-decided';
  /** An optional one does not decide. */
  readonly need?: string;
}

/** What is wrong, then what is open, then the rest; of each the ones that decide first. The order inside stays. */
export function worstFirst<T extends Judged>(lines: readonly T[]): readonly T[] {
  return lines.toSorted((a, b) => rankOf(a) - rankOf(b));
}

function rankOf({ verdict, need }: Judged): number {
  const isOptional = need === 'optional';
  if (verdict === 'wrong') return isOptional ? 2 : 0;
  if (verdict === 'not-checked' || verdict === 'not-decided') return isOptional ? 3 : 1;
  return MIN_FINE_RANK;
}

const MIN_FINE_RANK = 4;

/** Lines in groups: of every group what is open or wrong, and after all of that the rest of every group. */
export function groupsWorstFirst<T extends Judged>(
  groups: readonly { readonly title: string; readonly lines: readonly T[] }[],
  render: (line: T) => readonly string[],
): string[] {
  const blocks = (isFine: boolean) =>
    groups.flatMap(({ title, lines }) => {
      const own = worstFirst(lines.filter((line) => rankOf(line) >= MIN_FINE_RANK === isFine));
      const name = isFine && own.length < lines.length ? `${title} (the rest)` : title;
      return own.length === 0 ? [] : [[chalk.bold(name), ...own.flatMap((line) => render(line))].join('\n')];
    });
  return [...blocks(false), ...blocks(true)];
}

/** All findings, each with its remedy below it, the worst first. */
export function findingsLines(findings: readonly Found[], lead = ''): string[] {
  return worstFirst(findings).flatMap((finding) => findingLines(finding, lead));
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

/**
 * A plain table for a terminal: columns as wide as their widest cell, two spaces between, no frame. Where that is too wide,
 * cells break at their spaces; where the words alone are too wide, each row is a block of its own.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width = widthOf(process.stdout),
): string {
  const titles = columns.map((column) => (typeof column === 'string' ? column : column.right));
  const widths = columnWidths(titles, rows, width) ?? pairWidths(titles, rows, width);
  if (widths === null) return rows.map((row) => renderBlock(titles, row)).join('\n');
  const line = (cells: readonly string[]) =>
    columns
      .map((column, i) => pad(cells[i] ?? '', widths[i] ?? 0, typeof column === 'string' ? 'left' : 'right'))
      .join('  ')
      .trimEnd();
  const linesOf = (cells: readonly string[]) => {
    const broken = columns.map((_, i) => wrapWords(cells[i] ?? '', widths[i] ?? 0));
    const height = Math.max(...broken.map(({ length }) => length));
    return Array.from({ length: height }, (_, at) => line(broken.map((lines) => lines[at] ?? '')));
  };
  return [...linesOf(titles).map((one) => chalk.dim(one)), ...rows.flatMap(linesOf)].join('\n');
}

/** Widths with which the table fits, the widest columns narrowed first; null: their words alone are too wide. */
function columnWidths(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly number[] | null {
  const cellsOf = (i: number) => [titles[i] ?? '', ...rows.map((row) => row[i] ?? '')];
  const natural = titles.map((_, i) => Math.max(...cellsOf(i).map(visibleWidth)));
  const free = width - 2 * (titles.length - 1);
  const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);
  if (sum(natural) <= free) return natural;
  const least = titles.map((_, i) => Math.max(...cellsOf(i).flatMap((cell) => cell.split(' ').map(visibleWidth))));
  if (sum(least) > free) return null;
  const capped = (cap: number) => natural.map((one, i) => Math.max(least[i] ?? 0, Math.min(one, cap)));
  let cap = Math.max(...natural);
  while (sum(capped(cap)) > free) cap -= 1;
  return capped(cap);
}

/** A name and its value stay side by side: a word of the value that is too wide, such as a checksum, stands out alone. */
function pairWidths(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly number[] | null {
  if (titles.length !== 2) return null;
  const first = Math.max(...[titles, ...rows].map(([cell = '']) => visibleWidth(cell)));
  return first > width / 2 ? null : [first, width - first - 2];
}

/** So short a first cell, such as a verdict, is no name of its row. */
const MAX_VERDICT_CHARS = 4;

/** A row by its titles: the first cell, and the others below it. One without a first cell continues the row before. */
function renderBlock(titles: readonly string[], row: readonly string[]): string {
  const isContinued = (row[0] ?? '') === '' && titles[0] !== '';
  const isVerdict = titles[0] === '' && titles.length > 2 && visibleWidth(row[0] ?? '') <= MAX_VERDICT_CHARS;
  const named = isVerdict ? 2 : 1;
  const labelWidth = Math.max(...titles.slice(named).map(visibleWidth), 0);
  const others = titles.slice(named).flatMap((title, i) => {
    const cell = row[i + named] ?? '';
    return cell === '' ? [] : [`  ${chalk.dim(pad(isContinued ? '' : title, labelWidth, 'left'))}  ${cell}`];
  });
  if (isContinued) return others.join('\n');
  if (isVerdict) return [`${row[0] ?? ''} ${row[1] ?? ''}`, ...others].join('\n');
  // A number alone says nothing without the title of its column.
  const first = /^\d*$/.test(row[0] ?? '') ? `${chalk.dim(titles[0] ?? '')} ${row[0] ?? ''}` : (row[0] ?? '');
  return [first, ...others].join('\n');
}

/**
 * Makes external text safe for a terminal: no control characters, escape sequences or bidirectional controls, but the two that
 * isolate a title from right to left, where they stand as a pair.
 */
export function printable(text: string): string {
  return text.replace(
    /\u2068([^\p{Cc}\p{Bidi_Control}\u2028\u2029]*)\u2069|[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (found, inner?: string) => (inner === undefined ? '\uFFFD' : found),
  );
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
