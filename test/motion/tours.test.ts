import { describe, expect, it } from 'vitest';
import type { TourRun } from '../../src/lib/motion/index.ts';
import { dockOrder, planTour } from '../../src/lib/motion/run/tours.ts';
import { moveTo, until } from './bench.ts';
import * as rig from './each-bench.ts';
import { ground } from './snapshot.ts';
import { time } from './time.ts';

rig.eachHasBench();

const start = async () => {
  const run = await rig.motion.startTour('round');
  await rig.ordered();
  return run;
};
/** The robot arrives automatically, shortly after each order. */
const arrives = () => {
  rig.chassis.onMove = () => {
    const id = 100 + rig.moves().length;
    rig.chassis.plan({ action_id: id, move_state: 'moving' });
    time.after(30, rig.succeed);
    return { status: 200, json: { id } };
  };
};

describe('the plan of a tour', () => {
  it('has the stations of the site file, in order', () => {
    const legs = planTour(rig.bench.site, 'round');
    expect(legs.map(({ station }) => station)).toEqual(['A', 'B', 'C']);
    expect(legs[1]?.order).toEqual({
      kind: 'move',
      goal: { value: { xM: 3, yM: 4, yawDeg: 90, map: ground }, mark: 'CHOSEN', source: 'site file, stations.B' },
    });
    expect(legs[0]?.order).toMatchObject({ goal: { value: { xM: 1, yM: 2 } } });
  });

  it.each(['nowhere', 'constructor', '__proto__', ''])('rejects the unknown tour %j', (name) => {
    expect(() => planTour(rig.bench.site, name)).toThrow(expect.objectContaining({ code: 'TOUR_UNKNOWN' }));
  });

  it('rejects a station that is not in the site file', () => {
    const site = { ...rig.bench.site, tours: { lost: { stations: ['A', 'toString'] } } };
    expect(() => planTour(site, 'lost')).toThrow(expect.objectContaining({ code: 'SITE_FILE_INVALID' }));
  });

  it('has a dock only where the site file has a measured one', () => {
    const dock = { xM: 1, yM: 2, yawDeg: -90 };
    const { chassis } = rig.bench.site;
    expect(dockOrder({ maps: {}, chassis })).toBeUndefined();
    expect(dockOrder({ dock, maps: { ground }, chassis })).toEqual({
      kind: 'dock',
      goal: { value: { ...dock, map: ground }, mark: 'CHOSEN', source: 'site file, dock' },
    });
  });
});

describe('a tour', () => {
  it('drives to every station in order, in the background, and reports each step', async () => {
    arrives();
    const seen: TourRun[] = [];
    using _listening = rig.motion.subscribe(() => {
      const run = rig.tour();
      if (run) seen.push(run);
    });
    const begun = await rig.motion.startTour('round');
    expect(begun).toMatchObject({ tour: 'round', stations: ['A', 'B', 'C'], state: 'running', at: 0, outcomes: [] });
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({ id: begun.id, state: 'succeeded', at: 2, reason: null });
    expect(rig.tour()?.outcomes.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(rig.moves().map(({ body }) => `${body.target_x} ${body.target_y}`)).toEqual(['1 2', '3 4', '5 6']);
    const steps = ['0 0', '0 1', '1 1', '1 2', '2 2', '2 3'].map((step) => `${step} running`);
    expect(seen.map(({ at, outcomes, state }) => `${at} ${outcomes.length} ${state}`)).toEqual([
      ...steps,
      '2 3 succeeded',
    ]);
    expect(begun).toMatchObject({ state: 'running', outcomes: [] });
  });

  it('excludes a second tour and single orders', async () => {
    const { id } = await rig.motion.startTour('round');
    await rig.refused(rig.motion.startTour('short'), 'TOUR_RUNNING');
    await rig.refused(rig.motion.execute(moveTo(1, 1)), 'TOUR_RUNNING');
    await rig.refused(rig.motion.startTour('nowhere'), 'TOUR_UNKNOWN');
    expect(rig.tour()?.id).toBe(id);
  });

  it('does not start during a single order', async () => {
    const moving = rig.motion.execute(moveTo(1, 1));
    await rig.refused(rig.motion.startTour('round'));
    await rig.ordered();
    rig.succeed();
    await moving;
    expect(rig.tour()).toBeNull();
  });

  it('ends at the first station that is not reached, with the station and the reason', async () => {
    await start();
    rig.succeed();
    await rig.ordered(2);
    rig.chassis.plan({ move_state: 'failed', fail_reason: 15, fail_reason_str: 'MoveTimeout' });
    await rig.tourEnded();
    const reason = expect.stringMatching(/On the way to B: .*fail_reason 15/);
    expect(rig.tour()).toMatchObject({ state: 'failed', at: 1, reason });
    expect(rig.moves()).toHaveLength(2);
    arrives();
    await rig.motion.startTour('short');
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({ tour: 'short', state: 'succeeded' });
  });

  it('fails when the result of a move is unknown', async () => {
    rig.chassis.onMove = () => 'drop';
    await rig.motion.startTour('round');
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({ state: 'failed', reason: expect.stringMatching(/did not confirm/) });
    expect(rig.moves()).toHaveLength(1);
  });

  it('is ended by a stop, with a cancel', async () => {
    await start();
    await rig.motion.stopRobot('person in the way', 'tablet');
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({ state: 'stopped', at: 0, reason: expect.stringMatching(/person in the way/) });
    expect(rig.cancels()).toBeGreaterThanOrEqual(1);
    await rig.refused(rig.motion.startTour('round'), 'MOTION_STOPPED');
    expect(rig.moves()).toHaveLength(1);
  });

  it('ends when another client cancels the move on the chassis', async () => {
    await start();
    rig.chassis.plan({ move_state: 'cancelled' });
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({ state: 'stopped' });
    expect(rig.moves()).toHaveLength(1);
  });

  it('checks the gate again before each station', async () => {
    await start();
    // It cancels no drive, and refuses the next one.
    rig.chassis.alerts = [{ code: 1008, level: 'error', msg: 'no progress' }];
    rig.chassis.publish('/alerts');
    await rig.gate('closed');
    rig.succeed();
    await rig.tourEnded();
    const reason = expect.stringMatching(/error 1008/);
    expect(rig.tour()).toMatchObject({ state: 'failed', at: 1, reason });
    expect(rig.moves()).toHaveLength(1);
  });

  it('does not start when the gate is closed for any of its stations', async () => {
    const stations = { A: { xM: 1, yM: 2 }, Z: { xM: 9_000, yM: 1 } };
    const { site } = await rig.open({ file: { stations, tours: { bad: { stations: ['A', 'Z'] } } } });
    Object.assign(site.stations, { Z: { xM: 10_001, yM: 1 } });
    await rig.refused(rig.motion.startTour('bad'));
    expect([rig.tour(), rig.moves().length]).toEqual([null, 0]);
  });

  it('ends with the service', async () => {
    await start();
    await rig.motion.stop();
    expect(rig.tour()).toMatchObject({ state: 'stopped', reason: expect.stringMatching(/gw is shutting down/) });
    expect(rig.cancels()).toBe(1);
  });
});

const goals = () => rig.moves().map(({ body }) => body.target_x);
const pause = async () => {
  const run = await rig.motion.pauseTour('tablet');
  expect(run).toMatchObject({ state: 'paused', reason: null });
  return run;
};
const paused = async () => {
  await start();
  await pause();
};
const pausedAtRest = async () => {
  await paused();
  await rig.bench.stands();
};

describe('a paused tour', () => {
  it('cancels its move, latches nothing, and drives on to the same station by an order', async () => {
    const { id } = await start();
    rig.succeed();
    await rig.ordered(2);
    expect(await pause()).toMatchObject({ id, at: 1, outcomes: [{ state: 'succeeded' }] });
    expect(rig.cancels()).toBe(1);
    expect(rig.status().stop.latched).toBe(false);
    await rig.bench.stands();
    await time.sleep(3_000);
    expect([rig.tour()?.state, goals()]).toEqual(['paused', [1, 3]]);
    expect(await rig.motion.resumeTour('round')).toMatchObject({ id, state: 'running', at: 1 });
    for (const leg of [3, 4]) {
      await rig.ordered(leg);
      expect(goals()).toEqual([1, 3, 3, 5].slice(0, leg));
      rig.succeed();
    }
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({ id, state: 'succeeded', at: 2 });
    expect(rig.tour()?.outcomes.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  });

  it('is held at a station before its next move', async () => {
    await start();
    rig.succeed();
    // The chassis has reported the arrival, and its pose is not compared so far.
    await until(() => rig.planned() === 'succeeded');
    await rig.motion.pauseTour('tablet');
    await until(() => rig.tour()?.state === 'paused');
    expect(rig.tour()).toMatchObject({ at: 1, outcomes: [{ state: 'succeeded' }] });
    await rig.bench.stands();
    await rig.motion.resumeTour('round');
    await rig.ordered(2);
    expect(goals()).toEqual([1, 3]);
  });

  it('has failed where its cancel is not confirmed: the robot may drive on', async () => {
    await start();
    rig.chassis.onCancel = () => ({ status: 200, json: {} });
    await rig.motion.pauseTour('tablet');
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({ state: 'failed', outcomes: [{ state: 'unknown' }] });
    expect(rig.moves()).toHaveLength(1);
  });

  it('stays paused where the gate refuses to drive on: without proof of standing, and with the emergency stop', async () => {
    const emergencyStop = (isPressed: boolean) => {
      rig.chassis.wheels = { control_mode: 'auto', emergency_stop_pressed: isPressed };
      rig.chassis.publish('/wheel_state');
    };
    await paused();
    await rig.refused(rig.motion.resumeTour('round'), 'MOTION_REFUSED', 'do not show yet that it stands');
    await rig.bench.stands();
    emergencyStop(true);
    await rig.gate('closed');
    await rig.refused(rig.motion.resumeTour('round'), 'MOTION_REFUSED', 'emergency stop');
    expect([rig.tour()?.state, goals()]).toEqual(['paused', [1]]);
    emergencyStop(false);
    await rig.gate('open');
    await rig.motion.resumeTour('round');
    await rig.ordered(2);
  });

  it('takes alerts that a person passes for the order of its continuation alone', async () => {
    rig.chassis.alerts = [{ code: 8004, level: 'error', msg: 'x' }];
    rig.chassis.publish('/alerts');
    await rig.gate('closed');
    await rig.motion.startTour('round', { although: [8004] });
    await rig.ordered();
    await pause();
    await until(() => rig.status().gate.passableAlerts?.includes(8004) === true);
    await rig.refused(rig.motion.resumeTour('round'));
    expect(await rig.motion.resumeTour('round', { although: [8004] })).toMatchObject({ although: [8004] });
    await rig.ordered(2);
  });

  it('keeps the robot for itself, and is no running tour for a second order to go on', async () => {
    await rig.refused(rig.motion.pauseTour('tablet'), 'TOUR_NOT_RUNNING');
    await rig.refused(rig.motion.resumeTour('round'), 'TOUR_NOT_PAUSED');
    await start();
    await rig.refused(rig.motion.pauseTour('tablet', 'another'), 'TOUR_NOT_RUNNING');
    await rig.refused(rig.motion.resumeTour('round'), 'TOUR_NOT_PAUSED');
    await pause();
    await rig.bench.stands();
    expect(await rig.motion.pauseTour('tablet')).toMatchObject({ state: 'paused' });
    await rig.refused(rig.motion.resumeTour('short'), 'TOUR_NOT_PAUSED');
    const others = [
      rig.motion.startTour('short'),
      rig.motion.startDrive({ station: 'A' }),
      rig.motion.execute(moveTo(1, 1)),
    ];
    for (const other of others) await rig.refused(other, 'TOUR_RUNNING', /^Tour 'round' is paused\.$/);
    expect(rig.motion.describe?.()).toBe('tour round paused, to A');
    expect(goals()).toEqual([1]);
  });

  it('may be paused again after it was continued', async () => {
    await pausedAtRest();
    await rig.motion.resumeTour('round');
    await rig.ordered(2);
    await pause();
    expect([rig.cancels(), rig.tour()?.at]).toEqual([2, 0]);
  });

  it('stays so where a person moves the robot, whose wheels are released: the gate is closed', async () => {
    await pausedAtRest();
    rig.chassis.wheels = { ...rig.chassis.wheels, wheels_released: true };
    rig.chassis.publish('/wheel_state');
    await until(() => !rig.status().gate.open);
    rig.drifts(0.05);
    await until(() => rig.status().standstill.verdict === 'moves');
    const reasons = expect.arrayContaining([expect.stringMatching(/The robot moves/)]);
    expect(rig.status()).toMatchObject({ gate: { open: false, reasons }, stop: { latched: false } });
    await rig.refused(rig.motion.resumeTour('round'));
    expect(rig.tour()?.state).toBe('paused');
  });
});

describe('a paused tour ends', () => {
  it('by its end', async () => {
    await paused();
    expect(await rig.motion.endTour('tablet')).toMatchObject({ state: 'stopped', at: 0, reason: 'ended by tablet' });
    await rig.bench.stands();
    await rig.motion.startTour('short');
  });

  it('by a stop, which then holds', async () => {
    await paused();
    await rig.motion.stopRobot('person in the way', 'tablet');
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({ state: 'stopped', reason: expect.stringContaining('person in the way') });
    await rig.refused(rig.motion.resumeTour('round'), 'TOUR_NOT_PAUSED');
    expect(rig.moves()).toHaveLength(1);
  });

  it('when the robot drives off after it stood, with a latched stop', async () => {
    await pausedAtRest();
    rig.drifts(0.05);
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({ state: 'stopped', reason: expect.stringMatching(/drives without an order/) });
    expect(rig.status().stop).toMatchObject({ latched: true, by: 'gw' });
    await rig.refused(rig.motion.resumeTour('round'), 'TOUR_NOT_PAUSED');
  });

  it('when the robot drives on after its pause, with a latched stop', async () => {
    rig.drifts(0.05);
    await start();
    await time.sleep(3_000);
    await pause();
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({ state: 'stopped', reason: expect.stringContaining('the robot drove on') });
    expect(rig.status().stop).toMatchObject({ latched: true, disobeyed: expect.any(String) });
  });

  it('after half an hour, and not before', async () => {
    await rig.motion.stop();
    // Half a minute is one, rounded.
    await rig.open({ limits: { pauseMs: 30_000 } });
    await paused();
    // The end of its time alone, and no pose in it.
    rig.chassis.pose = null;
    await time.sleep(25_000);
    expect(rig.tour()).toMatchObject({ state: 'paused', reason: null });
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({ state: 'stopped', reason: 'paused for more than 1 minutes' });
    expect(rig.moves()).toHaveLength(1);
  });

  it('with the service, and a new one knows nothing of it', async () => {
    await paused();
    await rig.motion.stop();
    expect(rig.tour()).toMatchObject({ state: 'stopped', reason: 'gw is shutting down.' });
    const again = await rig.bench.again();
    expect(again.status().tour).toBeNull();
    await time.sleep(2_000);
    expect(rig.moves()).toHaveLength(1);
  });

  it('when the client that supervises it is gone, and not before', async () => {
    const { id } = await rig.motion.startTour('round', { keepAlive: true });
    const keeping = time.every(500, () => rig.motion.keepAlive(id));
    await rig.ordered();
    await pause();
    await time.sleep(5_000);
    expect(rig.tour()).toMatchObject({ state: 'paused', reason: null });
    keeping[Symbol.dispose]();
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({ state: 'stopped', reason: expect.stringContaining('no keepalive') });
  });
});
