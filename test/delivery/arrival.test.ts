import { expect, it } from 'vitest';
import { createWorld } from './world.ts';

it.each([
  ['with movements that begin by themselves', { idle: { afterMinutes: 1 } }],
  ['without', {}],
])('an arrival is over where a person has moved the robot, %s', async (_, settings) => {
  const world = createWorld(settings);
  await world.restart();
  const { robot } = world;
  await world.motion.startDrive({ station: 'B' }, { by: 'page' });
  world.end('succeeded');
  await world.tick();
  expect(world.delivery().view()?.arrival).toMatchObject({ station: 'B' });
  // Not known is not elsewhere.
  for (const change of [{ isPoseStale: true }, { standing: 'not-known' as const }, { map: 'u2' }]) {
    const before = { isPoseStale: robot.isPoseStale, standing: robot.standing, map: robot.map };
    Object.assign(robot, change, { at: { xM: 3, yM: 3 } });
    await world.tick();
    expect([change, world.delivery().view()?.arrival?.station]).toEqual([change, 'B']);
    Object.assign(robot, before, { at: { xM: 5, yM: 0 } });
  }
  robot.at = { xM: 1, yM: 0 };
  await world.tick();
  expect(world.delivery().view()?.arrival).toBeNull();
});

it('a drive that a command has ordered, a tour, and a drive to the dock leave no arrival', async () => {
  const world = createWorld({});
  await world.restart();
  await world.motion.startDrive({ station: 'B' }, { by: 'command' });
  world.end('succeeded');
  expect(world.delivery().view()?.arrival).toBeNull();
  await world.motion.startDrive({ dock: true }, { by: 'page' });
  world.end('succeeded');
  expect(world.delivery().view()).toMatchObject({ arrival: null, isOpen: false, hold: null });
});
