import { describe, expect, it } from 'vitest';
import { chosenPose } from '../../src/lib/motion/index.ts';
import { moveTo, until } from './bench.ts';
import * as rig from './each-bench.ts';
import { ground } from './snapshot.ts';

const first = { name: 'First floor', uid: 'map-first', map_version: 3, overlays_version: 1 };
/** The chassis uses this map from now on, and says so. */
const use = (map: typeof rig.chassis.map) => {
  rig.chassis.map = map;
  rig.chassis.publish('/map/info');
};
const isReported = (uid: string) =>
  until(() => {
    const { map } = rig.bench.link.snapshot().values;
    return map.status === 'received' && map.value.uid === uid;
  });
const onFirst = async () => {
  use(first);
  await isReported(first.uid);
};
const nothingSent = () =>
  expect(rig.chassis.orders.filter(({ path }) => path !== '/chassis/moves/current')).toEqual([]);
const orders = {
  drive: () => rig.motion.startDrive({ station: 'A' }),
  dock: () => rig.motion.startDrive({ dock: true }),
  tour: () => rig.motion.startTour('round'),
  move: () => rig.motion.execute(moveTo(1, 2)),
  pose: () => rig.motion.execute(chosenPose({ xM: 1, yM: 2, yawDeg: 90, map: ground }, 'test')),
};
const each = Object.entries(orders);

describe('a place counts in its own map only', () => {
  rig.eachHasBench(() => ({ file: { dock: { xM: 7, yM: 8, yawDeg: -90 } } }));

  it.each(each)('a %s is refused while the robot is on another map, and nothing is sent', async (_kind, order) => {
    await onFirst();
    await rig.refused(order(), 'MOTION_REFUSED', /on the map 'First floor'; .* measured on the map 'Ground floor'/);
    expect(rig.status().gate).toMatchObject({ open: false, reasons: [expect.stringContaining("'First floor'")] });
    nothingSent();
  });

  it.each(each)('a %s is refused on a map that has changed since the measurement', async (_kind, order) => {
    use({ name: 'Ground floor', uid: ground.uid, map_version: 4, overlays_version: 1 });
    await rig.gate('closed');
    await rig.refused(order(), 'MOTION_REFUSED', /version 3, now 4.*`gw site map --measured-on-it`/);
    nothingSent();
  });

  it.each([
    ['another map', { id: 2, uid: first.uid, map_name: first.name }, /answers that it uses the map 'First floor'/],
    [
      'another version',
      { id: 1, uid: ground.uid, map_name: ground.title, map_version: ground.version + 1 },
      /uses version \d+ of the map .*, its topic reports version/,
    ],
    ['a map without a uid', { id: 1, map_name: ground.title }, /a map that has no uid/],
    ['no map', null, /answers that it uses no map/],
  ])('nothing is sent where the topic fell silent and the chassis answers %s', async (_what, answer, says) => {
    rig.chassis.mapAsRead = answer;
    for (const order of [orders.move, orders.pose]) await rig.refused(order(), 'MOTION_REFUSED', says);
    await orders.drive();
    await rig.driveEnded();
    expect(rig.drive()).toMatchObject({ state: 'failed', reason: expect.stringMatching(says) });
    nothingSent();
  });

  it('a message of its map that cannot be read closes the gate', async () => {
    use({ name: 'Ground floor', uid: 7, map_version: 3, overlays_version: 1 });
    await rig.gate('closed');
    await rig.refused(orders.drive(), 'MOTION_REFUSED', /current map is not known: a message of \/map\/info/);
    nothingSent();
  });

  it.each([
    ['another map', first],
    ['another version', { ...first, uid: ground.uid, map_version: 4 }],
    ['a message that cannot be read', { ...first, uid: 7 }],
  ])('%s on the way cancels the drive', async (_what, map) => {
    await orders.drive();
    await rig.ordered();
    use(map);
    await rig.driveEnded();
    expect(rig.cancels()).toBeGreaterThan(0);
    expect(rig.drive()).toMatchObject({ state: 'stopped', outcome: { state: 'cancelled' } });
    expect(rig.drive()?.reason).toMatch(/map/);
  });

  it('is not reached where the chassis no longer uses a map at the end', async () => {
    await orders.drive();
    await rig.ordered();
    rig.chassis.mapAsRead = null;
    rig.succeed();
    await rig.driveEnded();
    expect(rig.drive()).toMatchObject({ state: 'failed', outcome: { arrival: { verdict: 'not-known' } } });
    expect(rig.drive()?.reason).toMatch(/answers that it uses no map/);
  });

  it('after a reconnect without a map nothing is sent, until it is reported again', async () => {
    rig.chassis.map = null;
    await rig.lose();
    await rig.chassis.restore();
    await rig.connection('connected');
    await rig.refused(orders.move(), 'MOTION_REFUSED', /current map is not known: .* since the reconnect/);
    use({ name: 'Ground floor', uid: ground.uid, map_version: 3, overlays_version: 1 });
    await rig.gate('open');
  });

  it('a drive ends where the chassis reports no map for five seconds after a reconnect', async () => {
    await orders.drive();
    await rig.ordered();
    rig.chassis.map = null;
    await rig.lose();
    await rig.chassis.restore();
    await rig.connection('connected');
    await rig.driveEnded();
    expect(rig.drive()?.reason).toMatch(/current map is not known: .* since the reconnect/);
    expect(rig.cancels()).toBeGreaterThan(0);
  });

  it('poses of two maps are no movement together', async () => {
    await rig.bench.stands();
    rig.chassis.pose = { pos: [40, -30], ori: 0 };
    await onFirst();
    await rig.bench.stands();
    expect(rig.status().standstill.verdict).toBe('stands');
  });
});

describe('places that were measured with another robot', () => {
  const dock = { xM: 7, yM: 8, yawDeg: -90 };
  rig.eachHasBench(() => ({ file: { dock, maps: { ground: { ...ground, robot: 'SN-OTHER' } } } }));

  it.each(['drive', 'dock', 'tour'] as const)(
    'are the goal of no %s, and the command that counts them is named',
    async (kind) => {
      await rig.refused(
        orders[kind](),
        'MOTION_REFUSED',
        /measured with the robot SN-OTHER.*`gw site map --measured-on-it`/,
      );
      expect(rig.status()).toMatchObject({ gate: { open: false }, frame: { code: 'other-robot', map: ground.title } });
      nothingSent();
    },
  );
});

describe('places that were measured with this robot', () => {
  rig.eachHasBench(() => ({ file: { maps: { ground: { ...ground, robot: rig.chassis.serial } } } }));

  it('are goals', async () => {
    await rig.gate('open');
    expect(rig.status().frame ?? null).toBeNull();
  });
});

describe('a site file that does not say in which map its places were measured', () => {
  rig.eachHasBench(() => ({ file: { maps: {} } }));

  it('has no goal, and names the command that adds it', async () => {
    await rig.refused(
      rig.motion.startDrive({ station: 'A' }),
      'MOTION_REFUSED',
      /does not say in which map .*`gw site map --measured-on-it`/,
    );
    expect(rig.status().gate.open).toBe(false);
    nothingSent();
  });

  it('still lets a person set the pose on the current map', async () => {
    const pose = rig.motion.execute(chosenPose({ xM: 1, yM: 2, yawDeg: 90, map: ground }, 'test'));
    expect(await pose).toMatchObject({ state: 'succeeded' });
  });
});

describe('two maps in one site file', () => {
  const maps = { ground, first: { uid: first.uid, version: 3, title: first.name } };
  const stations = { A: { xM: 1, yM: 2, map: 'ground' }, F: { xM: 1, yM: 2, map: 'first' } };
  rig.eachHasBench(() => ({ file: { maps, stations, tours: { up: { stations: ['A', 'F'] } } } }));

  it('has the stations of the current one as goals, and no tour over both', async () => {
    await rig.refused(rig.motion.startTour('up'), 'MOTION_REFUSED', /measured on the map 'First floor'/);
    await rig.refused(rig.motion.startDrive({ station: 'F' }), 'MOTION_REFUSED', /measured on the map 'First floor'/);
    expect(rig.status().gate.open).toBe(true);
    await rig.motion.startDrive({ station: 'A' });
    await rig.ordered();
    rig.succeed();
    await rig.driveEnded();
    await onFirst();
    // One of its places, though not the first, is on this map.
    expect(rig.status().gate.reasons.filter((reason) => reason.includes('measured'))).toEqual([]);
    await rig.motion.startDrive({ station: 'F' });
    await rig.ordered(2);
  });
});
