import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chosenPose } from '../../src/lib/motion/index.ts';
import { until } from './bench.ts';
import { bench, chassis, eachHasBench, gate, motion, restart, status } from './each-bench.ts';
import { ground } from './snapshot.ts';

const first = { uid: 'map-first', version: 3, title: 'First floor' };
const wire = ({ uid, version, title }: typeof first) => ({
  ...{ name: title, uid, map_version: version, overlays_version: 1 },
});
const maps = { ground, first };
const stations = { A: { xM: 1, yM: 2, map: 'ground' }, F: { xM: 1, yM: 2, map: 'first' } };
const WRONG = /pose of the robot is wrong or not known/;

async function use(map: typeof first): Promise<void> {
  chassis.map = wire(map);
  chassis.publish('/map/info');
  await until(() => {
    const { map: now } = bench.link.snapshot().values;
    return now.status === 'received' && now.value.uid === map.uid;
  });
}

/** A pose is set, and reported back only where `isTaken`. */
function set(map: typeof first, isTaken = true) {
  chassis.onPose = () => {
    if (isTaken) chassis.pose = { pos: [1, 2], ori: 90 };
    return { status: 201, json: {} };
  };
  if (!isTaken) chassis.pose = { pos: [5, 5], ori: 90 };
  return motion.execute(chosenPose({ xM: 1, yM: 2, yawDeg: 90, map }, 'test'));
}

const file = () => join(bench.stateDir, 'pose-alarm.json');
const isRaised = () => status().gate.reasons.some((reason) => WRONG.test(reason));

describe('an alarm of the pose counts on the map on which the pose was set', () => {
  eachHasBench(() => ({ file: { maps, stations, tours: {} } }));

  it('and names it', async () => {
    expect(await set(ground, false)).toMatchObject({ state: 'failed' });
    expect(status().poseAlarm).toMatchObject({ map: ground });
    expect(status().gate.reasons.join()).toMatch(/wrong or not known on the map 'Ground floor':/);
    expect(readFileSync(file(), 'utf8')).toContain(`"uid":"${ground.uid}"`);
  });

  it('is neither shown nor cleared on another one, also over a restart, and is back with its map', async () => {
    await set(ground, false);
    await use(first);
    expect([status().poseAlarm, isRaised()]).toEqual([null, false]);
    await bench.stands();
    expect(await set(first)).toMatchObject({ state: 'succeeded' });
    await gate('open');
    await restart();
    await gate('open');
    await use(ground);
    expect(status().poseAlarm).toMatchObject({ map: ground });
    expect(isRaised()).toBe(true);
    await bench.stands();
    expect(await set(ground)).toMatchObject({ state: 'succeeded' });
    await gate('open');
  });

  it('is shown while it is not known which map the chassis uses', async () => {
    await set(ground, false);
    await use(first);
    chassis.map = { ...wire(first), uid: 7 };
    chassis.publish('/map/info');
    await until(() => status().poseAlarm != null);
    expect(status().gate.open).toBe(false);
  });

  it('is raised again only on its own map where the chassis refuses a later pose', async () => {
    await set(ground, false);
    await use(first);
    chassis.onPose = () => ({ status: 400, json: { message: 'no' } });
    await bench.stands();
    await expect(motion.execute(chosenPose({ xM: 1, yM: 2, yawDeg: 90, map: first }, 'test'))).rejects.toThrow(/no/);
    expect(status().poseAlarm).toBeNull();
    await use(ground);
    expect(status().poseAlarm).toMatchObject({ map: ground, reason: expect.stringMatching(/reports another one/) });
  });

  it.each([
    ['the topic says so', () => use(first)],
    [
      'only its answer says so',
      async () => {
        chassis.mapAsRead = { id: 2, uid: first.uid, map_name: first.title, map_version: 3 };
      },
    ],
  ])('a pose whose map changes before it is proven counts as not known on every map: %s', async (_what, change) => {
    const ended = set(ground);
    await until(() => chassis.pose?.pos[0] === 1 && chassis.orders.some(({ path }) => path === '/chassis/pose'));
    await change();
    // On the other map the same numbers are another place.
    expect(await ended).toMatchObject({ state: 'unknown', reason: expect.stringMatching(/First floor/) });
    expect(status().poseAlarm).toMatchObject({ map: null });
    chassis.mapAsRead = undefined;
    for (const map of [first, ground]) {
      await use(map);
      expect(isRaised()).toBe(true);
    }
  });

  it('a file of before names no map: it counts on every one, until a pose is set', async () => {
    const since = '2026-01-31T12:00:00.000Z';
    await motion.stop();
    writeFileSync(file(), `${JSON.stringify({ format: 'gw/pose-alarm/1', reason: 'old', since })}\n`);
    await restart();
    for (const map of [first, ground]) {
      await use(map);
      await until(() => status().poseAlarm?.reason === 'old');
      expect(status().poseAlarm).toEqual({ reason: 'old', since, map: null });
      expect(status().gate.reasons.join()).toMatch(/wrong or not known on a map that is not known: old/);
    }
    await bench.stands();
    expect(await set(ground)).toMatchObject({ state: 'succeeded' });
    await gate('open');
  });
});
