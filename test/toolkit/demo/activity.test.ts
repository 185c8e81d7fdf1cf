import { describe, expect, it } from 'vitest';
import { createStages } from '../../../src/lib/sim/waiting.ts';
import { createActivity } from '../../../src/lib/toolkit/demo/activity.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';

function start() {
  const clock = createFakeClock();
  const [shown, lines]: [string[], string[]] = [[], []];
  const activity = createActivity({
    clock,
    onProgress: (text) => shown.push(text),
    onWaiting: (text) => lines.push(text),
  });
  return { clock, activity, shown, lines };
}

describe('what runs in a demo', () => {
  it('is named with how long it is waited for and what it waits for, as soon as that is long', async () => {
    const { clock, activity, shown, lines } = start();
    let last = 'nothing yet';
    activity.begin('Waiting for gw sim to be ready', () => `its last line: ${last}`);
    await clock.advance(9_999);
    expect([shown, lines]).toEqual([['Waiting for gw sim to be ready'], []]);
    last = 'the keys';
    await clock.advance(14_001);
    expect(shown.at(-1)).toBe('Waiting for gw sim to be ready: 24 s; its last line: the keys');
    expect(lines).toEqual([
      'Waiting for gw sim to be ready: 10 s; its last line: the keys',
      'Waiting for gw sim to be ready: 20 s; its last line: the keys',
    ]);
    activity[Symbol.dispose]();
    expect(clock.pending).toBe(0);
  });

  it('says it for ever, on lines of their own at most once a minute', async () => {
    const { clock, activity, lines } = start();
    activity.begin('A step');
    await clock.advance(3_600_000);
    expect(lines).toHaveLength(62);
    expect(lines.at(-1)).toBe('A step: 3560 s');
    activity.begin('The next');
    await clock.advance(9_000);
    expect(lines).toHaveLength(62);
  });

  it('carries what a check says of itself', async () => {
    const { clock, activity, shown } = start();
    activity.begin('17/25 The tour');
    activity.detail('to station B');
    expect(shown.at(-1)).toBe('17/25 The tour: to station B');
    await clock.advance(14_000);
    expect(shown.at(-1)).toBe('17/25 The tour: 14 s; to station B');
  });
});

describe('the start of a simulator', () => {
  it('says every five seconds what it waits for, until it is ready', async () => {
    const clock = createFakeClock();
    const events: object[] = [];
    const stages = createStages(clock, (event) => events.push(event), 'its program');
    await clock.advance(4_999);
    stages.enter('the keys');
    await clock.advance(5_001);
    expect(events).toEqual([
      { event: 'waiting', what: 'the keys', ms: 1 },
      { event: 'waiting', what: 'the keys', ms: 5_001 },
    ]);
    stages[Symbol.dispose]();
    expect(clock.pending).toBe(0);
  });
});
