import { describe, expect, it } from 'vitest';
import { GwError } from '../../src/lib/error/index.ts';
import { applySteps, planSteps } from '../../src/lib/kiosk/index.ts';
import type { Look, Step, StepScene } from '../../src/lib/kiosk/step.ts';
import type { Tablet } from '../../src/lib/kiosk/tablet.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';

/** A tablet reduced to one word a step, and a list of what was done to it. */
function world(state: Record<string, string>) {
  const done: string[] = [];
  let nowMs = 1_234_567;
  const scene = {
    tablet: {
      async reconnect() {
        done.push('reconnect');
      },
    } as Partial<Tablet> as Tablet,
    profile: {} as StepScene['profile'],
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
    remedy: `mend ${id}`,
    async check(): Promise<Look> {
      done.push(`check ${id}`);
      return {
        verdict: state[id] === 'on' ? 'ok' : state[id] === '?' ? 'not-checked' : 'differs',
        found: state[id] ?? '',
      };
    },
    async apply() {
      done.push(`apply ${id}`);
      state[id] = 'on';
    },
    ...parts,
  });
  return { scene, step, done, state };
}

const states = (outcomes: readonly { id: string; state: string }[]) =>
  outcomes.map(({ id, state }) => `${id} ${state}`);

describe('a plan', () => {
  it('looks at every step and changes none', async () => {
    const { scene, step, done } = world({ a: 'on', b: 'off', c: '?' });
    const outcomes = await planSteps([step('a'), step('b'), step('c')], scene);
    expect(states(outcomes)).toEqual(['a ok', 'b differs', 'c not-checked']);
    expect(done).toEqual(['check a', 'check b', 'check c']);
  });
});

describe('a setup', () => {
  it('changes what differs, reads it back, and does nothing the second time', async () => {
    const { scene, step, done } = world({ a: 'on', b: 'off' });
    const steps = [step('a'), step('b')];
    expect(states(await applySteps(steps, scene))).toEqual(['a ok', 'b changed']);
    expect(done).toEqual(['check a', 'check b', 'apply b', 'check b']);
    done.length = 0;
    expect(states(await applySteps(steps, scene))).toEqual(['a ok', 'b ok']);
    expect(done).toEqual(['check a', 'check b']);
  });

  it('waits for a change that takes a moment, and says it when it never shows', async () => {
    const { scene, step, state } = world({ slow: 'off', never: 'off' });
    let looks = 0;
    const slow = step('slow', {
      async apply() {},
      async verify() {
        looks += 1;
        if (looks === 5) state.slow = 'on';
        return { verdict: looks >= 5 ? 'ok' : 'differs', found: `look ${looks}` };
      },
    });
    const outcomes = await applySteps([slow, step('never', { async apply() {} })], scene);
    expect(states(outcomes)).toEqual(['slow changed', 'never differs']);
    expect(outcomes[1]?.remedy).toBe('mend never');
  });

  it('leaves to a person what only a person can do, and goes on', async () => {
    const { scene, step } = world({ hand: 'off', b: 'off' });
    const { apply: _apply, ...byHand } = step('hand');
    const outcomes = await applySteps([byHand, step('b')], scene);
    expect(outcomes).toMatchObject([
      { id: 'hand', state: 'differs', byHand: true, remedy: 'mend hand' },
      { id: 'b', state: 'changed', byHand: false },
    ]);
  });

  it('ends at a step that is refused, with its reason, and reaches none after it', async () => {
    const { scene, step, done } = world({ a: 'off', b: 'off' });
    const refused = async () => {
      throw new GwError('TABLET_NO_SPACE', 'no room', { remedy: 'make room' });
    };
    const outcomes = await applySteps([step('a', { apply: refused }), step('b')], scene);
    expect(outcomes).toMatchObject([
      { state: 'failed', remedy: 'make room', error: { code: 'TABLET_NO_SPACE', message: 'no room' } },
      { state: 'not-reached', found: null },
    ]);
    expect(done).toEqual(['check a']);
  });

  it('connects again after a cut and does the step once more', async () => {
    const { scene, step, done, state } = world({ a: 'on', b: 'off' });
    let cuts = 2;
    const shaky = step('b', {
      async apply() {
        if (cuts > 0) {
          cuts -= 1;
          throw new GwError('TABLET_LOST', 'cut');
        }
        state.b = 'on';
      },
    });
    expect(states(await applySteps([step('a'), shaky], scene))).toEqual(['a ok', 'b changed']);
    expect(done.filter((what) => what === 'reconnect')).toHaveLength(2);
    expect(done.filter((what) => what === 'check a')).toHaveLength(1);
  });

  it('gives up after three cuts with the error of the line, and passes our own bugs on', async () => {
    const { scene, step, done } = world({ a: 'off', b: 'off' });
    const lost = async () => {
      throw new GwError('TABLET_LOST', 'cut');
    };
    await expect(applySteps([step('a', { apply: lost })], scene)).rejects.toMatchObject({ code: 'TABLET_LOST' });
    expect(done.filter((what) => what === 'reconnect')).toHaveLength(3);
    const bug = async () => {
      throw new TypeError('bug');
    };
    await expect(applySteps([step('b', { apply: bug })], scene)).rejects.toThrow(TypeError);
  });

  it('does not call a change done that the tablet does not tell', async () => {
    const { scene, step } = world({ a: 'off' });
    const silent = step('a', { verify: async () => ({ verdict: 'not-checked', found: 'not told', remedy: 'look' }) });
    expect(await applySteps([silent], scene)).toMatchObject([{ state: 'not-checked', remedy: 'look' }]);
  });
});
