import { spawn } from 'node:child_process';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { checkProcess, parseProcessStat } from '../../../src/lib/toolkit/own-check/process.ts';
import { until } from '../../waiting.ts';
import { forAll } from '../kit.ts';
import { context, tempDir } from './peers.ts';

/** A program that sleeps under a name that no other process has. */
async function sleeping(name: string): Promise<number> {
  const program = join(await tempDir(), name);
  await copyFile('/bin/sleep', program);
  const child = spawn(program, ['60'], { stdio: 'ignore' });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child.pid ?? 0;
}

test('a running process by its whole name, also a longer one than the kernel keeps', async () => {
  const name = 'gw-test-sleeper-with-a-long-name';
  const pid = await sleeping(name);
  const found = await until(
    () => checkProcess({ name }, context),
    ({ running }) => running === true,
  );
  expect(found).toMatchObject({ count: 1, pids: [pid] });
  expect(await checkProcess({ name: 'gw-test-sleeper' }, context)).toMatchObject({ count: 1 });
  expect(await checkProcess({ name: 'gw-test-sleep' }, context)).toMatchObject({ running: false, count: 0 });
});

test('with an argument only those that have it in full', async () => {
  const name = 'gw-test-argument';
  await sleeping(name);
  await until(
    () => checkProcess({ name, argument: '60' }, context),
    ({ count }) => count === 1,
  );
  expect(await checkProcess({ name, argument: '6' }, context)).toMatchObject({ running: false });
});

test('a process that has ended and is not collected does not run', async () => {
  const program = join(await tempDir(), 'gw-test-zombie');
  await copyFile('/bin/sleep', program);
  // exec: the shell that started it becomes a program that never collects it.
  const parent = spawn('/bin/sh', ['-c', `"${program}" 0 & exec sleep 60`], { stdio: 'ignore' });
  onTestFinished(() => {
    parent.kill('SIGKILL');
  });
  const child = async () => {
    const children = await readFile(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8');
    return parseProcessStat(await readFile(`/proc/${children.trim()}/stat`, 'utf8').catch(() => ''));
  };
  await until(child, (found) => found?.name === 'gw-test-zombie' && found.state === 'Z');
  expect(await checkProcess({ name: 'gw-test-zombie' }, context)).toMatchObject({ running: false, count: 0 });
});

test('any name is read back from a line of the kernel, and no text breaks the parser', { tags: 'property' }, () => {
  forAll(fc.nat(), fc.string(), fc.constantFrom('R', 'S', 'Z'), (pid, name, state) => {
    expect(parseProcessStat(`${pid} (${name}) ${state} 1 2 3\n`)).toEqual({ name, state });
  });
  forAll(fc.string(), (text) => void parseProcessStat(text));
});
