import chalk from 'chalk';
import { pluralWord, shorten } from '../../../lib/text/index.ts';
import type { OverlaysInspect } from '../../../lib/toolkit/overlays/inspect.result.ts';
import { printable } from '../../output.ts';

/** Rows of one table before the rest is only counted: what a person reads, and a terminal still scrolls back to. */
export const MOST_ROWS = 40;
/** What stands under a mark is indented by as much as the mark takes. */
export const INDENT = ' '.repeat(10);

export type Reading = OverlaysInspect['codes'][number]['readings'][number];

/** Beside the word of a vendor an open reading says that the specification gives none. */
export function meaningText(meaning: string | null, all: readonly Reading[]): string {
  if (meaning !== null) return `'${printable(meaning)}'`;
  return all.some((other) => other.meaning !== null) ? 'not shown' : 'nobody knows';
}

export function title(text: string): string {
  return chalk.bold(text);
}

export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${pluralWord(count, noun)}`;
}

export function moreText(count: number, ways: string): string {
  return chalk.dim(`and ${count.toLocaleString('en')} more: ${ways}`);
}

/** Figures of a map are small; a broken one may have hundreds of digits. */
export function figure(value: number, digits: number): string {
  return Math.abs(value) < 1e9 ? value.toFixed(digits) : value.toExponential(3);
}

/** Text from outside on one line of its own length. */
export function cut(text: string, most: number): string {
  return printable(shorten(text, most));
}
