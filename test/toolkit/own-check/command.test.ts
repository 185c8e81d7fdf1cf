import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkCommand } from '../../../src/lib/toolkit/own-check/command.ts';
import { until } from '../../waiting.ts';
import { context, tempDir, toolkit } from './peers.ts';

const run = (argv: readonly string[], more = {}, { clock } = toolkit()) =>
  checkCommand({ clock }, { argv, timeoutS: 5 }, { ...context, ...more });
const shell = (script: string, kit = toolkit()) => run(['/bin/sh', '-c', script], {}, kit);

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
  const kit = toolkit();
  const running = shell(`echo fine; sleep 300 & echo $! > ${file}; wait`, kit);
  const pid = await until(
    async () => readFile(file, 'utf8').catch(() => ''),
    (text) => text.endsWith('\n'),
  );
  await kit.clock.advance(5_000);
  expect(await running).toMatchObject({ exit: null, timedOut: true, stdout: 'not-checked', tookMs: 5_000 });
  const state = () => readFile(`/proc/${Number(pid)}/stat`, 'utf8').catch(() => 'gone');
  await until(state, (text) => text === 'gone' || / Z /.test(text));
});

test('programs that it leaves behind are killed, and its output is not checked', async () => {
  const kit = toolkit();
  const running = shell('sleep 300 & echo fine', kit);
  await until(
    () => kit.clock.pending,
    (timers) => timers === 2,
  );
  await kit.clock.advance(500);
  const found = await running;
  expect(found).toMatchObject({ exit: 0, timedOut: false, stdout: 'not-checked' });
  expect(found.detail).toContain('left programs behind');
});

test('output without end is bounded', async () => {
  const found = await shell('exec yes');
  expect(found).toMatchObject({ exit: null, timedOut: false, stdout: 'not-checked' });
  expect(found.detail).toContain('64 KiB');
});

test('a missing program, and one that may not be run, are errors', async () => {
  await expect(run(['/none/program'])).rejects.toMatchObject({ code: 'CHECK_FAILED' });
  await expect(run(['/etc/passwd'])).rejects.toMatchObject({ code: 'CHECK_FAILED' });
});

test('an interruption kills it and is no result', async () => {
  const stop = new AbortController();
  const running = run(['/bin/sleep', '300'], { signal: stop.signal });
  setImmediate(() => stop.abort(new Error('stop')));
  await expect(running).rejects.toThrow('stop');
});
