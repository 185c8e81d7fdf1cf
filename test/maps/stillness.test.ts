import { describe, expect, it } from 'vitest';
import type { GwError } from '../../src/lib/error/index.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { checkStillness } from '../../src/lib/maps/index.ts';
import { assertStill } from '../../src/lib/maps/stillness.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { closedPort, type FakeChassis, fakeChassis } from '../chassis/peers.ts';

const check = ({ endpoint }: Pick<FakeChassis, 'endpoint'>, signal?: AbortSignal) =>
  checkStillness({ endpoint, dialer: directDialer, clock: systemClock }, signal);

const planning = (move_state: string) => ({
  topic: '/planning_state',
  action_id: 8,
  action_type: 'standard',
  move_state,
  fail_reason: 0,
});

/** Publishes repeatedly, since a test does not know when a client subscribes. */
async function publishing<T>(chassis: FakeChassis, next: (turn: number) => object, work: () => Promise<T>): Promise<T> {
  let turn = 0;
  const timer = setInterval(() => chassis.publish(next(turn++)), 50);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

describe.concurrent('whether the robot stands still', () => {
  it('is still when no move is under way and the position is constant', async () => {
    await using chassis = await fakeChassis();
    expect(await check(chassis)).toEqual({ verdict: 'still', detail: 'no move is under way (move_state "idle")' });
    expect(chassis.received).toEqual([{ enable_topic: '/planning_state' }, { enable_topic: '/tracked_pose' }]);
  });

  it('is moving when a move is reported after a latched idle state', async () => {
    await using chassis = await fakeChassis();
    const found = await publishing(
      chassis,
      (turn) => planning(turn < 5 ? 'idle' : 'moving'),
      () => check(chassis),
    );
    expect(found.verdict).toBe('moving');
  });

  it('is moving when the position changes without a move: pushed or steered by hand', async () => {
    await using chassis = await fakeChassis();
    const found = await publishing(
      chassis,
      (turn) => ({ topic: '/tracked_pose', pos: [1.5 + turn * 0.02, -2], ori: 90 }),
      () => check(chassis),
    );
    expect(found).toEqual({ verdict: 'moving', detail: expect.stringContaining('its position changed by 0.') });
  });

  it('is still with noise of the position', async () => {
    await using chassis = await fakeChassis();
    const found = await publishing(
      chassis,
      (turn) => ({ topic: '/tracked_pose', pos: [1.5 + (turn % 2) * 0.03, -2], ori: 90 }),
      () => check(chassis),
    );
    expect(found.verdict).toBe('still');
  });

  it('is not checked with an unknown state', async () => {
    await using chassis = await fakeChassis();
    const found = await publishing(
      chassis,
      () => planning('finished'),
      () => check(chassis),
    );
    expect(found).toEqual({ verdict: 'not-checked', detail: expect.stringContaining('"finished"') });
  });

  it('is not checked without messages', async () => {
    await using chassis = await fakeChassis();
    chassis.unknownTopics.push('/planning_state');
    const began = performance.now();
    expect(await check(chassis)).toEqual({
      verdict: 'not-checked',
      detail: '/planning_state was not received within 3 s',
    });
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  it('is not checked when the stream cannot be opened, or is lost', async () => {
    expect(await check({ endpoint: await closedPort() })).toMatchObject({ verdict: 'not-checked' });
    await using chassis = await fakeChassis();
    const cut = setTimeout(() => {
      for (const stream of chassis.streams) stream.terminate();
    }, 300);
    expect(await check(chassis)).toEqual({ verdict: 'not-checked', detail: expect.stringContaining('topic stream') });
    clearTimeout(cut);
  });

  it('ends with INTERRUPTED at once when the user interrupts', async () => {
    await using chassis = await fakeChassis();
    chassis.unknownTopics.push('/planning_state');
    const ending = new AbortController();
    setTimeout(() => ending.abort(), 100);
    const began = performance.now();
    await expect(check(chassis, ending.signal)).rejects.toMatchObject({ code: 'INTERRUPTED' });
    await expect(check(chassis, AbortSignal.abort())).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});

describe.concurrent('what is done without stillness', () => {
  const codeOf = (work: () => void): string | null => {
    try {
      work();
      return null;
    } catch (error) {
      return (error as GwError).code;
    }
  };

  it.each([
    ['still', false, null],
    ['still', true, null],
    ['moving', false, 'CHASSIS_MOVING'],
    ['moving', true, 'CHASSIS_MOVING'],
    ['not-checked', false, 'CHASSIS_MOVING'],
    ['not-checked', true, null],
  ] as const)('%s, and a person says so: %s', (verdict, isConfirmed, code) => {
    expect(codeOf(() => assertStill({ verdict, detail: 'x' }, isConfirmed))).toBe(code);
  });
});
