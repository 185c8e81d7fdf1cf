import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { endChild, runSystemProgram, signalChild } from '../../src/lib/toolkit/child-process.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';

/** A program that reports when it runs; its code handles signals in the meantime. */
async function start(code: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', `${code}; process.stdin.resume(); console.log('runs')`]);
  await once(child.stdout, 'data');
  return child;
}

describe('ending a child process', () => {
  it('sends SIGTERM only, where that is enough, and leaves no timer', async () => {
    const clock = createFakeClock();
    const child = await start(`process.on('SIGTERM', () => process.exit(7))`);
    await endChild(child, clock, 2_000);
    expect([child.exitCode, child.signalCode, clock.pending]).toEqual([7, null, 0]);
  });

  it('sends SIGKILL after the deadline to a program that ignores SIGTERM, not before', async () => {
    const clock = createFakeClock();
    const child = await start(`process.on('SIGTERM', () => console.log('ignored'))`);
    const ended = endChild(child, clock, 2_000);
    if (child.stdout !== null) await once(child.stdout, 'data');
    await clock.advance(1_999);
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    await clock.advance(1);
    await ended;
    expect(child.signalCode).toBe('SIGKILL');
  });

  it('signals no process id that the child no longer has, and none that never started', async () => {
    const clock = createFakeClock();
    const child = await start('');
    await endChild(child, clock, 2_000);
    const missing = spawn('/nowhere/program');
    await once(missing, 'error');
    for (const one of [child, missing]) {
      let signals = 0;
      one.kill = () => {
        signals += 1;
        return true;
      };
      await endChild(one, clock, 2_000);
      signalChild(one, 'SIGKILL');
      expect(signals).toBe(0);
    }
  });
});

describe('a program of the operating system', () => {
  it('receives nothing of the environment of gw', async () => {
    process.env.GW_TEST_SECRET = 'secret';
    const output = await runSystemProgram('env', [], 10_000);
    delete process.env.GW_TEST_SECRET;
    expect(output.trim().split('\n').sort()).toEqual(['LC_ALL=C', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin']);
  });

  it('rejects when it is missing, fails, prints too much or ignores the timeout', async () => {
    const failed = (program: string, args: string[], timeoutMs = 30_000) =>
      runSystemProgram(program, args, timeoutMs).then(
        () => 'resolved',
        ({ code, signal, killed }) => ({ code, signal, killed }),
      );
    expect(await failed('gw-missing-program', [])).toMatchObject({ code: 'ENOENT' });
    expect(await failed('sh', ['-c', 'echo half; exit 3'])).toMatchObject({ code: 3 });
    expect(await failed('sh', ['-c', 'while :; do echo much; done'])).toMatchObject({
      code: 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER',
    });
    expect(await failed('sh', ['-c', "trap '' TERM; while :; do :; done"], 100)).toMatchObject({ signal: 'SIGKILL' });
  });
});
