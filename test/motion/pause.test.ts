import { describe, expect, it } from 'vitest';
import { moveTo, until } from './bench.ts';
import {
  bench,
  cancels,
  chassis,
  drifts,
  eachHasBench,
  gate,
  motion,
  moves,
  open,
  ordered,
  planned,
  refused,
  status,
  succeed,
  tour,
  tourEnded,
} from './each-bench.ts';
import { time } from './time.ts';

eachHasBench();

const goals = () => moves().map(({ body }) => body.target_x);
const start = async () => {
  const run = await motion.startTour('round');
  await ordered();
  return run;
};
const pause = async () => {
  const run = await motion.pauseTour('tablet');
  expect(run).toMatchObject({ state: 'paused', reason: null });
  return run;
};
const paused = async () => {
  await start();
  await pause();
};
const pausedAtRest = async () => {
  await paused();
  await bench.stands();
};

describe('a paused tour', () => {
  it('cancels its move, latches nothing, and drives on to the same station by an order', async () => {
    const { id } = await start();
    succeed();
    await ordered(2);
    expect(await pause()).toMatchObject({ id, at: 1, outcomes: [{ state: 'succeeded' }] });
    expect(cancels()).toBe(1);
    expect(status().stop.latched).toBe(false);
    await bench.stands();
    await time.sleep(3_000);
    expect([tour()?.state, goals()]).toEqual(['paused', [1, 3]]);
    expect(await motion.resumeTour('round')).toMatchObject({ id, state: 'running', at: 1 });
    for (const leg of [3, 4]) {
      await ordered(leg);
      expect(goals()).toEqual([1, 3, 3, 5].slice(0, leg));
      succeed();
    }
    await tourEnded();
    expect(tour()).toMatchObject({ id, state: 'succeeded', at: 2 });
    expect(tour()?.outcomes.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  it('is held at a station before its next move', async () => {
    await start();
    succeed();
    // The chassis has reported the arrival, and its pose is not compared so far.
    await until(() => planned() === 'succeeded');
    await motion.pauseTour('tablet');
    await until(() => tour()?.state === 'paused');
    expect(tour()).toMatchObject({ at: 1, outcomes: [{ state: 'succeeded' }] });
    await bench.stands();
    await motion.resumeTour('round');
    await ordered(2);
    expect(goals()).toEqual([1, 3]);
  });

  it('has failed where its cancel is not confirmed: the robot may drive on', async () => {
    await start();
    chassis.onCancel = () => ({ status: 200, json: {} });
    await motion.pauseTour('tablet');
    await tourEnded();
    expect(tour()).toMatchObject({ state: 'failed', outcomes: [{ state: 'unknown' }] });
    expect(moves()).toHaveLength(1);
  });

  it('stays paused where the gate refuses to drive on: without proof of standing, and with the emergency stop', async () => {
    const emergencyStop = (isPressed: boolean) => {
      chassis.wheels = { control_mode: 'auto', emergency_stop_pressed: isPressed };
      chassis.publish('/wheel_state');
    };
    await paused();
    await refused(motion.resumeTour('round'), 'MOTION_REFUSED', 'do not show yet that it stands');
    await bench.stands();
    emergencyStop(true);
    await gate('closed');
    await refused(motion.resumeTour('round'), 'MOTION_REFUSED', 'emergency stop');
    expect([tour()?.state, goals()]).toEqual(['paused', [1]]);
    emergencyStop(false);
    await gate('open');
    await motion.resumeTour('round');
    await ordered(2);
  });

  it('takes alerts that a person passes for the order of its continuation alone', async () => {
    chassis.alerts = [{ code: 8004, level: 'error', msg: 'x' }];
    chassis.publish('/alerts');
    await gate('closed');
    await motion.startTour('round', { although: [8004] });
    await ordered();
    await pause();
    await until(() => status().gate.passableAlerts?.includes(8004) === true);
    await refused(motion.resumeTour('round'));
    expect(await motion.resumeTour('round', { although: [8004] })).toMatchObject({ although: [8004] });
    await ordered(2);
  });

  it('keeps the robot for itself, and is no running tour for a second order to go on', async () => {
    await refused(motion.pauseTour('tablet'), 'TOUR_NOT_RUNNING');
    await refused(motion.resumeTour('round'), 'TOUR_NOT_PAUSED');
    await start();
    await refused(motion.pauseTour('tablet', 'another'), 'TOUR_NOT_RUNNING');
    await refused(motion.resumeTour('round'), 'TOUR_NOT_PAUSED');
    await pause();
    await bench.stands();
    expect(await motion.pauseTour('tablet')).toMatchObject({ state: 'paused' });
    await refused(motion.resumeTour('short'), 'TOUR_NOT_PAUSED');
    const others = [motion.startTour('short'), motion.startDrive({ station: 'A' }), motion.execute(moveTo(1, 1))];
    for (const other of others) await refused(other, 'TOUR_RUNNING', /^Tour 'round' is paused\.$/);
    expect(motion.describe?.()).toBe('tour round paused, to A');
    expect(goals()).toEqual([1]);
  });

  it('may be paused again after it was continued', async () => {
    await pausedAtRest();
    await motion.resumeTour('round');
    await ordered(2);
    await pause();
    expect([cancels(), tour()?.at]).toEqual([2, 0]);
  });

  it('closes the gate when the robot moves: no movement of it is its own', async () => {
    await pausedAtRest();
    drifts(0.05);
    await until(() => status().standstill.verdict === 'moves');
    expect(status().gate).toMatchObject({ open: false, reasons: [expect.stringMatching(/The robot moves/)] });
    await refused(motion.resumeTour('round'));
    expect(tour()?.state).toBe('paused');
  });
});

describe('a paused tour ends', () => {
  it('by its end', async () => {
    await paused();
    expect(await motion.endTour('tablet')).toMatchObject({ state: 'stopped', at: 0, reason: 'ended by tablet' });
    await bench.stands();
    await motion.startTour('short');
  });

  it('by a stop, which then holds', async () => {
    await paused();
    await motion.stopRobot('person in the way', 'tablet');
    await tourEnded();
    expect(tour()).toMatchObject({ state: 'stopped', reason: expect.stringContaining('person in the way') });
    await refused(motion.resumeTour('round'), 'TOUR_NOT_PAUSED');
    expect(moves()).toHaveLength(1);
  });

  it('when the robot drives on after its pause, with a latched stop', async () => {
    drifts(0.05);
    await start();
    await time.sleep(3_000);
    await pause();
    await tourEnded();
    expect(tour()).toMatchObject({ state: 'stopped', reason: expect.stringContaining('the robot drove on') });
    expect(status().stop).toMatchObject({ latched: true, disobeyed: expect.any(String) });
  });

  it('after half an hour, and not before', async () => {
    await motion.stop();
    // Half a minute is one, rounded.
    await open({ limits: { pauseMs: 30_000 } });
    await paused();
    // The end of its time alone, and no pose in it.
    chassis.pose = null;
    await time.sleep(25_000);
    expect(tour()).toMatchObject({ state: 'paused', reason: null });
    await tourEnded();
    expect(tour()).toMatchObject({ state: 'stopped', reason: 'paused for more than 1 minutes' });
    expect(moves()).toHaveLength(1);
  });

  it('with the service, and a new one knows nothing of it', async () => {
    await paused();
    await motion.stop();
    expect(tour()).toMatchObject({ state: 'stopped', reason: 'gw is shutting down.' });
    const again = await bench.again();
    expect(again.status().tour).toBeNull();
    await time.sleep(2_000);
    expect(moves()).toHaveLength(1);
  });

  it('when the client that supervises it is gone, and not before', async () => {
    const { id } = await motion.startTour('round', { keepAlive: true });
    const keeping = time.every(500, () => motion.keepAlive(id));
    await ordered();
    await pause();
    await time.sleep(5_000);
    expect(tour()).toMatchObject({ state: 'paused', reason: null });
    keeping[Symbol.dispose]();
    await tourEnded();
    expect(tour()).toMatchObject({ state: 'stopped', reason: expect.stringContaining('no keepalive') });
  });
});
