import stringWidth from 'fast-string-width';

/** A stream that may be a terminal. */
interface Output {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

const MIN_WIDTH = 40;

/**
 * How wide lines may be: COLUMNS, else the width of the terminal. Infinity elsewhere, since a line in a file or a pipe is
 * cut and searched whole.
 */
export function widthOf(output: Output, env: Readonly<Record<string, string | undefined>> = process.env): number {
  const set = Number(env.COLUMNS);
  if (Number.isInteger(set) && set > 0) return Math.max(MIN_WIDTH, set);
  // A terminal without a known width reports 0 columns.
  return output.isTTY === true && output.columns ? Math.max(MIN_WIDTH, output.columns) : Number.POSITIVE_INFINITY;
}

/** Columns that a text takes on a terminal: none for colour codes and joining marks, two for a wide character. */
export function visibleWidth(text: string): number {
  return /^[\x20-\x7e]*$/.test(text) ? text.length : stringWidth(text);
}

/**
 * Breaks a text at its spaces into lines of at most `width` columns. A word that is longer stays whole on a line of its
 * own, so that paths and addresses can be copied.
 */
export function wrapWords(text: string, width: number): string[] {
  if (visibleWidth(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of wordsOf(text, width)) {
    if (line !== '' && visibleWidth(line) + 1 + visibleWidth(word) > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

const QUOTED_COMMAND = /`gw [^`]+`/g;

/** A quoted command stays whole where the line is wide enough: it is read, and copied, as one. */
function wordsOf(text: string, width: number): readonly string[] {
  const kept = text.replace(QUOTED_COMMAND, (quoted) =>
    quoted.length <= width / 2 ? quoted.replaceAll(' ', '\0') : quoted,
  );
  return kept.split(/(?<=\S) +(?=\S)/).map((word) => word.replaceAll('\0', ' '));
}

/**
 * Breaks the lines of a text that are too wide for the terminal, at spaces; what follows stands under the words of its
 * line: behind a verdict, a label or the sign of a list.
 */
export function reflow(text: string, width: number): string {
  if (width === Number.POSITIVE_INFINITY) return text;
  return text
    .split('\n')
    .flatMap((line) => reflowLine(line, width))
    .join('\n');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes are escape sequences
const CODE = /\u001b\[[0-9;]*m/g;

/** A line to copy into a shell, which a break would make two commands. */
const COMMAND_LINE = /(?:^ *(?:\$ )?|\| )gw [a-z].* -/;

function reflowLine(line: string, width: number): string[] {
  if (visibleWidth(line) <= width || COMMAND_LINE.test(line)) return [line];
  const plain = line.replace(CODE, '');
  const [begin = ''] = BEGIN.exec(plain) ?? [];
  const [labels = ''] = LABELS.exec(plain) ?? [];
  if (labels.length > begin.length && labels.length <= width / 2) return hung(line, labels.length, width);
  // A wide column before the words, such as the title of a step: the words begin below it.
  const [, column = '', gap = ''] = /^(.*?\S)( {2,})(?=\S)/.exec(plain.slice(begin.length)) ?? [];
  if (column === '') return hung(line, begin.length > 0 ? begin.length : 2, width);
  const end = begin.length + column.length;
  const head = line.slice(0, indexOfColumn(line, end));
  const rest = line.slice(indexOfColumn(line, end + gap.length));
  const indent = ' '.repeat(begin.length + 2);
  return [
    ...(visibleWidth(head) <= width ? [head] : hung(head, begin.length, width)),
    ...wrapWords(rest, width - indent.length).map((more) => indent + more),
  ];
}

/** Breaks a line whose continuation stands below this column. */
function hung(line: string, column: number, width: number): string[] {
  const at = indexOfColumn(line, column);
  const [first = '', ...rest] = wrapWords(line.slice(at), width - column);
  const indent = ' '.repeat(column);
  return [line.slice(0, at) + first, ...rest.map((more) => indent + more)];
}

/** The indent of a line with its verdict, or the sign of a list. */
const BEGIN = /^\s*(?:(?:ok {4}|FAIL {2}|-- {4}|n\/a {3}|ok {3}|FAIL |-- {3}|n\/a {2})(?=\S)|[-•] |\d+\. )?/;
/** Short labels before the words, each with a gap behind it. */
const LABELS = /^(?:\s*\S+(?: \S+){0,4} {2,})+(?=\S)/;

/** Index of the character in this column, behind the colour codes before it. */
function indexOfColumn(line: string, column: number): number {
  let left = column;
  let at = 0;
  for (const { index, 0: code } of line.matchAll(CODE)) {
    if (index - at >= left) break;
    left -= index - at;
    at = index + code.length;
  }
  return at + left;
}
