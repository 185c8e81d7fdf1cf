import { execFile } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isStopAttempt, misplacedStop } from '../../src/cli/stop-attempt.ts';

const binary = join(import.meta.dirname, '..', '..', 'bin', 'run.js');
const gw = (...words: string[]) =>
  new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(
      process.execPath,
      [binary, ...words],
      { env: { ...process.env, NO_COLOR: '1' } },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr }),
    );
  });

const known = ['motion', 'motion stop', 'motion go', 'tour run', 'sim cloud stop', 'tunnel end', 'serve'].map((id) => ({
  id,
}));
const attempts = (line: string) => isStopAttempt(line.split(' '), known);

describe('a command line that was meant to stop the robot', () => {
  it.each([
    ...['motion stop now', 'motion stop B', 'stop', 'motion stopp', 'motion halt', 'STOP', 'stop robot', 'tour stop'],
    ...[
      'robot stop',
      'mtion stop',
      '--host x motion stop',
      'motion:stop:now',
      'motion --host x stop',
      'motion stop=now',
    ],
  ])('gw %s is recognised', (line) => {
    expect(attempts(line)).toBe(true);
  });

  it.each([
    'sim cloud stopp',
    'tunnel stop',
    'serve stop',
    'motion go',
    'motion pose stand',
    'motion --help stop',
    'step x',
  ])('gw %s is none', (line) => {
    expect(attempts(line)).toBe(false);
  });

  it('is none for the simulator, also in a package without one', () => {
    expect(isStopAttempt(['sim', 'cloud', 'stop'], [{ id: 'motion stop' }])).toBe(false);
  });

  it('is recognised at any place of a short line, and never throws', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 20 }), { maxLength: 6 }), (words) => {
        expect(typeof isStopAttempt(words, known)).toBe('boolean');
        expect(misplacedStop(words)?.code ?? 'USAGE').toBe('USAGE');
      }),
    );
  });

  it.each([
    [['motion', 'stop', 'now'], 'Unexpected argument of gw motion stop: now'],
    [['stop'], 'Unknown command: gw stop'],
    [['motion', 'stopp'], 'Unknown command: gw motion stopp'],
    [['motion', '--host', 'x', 'stop'], 'Not a command: gw motion --host x stop'],
    [['--host', 'x', 'motion', 'stop'], 'No command before --host.'],
  ])('begins with NOT STOPPED and names the command: %j', async (words, cause) => {
    const { code, stdout, stderr } = await gw(...words);
    expect([code, stdout]).toEqual([2, '']);
    const [first = '', next = ''] = stderr.split('\n');
    expect(first).toMatch(/^gw: NOT STOPPED: .*Press the emergency stop of the robot now/);
    expect(first).toContain(cause);
    expect(next).toContain('The command is: gw motion stop');
    const json = JSON.parse((await gw(...words, '--json')).stdout);
    expect(json).toMatchObject({ ok: false, error: { code: 'USAGE', details: { delivered: false } } });
  });

  it('is none where help was asked for, or another command was mistyped', async () => {
    const help = await gw('motion', '--help');
    expect([help.code, help.stderr]).toEqual([0, '']);
    const other = await gw('sim', 'clod', 'stop');
    expect([other.code, other.stderr]).toEqual([2, expect.not.stringContaining('NOT STOPPED')]);
  });
});
