import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { checkCommand } from '../../../src/lib/toolkit/own-check/command.ts';
import { context, tempDir } from './peers.ts';

const run = (argv: readonly string[], timeoutS = 5) => checkCommand({ argv, timeoutS }, context);
const shell = (script: string, timeoutS?: number) => run(['/bin/sh', '-c', script], timeoutS);

test('exit status and both outputs', async () => {
  expect(await shell('echo out; echo err >&2; exit 3')).toMatchObject({
    exit: 3,
    signal: null,
    stdout: 'out\n',
    stderr: 'err\n',
    timedOut: false,
  });
});

test('arguments reach the program as they are, without a shell', async () => {
  expect(await run(['/bin/echo', '$HOME; `id`', '*'])).toMatchObject({ stdout: '$HOME; `id` *\n' });
});

test('nothing of the environment of the caller, no input', async () => {
  process.env.GW_TEST_SECRET = 'secret';
  expect(await shell('env; cat')).toMatchObject({ exit: 0, stdout: expect.not.stringContaining('secret') });
  delete process.env.GW_TEST_SECRET;
});

test('a hanging program is killed with its children, and its output is not checked', async () => {
  const file = join(await tempDir(), 'pid');
  const found = await shell(`echo fine; sleep 300 & echo $! > ${file}; wait`, 0.4);
  expect(found).toMatchObject({ exit: null, timedOut: true, stdout: 'not-checked' });
  const pid = Number(await readFile(file, 'utf8'));
  await vi.waitFor(async () => {
    const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => 'gone');
    expect(state === 'gone' || / Z /.test(state)).toBe(true);
  });
});

test('programs that it leaves behind are killed, and its output is not checked', async () => {
  const found = await shell('sleep 300 & echo fine', 5);
  expect(found).toMatchObject({ exit: 0, timedOut: false, stdout: 'not-checked' });
  expect(found.detail).toContain('left programs behind');
});

test('output without end is bounded', async () => {
  const found = await shell('exec yes', 20);
  expect(found).toMatchObject({ exit: null, timedOut: false, stdout: 'not-checked' });
  expect(found.detail).toContain('64 KiB');
});

test('a missing program, and one that may not be run, are errors', async () => {
  await expect(run(['/none/program'])).rejects.toMatchObject({ code: 'CHECK_FAILED' });
  await expect(run(['/etc/passwd'])).rejects.toMatchObject({ code: 'CHECK_FAILED' });
});

test('an interruption kills it and is no result', async () => {
  const stop = new AbortController();
  const running = checkCommand({ argv: ['/bin/sleep', '300'], timeoutS: 600 }, { ...context, signal: stop.signal });
  setTimeout(() => stop.abort(new Error('stop')), 50);
  await expect(running).rejects.toThrow('stop');
});
