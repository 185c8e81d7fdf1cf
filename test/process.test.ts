import { describe, expect, it } from 'vitest';
import { runProcess, startProcess } from './process.ts';

const node = (script: string) => [process.execPath, ['-e', script]] as const;

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

  it('is killed at its limit, with what it printed before', async () => {
    const script = `process.on('SIGTERM', () => {}); console.log('runs'); setInterval(() => {}, 1_000)`;
    const ended = await runProcess(...node(script));
    expect(ended).toMatchObject({ code: null, signal: 'SIGKILL' });
  });

  it('reports a program that cannot be started, and is still disposed', async () => {
    await using missing = startProcess('/nowhere/program', []);
    await expect(missing.closed).rejects.toThrow('ENOENT');
    await expect(missing.untilOutput('ready')).rejects.toThrow('ENOENT');
  });

  it('is awaited until it prints a text, also with its last words, and not beyond its end', async () => {
    await using started = startProcess(...node(`console.log('first'); setTimeout(() => console.log('last'), 50)`));
    await started.untilOutput('first');
    await started.untilOutput('last');
    await expect(started.untilOutput('more')).rejects.toThrow("ended without 'more':\nfirst\nlast");
  });

  it('is ended at the end of the scope', async () => {
    let left: ReturnType<typeof startProcess>;
    {
      await using started = startProcess(...node(`console.log('runs'); setInterval(() => {}, 1_000)`));
      await started.untilOutput('runs');
      left = started;
    }
    expect([left.hasEnded(), left.child.signalCode]).toEqual([true, 'SIGTERM']);
  });
});
