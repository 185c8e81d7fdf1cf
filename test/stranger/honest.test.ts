import { describe, expect, it } from 'vitest';
import { seeded } from '../chassis/poses.ts';
import { isFull } from '../properties.ts';
import { createWorld, type RobotOptions, type World } from './world.ts';

/** Robots that do what they say, as different as they come; the same ones each time. */
const robots: readonly RobotOptions[] = Array.from({ length: 120 }, (_, seed) => {
  const chance = seeded(seed * 31 + 7);
  const between = (least: number, most: number) => least + (most - least) * chance();
  return {
    ...{ seed, hz: between(1, 10), noiseM: between(0.005, 0.03), noiseDeg: between(0.05, 0.5) },
    ...{ latencyMs: between(0, 1_000), speedMS: between(0.2, 0.8), turnDegS: between(30, 60) },
    start: { xM: between(-20, 20), yM: between(-20, 20), deg: between(-180, 180) },
  };
});

/** `npm test` takes each tenth of them. */
const chosen = robots.filter((_, at) => isFull || at % 10 === 3);

/** What was ever said against its obedience. */
function alarmsOf({ motion }: World): readonly string[] {
  const { standstill, stop } = motion.status();
  const alarm = motion.trials.view()?.alarm ?? null;
  return [
    ...(standstill.verdict === 'drives-on' ? [standstill.reason] : []),
    ...(stop.disobeyed === undefined ? [] : [stop.disobeyed]),
    ...(alarm === null ? [] : [alarm]),
  ];
}

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

  it.each(chosen)('raises no alarm, and stands after its stop: robot $seed', async (robot) => {
    const conducted = await conduct(robot);
    found.push(conducted);
    expect(conducted).toMatchObject({ alarms: [], stood: true });
  });

  it('is verified by the trial of a move, in at least 95 of 100 cases', () => {
    expect(found).toHaveLength(chosen.length);
    const open = found.filter(({ outcome }) => outcome !== 'verified');
    expect(open.length, JSON.stringify(open)).toBeLessThanOrEqual(0.05 * found.length);
  });
});
