import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gwBinary } from '../e2e/gw.ts';
import { until as seen } from '../waiting.ts';
import { hasProgram } from './peer.ts';

let dir = '';
let env: Record<string, string> = {};
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-completion-'));
  mkdirSync(join(dir, 'bin'));
  writeFileSync(join(dir, 'bin', 'gw'), `#!/bin/sh\nexec ${process.execPath} ${gwBinary} "$@"\n`, { mode: 0o755 });
  writeFileSync(join(dir, 'robot seven.yaml'), '');
  mkdirSync(join(dir, 'robots'));
  env = { PATH: `${join(dir, 'bin')}:${process.env.PATH}`, HOME: dir, TERM: 'dumb', LC_ALL: 'C.UTF-8' };
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/**
 * What an interactive shell makes of a line at Tab: the line is completed, then printed by putting `echo` before it
 * (Ctrl-A goes to its beginning).
 */
async function completed(shell: string, load: string, line: string): Promise<string> {
  const terminal = spawn('script', ['-qec', shell, '/dev/null'], { cwd: dir, env, stdio: ['pipe', 'pipe', 'ignore'] });
  let output = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const until = async (pattern: RegExp) => {
    await seen(
      () => output,
      (text) => pattern.test(text),
    );
    return pattern.exec(output)?.[1] ?? '';
  };
  try {
    terminal.stdin.write(`${load}; echo loaded-$((1 + 1))\n`);
    await until(/(loaded-2)/);
    terminal.stdin.write(`${line}\t`);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    terminal.stdin.write('\u0001echo "<" \u0005 ">"\n');
    return (await until(/\n<\s(.*?)\s+>\r/s)).replace(/\s+/g, ' ');
  } finally {
    terminal.stdin.end('\u0004');
    terminal.kill();
  }
}

const cases: readonly (readonly [string, string])[] = [
  ['gw chass', 'gw chassis'],
  ['gw chassis prob', 'gw chassis probe'],
  ['gw checklist run premis', 'gw checklist run premises'],
  ['gw checklist report --lang d', 'gw checklist report --lang de'],
  ['gw checklist run site --robot-will', 'gw checklist run site --robot-will-move'],
  ['gw evidence show angles.tracked-pose-o', 'gw evidence show angles.tracked-pose-ori'],
  ['gw health --site robot\\ s', 'gw health --site robot seven.yaml'],
  ['gw sim --dir robot', 'gw sim --dir robots/'],
];

describe.skipIf(!hasProgram('script'))('completion in an interactive bash', () => {
  it.each(cases)('%s becomes %s', async (line, expected) => {
    expect(await completed('bash --norc --noprofile -i', 'source <(gw completion bash)', line)).toBe(expected);
  });

  it('completes behind the = of a flag', async () => {
    const load = 'source <(gw completion bash)';
    expect(await completed('bash --norc --noprofile -i', load, 'gw checklist report --format=jun')).toBe(
      'gw checklist report --format=junit',
    );
  });
});

describe.skipIf(!hasProgram('zsh') || !hasProgram('script'))('completion in an interactive zsh', () => {
  const load = 'autoload -U compinit; compinit -u -D; source <(gw completion zsh)';
  it.each(cases)('%s becomes %s', async (line, expected) => {
    // It takes the slash of a folder back where the line goes on.
    expect(await completed('zsh -f -i', load, line)).toBe(expected.replace(/\/$/, ''));
  });
});

describe.skipIf(!hasProgram('fish'))('completion in fish', () => {
  const offered = (line: string) => {
    const run = spawnSync('fish', ['--no-config', '-c', `gw completion fish | source; complete -C '${line}'`], {
      cwd: dir,
      env,
      encoding: 'utf8',
      timeout: 100_000,
    });
    return run.stdout
      .trimEnd()
      .split('\n')
      .map((one) => one.split('\t')[0]);
  };
  it.each(cases.slice(0, 6))('%s is continued to %s', (line, expected) => {
    expect(offered(line)).toEqual([expected.split(' ').at(-1)]);
  });

  it('offers files and folders where a flag takes one, with descriptions elsewhere', () => {
    expect(offered('gw health --site ro')).toContain('robot seven.yaml');
    expect(offered('gw sim --dir ro')).toEqual(['robots/']);
  });
});
