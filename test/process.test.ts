import { describe, expect, it } from 'vitest';
import { runProcess, startProcess } from './process.ts';

const node = (script: string) => [process.execPath, ['-e', script]] as const;
/** Runs until its input ends. */
const WAITS = `process.stdin.resume(); console.log('runs');`;

describe('a child process of a test', () => {
  it('is run to its end with its input, and each character whole', async () => {
    const script = `process.stdin.on('data', (text) => { for (const byte of text) process.stdout.write(Buffer.of(byte)) });
      process.stderr.write('error'); process.on('exit', () => { process.exitCode = 3 })`;
    expect(await runProcess(...node(script), { input: 'Größe ✓' })).toMatchObject({
      code: 3,
      signal: null,
      stdout: 'Größe ✓',
      stderr: 'error',
    });
  });

  it('is killed at its limit, with what it printed before', { tags: 'large' }, async () => {
    // Longer than the start of a program takes, also on a busy machine.
    const options = { input: null, hangMs: 10_000 };
    const ended = await runProcess(...node(`process.on('SIGTERM', () => {}); ${WAITS}`), options);
    expect(ended).toMatchObject({ code: null, signal: 'SIGKILL', stdout: 'runs\n' });
  });

  it('reports a program that cannot be started, and is still disposed', async () => {
    await using missing = startProcess('/nowhere/program', []);
    await expect(missing.closed).rejects.toThrow('ENOENT');
    await expect(missing.untilOutput('ready')).rejects.toThrow('ENOENT');
  });

  it('is awaited until it prints a text, also with its last words, and not beyond its end; or ended', async () => {
    const script = `process.on('exit', () => console.log('last')); process.stdin.on('end', () => {}); ${WAITS}`;
    await using started = startProcess(...node(script), { input: null });
    await started.untilOutput('runs');
    started.child.stdin?.end();
    await started.untilOutput('last');
    await expect(started.untilOutput('more')).rejects.toThrow("ended without 'more':\nruns\nlast");
    let left: ReturnType<typeof startProcess>;
    {
      await using other = startProcess(...node(WAITS), { input: null });
      await other.untilOutput('runs');
      left = other;
    }
    expect([left.hasEnded(), left.child.signalCode]).toEqual([true, 'SIGTERM']);
  });
});
