import chalk from 'chalk';
import { pluralWord } from '../../lib/text/index.ts';
import type { OverlaysDifference } from '../../lib/toolkit/map/change/overlays-difference.result.ts';
import { printable } from '../output.ts';

/** How two collections of overlays differ, in a few words: `2 changed (1 moved), 1 added; 14 features`. */
export function differenceText({ same, sameText, counts, problem }: OverlaysDifference): string {
  if (problem !== null) return `cannot be compared: ${printable(problem)}`;
  if (same) return sameText ? 'the same, character for character' : 'the same content, written differently';
  if (counts === null) return 'not the same';
  const { changed, moved, reshaped, turned, recoded, otherwise, added, removed, reordered, members, from, to } = counts;
  const kinds = clausesOf([
    [moved - reshaped, 'moved'],
    [reshaped, 'with another form'],
    [turned, 'turned'],
    [recoded, 'with another code'],
    [otherwise, 'with other properties'],
  ]);
  const parts = clausesOf([
    [changed, kinds === '' ? 'changed' : `changed (${kinds})`],
    [added, 'added'],
    [removed, 'removed'],
    [reordered, 'in another order'],
    [members, `${pluralWord(members, 'member')} of the collection changed`],
  ]);
  return `${parts}; ${from === to ? from : `${from} → ${to}`} features`;
}

function clausesOf(parts: readonly (readonly [number: number, words: string])[]): string {
  return parts
    .filter(([number]) => number > 0)
    .map(([number, words]) => `${number} ${words}`)
    .join(', ');
}

/** The same with the first differences below it, for the details of a result. */
export function differenceLines(title: string, difference: OverlaysDifference | null, indent: string): string[] {
  if (difference === null) return [];
  return [
    `${indent}${title}: ${differenceText(difference)}`,
    ...difference.first.map((sentence) => chalk.dim(`${indent}  ${printable(sentence)}`)),
  ];
}
