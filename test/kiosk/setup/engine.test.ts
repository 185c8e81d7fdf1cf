import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import type { Tablet } from '../../../src/lib/kiosk/adb/tablet.ts';
import { applySteps, planSteps } from '../../../src/lib/kiosk/index.ts';
import type { CheckResult, Step, StepContext } from '../../../src/lib/kiosk/setup/step.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';

/** A tablet reduced to one value per step, with a list of the calls. */
function world(state: Record<string, string>) {
  const calls: string[] = [];
  let nowMs = 1_234_567;
  const context = {
    tablet: { reconnect: async () => void calls.push('reconnect') } as Partial<Tablet> as Tablet,
    profile: {} as StepContext['profile'],
    clock: {
      ...systemClock,
      monotonicMs: () => nowMs,
      async sleep(ms: number) {
        nowMs += ms;
      },
    },
    signal: new AbortController().signal,
    onProgress: () => {},
  };
  const step = (id: string, parts: Partial<Step> = {}): Step => ({
    id,
    title: id,
    expected: 'on',
    remedy: `correct ${id}`,
    async check(): Promise<CheckResult> {
      calls.push(`check ${id}`);
      const found = state[id] ?? '';
      return { verdict: found === 'on' ? 'ok' : found === '?' ? 'not-checked' : 'differs', found };
    },
    async apply() {
      calls.push(`apply ${id}`);
      state[id] = 'on';
    },
    ...parts,
  });
  return { context, step, calls, state };
}

const states = (outcomes: readonly { id: string; state: string }[]) =>
  outcomes.map(({ id, state }) => `${id} ${state}`);

it('a plan reads every step and changes none', async () => {
  const { context, step, calls } = world({ a: 'on', b: 'off', c: '?' });
  const outcomes = await planSteps([step('a'), step('b'), step('c')], context);
  expect(states(outcomes)).toEqual(['a ok', 'b differs', 'c not-checked']);
  expect(calls).toEqual(['check a', 'check b', 'check c']);
});

describe('a setup', () => {
  it('changes what differs, reads it back, and does nothing the second time', async () => {
    const { context, step, calls } = world({ a: 'on', b: 'off' });
    const steps = [step('a'), step('b')];
    expect(states(await applySteps(steps, context))).toEqual(['a ok', 'b changed']);
    expect(calls).toEqual(['check a', 'check b', 'apply b', 'check b']);
    calls.length = 0;
    expect(states(await applySteps(steps, context))).toEqual(['a ok', 'b ok']);
    expect(calls).toEqual(['check a', 'check b']);
  });

  it('waits for a delayed change, and reports one that has no effect', async () => {
    const { context, step, state } = world({ slow: 'off', never: 'off' });
    let reads = 0;
    const slow = step('slow', {
      async apply() {},
      async verify() {
        reads += 1;
        if (reads === 5) state.slow = 'on';
        return { verdict: reads >= 5 ? 'ok' : 'differs', found: `read ${reads}` };
      },
    });
    const outcomes = await applySteps([slow, step('never', { async apply() {} })], context);
    expect(states(outcomes)).toEqual(['slow changed', 'never differs']);
    expect(outcomes[1]?.remedy).toBe('correct never');
  });

  it('leaves steps without an apply to a person, and continues', async () => {
    const { context, step } = world({ hand: 'off', b: 'off' });
    const { apply: _apply, ...byHand } = step('hand');
    const outcomes = await applySteps([byHand, step('b')], context);
    expect(outcomes).toMatchObject([
      { id: 'hand', state: 'differs', byHand: true, remedy: 'correct hand' },
      { id: 'b', state: 'changed', byHand: false },
    ]);
  });

  it('ends at a refused step with its reason and reaches none after it', async () => {
    const { context, step, calls } = world({ a: 'off', b: 'off' });
    const refused = () => Promise.reject(new GwError('TABLET_NO_SPACE', 'no space', { remedy: 'free some' }));
    const outcomes = await applySteps([step('a', { apply: refused }), step('b')], context);
    expect(outcomes).toMatchObject([
      { state: 'failed', remedy: 'free some', error: { code: 'TABLET_NO_SPACE', message: 'no space' } },
      { state: 'not-reached', found: null },
    ]);
    expect(calls).toEqual(['check a']);
  });

  it('reconnects after a lost connection and repeats the step', async () => {
    const { context, step, calls, state } = world({ a: 'on', b: 'off' });
    let losses = 2;
    const unstable = step('b', {
      async apply() {
        losses -= 1;
        if (losses >= 0) throw new GwError('TABLET_LOST', 'lost');
        state.b = 'on';
      },
    });
    expect(states(await applySteps([step('a'), unstable], context))).toEqual(['a ok', 'b changed']);
    expect(calls.filter((what) => what === 'reconnect')).toHaveLength(2);
    expect(calls.filter((what) => what === 'check a')).toHaveLength(1);
  });

  it('ends after three reconnects with the connection error, and rethrows internal errors', async () => {
    const { context, step, calls } = world({ a: 'off', b: 'off' });
    const lost = () => Promise.reject(new GwError('TABLET_LOST', 'lost'));
    await expect(applySteps([step('a', { apply: lost })], context)).rejects.toMatchObject({ code: 'TABLET_LOST' });
    expect(calls.filter((what) => what === 'reconnect')).toHaveLength(3);
    const bug = () => Promise.reject(new TypeError('bug'));
    await expect(applySteps([step('b', { apply: bug })], context)).rejects.toThrow(TypeError);
  });

  it('does not report a change as made that the tablet does not report', async () => {
    const { context, step } = world({ a: 'off' });
    const verify: Step['verify'] = async () => ({ verdict: 'not-checked', found: 'not reported', remedy: 'check it' });
    expect(await applySteps([step('a', { verify })], context)).toMatchObject([
      { state: 'not-checked', remedy: 'check it' },
    ]);
  });
});
