import { stripVTControlCharacters } from 'node:util';
import { shorten } from '../lib/text/index.ts';

/** What a screen writes to: a terminal, or a list in a test. */
export interface ScreenOutput {
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
}

const ESC = '\u001b[';
const HIDE_CURSOR = `${ESC}?25l`;
const SHOW_CURSOR = `${ESC}?25h`;
/** Terminals that know it show the lines between the two at once; the others ignore it. */
const BEGIN = `${ESC}?2026h`;
const END = `${ESC}?2026l`;

/**
 * Redraws a few lines in place: each line is overwritten and cleared behind its end, never the whole picture before
 * it, and all of it is one write, so nothing flickers. The last picture stays when it ends.
 */
export function createScreen(output: ScreenOutput) {
  let drawn = 0;
  return {
    draw(text: string): void {
      const columns = Math.max(20, output.columns ?? 80);
      // One row stays free: a picture as high as the terminal would scroll at every drawing.
      const lines = text.split('\n').slice(0, Math.max(1, (output.rows ?? 24) - 1));
      const up = drawn > 0 ? `${ESC}${drawn}A\r` : HIDE_CURSOR;
      const body = lines.map((line) => `${clip(line, columns)}${ESC}K\n`).join('');
      output.write(`${BEGIN}${up}${body}${ESC}J${END}`);
      drawn = lines.length;
    },
    end(): void {
      if (drawn > 0) output.write(SHOW_CURSOR);
      drawn = 0;
    },
  };
}

/** A line that would wrap loses its end, and its colours with it, so that no escape sequence is cut in two. */
function clip(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line);
  const shown = shorten(plain, columns - 1);
  return shown === plain ? line : shown;
}
