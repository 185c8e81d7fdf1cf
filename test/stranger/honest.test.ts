import { describe, expect, it } from 'vitest';
import { isFull } from '../properties.ts';
import { alarmsOf } from './alarms.ts';
import { robots } from './robots.ts';
import { createWorld, type RobotOptions } from './world.ts';

/** `npm test` takes each tenth of them. */
const chosen = robots.filter((_, at) => isFull || at % 10 === 3);

async function conduct(robot: RobotOptions) {
  await using world = await createWorld(robot);
  const { motion, during, until, clock } = world;
  const alarms = new Set<string>();
  const watch = () => {
    for (const alarm of alarmsOf(world)) alarms.add(alarm);
  };
  const stop = () => during(motion.stopRobot('person in the way', 'test'), 10_000, watch);
  const stands = () => until(() => motion.status().standstill.verdict === 'stands', 60_000, watch);
  const clear = () => during(motion.clearStop('technician'), 10_000, watch);

  // It has not moved yet.
  await stop();
  const stoodAtOnce = await stands();
  await clear();
  await until(() => false, 10_000, watch);
  const trial = await world.verify('move', watch);
  await until(() => motion.status().gate.open, 30_000, watch);
  const drive = motion.execute(world.order(5)).then(
    ({ state }) => state,
    (error: unknown) => String(error),
  );
  await until(() => world.chassis.moment().drivenM > 1.2 + (robot.seed % 10) / 5, 30_000, watch);
  await stop();
  const stood = await stands();
  await during(drive, 60_000, watch);
  await clock.advance(1_000);
  watch();
  return { robot, alarms: [...alarms], stood: stoodAtOnce && stood, outcome: trial.outcome, reason: trial.reason };
}

describe('an honest robot', () => {
  const found: Awaited<ReturnType<typeof conduct>>[] = [];

  it.each(chosen)('raises no alarm, and stands after its stop: robot $seed', { tags: 'property' }, async (robot) => {
    const conducted = await conduct(robot);
    found.push(conducted);
    expect(conducted).toMatchObject({ alarms: [], stood: true });
  });

  it('is verified by the trial of a move, in at least 95 of 100 cases', { tags: 'property' }, () => {
    expect(found).toHaveLength(chosen.length);
    const open = found.filter(({ outcome }) => outcome !== 'verified');
    expect(open.length, JSON.stringify(open)).toBeLessThanOrEqual(0.05 * found.length);
  });
});
