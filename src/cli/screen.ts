import { stripVTControlCharacters } from 'node:util';
import { shorten } from '../lib/text/index.ts';

/** The output of a screen: a terminal, or a list in a test. */
export interface ScreenOutput {
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
}

const ESC = '\u001b[';
const HIDE_CURSOR = `${ESC}?25l`;
const SHOW_CURSOR = `${ESC}?25h`;
/** Synchronized output: supporting terminals show the lines between the two at once. */
const BEGIN = `${ESC}?2026h`;
const END = `${ESC}?2026l`;

/**
 * Redraws a few lines in place without flicker: each line is overwritten and cleared behind its end, all in one write.
 * The last lines stay at the end.
 */
export function createScreen(output: ScreenOutput) {
  let shownLines = 0;
  return {
    show(text: string): void {
      const columns = Math.max(20, output.columns ?? 80);
      // One row stays free, since a full screen would scroll with every redraw.
      const lines = text.split('\n').slice(0, Math.max(1, (output.rows ?? 24) - 1));
      const up = shownLines > 0 ? `${ESC}${shownLines}A\r` : HIDE_CURSOR;
      const body = lines.map((line) => `${clip(line, columns)}${ESC}K\n`).join('');
      output.write(`${BEGIN}${up}${body}${ESC}J${END}`);
      shownLines = lines.length;
    },
    end(): void {
      if (shownLines > 0) output.write(SHOW_CURSOR);
      shownLines = 0;
    },
  };
}

/** Truncates a line that would wrap; also removes its colours, so that no escape sequence is cut. */
function clip(line: string, columns: number): string {
  const plain = stripVTControlCharacters(line);
  const shown = shorten(plain, columns - 1);
  return shown === plain ? line : shown;
}
