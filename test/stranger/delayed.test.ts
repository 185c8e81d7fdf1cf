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

/** Which of the pings, from 1 on, are answered; there are five in two seconds. */
async function answering(isAnswered: (ping: number) => boolean) {
  let pings = 0;
  const pongs = () => {
    pings += 1;
    return isAnswered(pings);
  };
  const world = await createWorld(robot, { pongs });
  return Object.assign(world, { standing: () => world.link.snapshot().standing });
}

describe('a robot that answers only some pings', () => {
  it.each([
    ['none', () => false],
    ['the first', (ping: number) => ping === 1],
    ['each tenth', (ping: number) => ping % 10 === 0],
  ])('stands from 12 s after the connection on, and keeps standing: %s', async (_which, isAnswered) => {
    await using world = await answering(isAnswered);
    await world.until(() => false, 12_000);
    const verdicts = new Set<string>();
    await world.until(
      () => false,
      20_000,
      () => verdicts.add(world.standing().verdict),
    );
    expect([...verdicts]).toEqual(['stands']);
  });

  it('is not said to stand in the first seconds of a connection on which no ping was answered yet', async () => {
    await using world = await answering(() => false);
    const verdicts = new Set<string>();
    await world.until(
      () => false,
      4_000,
      () => verdicts.add(world.standing().verdict),
    );
    expect([...verdicts]).toEqual(['not-known']);
  });

  it('has its round trip measured as soon as it answers, after however many pings', async () => {
    await using world = await answering((ping) => ping > 400);
    await world.until(() => false, 150_000);
    expect(world.link.snapshot().roundTripMs).toBeNull();
    await world.until(() => world.link.snapshot().roundTripMs !== null, 20_000);
    expect(world.link.snapshot().roundTripMs).toBe(0);
  });
});
