import { expect, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import { chosen } from '../../src/lib/evidence/index.ts';
import { isFull } from '../properties.ts';
import { robots } from './robots.ts';
import { createWorld, house } from './world.ts';

// `npm test` takes each fortieth of them.
it.each(robots.filter(({ seed }) => seed % (isFull ? 4 : 40) === 0))(
  'an honest robot whose pose is set is seen to rest there: robot $seed',
  async (robot) => {
    await using world = await createWorld(robot);
    const { xM, yM, deg } = world.chassis.truth();
    const pose = chosen({ xM, yM, yawDeg: degrees(deg), map: house }, 'test');
    const outcome = await world.during(world.motion.execute({ kind: 'pose', pose }), 60_000);
    expect(outcome).toMatchObject({ state: 'succeeded', reason: null });
  },
);
