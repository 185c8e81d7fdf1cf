import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planDrive } from '../../src/lib/motion/drive-to-goal.ts';
import { type Bench, startBench, until } from './bench.ts';
import { type ScriptedChassis, startScriptedChassis } from './scripted-chassis.ts';
import { SERIAL } from './snapshot.ts';
import { time } from './time.ts';

let chassis: ScriptedChassis;
let bench: Bench;
beforeEach(async () => {
  chassis = await startScriptedChassis();
  bench = await startBench(chassis, { file: { dock: { xM: 7, yM: 8, yawDeg: -90 } } });
});
afterEach(async () => {
  await bench[Symbol.asyncDispose]();
  await chassis[Symbol.asyncDispose]();
});

const sent = (path: string) => chassis.orders.filter((order) => order.path === path);
const moves = () => sent('/chassis/moves');
const cancels = () => sent('/chassis/moves/current').length;
const ordered = () => until(() => moves().length > 0, 'the order');
const drive = () => bench.motion.status().drive;
const ended = () => until(() => drive() !== null && drive()?.state !== 'running', 'the end of the drive');

describe('a single drive', () => {
  it('goes to a station of the site file, and is tracked to its end', async () => {
    const begun = await bench.motion.startDrive({ station: 'B' });
    expect(begun).toMatchObject({ kind: 'move', station: 'B', state: 'running', outcome: null, reason: null });
    expect(bench.motion.describe?.()).toBe('drive to B');
    await ordered();
    expect(moves()[0]?.body).toMatchObject({ type: 'standard', target_x: 3, target_y: 4 });
    expect(moves()[0]?.body.target_ori).toBeCloseTo(Math.PI / 2, 9);
    chassis.plan({ move_state: 'succeeded' });
    await ended();
    expect(drive()).toMatchObject({ id: begun.id, state: 'succeeded', reason: null, outcome: { moveId: 41 } });
  });

  it('to the dock is a charge order with the pose of the dock in the site file', async () => {
    expect(await bench.motion.startDrive({ dock: true })).toMatchObject({ kind: 'dock', station: null });
    expect(bench.motion.describe?.()).toBe('drive to the dock');
    await ordered();
    expect(moves()[0]?.body).toMatchObject({ type: 'charge', target_x: 7, target_y: 8 });
    chassis.plan({ move_state: 'failed', fail_reason: 103 });
    await ended();
    expect(drive()).toMatchObject({ state: 'failed', reason: expect.stringContaining('fail_reason 103') });
  });

  it.each(['nowhere', 'toString', '__proto__', ''])(
    'rejects the unknown station %j and orders nothing',
    async (station) => {
      await expect(bench.motion.startDrive({ station })).rejects.toMatchObject({ code: 'STATION_UNKNOWN' });
      expect(drive()).toBeNull();
      expect(moves()).toEqual([]);
    },
  );

  it('rejects a dock that is not in the site file', () => {
    expect(() => planDrive({ stations: {} }, { dock: true })).toThrow(
      expect.objectContaining({ code: 'STATION_UNKNOWN', message: expect.stringContaining('no dock') }),
    );
  });

  it('and a tour exclude each other', async () => {
    await bench.motion.startDrive({ station: 'A' });
    await expect(bench.motion.startTour('short')).rejects.toMatchObject({
      code: 'MOTION_REFUSED',
      message: 'A drive to A is running.',
    });
    await expect(bench.motion.startDrive({ dock: true })).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    await ordered();
    chassis.plan({ move_state: 'succeeded' });
    await ended();
    await bench.motion.startTour('short');
    await expect(bench.motion.startDrive({ station: 'A' })).rejects.toMatchObject({ code: 'TOUR_RUNNING' });
  });

  it('reports a stop before a running move: the stop must be cleared first', async () => {
    await bench.motion.startTour('short');
    await until(() => moves().length === 1, 'the order');
    chassis.onCancel = () => 'hang';
    void bench.motion.stopRobot('drill', 'tablet');
    await expect(bench.motion.startTour('short')).rejects.toMatchObject({ code: 'MOTION_STOPPED' });
    await expect(bench.motion.startDrive({ station: 'A' })).rejects.toMatchObject({ code: 'MOTION_STOPPED' });
  });

  it('reports a disconnected chassis before a running move, and an unknown name before all', async () => {
    await bench.motion.startTour('short');
    await until(() => moves().length === 1, 'the order');
    await chassis.cut();
    await until(() => bench.link.snapshot().link.kind === 'not-connected', 'the loss');
    await expect(bench.motion.startTour('short')).rejects.toMatchObject({ code: 'CHASSIS_NOT_CONNECTED' });
    await expect(bench.motion.startTour('none')).rejects.toMatchObject({ code: 'TOUR_UNKNOWN' });
    await expect(bench.motion.startDrive({ station: 'none' })).rejects.toMatchObject({ code: 'STATION_UNKNOWN' });
  });

  it('is refused by the gate before anything is ordered', async () => {
    chassis.pose = null;
    await until(() => !bench.motion.status().gate.open, 'the gate', 6_000);
    await expect(bench.motion.startDrive({ station: 'A' })).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    expect(drive()).toBeNull();
  });

  it('fails with the message of the chassis when it does not accept the order', async () => {
    chassis.onMove = () => ({ status: 400, json: { message: 'error: no map' } });
    await bench.motion.startDrive({ station: 'A' });
    await ended();
    expect(drive()).toMatchObject({ state: 'failed', outcome: null, reason: expect.stringContaining('no map') });
  });
});

describe('another chassis that answers in the middle of a run', () => {
  it.each(['drive', 'tour'] as const)(
    'ends it at once with what is known, and receives no order and no cancel: a %s',
    async (kind) => {
      if (kind === 'drive') await bench.motion.startDrive({ station: 'A' });
      else await bench.motion.startTour('round');
      await ordered();
      chassis.serial = 'OTHER-9';
      await chassis.cut();
      await chassis.restore();
      const run = () => bench.motion.status()[kind];
      await until(() => run()?.state !== 'running', 'the end of the run');
      expect(run()).toMatchObject({
        state: 'failed',
        reason: expect.stringMatching(/OTHER-9.*neither be observed nor cancelled.*THE ROBOT MAY STILL BE MOVING/),
      });
      expect(bench.motion.status().gate).toMatchObject({ open: false });
      await time.sleep(1_000);
      expect([moves().length, cancels()]).toEqual([1, 0]);
      // The right chassis is back: the cancel is delivered after all.
      chassis.serial = SERIAL;
      await chassis.cut();
      await chassis.restore();
      await until(() => cancels() > 0, 'the cancel');
    },
  );
});

describe('a run that its client supervises', () => {
  const begin = {
    drive: async (keepAlive?: boolean) => (await bench.motion.startDrive({ station: 'A' }, { keepAlive })).id,
    tour: async (keepAlive?: boolean) => (await bench.motion.startTour('round', { keepAlive })).id,
  };
  const state = (kind: 'drive' | 'tour') => bench.motion.status()[kind]?.state;

  it.each(['drive', 'tour'] as const)('is cancelled when its client is gone: a %s', async (kind) => {
    const id = await begin[kind](true);
    await ordered();
    for (let second = 0; second < 5; second += 1) {
      await time.sleep(1_000);
      expect(bench.motion.keepAlive(id)).toBe(true);
    }
    expect([state(kind), cancels()]).toEqual(['running', 0]);
    await until(() => state(kind) !== 'running', 'the end without a keepalive');
    expect(bench.motion.status()[kind]).toMatchObject({
      state: 'stopped',
      reason: expect.stringContaining('no keepalive of the command that ordered it for 3 s'),
    });
    expect([moves().length, cancels()]).toEqual([1, 1]);
    expect(bench.motion.status().stop.latched).toBe(false);
  });

  it.each(['drive', 'tour'] as const)('runs on without its client where it is not supervised: a %s', async (kind) => {
    const id = await begin[kind]();
    await ordered();
    await time.sleep(8_000);
    expect(bench.motion.keepAlive(id)).toBe(false);
    expect([state(kind), cancels()]).toEqual(['running', 0]);
  });

  it('is not kept by the id of an earlier one, and does not end a later one', async () => {
    const first = await begin.drive(true);
    await ordered();
    chassis.plan({ move_state: 'succeeded' });
    await ended();
    const second = await begin.drive();
    expect(second).not.toBe(first);
    await time.sleep(5_000);
    expect([state('drive'), cancels()]).toEqual(['running', 0]);
  });
});

describe('ending a run by a person', () => {
  it('cancels the drive without latching a stop', async () => {
    await bench.motion.startDrive({ station: 'A' });
    await ordered();
    const run = await bench.motion.endDrive('tablet');
    expect(run).toMatchObject({ state: 'stopped', reason: expect.stringContaining('ended by tablet') });
    expect(cancels()).toBe(1);
    expect(bench.motion.status()).toMatchObject({ stop: { latched: false }, gate: { open: false } });
    await bench.stands();
    expect(bench.motion.status().gate.open).toBe(true);
  });

  it('cancels again each second while the poses show that the robot drives on, whatever the chassis reports', async () => {
    let xM = 1;
    chassis.beforePose = () => {
      xM += 0.03;
      chassis.pose = { pos: [xM, 2], ori: 90 };
    };
    chassis.onCancel = () => {
      chassis.plan({ move_state: 'cancelled' });
      return { status: 200 };
    };
    await bench.motion.startDrive({ station: 'A' });
    await ordered();
    await bench.motion.endDrive('tablet');
    await until(() => bench.motion.status().standstill.verdict === 'drives-on', 'the alarm', 15_000);
    expect(bench.motion.status().stop).toMatchObject({ latched: true, by: 'gw' });
    const before = cancels();
    await until(() => cancels() >= before + 2, 'two more cancels', 15_000);
    chassis.beforePose = () => {};
  });

  it('ends the tour, which drives to no further station', async () => {
    await bench.motion.startTour('round');
    await ordered();
    const run = await bench.motion.endTour('tablet');
    expect(run).toMatchObject({ state: 'stopped', at: 0, reason: expect.stringContaining('ended by tablet') });
    await time.sleep(200);
    expect([moves().length, cancels()]).toEqual([1, 1]);
  });

  it('does not affect another run than the one named, or one of another kind', async () => {
    await bench.motion.startTour('round');
    await ordered();
    expect(await bench.motion.endTour('tablet', 'an older one')).toMatchObject({ state: 'running' });
    expect(await bench.motion.endDrive('tablet')).toBeNull();
    expect(cancels()).toBe(0);
    expect(await bench.motion.endTour('tablet', bench.motion.status().tour?.id)).toMatchObject({ state: 'stopped' });
  });

  it('is not reported as stopped while the chassis does not confirm it: the run has failed and the gate is closed', async () => {
    chassis.onCancel = () => ({ status: 200 });
    await bench.motion.startDrive({ station: 'A' });
    await ordered();
    await bench.motion.endDrive('tablet');
    await ended();
    expect(drive()).toMatchObject({ state: 'failed', outcome: { state: 'unknown' } });
    expect(bench.motion.status()).toMatchObject({ gate: { open: false }, unownedMove: { moveId: 41 } });
  });

  it('succeeds without a run', async () => {
    expect(await bench.motion.endTour('tablet')).toBeNull();
    expect(await bench.motion.endDrive('tablet')).toBeNull();
    expect(chassis.orders).toEqual([]);
  });
});
