import { describe, expect, it } from 'vitest';
import { planDrive } from '../../src/lib/motion/run/drive-run.ts';
import { until } from './bench.ts';
import * as rig from './each-bench.ts';
import { SERIAL } from './snapshot.ts';
import { time } from './time.ts';

rig.eachHasBench(() => ({ file: { dock: { xM: 7, yM: 8, yawDeg: -90 } } }));

const kinds = ['drive', 'tour'] as const;
const begin = {
  drive: async (keepAlive?: boolean) => (await rig.motion.startDrive({ station: 'A' }, { keepAlive })).id,
  tour: async (keepAlive?: boolean) => (await rig.motion.startTour('round', { keepAlive })).id,
};
const driving = async () => {
  await begin.drive();
  await rig.ordered();
};

describe('a single drive', () => {
  it('goes to a station of the site file, and is tracked to its end', async () => {
    const begun = await rig.motion.startDrive({ station: 'B' });
    expect(begun).toMatchObject({ kind: 'move', station: 'B', state: 'running', outcome: null, reason: null });
    expect(rig.motion.describe?.()).toBe('drive to B');
    await rig.ordered();
    expect(rig.moves()[0]?.body).toMatchObject({ type: 'standard', target_x: 3, target_y: 4 });
    expect(rig.moves()[0]?.body.target_ori).toBeCloseTo(Math.PI / 2, 9);
    rig.succeed();
    await rig.driveEnded();
    expect(rig.drive()).toMatchObject({ id: begun.id, state: 'succeeded', reason: null, outcome: { moveId: 41 } });
  });

  it('to the dock is a charge order with the pose of the dock in the site file', async () => {
    expect(await rig.motion.startDrive({ dock: true })).toMatchObject({ kind: 'dock', station: null });
    expect(rig.motion.describe?.()).toBe('drive to the dock');
    await rig.ordered();
    expect(rig.moves()[0]?.body).toMatchObject({ type: 'charge', target_x: 7, target_y: 8 });
    rig.chassis.plan({ move_state: 'failed', fail_reason: 103 });
    await rig.driveEnded();
    expect(rig.drive()).toMatchObject({ state: 'failed', reason: expect.stringContaining('fail_reason 103') });
  });

  it('rejects an unknown station, and a dock that is not in the site file, and orders nothing', async () => {
    for (const station of ['nowhere', 'toString', '__proto__', '']) {
      await rig.refused(rig.motion.startDrive({ station }), 'STATION_UNKNOWN');
    }
    expect([rig.drive(), rig.moves()]).toEqual([null, []]);
    const { chassis } = rig.bench.site;
    expect(() => planDrive({ stations: {}, maps: {}, chassis }, { dock: true })).toThrow(
      expect.objectContaining({ code: 'STATION_UNKNOWN', message: expect.stringContaining('no dock') }),
    );
  });

  it('and a tour exclude each other', async () => {
    await begin.drive();
    await rig.refused(rig.motion.startTour('short'), 'MOTION_REFUSED', /^A drive to A is running\.$/);
    await rig.refused(rig.motion.startDrive({ dock: true }));
    await rig.ordered();
    rig.succeed();
    await rig.driveEnded();
    await rig.motion.startTour('short');
    await rig.refused(rig.motion.startDrive({ station: 'A' }), 'TOUR_RUNNING');
  });

  it('reports a stop before a running move: the stop must be cleared first', async () => {
    await begin.tour();
    await rig.ordered();
    rig.chassis.onCancel = () => 'hang';
    void rig.motion.stopRobot('drill', 'tablet');
    await rig.refused(rig.motion.startTour('short'), 'MOTION_STOPPED');
    await rig.refused(rig.motion.startDrive({ station: 'A' }), 'MOTION_STOPPED');
  });

  it('reports a disconnected chassis before a running move, and an unknown name before all', async () => {
    await begin.tour();
    await rig.ordered();
    await rig.lose();
    await rig.refused(rig.motion.startTour('short'), 'CHASSIS_NOT_CONNECTED');
    await rig.refused(rig.motion.startTour('none'), 'TOUR_UNKNOWN');
    await rig.refused(rig.motion.startDrive({ station: 'none' }), 'STATION_UNKNOWN');
  });

  it('is refused by the gate before anything is ordered', async () => {
    rig.chassis.pose = null;
    await rig.gate('closed');
    await rig.refused(rig.motion.startDrive({ station: 'A' }));
    expect(rig.drive()).toBeNull();
  });

  it('fails with the message of the chassis when it does not accept the order', async () => {
    rig.chassis.onMove = () => ({ status: 400, json: { message: 'error: no map' } });
    await begin.drive();
    await rig.driveEnded();
    expect(rig.drive()).toMatchObject({ state: 'failed', outcome: null, reason: expect.stringContaining('no map') });
  });
});

describe.each(kinds)('a %s', (kind) => {
  const run = () => rig.status()[kind];

  it('is ended at once where another chassis answers, with what is known, and sends that no order and no cancel', async () => {
    await begin[kind]();
    await rig.ordered();
    const isNow = async (serial: string) => {
      rig.chassis.serial = serial;
      await rig.chassis.cut();
      await rig.chassis.restore();
    };
    await isNow('OTHER-9');
    await until(() => run()?.state !== 'running');
    expect(run()).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/OTHER-9.*neither be observed nor cancelled.*THE ROBOT MAY STILL BE MOVING/),
    });
    expect(rig.status().gate).toMatchObject({ open: false });
    await time.sleep(1_000);
    expect([rig.moves().length, rig.cancels()]).toEqual([1, 0]);
    // The right chassis is back: the cancel is delivered after all.
    await isNow(SERIAL);
    await until(() => rig.cancels() > 0);
  });

  it('is cancelled when its client is gone: the one that supervises it', async () => {
    const id = await begin[kind](true);
    await rig.ordered();
    for (let second = 0; second < 5; second += 1) {
      await time.sleep(1_000);
      expect(rig.motion.keepAlive(id)).toBe(true);
    }
    expect([run()?.state, rig.cancels()]).toEqual(['running', 0]);
    await until(() => run()?.state !== 'running');
    expect(run()).toMatchObject({
      state: 'stopped',
      reason: expect.stringContaining('no keepalive of the command that ordered it for 3 s'),
    });
    expect([rig.moves().length, rig.cancels()]).toEqual([1, 1]);
    expect(rig.status().stop.latched).toBe(false);
    expect(rig.motion.keepAlive(id)).toBe(false);
  });

  it('that is not supervised runs on without its client', async () => {
    const id = await begin[kind]();
    await rig.ordered();
    await time.sleep(4_000);
    expect(rig.motion.keepAlive(id)).toBe(false);
    expect([run()?.state, rig.cancels()]).toEqual(['running', 0]);
  });
});

it('a run is not kept by the id of an earlier one, and does not end a later one', async () => {
  const first = await begin.drive(true);
  await rig.ordered();
  rig.succeed();
  await rig.driveEnded();
  expect(rig.motion.keepAlive(first)).toBe(false);
  const second = await begin.drive();
  expect(second).not.toBe(first);
  expect(rig.motion.keepAlive(first)).toBe(false);
  await time.sleep(4_000);
  expect([rig.drive()?.state, rig.cancels()]).toEqual(['running', 0]);
});

describe('ending a run by a person', () => {
  it('cancels the drive without latching a stop', async () => {
    await driving();
    const reason = expect.stringContaining('ended by tablet');
    expect(await rig.motion.endDrive('tablet')).toMatchObject({ state: 'stopped', reason });
    expect(rig.cancels()).toBe(1);
    expect(rig.status()).toMatchObject({ stop: { latched: false }, gate: { open: false } });
    await rig.bench.stands();
    expect(rig.status().gate.open).toBe(true);
  });

  it('cancels again each second while the poses show that the robot drives on, whatever the chassis reports', async () => {
    rig.drifts(0.03);
    rig.chassis.onCancel = () => {
      rig.chassis.plan({ move_state: 'cancelled' });
      return { status: 200 };
    };
    await driving();
    await rig.motion.endDrive('tablet');
    await until(() => rig.status().standstill.verdict === 'drives-on');
    expect(rig.status().stop).toMatchObject({ latched: true, by: 'gw' });
    const before = rig.cancels();
    await until(() => rig.cancels() >= before + 2);
  });

  it('ends the tour, which drives to no further station, and no other run than the one named', async () => {
    await begin.tour();
    await rig.ordered();
    expect(await rig.motion.endTour('tablet', 'an older one')).toMatchObject({ state: 'running' });
    expect(await rig.motion.endDrive('tablet')).toBeNull();
    expect(rig.cancels()).toBe(0);
    const reason = expect.stringContaining('ended by tablet');
    expect(await rig.motion.endTour('tablet', rig.status().tour?.id)).toMatchObject({
      state: 'stopped',
      at: 0,
      reason,
    });
    await time.sleep(200);
    expect([rig.moves().length, rig.cancels()]).toEqual([1, 1]);
    expect(await rig.motion.endTour('tablet')).toMatchObject({ state: 'stopped' });
  });

  it('is not reported as stopped while the chassis does not confirm it: the run has failed and the gate is closed', async () => {
    rig.chassis.onCancel = () => ({ status: 200 });
    await driving();
    await rig.motion.endDrive('tablet');
    await rig.driveEnded();
    expect(rig.drive()).toMatchObject({ state: 'failed', outcome: { state: 'unknown' } });
    expect(rig.status()).toMatchObject({ gate: { open: false }, unownedMove: { moveId: 41 } });
  });

  it('succeeds without a run', async () => {
    expect(await rig.motion.endTour('tablet')).toBeNull();
    expect(await rig.motion.endDrive('tablet')).toBeNull();
    expect(rig.chassis.orders).toEqual([]);
  });
});
