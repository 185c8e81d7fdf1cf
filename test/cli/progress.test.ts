import { describe, expect, it } from 'vitest';
import { canRedraw, createStageReporter } from '../../src/cli/progress.ts';

it('lines are overwritten only at a terminal that has a width', () => {
  expect(canRedraw({ isTTY: true, columns: 80 })).toBe(true);
  expect(canRedraw({ isTTY: true, columns: 0 })).toBe(false);
  expect(canRedraw({ columns: 80 })).toBe(false);
});

describe('the stage reporter', () => {
  it('updates the spinner with every text and prints one line per stage', () => {
    const moving: string[] = [];
    const lines: string[] = [];
    const report = createStageReporter({ say: (text) => moving.push(text), line: (text) => lines.push(text) });
    for (const text of ['Sending 1 %', 'Sending 2 %', 'Installing', 'Sending 100 %']) report(text);
    expect(moving).toEqual(['Sending 1 %', 'Sending 2 %', 'Installing', 'Sending 100 %']);
    expect(lines).toEqual(['Sending 1 %', 'Installing', 'Sending 100 %']);
  });

  it('sanitizes device text', () => {
    const lines: string[] = [];
    createStageReporter({ say: () => {}, line: (text) => lines.push(text) })('a\u001b[2Jb');
    expect(lines).toEqual(['a\uFFFD[2Jb']);
  });
});
