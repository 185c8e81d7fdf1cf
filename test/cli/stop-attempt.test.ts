import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isStopAttempt, misplacedStop } from '../../src/cli/stop-attempt.ts';
import { runGw } from '../e2e/gw.ts';
import { character } from './characters.ts';
import { gwHere } from './in-process.ts';

const known = ['motion', 'motion stop', 'motion go', 'tour run', 'sim cloud stop', 'tunnel end', 'serve'].map((id) => ({
  id,
}));
const attempts = (line: string) => isStopAttempt(line.split(' '), known);

describe('a command line that was meant to stop the robot', () => {
  it.each([
    ...['motion stop now', 'motion stop B', 'stop', 'motion stopp', 'motion halt', 'STOP', 'stop robot', 'tour stop'],
    ...['robot stop', 'mtion stop', '--host x motion stop', 'motion:stop:now', 'motion --host x stop'],
    'motion stop=now',
  ])('gw %s is recognised', (line) => expect(attempts(line)).toBe(true));

  it.each([
    ...['sim cloud stopp', 'tunnel stop', 'serve stop', 'motion go', 'motion pose stand', 'motion --help stop'],
    'step x',
  ])('gw %s is none', (line) => expect(attempts(line)).toBe(false));

  it('is none for the simulator, also in a package without one', () => {
    expect(isStopAttempt(['sim', 'cloud', 'stop'], [{ id: 'motion stop' }])).toBe(false);
  });

  it('is recognised at any place of a short line, and never throws', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: character, maxLength: 20 }), { maxLength: 6 }), (words) => {
        expect(typeof isStopAttempt(words, known)).toBe('boolean');
        expect(misplacedStop(words)?.code ?? 'USAGE').toBe('USAGE');
      }),
    );
  });

  it.each([
    ['stop', 'Unknown command: gw stop', gwHere],
    ['motion stopp', 'Unknown command: gw motion stopp', gwHere],
    ['motion --host x stop', 'Not a command: gw motion --host x stop', gwHere],
    ['--host x motion stop', 'No command before --host.', gwHere],
    ['motion stop now', 'Unexpected argument of gw motion stop: now', (line: string) => runGw(line.split(' '))],
  ])('begins with NOT STOPPED and names the command: gw %s', async (line, cause, run) => {
    const { code, stdout, stderr } = await run(line);
    expect([code, stdout]).toEqual([2, '']);
    const [first = '', next = ''] = stderr.split('\n');
    expect(first).toMatch(/^gw: NOT STOPPED: .*Press the emergency stop of the robot now/);
    expect(first).toContain(cause);
    expect(next).toContain('The command is: gw motion stop');
    const json = JSON.parse((await run(`${line} --json`)).stdout);
    expect(json).toMatchObject({ ok: false, error: { code: 'USAGE', details: { delivered: false } } });
  });

  it('is none where help was asked for, or another command was mistyped', async () => {
    expect(await gwHere('motion --help')).toMatchObject({ code: 0, stderr: '' });
    const other = await gwHere('sim clod stop');
    expect([other.code, other.stderr]).toEqual([2, expect.not.stringContaining('NOT STOPPED')]);
  });
});
