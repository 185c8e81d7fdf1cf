import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TourRun } from '../../src/lib/motion/index.ts';
import { dockOrder, planTour } from '../../src/lib/motion/tours.ts';
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
const cancels = () => chassis.orders.filter(({ path }) => path === '/chassis/moves/current').length;
const leg = (count: number) => until(() => moves().length >= count, `leg ${count}`);
const tour = () => bench.motion.status().tour;
const ended = () => until(() => tour() !== null && tour()?.state !== 'running', 'the end of the tour');
/** The robot arrives automatically, shortly after each order. */
const arrives = () => {
  chassis.onMove = () => {
    const id = 100 + moves().length;
    chassis.plan({ action_id: id, move_state: 'moving' });
    time.after(30, () => chassis.plan({ move_state: 'succeeded' }));
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
    expect(dockOrder({})).toBeUndefined();
    expect(dockOrder({ dock: { xM: 1, yM: 2, yawDeg: -90 } })).toEqual({
      kind: 'dock',
      goal: { value: { xM: 1, yM: 2, yawDeg: -90 }, mark: 'CHOSEN', source: 'site file, dock' },
    });
  });
});

describe('a tour', () => {
  it('drives to every station in order, in the background, and reports each step', async () => {
    arrives();
    const seen: TourRun[] = [];
    using _listening = bench.motion.subscribe(() => {
      const run = tour();
      if (run) seen.push(run);
    });
    const begun = await bench.motion.startTour('round');
    expect(begun).toMatchObject({ tour: 'round', stations: ['A', 'B', 'C'], state: 'running', at: 0, outcomes: [] });
    await ended();
    expect(tour()).toMatchObject({ id: begun.id, state: 'succeeded', at: 2, reason: null });
    expect(tour()?.outcomes.map(({ state }) => state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect(moves().map(({ body }) => [body.target_x, body.target_y])).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    expect(seen.map(({ at, outcomes, state }) => `${at} ${outcomes.length} ${state}`)).toEqual([
      '0 0 running',
      '0 1 running',
      '1 1 running',
      '1 2 running',
      '2 2 running',
      '2 3 running',
      '2 3 succeeded',
    ]);
    expect(begun).toMatchObject({ state: 'running', outcomes: [] });
  });

  it('excludes a second tour and single orders', async () => {
    const { id } = await bench.motion.startTour('round');
    await expect(bench.motion.startTour('short')).rejects.toMatchObject({ code: 'TOUR_RUNNING' });
    await expect(bench.motion.execute(moveTo(1, 1))).rejects.toMatchObject({ code: 'TOUR_RUNNING' });
    await expect(bench.motion.startTour('nowhere')).rejects.toMatchObject({ code: 'TOUR_UNKNOWN' });
    expect(tour()?.id).toBe(id);
  });

  it('does not start during a single order', async () => {
    const moving = bench.motion.execute(moveTo(1, 1));
    await expect(bench.motion.startTour('round')).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    await leg(1);
    chassis.plan({ move_state: 'succeeded' });
    await moving;
    expect(tour()).toBeNull();
  });

  it('ends at the first station that is not reached, with the station and the reason', async () => {
    await bench.motion.startTour('round');
    await leg(1);
    chassis.plan({ move_state: 'succeeded' });
    await leg(2);
    chassis.plan({ move_state: 'failed', fail_reason: 15, fail_reason_str: 'MoveTimeout' });
    await ended();
    expect(tour()).toMatchObject({ state: 'failed', at: 1 });
    expect(tour()?.reason).toMatch(/On the way to B: .*fail_reason 15/);
    expect(moves()).toHaveLength(2);
    arrives();
    await bench.motion.startTour('short');
    await ended();
    expect(tour()).toMatchObject({ tour: 'short', state: 'succeeded' });
  });

  it('fails when the result of a move is unknown', async () => {
    chassis.onMove = () => 'drop';
    await bench.motion.startTour('round');
    await ended();
    expect(tour()).toMatchObject({ state: 'failed' });
    expect(tour()?.reason).toMatch(/did not confirm/);
    expect(moves()).toHaveLength(1);
  });

  it('is ended by a stop, with a cancel', async () => {
    await bench.motion.startTour('round');
    await leg(1);
    await bench.motion.stopRobot('person in the way', 'tablet');
    await ended();
    expect(tour()).toMatchObject({ state: 'stopped', at: 0 });
    expect(tour()?.reason).toMatch(/person in the way/);
    expect(cancels()).toBeGreaterThanOrEqual(1);
    await expect(bench.motion.startTour('round')).rejects.toMatchObject({ code: 'MOTION_STOPPED' });
    expect(moves()).toHaveLength(1);
  });

  it('ends when another client cancels the move on the chassis', async () => {
    await bench.motion.startTour('round');
    await leg(1);
    chassis.plan({ move_state: 'cancelled' });
    await ended();
    expect(tour()).toMatchObject({ state: 'stopped' });
    expect(moves()).toHaveLength(1);
  });

  it('checks the gate again before each station', async () => {
    await bench.motion.startTour('round');
    await leg(1);
    chassis.wheels = { control_mode: 'auto', emergency_stop_pressed: true };
    chassis.publish('/wheel_state');
    await until(() => !bench.motion.status().gate.open, 'the gate to close', 6_000);
    chassis.plan({ move_state: 'succeeded' });
    await ended();
    expect(tour()).toMatchObject({ state: 'failed', at: 1 });
    expect(tour()?.reason).toMatch(/emergency stop of the robot is pressed/);
    expect(moves()).toHaveLength(1);
  });

  it('does not start when the gate is closed for any of its stations', async () => {
    const far = { stations: { A: { xM: 1, yM: 2 } }, tours: { bad: { stations: ['A', 'Z'] } } };
    await using other = await startBench(chassis, {
      file: { ...far, stations: { ...far.stations, Z: { xM: 9_000, yM: 1 } } },
    });
    Object.assign(other.site.stations, { Z: { xM: 10_001, yM: 1 } });
    await expect(other.motion.startTour('bad')).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    expect(other.motion.status().tour).toBeNull();
    expect(moves()).toHaveLength(0);
  });

  it('ends with the service', async () => {
    await bench.motion.startTour('round');
    await leg(1);
    await bench.motion.stop();
    expect(tour()).toMatchObject({ state: 'stopped', reason: expect.stringMatching(/gw is shutting down/) });
    expect(cancels()).toBe(1);
  });
});
