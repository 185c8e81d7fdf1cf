import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  FILLED_IN,
  faultOf,
  listedCommands,
  type PrintedCommand,
  printedIn,
  printedPages,
  readProjectFile,
} from './printed-commands.ts';

const sources = readdirSync(fileURLToPath(new URL('../../src', import.meta.url)), { encoding: 'utf8', recursive: true })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => `src/${name}`);

/** Lines that the parser of their command rejects. */
async function faultsIn<T extends PrintedCommand>(printed: readonly T[]) {
  const faults: (T & { readonly fault: string })[] = [];
  // One after another, since the parser of a command without its argument looks for it on stdin.
  for (const command of printed) {
    const fault = await faultOf(command);
    if (fault !== null) faults.push({ ...command, fault });
  }
  return faults;
}

describe('a quoted command', () => {
  it.each(printedPages)('in %s can be typed as printed', async (page) => {
    expect(await faultsIn(printedIn(readProjectFile(page)))).toEqual([]);
  });

  it('in the examples of the help can be typed as printed, completely', async () => {
    const examples = Object.values(listedCommands).flatMap(({ examples }) => examples ?? []);
    expect(examples.length).toBeGreaterThan(Object.keys(listedCommands).length);
    const lines = examples.map((example) => example.slice(example.indexOf('<%= config.bin %>')));
    expect(await faultsIn(lines.map((line) => ({ line, part: false })))).toEqual([]);
  });

  it('in a remedy or a hint can be typed as printed', async () => {
    const quoted = sources.flatMap((source) => {
      const text = readProjectFile(source);
      const strings = (text.match(/'[^'\n]*'|"[^"\n]*"/g) ?? []).join('\n');
      const found = [...strings.matchAll(/`(gw [^`]*)`/g), ...text.matchAll(/\\`(gw [^`]*)\\`/g)];
      return found.map(([, line = '']) => ({
        source,
        line: line.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, FILLED_IN),
        part: true,
      }));
    });
    expect(quoted.length).toBeGreaterThan(50);
    expect(await faultsIn(quoted)).toEqual([]);
  });

  it.each([
    ['gw site check --sight x', false, 'Nonexistent flag: --sight'],
    ['gw site czech', true, 'no such command'],
    ['gw map show', false, 'Missing 1 required arg:'],
    ['gw map show 1 2', true, 'Unexpected argument: 2'],
    ['gw evidence verify wheels', true, expect.stringContaining('Expected wheels to be one of')],
    ['gw checklist report a.json --format doc', true, expect.stringContaining('Expected --format=doc to be one of')],
    ['gw chassis probe --for 9999', true, expect.stringContaining('expected a duration from')],
    ['gw chassis probe --for', true, null],
  ])('is rejected by this test when it cannot be typed: %s', async (line, part, fault) => {
    expect(await faultOf({ line, part })).toEqual(fault);
  });
});
