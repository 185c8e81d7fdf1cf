import { describe, expect, it } from 'vitest';
import { seeded } from '../chassis/poses.ts';
import { isFull } from '../properties.ts';
import { alarmsOf } from './alarms.ts';
import { robots } from './robots.ts';
import type { Stall } from './wire.ts';
import { createWorld, type RobotOptions } from './world.ts';

/** Beside a network of 0.8 s, an answer that is held back for another second is a cancel that is not accepted in time. */
const chosen = robots
  .filter((_, at) => isFull || at % 10 === 3)
  .map((robot) => ({ ...robot, latencyMs: (robot.latencyMs ?? 0) / 4 }));

/** A machine that starts many programs at once: in its first seconds it reads nothing for about half of the time. */
function stallsOf(seed: number): readonly Stall[] {
  const chance = seeded(seed * 101 + 5);
  const stalls: Stall[] = [];
  for (let atMs = 300 * chance(); atMs < 6_000; ) {
    const forMs = 100 + 1_100 * chance();
    stalls.push({ fromMs: atMs, forMs, apartMs: chance() < 0.5 ? 0 : 20 });
    atMs += forMs + 50 + 1_000 * chance();
  }
  return stalls;
}

/** The robot drives as another system ordered when the gateway starts, which cancels that. */
async function conduct(robot: RobotOptions) {
  const chance = seeded(robot.seed * 17 + 3);
  const foreign = { aheadM: 40, forMs: 1_000 + 4_000 * chance() };
  await using world = await createWorld(robot, { foreign, stalls: stallsOf(robot.seed) });
  const { motion, chassis, until } = world;
  const alarms = new Set<string>();
  let stoodWhileItDrove = false;
  const stands = () => motion.status().standstill.verdict === 'stands';
  const watch = () => {
    for (const alarm of alarmsOf(world)) alarms.add(alarm);
    stoodWhileItDrove ||= stands() && chassis.moving().speedMS > 0.1;
  };
  const cancelled = await until(() => chassis.moment().cancelledMs !== null, 30_000, watch);
  const noticed = await until(() => alarms.size > 0, 7_000, watch);
  const stood = await until(stands, robot.lies === undefined ? 60_000 : 0, watch);
  return { cancelled, noticed, stood, stoodWhileItDrove, alarms: [...alarms] };
}

describe('a gateway that starts on a stalled machine while its robot drives', () => {
  it.each(chosen)('cancels the move without an alarm: robot $seed', { tags: 'property' }, async (robot) => {
    const fine = { cancelled: true, noticed: false, stood: true, stoodWhileItDrove: false, alarms: [] };
    expect(await conduct(robot)).toEqual(fine);
  });

  it.each(chosen)('notices within 7 s one that drives on: robot $seed', { tags: 'property' }, async (robot) => {
    const found = await conduct({ ...robot, lies: { obeysAfterMs: Number.POSITIVE_INFINITY } });
    expect(found).toMatchObject({ cancelled: true, noticed: true, stood: false, stoodWhileItDrove: false });
  });
});

describe('what a chassis sends with its answer to the handshake', () => {
  it('is of this connection: a move that was running is cancelled at once', async () => {
    const [robot] = robots;
    await using world = await createWorld(
      { ...(robot as RobotOptions), latencyMs: 0 },
      { foreign: { aheadM: 40, forMs: 1_200 } },
    );
    // Published again only after a second.
    await world.until(() => false, 200);
    expect(world.chassis.moment().cancelledMs).not.toBeNull();
    expect(world.link.snapshot().values.planning).toMatchObject({ stale: false, value: { moveState: 'cancelled' } });
  });
});
