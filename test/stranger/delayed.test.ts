import { describe, expect, it } from 'vitest';
import type { Lies } from './chassis.ts';
import { createWorld } from './world.ts';

const robot = { seed: 8, hz: 10, noiseM: 0.005, noiseDeg: 0.2, start: { xM: 3, yM: -2, deg: 40 } };

/** A queue on the way from the robot grows to this while messages keep coming: no silence ends the connection. */
async function delayedBy(mostMs: number) {
  const now = { delayMs: 0, moves: {} as ReturnType<NonNullable<Lies['moves']>> };
  const world = await createWorld({ ...robot, lies: { moves: () => now.moves } }, { delayMs: () => now.delayMs });
  const standing = () => world.link.snapshot().standing;
  await world.until(() => standing().verdict === 'stands', 10_000);
  expect(standing().verdict).toBe('stands');
  await world.until(
    () => now.delayMs >= mostMs,
    60_000,
    () => {
      now.delayMs = Math.min(mostMs, now.delayMs + 60);
    },
  );
  await world.until(() => false, mostMs + 5_000);
  expect(world.link.snapshot().link.kind).toBe('connected');
  return Object.assign(world, { now, standing });
}

describe('what a robot sends is under way for seconds', () => {
  it.each([2_500, 4_000, 8_000, 15_000])(
    'it is never said to stand for more than 3.5 s while it drives: %d ms',
    async (ms) => {
      await using world = await delayedBy(ms);
      expect(world.standing()).toMatchObject(
        ms < 3_000
          ? { verdict: 'stands' }
          : { verdict: 'not-known', reason: expect.stringMatching(/^its poses may be \d+\.\d s old$/) },
      );
      world.now.moves = { alongMS: 0.3 };
      const droveMs = world.clock.monotonicMs();
      let stoodUntilMs = droveMs;
      await world.until(
        () => world.standing().verdict === 'moves',
        ms + 5_000,
        () => {
          if (world.standing().verdict === 'stands') stoodUntilMs = world.clock.monotonicMs();
        },
      );
      expect(stoodUntilMs - droveMs).toBeLessThanOrEqual(3_500);
      // Old as they are, they show that it drove.
      expect(world.standing().verdict).toBe('moves');
    },
  );

  it('it stands again once its messages come at once', async () => {
    await using world = await delayedBy(8_000);
    world.now.delayMs = 0;
    await world.until(() => world.standing().verdict === 'stands', 30_000);
    expect(world.standing().verdict).toBe('stands');
  });
});
