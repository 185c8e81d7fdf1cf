import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFloorGrid, dock, stations } from '../../../../src/lib/sim/chassis/floor/floor.ts';
import { cellIndex, FREE } from '../../../../src/lib/sim/chassis/floor/grid.ts';
import { reportedDegrees, wrapRad } from '../../../../src/lib/sim/chassis/motion/heading.ts';
import { createRobot } from '../../../../src/lib/sim/chassis/robot.ts';
import { createFaults } from '../../../../src/lib/sim/faults.ts';
import { runs } from '../../../properties.ts';

const STEP_S = 0.05;
const RADIUS_M = 0.25;
const floor = createFloorGrid();

function newRobot() {
  const faults = createFaults(() => {});
  return { faults, robot: createRobot({ serial: 'T', now: () => 0, faults, onChange() {} }) };
}

type Robot = ReturnType<typeof newRobot>['robot'];

/** Whether the round robot at this place touches a cell that is not free. */
function touches(xM: number, yM: number): boolean {
  for (let angle = 0; angle < 2 * Math.PI; angle += Math.PI / 12) {
    const at = { xM: xM + RADIUS_M * Math.cos(angle), yM: yM + RADIUS_M * Math.sin(angle) };
    if (floor.cells[cellIndex(floor, at)] !== FREE) return true;
  }
  return false;
}

/** Steps until the move has ended; every step must be physically possible. */
function drive(robot: Robot, limitS = 120): number {
  let seconds = 0;
  let speed = robot.speedMS();
  for (; robot.moves.isMoving(); seconds += STEP_S) {
    if (seconds > limitS) throw new Error('the move does not end');
    const before = robot.pose();
    robot.step(STEP_S);
    const after = robot.pose();
    const way = Math.hypot(after.xM - before.xM, after.yM - before.yM);
    const turn = Math.abs(wrapRad(after.yawRad - before.yawRad));
    expect(way, 'way in one step').toBeLessThanOrEqual(1.0 * STEP_S + 1e-9);
    expect(turn, 'turn in one step').toBeLessThanOrEqual((Math.PI / 2) * STEP_S + 0.011);
    expect(Math.abs(robot.speedMS() - speed), 'change of speed in one step').toBeLessThanOrEqual(2 * STEP_S + 0.06);
    if (touches(after.xM, after.yM)) throw new Error(`touches something at ${after.xM}, ${after.yM}`);
    // It drives along its heading, forwards or backwards, and never sideways.
    if (way > 0.01) {
      const heading = Math.atan2(after.yM - before.yM, after.xM - before.xM);
      const sideways = Math.abs(Math.sin(heading - after.yawRad));
      expect(sideways, 'sideways').toBeLessThan(0.1);
    }
    speed = robot.speedMS();
  }
  return seconds;
}

const standard = (x: number, y: number, ori?: number) => ({
  creator: 'test',
  type: 'standard',
  target_x: x,
  target_y: y,
  ...(ori !== undefined && { target_ori: ori }),
});

describe('the robot', () => {
  it('drives the demo tour and back to its dock with possible motion, each leg in a few seconds', () => {
    const { robot } = newRobot();
    for (const { xM, yM, yawDeg } of Object.values(stations)) {
      robot.order(standard(xM, yM, (yawDeg * Math.PI) / 180));
      expect(drive(robot)).toBeLessThan(6);
      expect(robot.moves.latest()?.state).toBe('succeeded');
      const pose = robot.pose();
      expect(Math.hypot(pose.xM - xM, pose.yM - yM)).toBeLessThan(0.03);
      expect(reportedDegrees(pose.yawRad)).toBe(yawDeg);
    }
    robot.order({ ...standard(dock.xM, dock.yM, Math.PI / 2), type: 'charge' });
    expect(drive(robot)).toBeLessThan(10);
    expect(robot.isDocked()).toBe(true);
  });

  it('ends every move to any goal without a collision', { tags: 'property' }, () => {
    const { robot } = newRobot();
    const coordinate = fc.double({ min: -4, max: 14, noNaN: true });
    const ori = fc.option(fc.double({ min: -1000, max: 1000, noNaN: true }), { nil: undefined });
    fc.assert(
      fc.property(coordinate, coordinate, ori, (x, y, heading) => {
        robot.order(standard(x, y, heading));
        drive(robot);
        const move = robot.moves.latest();
        expect(['succeeded', 'failed']).toContain(move?.state);
        if (move?.state === 'failed') expect([4, 6, 9]).toContain(move.failReason);
        else expect(Math.hypot(robot.pose().xM - x, robot.pose().yM - y)).toBeLessThan(0.05);
      }),
      { numRuns: runs(40) },
    );
  });

  it('accepts a new goal or a cancel during any move', { tags: 'property' }, () => {
    const goal = fc.constantFrom<[number, number]>([1.4, 0], [0.2, 1.6], [-1.6, 0.4], [5.7, 3.5], [7, 1]);
    const steps = fc.integer({ min: 0, max: 80 });
    fc.assert(
      fc.property(fc.array(fc.tuple(goal, steps, fc.boolean()), { maxLength: 8 }), (orders) => {
        const { robot } = newRobot();
        for (const [[x, y], count, cancel] of orders) {
          robot.order(standard(x, y));
          for (let i = 0; i < count; i += 1) {
            robot.step(STEP_S);
            expect(touches(robot.pose().xM, robot.pose().yM)).toBe(false);
          }
          if (cancel) robot.moves.cancel();
        }
        robot.order(standard(1.4, 0));
        drive(robot);
        expect(robot.moves.latest()?.state).toBe('succeeded');
      }),
      { numRuns: runs(100) },
    );
  });

  it('discharges its battery while driving and charges it on the dock', () => {
    const { robot } = newRobot();
    const full = robot.battery().percentage;
    robot.order(standard(7, 1));
    drive(robot);
    const empty = robot.battery().percentage;
    expect(empty).toBeLessThan(full);
    expect(robot.battery()).toMatchObject({ status: 'discharging' });
    robot.order({ ...standard(dock.xM, dock.yM, Math.PI / 2), type: 'charge' });
    drive(robot);
    const docked = robot.battery().percentage;
    for (let i = 0; i < 100; i += 1) robot.step(1);
    expect(robot.battery().percentage).toBeGreaterThan(docked);
    expect(robot.battery()).toMatchObject({ status: 'charging' });
    expect(robot.battery().currentA).toBeLessThan(0);
  });
});
