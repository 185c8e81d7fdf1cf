import { describe, expect, it } from 'vitest';
import { createStageReporter } from '../../src/cli/stages.ts';

describe('stages told once', () => {
  it('move at a terminal with every number, and leave one line a stage elsewhere', () => {
    const moving: string[] = [];
    const lines: string[] = [];
    const tell = createStageReporter({ say: (text) => moving.push(text), line: (text) => lines.push(text) });
    for (const text of ['Sending 1 %', 'Sending 2 %', 'Installing', 'Sending 100 %']) tell(text);
    expect(moving).toEqual(['Sending 1 %', 'Sending 2 %', 'Installing', 'Sending 100 %']);
    expect(lines).toEqual(['Sending 1 %', 'Installing', 'Sending 100 %']);
  });

  it('bring nothing of a device to the terminal unescaped', () => {
    const lines: string[] = [];
    createStageReporter({ say: () => {}, line: (text) => lines.push(text) })('a\u001b[2Jb');
    expect(lines).toEqual(['a\uFFFD[2Jb']);
  });
});
