import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBrake } from '../../../src/lib/tunnel/link/connection.ts';
import { proxyLimits } from '../../../src/lib/tunnel/link/index.ts';
import { scriptedClock } from '../source/harness.ts';

const few = { ...proxyLimits, queueBytes: 1_600, queueTotalBytes: 3_200, holdMs: 77 };

function setUp(limits = few) {
  const clock = scriptedClock();
  const held: boolean[] = [];
  const late: string[] = [];
  const brake = createBrake({
    limits,
    clock,
    setHeld: (is) => void held.push(is),
    onTotalLate: () => late.push('all'),
  });
  return { brake, clock, held, late };
}

test('above half of its limit the WebSocket is not read, until a part is taken; whoever takes nothing loses', () => {
  const { brake, clock, held, late } = setUp({ ...few, queueTotalBytes: 32_000 });
  const [one, two] = [{}, {}];
  brake.queued(one, 800, 800, () => late.push('one'));
  expect(held).toEqual([]);
  brake.queued(one, 801, 1, () => late.push('one'));
  brake.queued(two, 801, 801, () => late.push('two'));
  expect(held).toEqual([true]);
  brake.settled(one, 700, 101);
  expect(held).toEqual([true]);
  brake.settled(one, 699, 1);
  expect(held).toEqual([true]);
  clock.fire(few.holdMs);
  expect(late).toEqual(['two']);
  expect(held).toEqual([true, false]);
});

test('all together have half of the limit for all', () => {
  const { brake, clock, held, late } = setUp();
  const keys = [{}, {}, {}];
  for (const key of keys) brake.queued(key, 600, 600, () => late.push('one'));
  expect(held).toEqual([true]);
  for (const key of keys) brake.settled(key, 550, 50);
  clock.fire(few.holdMs);
  expect([late, held]).toEqual([['all'], [true, false]]);
});

test('one hold is enough for all that take nothing: the others are not held up again for each of them', () => {
  const { brake, clock, held, late } = setUp({ ...few, queueTotalBytes: 6_400 });
  const queue = (name: string, own: number) => {
    const key = { name };
    brake.queued(key, own, own, () => late.push(name));
    return key;
  };
  queue('stalled', 700);
  const slow = queue('slow', 700);
  queue('little waits', 25);
  queue('gone', 700);
  const left = queue('left', 700);
  brake.leave(left);
  queue('first', 801);
  brake.settled(slow, 650, 50);
  clock.fire(few.holdMs);
  expect(late).toEqual(['stalled', 'gone', 'first']);
  expect(held).toEqual([true, false]);
});

test('for all together the longest queue goes only where the stalled ones were not enough', () => {
  const { brake, clock, late } = setUp();
  const [slow, stalled] = [{}, {}];
  brake.queued(slow, 790, 790, () => late.push('slow'));
  brake.queued(stalled, 790, 790, () => late.push('stalled'));
  brake.queued({}, 25, 25, () => late.push('little'));
  brake.settled(slow, 780, 10);
  clock.fire(few.holdMs);
  expect(late).toEqual(['stalled']);
});

test('property: it is held exactly while a connection is waited for, and never after all have closed or been emptied', {
  tags: 'property',
}, () => {
  const step = fc.record({
    who: fc.nat(3),
    act: fc.constantFrom('queue', 'settle', 'leave', 'late'),
    bytes: fc.integer({ min: 1, max: 900 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { brake, clock, held } = setUp();
      const all = [{}, {}, {}, {}].map((key) => ({ key, own: 0 }));
      let sum = 0;
      for (const { who, act, bytes } of steps) {
        const each = all[who] as { key: object; own: number };
        if (act === 'queue') {
          each.own += bytes;
          sum += bytes;
          brake.queued(each.key, each.own, bytes, () => {});
          if (each.own > few.queueBytes / 2 || sum > few.queueTotalBytes / 2) expect(held.at(-1)).toBe(true);
        } else if (act === 'settle') {
          const taken = Math.min(each.own, bytes);
          each.own -= taken;
          sum -= taken;
          brake.settled(each.key, each.own, taken);
        } else if (act === 'leave') brake.leave(each.key);
        else clock.fire(few.holdMs);
        expect(brake.queuedBytes).toBe(sum);
        // It changes, and begins with true.
        expect(held).toEqual(held.map((_, at) => at % 2 === 0));
      }
      for (const each of all) {
        sum -= each.own;
        brake.settled(each.key, 0, each.own);
        brake.leave(each.key);
      }
      expect(held.at(-1) ?? false).toBe(false);
    }),
  );
});
