import chalk from 'chalk';
import { pluralWord, shorten } from '../../../lib/text/index.ts';
import type { OverlaysInspect } from '../../../lib/toolkit/overlays/inspect.result.ts';
import { printable } from '../../output.ts';

/** Rows of one table; further ones are counted only, so that a terminal can scroll back. */
export const MAX_ROWS = 40;
/** Indent of lines below a mark. */
export const INDENT = ' '.repeat(10);

export type Reading = OverlaysInspect['codes'][number]['readings'][number];

/** Beside a vendor's reading an open one is 'not shown' by the specification. */
export function meaningText(meaning: string | null, all: readonly Reading[]): string {
  if (meaning !== null) return `'${printable(meaning)}'`;
  return all.some((other) => other.meaning !== null) ? 'not shown' : 'unknown';
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

/** Invalid values may have hundreds of digits. */
export function figure(value: number, digits: number): string {
  return Math.abs(value) < 1e9 ? value.toFixed(digits) : value.toExponential(3);
}

/** Foreign text on one line, at most `max` characters. */
export function cut(text: string, max: number): string {
  return printable(shorten(text, max));
}
