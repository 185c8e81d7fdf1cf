import { describe, expect, it } from 'vitest';
import type { TourRun } from '../../src/lib/motion/index.ts';
import { dockOrder, planTour } from '../../src/lib/motion/tours.ts';
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

const start = async () => {
  const run = await motion.startTour('round');
  await ordered();
  return run;
};
/** The robot arrives automatically, shortly after each order. */
const arrives = () => {
  chassis.onMove = () => {
    const id = 100 + moves().length;
    chassis.plan({ action_id: id, move_state: 'moving' });
    time.after(30, succeed);
    return { status: 200, json: { id } };
  };
};

describe('the plan of a tour', () => {
  it('has the stations of the site file, in order', () => {
    const legs = planTour(bench.site, 'round');
    expect(legs.map(({ station }) => station)).toEqual(['A', 'B', 'C']);
    expect(legs[1]?.order).toEqual({
      kind: 'move',
      goal: { value: { xM: 3, yM: 4, yawDeg: 90 }, mark: 'CHOSEN', source: 'site file, stations.B' },
    });
    expect(legs[0]?.order).toMatchObject({ goal: { value: { xM: 1, yM: 2 } } });
  });

  it.each(['nowhere', 'constructor', '__proto__', ''])('rejects the unknown tour %j', (name) => {
    expect(() => planTour(bench.site, name)).toThrow(expect.objectContaining({ code: 'TOUR_UNKNOWN' }));
  });

  it('rejects a station that is not in the site file', () => {
    const site = { ...bench.site, tours: { lost: { stations: ['A', 'toString'] } } };
    expect(() => planTour(site, 'lost')).toThrow(expect.objectContaining({ code: 'SITE_FILE_INVALID' }));
  });

  it('has a dock only where the site file has a measured one', () => {
    const dock = { xM: 1, yM: 2, yawDeg: -90 };
    expect(dockOrder({})).toBeUndefined();
    expect(dockOrder({ dock })).toEqual({
      kind: 'dock',
      goal: { value: dock, mark: 'CHOSEN', source: 'site file, dock' },
    });
  });
});

describe('a tour', () => {
  it('drives to every station in order, in the background, and reports each step', async () => {
    arrives();
    const seen: TourRun[] = [];
    using _listening = motion.subscribe(() => {
      const run = tour();
      if (run) seen.push(run);
    });
    const begun = await motion.startTour('round');
    expect(begun).toMatchObject({ tour: 'round', stations: ['A', 'B', 'C'], state: 'running', at: 0, outcomes: [] });
    await tourEnded();
    expect(tour()).toMatchObject({ id: begun.id, state: 'succeeded', at: 2, reason: null });
    expect(tour()?.outcomes.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(moves().map(({ body }) => `${body.target_x} ${body.target_y}`)).toEqual(['1 2', '3 4', '5 6']);
    const steps = ['0 0', '0 1', '1 1', '1 2', '2 2', '2 3'].map((step) => `${step} running`);
    expect(seen.map(({ at, outcomes, state }) => `${at} ${outcomes.length} ${state}`)).toEqual([
      ...steps,
      '2 3 succeeded',
    ]);
    expect(begun).toMatchObject({ state: 'running', outcomes: [] });
  });

  it('excludes a second tour and single orders', async () => {
    const { id } = await motion.startTour('round');
    await refused(motion.startTour('short'), 'TOUR_RUNNING');
    await refused(motion.execute(moveTo(1, 1)), 'TOUR_RUNNING');
    await refused(motion.startTour('nowhere'), 'TOUR_UNKNOWN');
    expect(tour()?.id).toBe(id);
  });

  it('does not start during a single order', async () => {
    const moving = motion.execute(moveTo(1, 1));
    await refused(motion.startTour('round'));
    await ordered();
    succeed();
    await moving;
    expect(tour()).toBeNull();
  });

  it('ends at the first station that is not reached, with the station and the reason', async () => {
    await start();
    succeed();
    await ordered(2);
    chassis.plan({ move_state: 'failed', fail_reason: 15, fail_reason_str: 'MoveTimeout' });
    await tourEnded();
    const reason = expect.stringMatching(/On the way to B: .*fail_reason 15/);
    expect(tour()).toMatchObject({ state: 'failed', at: 1, reason });
    expect(moves()).toHaveLength(2);
    arrives();
    await motion.startTour('short');
    await tourEnded();
    expect(tour()).toMatchObject({ tour: 'short', state: 'succeeded' });
  });

  it('fails when the result of a move is unknown', async () => {
    chassis.onMove = () => 'drop';
    await motion.startTour('round');
    await tourEnded();
    expect(tour()).toMatchObject({ state: 'failed', reason: expect.stringMatching(/did not confirm/) });
    expect(moves()).toHaveLength(1);
  });

  it('is ended by a stop, with a cancel', async () => {
    await start();
    await motion.stopRobot('person in the way', 'tablet');
    await tourEnded();
    expect(tour()).toMatchObject({ state: 'stopped', at: 0, reason: expect.stringMatching(/person in the way/) });
    expect(cancels()).toBeGreaterThanOrEqual(1);
    await refused(motion.startTour('round'), 'MOTION_STOPPED');
    expect(moves()).toHaveLength(1);
  });

  it('ends when another client cancels the move on the chassis', async () => {
    await start();
    chassis.plan({ move_state: 'cancelled' });
    await tourEnded();
    expect(tour()).toMatchObject({ state: 'stopped' });
    expect(moves()).toHaveLength(1);
  });

  it('checks the gate again before each station', async () => {
    await start();
    chassis.wheels = { control_mode: 'auto', emergency_stop_pressed: true };
    chassis.publish('/wheel_state');
    await gate('closed');
    succeed();
    await tourEnded();
    const reason = expect.stringMatching(/emergency stop of the robot is pressed/);
    expect(tour()).toMatchObject({ state: 'failed', at: 1, reason });
    expect(moves()).toHaveLength(1);
  });

  it('does not start when the gate is closed for any of its stations', async () => {
    const stations = { A: { xM: 1, yM: 2 }, Z: { xM: 9_000, yM: 1 } };
    const { site } = await open({ file: { stations, tours: { bad: { stations: ['A', 'Z'] } } } });
    Object.assign(site.stations, { Z: { xM: 10_001, yM: 1 } });
    await refused(motion.startTour('bad'));
    expect([tour(), moves().length]).toEqual([null, 0]);
  });

  it('ends with the service', async () => {
    await start();
    await motion.stop();
    expect(tour()).toMatchObject({ state: 'stopped', reason: expect.stringMatching(/gw is shutting down/) });
    expect(cancels()).toBe(1);
  });
});

const goals = () => moves().map(({ body }) => body.target_x);
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
