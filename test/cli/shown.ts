import { stripVTControlCharacters } from 'node:util';
import { expect } from 'vitest';

/** Without colours. */
export const plain = stripVTControlCharacters;
export const linesOf = (text: string) => plain(text).split('\n');
export const firstLine = (text: string) => linesOf(text)[0] ?? '';

/** Text of a device that would control the terminal, or turn its direction. */
export const HOSTILE = 'x\u001b[2J\u0007\u202e';

/** Fails where such a text was passed on. */
export function expectHarmless(...texts: readonly string[]): void {
  for (const text of texts) for (const one of ['\u001b[2J', '\u0007', '\u202e']) expect(text).not.toContain(one);
}
