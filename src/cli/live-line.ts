import { forStderr } from './colour.ts';
import { canRedraw } from './progress.ts';
import { visibleWidth, widthOf } from './wrap.ts';

/** A line below all others on stderr that is redrawn in place. */
export interface LiveLine {
  /** false where lines cannot be redrawn, such as in a file: nothing is shown there. */
  readonly isLive: boolean;
  /** `tail` stays whole where the line is too long for the terminal. */
  show(text: string, tail?: string): void;
  /** Before anything else is written. */
  clear(): void;
}

type Terminal = Parameters<typeof canRedraw>[0] & { write(text: string): unknown };

const CLEARED = '\r\u001b[K';

export function createLiveLine(stream: Terminal = process.stderr): LiveLine {
  const isLive = canRedraw(stream) && process.env.TERM !== 'dumb';
  let isShown = false;
  return {
    isLive,
    show(text, tail = '') {
      if (!isLive) return;
      isShown = true;
      // In the last column some terminals would begin a new line.
      stream.write(forStderr(`${CLEARED}${cut(text, widthOf(stream) - 1 - visibleWidth(tail))}${tail}`));
    },
    clear() {
      if (isShown) stream.write(CLEARED);
      isShown = false;
    },
  };
}

function cut(text: string, width: number): string {
  if (visibleWidth(text) <= width) return text;
  let short = '';
  for (const character of text) {
    if (visibleWidth(short) + visibleWidth(character) >= width) break;
    short += character;
  }
  return `${short}…`;
}
