import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import chalk, { chalkStderr } from 'chalk';
import { afterAll, describe, expect, it } from 'vitest';
import { applyColours, decideColours, forStderr, forStdout, splitColourFlag } from '../../src/cli/colour.ts';

const both = { stdout: true, stderr: true };
const none = { stdout: false, stderr: false };
const out = { stdout: true, stderr: false };
const err = { stdout: false, stderr: true };

describe('colours', () => {
  it.each([
    ['terminals', [], {}, both, both],
    ['a piped stderr', [], {}, out, out],
    ['a piped stdout', [], {}, err, err],
    ['pipes', [], {}, none, none],
    ['pipes in CI', [], { CI: 'true', GITHUB_ACTIONS: 'true' }, none, none],
    ['a dumb terminal', [], { TERM: 'dumb' }, both, none],
    ['NO_COLOR', [], { NO_COLOR: '1' }, both, none],
    ['NO_COLOR=0, which is set as well', [], { NO_COLOR: '0' }, both, none],
    ['an empty NO_COLOR, which is not set', [], { NO_COLOR: '' }, both, both],
    ['FORCE_COLOR on pipes', [], { FORCE_COLOR: '1' }, none, both],
    ['FORCE_COLOR on a dumb terminal', [], { FORCE_COLOR: 'true', TERM: 'dumb' }, none, both],
    ['FORCE_COLOR=0', [], { FORCE_COLOR: '0' }, both, none],
    ['FORCE_COLOR=false', [], { FORCE_COLOR: 'false' }, both, none],
    ['an empty FORCE_COLOR, which is not set', [], { FORCE_COLOR: '' }, none, none],
    ['NO_COLOR and FORCE_COLOR', [], { NO_COLOR: '1', FORCE_COLOR: '1' }, both, none],
    ['--no-color and FORCE_COLOR', ['--no-color'], { FORCE_COLOR: '3' }, both, none],
    ['--no-color behind --', ['--', '--no-color'], {}, both, both],
  ])('with %s', (_, args, env, terminals, expected) => expect(decideColours(args, env, terminals)).toEqual(expected));

  it('leave every other word of the command line in place', () => {
    const args = ['--no-color', 'map', 'show', '--no-color', '1', '--', '--no-color'];
    expect(splitColourFlag(args).rest).toEqual(['map', 'show', '1', '--', '--no-color']);
  });
});

describe('a text that was rendered for either stream', () => {
  const { level } = chalkStderr;
  afterAll(() => {
    applyColours(both);
    [chalk.level, chalkStderr.level] = [0, level];
  });

  it('keeps its colours on the stream that supports them, and loses them on the other', () => {
    const all = () => [forStdout(chalk.red('x')), forStderr(chalk.red('x')), chalkStderr.red('x')];
    const red = '\u001b[31mx\u001b[39m';
    for (const [terminals, expected] of [
      [err, ['x', red, red]],
      [out, [red, 'x', 'x']],
      [none, ['x', 'x', 'x']],
    ] as const) {
      applyColours(terminals);
      expect(all()).toEqual(expected);
    }
  });
});

describe('colour codes', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const sources = globSync('src/{cli,commands}/**/*.ts', { cwd: root });

  it('are written only by code that strips them where necessary', () => {
    expect(sources.length).toBeGreaterThan(100);
    const colouring = sources.filter((path) => {
      const text = readFileSync(`${root}${path}`, 'utf8');
      return /import chalk\b/.test(text) && /process\.std(out|err)|output\.write/.test(text);
    });
    // Its one use of process.stderr reads the width of the terminal.
    expect(colouring).toEqual(['src/cli/output.ts']);
  });
});
