import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { freePort } from '../free-port.ts';
import { openTabletWorld } from '../kiosk/tablet-world.ts';
import { hasProgram } from '../peers/peer.ts';
import { runProcess } from '../process.ts';
import { gwBinary, isAlive, runGw } from './gw.ts';
import { startRobot, startServe } from './robot.ts';

const LOST = 74;

/**
 * A pipeline as a shell makes it: gw, whose stdout (with `both`, stderr too) is read to its first line. The reader says its
 * line, then gw writes its process id and, at its end, its exit code.
 */
async function headOf(args: readonly string[], { both = false }: { readonly both?: boolean } = {}) {
  const words = [process.execPath, gwBinary, ...args].map((word) => `'${word}'`).join(' ');
  const script = `{ ${words} ${both ? '2>&1' : ''} & echo pid $! >&3; wait $!; echo code $? >&3; } | head -n 1 >&4`;
  const shell = spawn('/bin/sh', ['-c', script], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1' },
  });
  const [said, line] = [shell.stdio[3], shell.stdio[4]].map(() => [] as string[]) as [string[], string[]];
  for (const [at, texts] of [said, line].entries()) {
    const stream = shell.stdio[at + 3] as import('node:stream').Readable;
    createInterface({ input: stream }).on('line', (text) => texts.push(text));
  }
  const numberOf = (what: string) => said.find((text) => text.startsWith(what))?.slice(what.length + 1);
  const ended = once(shell, 'close');
  return { line, pid: () => Number(numberOf('pid')), code: () => Number(numberOf('code')), ended };
}

describe('a command whose reader is gone', () => {
  it('that follows ends, also while it has nothing to print, with a code of its own', async () => {
    await using robot = await startRobot();
    await using _serve = await startServe(robot.site);
    const followers = [
      ['status', '--watch', '--site', robot.site],
      ['status', '--watch', '--site', robot.site, '--json'],
      ['chassis', 'watch', '--site', robot.site],
      ['cloud', 'watch', '--site', robot.site],
      ['sim', '--dir', `${robot.dir}/other`, '--chassis-port', String(await freePort())],
    ];
    for (const words of followers) {
      const pipeline = await headOf(words);
      await pipeline.ended;
      const found = [words.join(' '), pipeline.line.length, isAlive(pipeline.pid()), pipeline.code()];
      expect(found).toEqual([words.join(' '), 1, false, LOST]);
    }
  });

  it.skipIf(!hasProgram('adb'))('that is short ends the program that it started, and keeps its own code', async () => {
    await using world = await openTabletWorld();
    const [adb, started] = [`${world.dir}/adb`, `${world.dir}/adb.pid`];
    writeFileSync(adb, `#!/bin/sh\necho $$ >> '${started}'\nexec adb "$@"\n`, { mode: 0o755 });
    const { line, code, ended } = await headOf(['kiosk', 'plan', '--site', world.sitePath, '--adb', adb], {
      both: true,
    });
    await ended;
    const servers = readFileSync(started, 'utf8').trim().split('\n').map(Number);
    expect([line, code(), servers.length]).toEqual([[expect.any(String)], 1, 1]);
    expect(servers.filter(isAlive)).toEqual([]);
  });

  it('that is short does its work, and ends with it', async () => {
    const { line, code, ended } = await headOf(['evidence', 'list', '--json']);
    await ended;
    expect([line, code()]).toEqual([['{'], LOST]);
  });
});

describe('a command of an installed package whose stdout is closed', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const arch = process.arch === 'arm64' ? 'arm64' : 'x64';
  const hasRuntime = existsSync(join(root, `node_modules/node-linux-${arch}/bin/node`));
  it
    .runIf(hasRuntime)
    .each([
      '--version',
      '--help',
      'chassis',
      'chassis --help',
      'help chassis',
      'checklist list',
      'checklist list --json',
    ])('ends with a code of its own, and says why: gw %s', async (words) => {
    const dir = mkdtempSync(join(tmpdir(), 'gw-closed-'));
    try {
      mkdirSync(join(dir, 'bin'));
      copyFileSync(join(root, 'packaging/gw.sh'), join(dir, 'bin/gw'));
      symlinkSync(gwBinary, join(dir, 'bin/run.js'));
      symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
      const run = (more: string) => runProcess('/bin/sh', ['-c', `/bin/sh '${dir}/bin/gw' ${words}${more}`]);
      expect(await run(' >&-')).toMatchObject({
        code: LOST,
        stdout: '',
        stderr: expect.stringContaining('stdout cannot be written (EBADF)'),
      });
      expect(await run(' >/dev/null')).toMatchObject({ code: 0, stderr: '' });
      expect((await run('')).stdout).not.toBe('');
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

describe('a command on a full disk', () => {
  const full = '/dev/full';
  it
    .runIf(existsSync(full))
    .each([
      [['--version']],
      [['--help']],
      [['--help', '--json']],
      [['chassis']],
      [['chassis', '--help']],
      [['help', 'chassis']],
      [['chassis', 'probe', '--help']],
      [['checklist', 'list']],
      [['checklist', 'list', '--json']],
      [['evidence', 'list']],
      [['completion', 'bash']],
    ])('says so in one line, without a stack, and ends with a code of its own: gw %j', async (words) => {
    const stdout = openSync(full, 'w');
    try {
      const { code, stderr } = await runGw(words, { stdout });
      expect([code, stderr.match(/\n/g)?.length, stderr]).toEqual([
        LOST,
        1,
        expect.stringContaining('stdout cannot be written (ENOSPC)'),
      ]);
    } finally {
      closeSync(stdout);
    }
  });

  it.runIf(existsSync(full))('keeps the code of what was not fine', async () => {
    const stdout = openSync(full, 'w');
    try {
      expect((await runGw(['site', 'check', '/not/there.yaml'], { stdout })).code).toBe(2);
      expect((await runGw(['site', 'check', '/not/there.yaml', '--json'], { stdout })).code).toBe(2);
    } finally {
      closeSync(stdout);
    }
  });
});
