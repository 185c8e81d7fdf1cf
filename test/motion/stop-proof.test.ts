import { describe, expect, it } from 'vitest';
import { judgeStanding } from '../../src/lib/chassis/index.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createStopProofs } from '../../src/lib/motion/stop-proof.ts';
import { posesOf, type Robot } from '../chassis/poses.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { isFull } from '../properties.ts';
import { readySnapshot } from './snapshot.ts';

const CANCEL_S = 6;
const TRIES = isFull ? 20 : 2;
const BRAKES_M_S2 = 0.5;

/** Drives at this speed and brakes so that it has arrived this long after the cancel. */
function arriving(speed: number, arrivesAfterS: number) {
  const endS = CANCEL_S + arrivesAfterS;
  return (s: number) => {
    const leftS = Math.max(0, endS - s);
    const brakesS = speed / BRAKES_M_S2;
    return leftS < brakesS ? -(BRAKES_M_S2 / 2) * leftS ** 2 : -speed * leftS + speed ** 2 / (2 * BRAKES_M_S2);
  };
}

/** Follows a cancel that the chassis never accepts: when the alarm was raised, in seconds after it, or null. */
async function alarmOf(robot: Omit<Robot, 'hz' | 'seconds'>, hz = 10): Promise<number | null> {
  const clock = createFakeClock({ startMs: 0 });
  const proofs = createStopProofs({ clock, log: silentLog });
  const all = posesOf({ noiseM: 0.005, noiseOri: 0.3, hz, seconds: CANCEL_S + 8, ...robot });
  let alarmS: number | null = null;
  let isRequested = false;
  for (const [at, pose] of all.entries()) {
    if (!isRequested && pose.atMs > CANCEL_S * 1_000) {
      await clock.advance(CANCEL_S * 1_000 - clock.monotonicMs());
      proofs.requested();
      isRequested = true;
    }
    await clock.advance(pose.atMs - clock.monotonicMs());
    const poses = all.slice(0, at + 1);
    const standing = judgeStanding({ poses, nowMs: pose.atMs, unit: 'degrees' });
    const proof = proofs.current(readySnapshot({ poses, standing }));
    if (proof?.verdict === 'drives-on') alarmS ??= pose.atMs / 1_000 - CANCEL_S;
    expect(proof?.verdict === 'awaited' || proof?.verdict === 'drives-on').toBe(isRequested);
  }
  return alarmS;
}

const seeds = Array.from({ length: TRIES }, (_, seed) => seed);

describe('a cancel that the chassis does not accept', () => {
  it.each([
    [0.2, -0.5],
    [0.2, 0],
    [0.2, 0.2],
    [0.5, 0],
    [0.5, 0.4],
    [0.8, 0],
    [0.8, 0.5],
    [1, 1],
  ])(
    'raises no alarm for a robot of %d m/s that arrives %d s after it',
    { tags: 'property' },
    async (speed, arrivesAfterS) => {
      const xM = arriving(speed, arrivesAfterS);
      const alarms = await Promise.all(seeds.map((seed) => alarmOf({ xM, seed })));
      expect(alarms).toEqual(seeds.map(() => null));
    },
  );

  it.each([
    [0.05, 3],
    [0.1, 2.5],
    [0.3, 2],
    [0.6, 2],
    [1.2, 2.5],
  ])('raises it for a robot that drives on at %d m/s, within %d s', { tags: 'property' }, async (speed, withinS) => {
    const alarms = await Promise.all(seeds.map((seed) => alarmOf({ xM: (s) => speed * s, seed })));
    for (const alarm of alarms) expect(alarm).toBeGreaterThan(1);
    for (const alarm of alarms) expect(alarm).toBeLessThan(withinS);
  });

  it('raises it for a robot that turns on the spot', { tags: 'property' }, async () => {
    const alarms = await Promise.all(seeds.map((seed) => alarmOf({ ori: (s) => ((20 * s) % 360) - 180, seed })));
    for (const alarm of alarms) expect(alarm).toBeLessThan(4);
  });
});
