import { expect, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import { chosen } from '../../src/lib/evidence/index.ts';
import { isFull } from '../properties.ts';
import { robots } from './robots.ts';
import { createWorld, house } from './world.ts';

// `npm test` takes each fortieth of them.
it.each(robots.filter(({ seed }) => seed % (isFull ? 4 : 40) === 0))(
  'an honest robot whose pose is set is seen to rest there: robot $seed',
  { tags: 'property' },
  async (robot) => {
    await using world = await createWorld(robot);
    const { xM, yM, deg } = world.chassis.truth();
    const pose = chosen({ xM, yM, yawDeg: degrees(deg), map: house }, 'test');
    const outcome = await world.during(world.motion.execute({ kind: 'pose', pose }), 60_000);
    expect(outcome).toMatchObject({ state: 'succeeded', reason: null });
  },
);

it('a pose trial whose map the chassis denies sends no pose, has nothing to restore, and leaves no alarm', async () => {
  let isDenied = false;
  await using world = await createWorld({
    ...{ seed: 4, hz: 10, noiseM: 0.004, noiseDeg: 0.2, speedMS: 0.5, turnDegS: 60 },
    start: { xM: 3, yM: -2, deg: 40 },
    lies: { mapAsRead: (_now, map) => (isDenied ? { ...map, uid: 'map-other' } : map) },
  });
  const { motion, chassis, clock } = world;
  expect((await world.verify('move')).outcome).toBe('verified');
  await world.until(() => motion.status().standstill.verdict === 'stands', 20_000);
  await clock.advance(5_000);
  using _denying = motion.subscribe(() => {
    isDenied ||= motion.trials.view()?.phase.startsWith('Sets its heading') === true;
  });
  expect(await world.verify('pose')).toMatchObject({ outcome: 'not-decided', alarm: null });
  expect(chassis.sent.filter(({ path }) => path === '/chassis/pose')).toEqual([]);
  expect(motion.status()).toMatchObject({ poseAlarm: null, poseAlarmTrouble: null });
});
