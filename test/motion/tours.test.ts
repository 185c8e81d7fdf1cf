import { describe, expect, it } from 'vitest';
import type { TourRun } from '../../src/lib/motion/index.ts';
import { dockOrder, planTour } from '../../src/lib/motion/tours.ts';
import { moveTo } from './bench.ts';
import {
  bench,
  cancels,
  chassis,
  eachHasBench,
  gate,
  motion,
  moves,
  open,
  ordered,
  refused,
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
