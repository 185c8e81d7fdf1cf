import { describe, expect, it } from 'vitest';
import { createLiveLine } from '../../src/cli/live-line.ts';
import { visibleWidth } from '../../src/cli/wrap.ts';

function terminal(columns: number, isTTY = true) {
  const written: string[] = [];
  return { written, stream: { isTTY, columns, write: (text: string) => written.push(text) } };
}

describe('the line that is redrawn', () => {
  it('stays on one line: the text is cut, its end stays whole', () => {
    const { written, stream } = terminal(40);
    createLiveLine(stream).show(`step 7 of 47: ${'wide 漢字 '.repeat(10)}`, ' (at most 60 s left)');
    const [, shown = ''] = written.join('').split('\u001b[K');
    expect(shown).toMatch(/^step 7 of 47: .*… \(at most 60 s left\)$/);
    expect(visibleWidth(shown)).toBeLessThan(40);
  });

  it('is cleared once, and only where something was shown', () => {
    const { written, stream } = terminal(40);
    const live = createLiveLine(stream);
    live.clear();
    live.show('a');
    live.clear();
    live.clear();
    expect(written).toEqual(['\r\u001b[Ka', '\r\u001b[K']);
  });

  it('is nothing in a file, nor at a terminal without a width', () => {
    for (const { written, stream } of [terminal(80, false), terminal(0)]) {
      const live = createLiveLine(stream);
      live.show('a');
      live.clear();
      expect([live.isLive, written]).toEqual([false, []]);
    }
  });
});
