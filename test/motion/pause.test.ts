import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bench, moveTo, startBench, until } from './bench.ts';
import { type ScriptedChassis, startScriptedChassis } from './scripted-chassis.ts';
import { time } from './time.ts';

let chassis: ScriptedChassis;
let bench: Bench;
beforeEach(async () => {
  chassis = await startScriptedChassis();
  bench = await startBench(chassis);
});
afterEach(async () => {
  await bench[Symbol.asyncDispose]();
  await chassis[Symbol.asyncDispose]();
});

const moves = () => chassis.orders.filter(({ path }) => path === '/chassis/moves');
const goals = () => moves().map(({ body }) => body.target_x);
const cancels = () => chassis.orders.filter(({ path }) => path === '/chassis/moves/current').length;
const leg = (count: number) => until(() => moves().length >= count, `leg ${count}`);
const status = () => bench.motion.status();
const tour = () => status().tour;
const ended = () => until(() => !['running', 'paused'].includes(tour()?.state ?? ''), 'the end of the tour', 20_000);
const pauseOnTheWay = async (count = 1) => {
  await leg(count);
  const run = await bench.motion.pauseTour('tablet');
  expect(run).toMatchObject({ state: 'paused', reason: null });
  return run;
};
const arrive = () => chassis.plan({ move_state: 'succeeded' });

describe('a paused tour', () => {
  it('cancels its move, latches nothing, and drives on to the same station by an order', async () => {
    const { id } = await bench.motion.startTour('round');
    await leg(1);
    arrive();
    await leg(2);
    expect(await pauseOnTheWay()).toMatchObject({ id, at: 1, outcomes: [{ state: 'succeeded' }] });
    expect(cancels()).toBe(1);
    expect(status().stop.latched).toBe(false);
    await bench.stands();
    await time.sleep(15_000);
    expect([tour()?.state, goals()]).toEqual(['paused', [1, 3]]);
    expect(await bench.motion.resumeTour('round')).toMatchObject({ id, state: 'running', at: 1 });
    await leg(3);
    expect(goals()).toEqual([1, 3, 3]);
    arrive();
    await leg(4);
    arrive();
    await ended();
    expect(tour()).toMatchObject({ id, state: 'succeeded', at: 2 });
    expect(tour()?.outcomes.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  it('is held at a station before its next move', async () => {
    await bench.motion.startTour('round');
    await leg(1);
    arrive();
    await until(() => status().standstill.verdict !== 'moves', 'the report of the arrival');
    await bench.motion.pauseTour('tablet');
    await until(() => tour()?.state === 'paused', 'the pause', 10_000);
    expect(tour()).toMatchObject({ at: 1, outcomes: [{ state: 'succeeded' }] });
    await bench.stands();
    await bench.motion.resumeTour('round');
    await leg(2);
    expect(goals()).toEqual([1, 3]);
  });

  it('has failed where its cancel is not confirmed: the robot may drive on', async () => {
    await bench.motion.startTour('round');
    await leg(1);
    chassis.onCancel = () => ({ status: 200, json: {} });
    await bench.motion.pauseTour('tablet');
    await ended();
    expect(tour()).toMatchObject({ state: 'failed', outcomes: [{ state: 'unknown' }] });
    expect(moves()).toHaveLength(1);
  });

  it('stays paused where the gate refuses to drive on: without proof of standing, and with the emergency stop', async () => {
    await bench.motion.startTour('round');
    await pauseOnTheWay();
    const refused = (message: RegExp) =>
      expect(bench.motion.resumeTour('round')).rejects.toMatchObject({
        code: 'MOTION_REFUSED',
        message: expect.stringMatching(message),
      });
    await refused(/do not show yet that it stands/);
    await bench.stands();
    chassis.wheels = { control_mode: 'auto', emergency_stop_pressed: true };
    chassis.publish('/wheel_state');
    await until(() => !status().gate.open, 'the gate to close');
    await refused(/emergency stop/);
    expect([tour()?.state, goals()]).toEqual(['paused', [1]]);
    chassis.wheels = { control_mode: 'auto', emergency_stop_pressed: false };
    chassis.publish('/wheel_state');
    await until(() => status().gate.open, 'the gate to open');
    await bench.motion.resumeTour('round');
    await leg(2);
  });

  it('takes alerts that a person passes for the order of its continuation alone', async () => {
    chassis.alerts = [{ code: 8004, level: 'error', msg: 'x' }];
    chassis.publish('/alerts');
    await until(() => !status().gate.open, 'the alert');
    await bench.motion.startTour('round', { although: [8004] });
    await pauseOnTheWay();
    await until(() => status().gate.passableAlerts?.includes(8004) === true, 'the robot to stand', 15_000);
    await expect(bench.motion.resumeTour('round')).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    expect(await bench.motion.resumeTour('round', { although: [8004] })).toMatchObject({ although: [8004] });
    await leg(2);
  });

  it('keeps the robot for itself, and is no running tour for a second order to go on', async () => {
    await expect(bench.motion.pauseTour('tablet')).rejects.toMatchObject({ code: 'TOUR_NOT_RUNNING' });
    await expect(bench.motion.resumeTour('round')).rejects.toMatchObject({ code: 'TOUR_NOT_PAUSED' });
    await bench.motion.startTour('round');
    await expect(bench.motion.pauseTour('tablet', 'another')).rejects.toMatchObject({ code: 'TOUR_NOT_RUNNING' });
    await expect(bench.motion.resumeTour('round')).rejects.toMatchObject({ code: 'TOUR_NOT_PAUSED' });
    await pauseOnTheWay();
    await bench.stands();
    expect(await bench.motion.pauseTour('tablet')).toMatchObject({ state: 'paused' });
    await expect(bench.motion.resumeTour('short')).rejects.toMatchObject({ code: 'TOUR_NOT_PAUSED' });
    const busy = { code: 'TOUR_RUNNING', message: "Tour 'round' is paused." };
    await expect(bench.motion.startTour('short')).rejects.toMatchObject(busy);
    await expect(bench.motion.startDrive({ station: 'A' })).rejects.toMatchObject(busy);
    await expect(bench.motion.execute(moveTo(1, 1))).rejects.toMatchObject(busy);
    expect(bench.motion.describe?.()).toBe('tour round paused, to A');
    expect(goals()).toEqual([1]);
  });

  it('may be paused again after it was continued', async () => {
    await bench.motion.startTour('round');
    await pauseOnTheWay();
    await bench.stands();
    await bench.motion.resumeTour('round');
    await pauseOnTheWay(2);
    expect([cancels(), tour()?.at]).toEqual([2, 0]);
  });

  it('closes the gate when the robot moves: no movement of it is its own', async () => {
    await bench.motion.startTour('round');
    await pauseOnTheWay();
    await bench.stands();
    let xM = 1;
    chassis.beforePose = () => {
      xM += 0.05;
      chassis.pose = { pos: [xM, 2], ori: 90 };
    };
    await until(() => status().standstill.verdict === 'moves', 'the movement');
    expect(status().gate).toMatchObject({ open: false, reasons: [expect.stringMatching(/The robot moves/)] });
    await expect(bench.motion.resumeTour('round')).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    expect(tour()?.state).toBe('paused');
  });
});

describe('a paused tour ends', () => {
  const paused = async () => {
    await bench.motion.startTour('round');
    await pauseOnTheWay();
  };

  it('by its end', async () => {
    await paused();
    expect(await bench.motion.endTour('tablet')).toMatchObject({
      state: 'stopped',
      at: 0,
      reason: 'ended by tablet',
    });
    await bench.stands();
    await bench.motion.startTour('short');
  });

  it('by a stop, which then holds', async () => {
    await paused();
    await bench.motion.stopRobot('person in the way', 'tablet');
    await ended();
    expect(tour()).toMatchObject({ state: 'stopped', reason: expect.stringContaining('person in the way') });
    await expect(bench.motion.resumeTour('round')).rejects.toMatchObject({ code: 'TOUR_NOT_PAUSED' });
    expect(moves()).toHaveLength(1);
  });

  it('when the robot drives on after its pause, with a latched stop', async () => {
    let xM = 1;
    chassis.beforePose = () => {
      xM += 0.05;
      chassis.pose = { pos: [xM, 2], ori: 90 };
    };
    await bench.motion.startTour('round');
    await leg(1);
    await time.sleep(3_000);
    await pauseOnTheWay();
    await ended();
    expect(tour()).toMatchObject({ state: 'stopped', reason: expect.stringContaining('the robot drove on') });
    expect(status().stop).toMatchObject({ latched: true, disobeyed: expect.any(String) });
  });

  it('after half an hour', async () => {
    await using other = await startBench(chassis, { limits: { pauseMs: 60_000 } });
    await other.motion.startTour('round');
    await leg(1);
    await other.motion.pauseTour('tablet');
    await time.sleep(50_000);
    expect(other.motion.status().tour).toMatchObject({ state: 'paused', reason: null });
    await until(() => other.motion.status().tour?.state === 'stopped', 'its end', 15_000);
    expect(other.motion.status().tour?.reason).toBe('paused for more than 1 minutes');
    expect(moves()).toHaveLength(1);
  });

  it('with the service, and a new one knows nothing of it', async () => {
    await paused();
    await bench.motion.stop();
    expect(tour()).toMatchObject({ state: 'stopped', reason: 'gw is shutting down.' });
    const again = await bench.again();
    expect(again.status().tour).toBeNull();
    await time.sleep(5_000);
    expect(moves()).toHaveLength(1);
  });

  it('when the client that supervises it is gone, and not before', async () => {
    const { id } = await bench.motion.startTour('round', { keepAlive: true });
    const keeping = time.every(500, () => bench.motion.keepAlive(id));
    await pauseOnTheWay();
    await time.sleep(10_000);
    expect(tour()).toMatchObject({ state: 'paused', reason: null });
    keeping[Symbol.dispose]();
    await ended();
    expect(tour()).toMatchObject({ state: 'stopped', reason: expect.stringContaining('no keepalive') });
  });
});
