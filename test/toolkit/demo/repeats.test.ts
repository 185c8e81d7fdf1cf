import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { untilAnswered, waitedForProcessor, whyAgain } from '../../../src/lib/toolkit/demo/repeats.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';

type Step = Parameters<typeof whyAgain>[0];
type Verdict = Step['expectations'][number]['verdict'];

function step(run: string, verdict: Step['verdict'], unmet: Readonly<Record<string, Verdict>>, more = {}): Step {
  const expectations = Object.entries(unmet).map(([path, found]) => ({
    ...{ path, expected: 'ok', found: 'other', verdict: found },
  }));
  return { run, verdict, why: 'because', expectations, error: null, measured: null, ...more };
}

const late = { 'findings[id=latency].verdict': 'wrong' } as const;
const refused = { error: { code: 'MOTION_REFUSED', message: 'it may move', tried: null, remedy: 'Wait.' } };
const unreachable = { error: { ...refused.error, code: 'CHASSIS_NOT_CONNECTED' } };
const unknown = (verdict: string, state = 'failed') => ({ measured: { state, arrivals: [{ verdict }] } });

describe('a step of the demo is measured again', () => {
  it.each<[string, Step, number | null]>([
    ['poses left it open', step('tour run', 'not-checked', { findings: 'not-checked' }), 0],
    ['the unit of the pose is not decided', step('chassis probe', 'not-checked', { unit: 'not-checked' }), null],
    [
      'the gateway does not know whether the robot stands at the station',
      step('tour run', 'wrong', { state: 'wrong', findings: 'wrong' }, unknown('not-known')),
      0,
    ],
    ['a time is too long while processes waited', step('chassis probe', 'wrong', late), 500],
    ['the cut was seen late while processes waited', step('sim fault', 'wrong', { afterMs: 'wrong' }), 900],
    ['nothing answered in time', step('map backup', 'wrong', {}, unreachable), 900],
    ['the chassis did not answer in time', step('chassis address', 'wrong', { state: 'wrong' }), 900],
    ['an order was refused while poses came late', step('tour run', 'wrong', {}, refused), 900],
  ])('when %s', (_when, result, lateMs) => {
    expect(whyAgain(result, lateMs)).toContain('not decided');
  });

  it.each<[string, Step, number | null]>([
    ['it is ok', step('tour run', 'ok', {}), 9_000],
    ['the processes had their time', step('chassis probe', 'wrong', late), 499],
    ['it is not known whether they had it', step('chassis probe', 'wrong', late), null],
    ['something else is wrong too', step('chassis probe', 'wrong', { ...late, identity: 'wrong' }), 9_000],
    ['the robot is elsewhere', step('tour run', 'wrong', { state: 'wrong' }, unknown('elsewhere')), 9_000],
    ['the tour failed for another reason', step('tour run', 'wrong', { state: 'wrong' }), 9_000],
    ['no adb is here', step('kiosk status', 'not-checked', { port: 'not-checked' }), 9_000],
    ['nothing answers although they had their time', step('map backup', 'wrong', {}, unreachable), 0],
    ['a step before it was not ok', step('tour run', 'skipped', {}), 9_000],
  ])('never when %s', (_when, result, lateMs) => {
    expect(whyAgain(result, lateMs)).toBeNull();
  });

  it('no more than ten times: what is never decided has its verdict', () => {
    const open = step('chassis probe', 'not-checked', { unit: 'not-checked' });
    expect(whyAgain(open, null, 9)).toContain('not decided');
    expect(whyAgain(open, null, 10)).toBeNull();
  });

  it('by what the system says of waiting processes', async () => {
    const own = await waitedForProcessor([process.pid]);
    expect(own === null || own >= 0).toBe(true);
    expect(await waitedForProcessor([process.pid, 2 ** 30])).toBeNull();
  });
});

describe('what must be answered before the first step', () => {
  it('is tried again until it is, says why, and ends with any other error or Ctrl-C', async () => {
    const clock = createFakeClock();
    const { signal } = new AbortController();
    const again: string[] = [];
    const left = [new GwError('CHASSIS_NOT_CONNECTED', 'no answer'), new GwError('CHASSIS_NOT_CONNECTED', 'late')];
    const work = async () => {
      const error = left.shift();
      if (error) throw error;
      return 'answered';
    };
    const onAgain = ({ message }: GwError) => again.push(message);
    const answered = untilAnswered(work, { clock, signal, onAgain });
    await clock.advance(2_000);
    expect(await answered).toBe('answered');
    expect(again).toEqual(['no answer', 'late']);
    left.push(new GwError('CHASSIS_WRONG_DEVICE', 'another'));
    await expect(untilAnswered(work, { clock, signal, onAgain })).rejects.toThrow('another');
    const over = new AbortController();
    const never = untilAnswered(() => Promise.reject(new GwError('CHASSIS_NOT_CONNECTED', 'x')), {
      ...{ clock, onAgain, signal: over.signal },
    });
    over.abort(new Error('enough'));
    await expect(never).rejects.toThrow('enough');
  });
});
