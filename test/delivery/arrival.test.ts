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

it('carries the titles of stations beside their keys', async () => {
  const room = { de: 'Zimmer 204', en: 'Room 204' };
  const stations = { A: { xM: 1, yM: 0 }, B: { xM: 5, yM: 0, title: room }, C: { xM: 9, yM: 0, title: 'غرفة ٣' } };
  const world = createWorld({ nextAfterSeconds: 10 }, { stations });
  await world.restart();
  world.delivery().release();
  await world.motion.startDrive({ station: 'B' }, { by: 'page' });
  world.delivery().enqueue('C');
  world.delivery().enqueue('A');
  world.end('succeeded');
  for (let tick = 0; tick < 22; tick += 1) await world.tick();
  const { arrival, queue, countdown } = world.delivery().view() ?? {};
  expect(arrival).toMatchObject({ station: 'B', title: room });
  expect(queue).toMatchObject([{ station: 'C', title: 'غرفة ٣' }, { station: 'A' }]);
  expect(queue?.[1]).not.toHaveProperty('title');
  expect(countdown).toMatchObject({ station: 'C', title: 'غرفة ٣' });
});

it('at places that were measured with another robot nothing begins, and no arrival is said to be left', async () => {
  for (const [robot, expected] of [
    ['SN0001', 'c'],
    ['SN-BEFORE', undefined],
  ] as const) {
    const maps = { ground: { uid: 'u1', version: 1, robot } };
    const world = createWorld({ idle: { afterMinutes: 1 } }, { maps });
    await world.restart();
    world.delivery().release();
    await world.motion.startDrive({ station: 'B' }, { by: 'page' });
    world.end('succeeded');
    world.robot.at = { xM: 5.1, yM: 0 };
    await world.tick();
    expect([robot, world.delivery().view()?.arrival?.station]).toEqual([robot, 'B']);
    await world.delivery().proceed({ arrival: 'd1', next: null }, 'page');
    for (let tick = 0; tick < 130; tick += 1) await world.tick();
    expect([robot, world.delivery().view()?.countdown?.id.slice(0, 1)]).toEqual([robot, expected]);
  }
});
