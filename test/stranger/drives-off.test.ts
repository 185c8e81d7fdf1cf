import { describe, expect, it } from 'vitest';
import { appendRecord } from '../../src/lib/evidence/index.ts';
import { isFull } from '../properties.ts';
import type { Lies } from './chassis.ts';
import { robots } from './robots.ts';
import { createWorld, type RobotOptions, type World } from './world.ts';

const robot: RobotOptions = {
  ...{ seed: 4, hz: 10, noiseM: 0.004, noiseDeg: 0.2, speedMS: 0.5, turnDegS: 60 },
  start: { xM: 3, yM: -2, deg: 40 },
};
type Moves = ReturnType<NonNullable<Lies['moves']>>;
/** It drives, and reports no move. */
const drives: Moves = { alongMS: 0.3 };

/** A robot that begins to move, or to be moved, when the test says so. */
async function restless(options: Partial<RobotOptions> = {}, append?: typeof appendRecord) {
  const now: { moves: Moves; wheels: object; offM: number; says: string | null; moveId: number | null } = {
    ...{ moves: {}, wheels: {}, offM: 0, says: null, moveId: null },
  };
  const lies: Lies = {
    moves: () => now.moves,
    wheels: () => now.wheels,
    says: (state) => now.says ?? state,
    reports: (id) => now.moveId ?? id,
    publishes: (pose) => ({ ...pose, xM: pose.xM + now.offM }),
  };
  const world = await createWorld({ ...robot, ...options, lies }, append && { append });
  return Object.assign(world, { now });
}
const cancels = ({ chassis }: World) => chassis.sent.filter(({ method }) => method === 'PATCH').length;
const stop = ({ motion }: World) => motion.status().stop;
const standstill = ({ motion }: World) => motion.status().standstill.verdict;
const passes = (world: World, ms: number) => world.until(() => false, ms);
const latched = {
  latched: true,
  disobeyed: expect.stringMatching(/^it drives without an order, after it had stood: /),
};

/** Another client orders a move of 3 m. Returns its number. */
async function orderOfAnother({ chassis }: World): Promise<number> {
  const { xM, yM } = chassis.truth();
  const body = JSON.stringify({ target_x: xM + 3, target_y: yM });
  const answer = await chassis.served.answer({ method: 'POST', path: '/chassis/moves', body });
  if (answer === null) throw new Error('the chassis does not answer');
  return (answer.json as { readonly id: number }).id;
}

/** A drive that a person ended, and that is seen to stand. */
async function endedDrive(world: World): Promise<void> {
  const ending = new AbortController();
  const ended = world.motion.execute(world.order(9), ending.signal);
  await world.until(() => world.chassis.moment().drivenM > 1, 30_000);
  ending.abort(new Error('enough'));
  await world.during(ended, 30_000);
  await world.until(() => standstill(world) === 'stands', 40_000);
  expect([standstill(world), stop(world).latched]).toEqual(['stands', false]);
}

describe('a robot that drives off without an order', () => {
  it.each(['stop', 'move'] as const)(
    'while the record of %s is being written is stopped, and nothing is verified',
    async (kind) => {
      let world: Awaited<ReturnType<typeof restless>> | null = null;
      const slow: typeof appendRecord = async (...record) => {
        const appended = await appendRecord(...record);
        if (world !== null) world.now.moves = drives;
        await world?.clock.sleep(8_000);
        return appended;
      };
      await using made = await restless({}, slow);
      world = made;
      const ended = await made.verify(kind);
      expect(ended).toMatchObject({
        ...{ outcome: 'not-decided', recorded: [], alarm: expect.stringMatching(/^PRESS THE EMERGENCY STOP/) },
        reason: ended.alarm,
      });
      expect(await made.records()).toEqual([]);
      expect([stop(made).latched, cancels(made) > 2]).toEqual([true, true]);
      made.now.moves = {};
    },
  );

  it.each(['stop', 'move'] as const)('after the record of %s is cancelled, and the stop is latched', async (kind) => {
    await using world = await restless();
    expect((await world.verify(kind)).outcome).toBe('verified');
    await passes(world, 40_000);
    expect([standstill(world), stop(world).latched]).toEqual(['stands', false]);
    const before = cancels(world);
    world.now.moves = drives;
    await world.until(() => stop(world).latched, 6_000);
    expect([standstill(world), stop(world)]).toMatchObject(['drives-on', latched]);
    await passes(world, 5_000);
    expect(cancels(world) - before).toBeGreaterThan(4);
    world.now.moves = {};
    await world.until(() => standstill(world) === 'stands', 20_000);
    // A person decides whether it drives again.
    expect([standstill(world), stop(world)]).toMatchObject(['stands', latched]);
  });

  it('after its drive was ended, slowly or in a bend, is cancelled, and the stop is latched', async () => {
    for (const moves of [{ alongMS: 0.05 }, { alongMS: 0.3, turnDegS: 20 }]) {
      await using world = await restless();
      expect((await world.verify('move')).outcome).toBe('verified');
      await endedDrive(world);
      world.now.moves = moves;
      await world.until(() => stop(world).latched, 10_000);
      expect(stop(world)).toMatchObject(latched);
      world.now.moves = {};
    }
  });
});

describe('a robot that resumes a move which has ended, and reports it as moving', () => {
  type Restless = Awaited<ReturnType<typeof restless>>;
  const before: readonly (readonly [what: string, (world: Restless) => Promise<unknown>])[] = [
    ['after the end of a drive', endedDrive],
    [
      'that another client had ordered, after a drive of gw was ended',
      async (world) => {
        const moveId = await orderOfAnother(world);
        await world.until(() => world.chassis.moment().state === 'succeeded', 60_000);
        await world.until(() => world.motion.status().gate.open, 20_000);
        await endedDrive(world);
        world.now.moveId = moveId;
      },
    ],
    ['after a trial of the stop', async (world) => expect((await world.verify('stop')).outcome).toBe('verified')],
    [
      'when the emergency stop that was pressed on the way is released',
      async (world) => {
        const ended = world.motion.execute(world.order(9));
        await world.until(() => world.chassis.moment().drivenM > 1, 30_000);
        world.now.wheels = { emergency_stop_pressed: true };
        expect((await world.during(ended, 30_000)).state).toBe('cancelled');
        await passes(world, 20_000);
        world.now.wheels = {};
      },
    ],
  ];

  it.each(before)('%s is cancelled, and the stop is latched', async (_what, work) => {
    await using world = await restless();
    await work(world);
    await passes(world, 5_000);
    expect([standstill(world), stop(world).latched]).toEqual(['stands', false]);
    const cancelled = cancels(world);
    world.now.says = 'moving';
    world.now.moves = drives;
    await world.until(() => stop(world).latched, 6_000);
    expect(stop(world)).toMatchObject(latched);
    await passes(world, 5_000);
    expect(cancels(world) - cancelled).toBeGreaterThan(4);
    world.now.moves = {};
    world.now.says = null;
  });
});

describe('a robot that is moved otherwise is not cancelled', () => {
  const follows = async (world: World, ms = 10_000) => {
    const before = cancels(world);
    await passes(world, ms);
    expect([cancels(world) - before, stop(world).latched]).toEqual([0, false]);
  };

  // `npm test` takes each fortieth of them.
  it.each(robots.filter(({ seed }) => seed % (isFull ? 4 : 40) === 0))(
    'where only its poses are noisy, and late: robot $seed',
    { tags: 'property' },
    async (honest) => {
      await using world = await restless(honest);
      await endedDrive(world);
      await follows(world, 60_000);
    },
  );

  it('where no stop and no trial came before', async () => {
    await using world = await restless();
    world.now.moves = drives;
    await follows(world);
    expect(standstill(world)).toBe('moves');
  });

  it('where a person turns it on the spot by hand', async () => {
    await using world = await restless();
    expect((await world.verify('move')).outcome).toBe('verified');
    world.now.moves = { turnDegS: 60 };
    await follows(world);
    // It closes the gate.
    expect([standstill(world), world.motion.status().gate.open]).toEqual(['moves', false]);
  });

  it('where a minute has passed since it was seen to stand', async () => {
    await using world = await restless();
    await endedDrive(world);
    await passes(world, 61_000);
    world.now.moves = drives;
    await follows(world);
  });

  it.each([
    ['its wheels are released', { wheels_released: true }],
    ['it is in manual control', { control_mode: 'manual' }],
    ['its emergency stop is pressed', { emergency_stop_pressed: true }],
  ])('where %s: a person moves it', async (_what, wheels) => {
    await using world = await restless();
    await endedDrive(world);
    world.now.wheels = wheels;
    await passes(world, 1_000);
    world.now.moves = drives;
    await follows(world, 8_000);
    world.now.moves = {};
    world.now.wheels = {};
    await follows(world, 8_000);
    // Released by the person, it must stand.
    world.now.moves = drives;
    await world.until(() => stop(world).latched, 6_000);
    expect(stop(world)).toMatchObject(latched);
    world.now.moves = {};
  });

  it.each([0.1, 0.3, 2])(
    'where its localisation finds it anew, or another client sets its pose: %d m off',
    async (offM) => {
      await using world = await restless();
      await endedDrive(world);
      world.now.offM = offM;
      await follows(world, 20_000);
      world.now.moves = drives;
      await world.until(() => stop(world).latched, 6_000);
      expect(stop(world)).toMatchObject(latched);
      world.now.moves = {};
    },
  );

  it('where another client has ordered a move', async () => {
    await using world = await restless();
    await endedDrive(world);
    await orderOfAnother(world);
    await follows(world, 20_000);
    expect(world.chassis.moment().drivenM).toBeGreaterThan(3);
  });

  it('by the next order of gw', async () => {
    await using world = await restless({ latencyMs: 1_000 });
    await endedDrive(world);
    await world.until(() => world.motion.status().gate.open, 20_000);
    const { state } = await world.during(world.motion.execute(world.order(2)), 60_000);
    expect([state, stop(world).latched]).toEqual(['succeeded', false]);
  });
});
