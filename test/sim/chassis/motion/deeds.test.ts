import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFloorGrid, dock } from '../../../../src/lib/sim/chassis/floor/floor.ts';
import { createPlanner } from '../../../../src/lib/sim/chassis/floor/plan.ts';
import { wrapRad } from '../../../../src/lib/sim/chassis/motion/heading.ts';
import { createRobot } from '../../../../src/lib/sim/chassis/robot.ts';
import { createFaults, type FaultName } from '../../../../src/lib/sim/faults.ts';
import { isFull, runs } from '../../../properties.ts';

// Faults in which the robot does something else than it reports, in the true pose.

const STEP_S = 0.05;
const goal = { x: 1.4, y: 1 };

function newRobot(on: readonly FaultName[] = [], speedMS?: number) {
  const faults = createFaults(() => {});
  const speed = speedMS !== undefined && { speedMS };
  const robot = createRobot({ serial: 'T', now: () => 0, faults, onChange() {}, ...speed });
  for (const name of on) faults.set(name, true);
  const distanceM = (from: { readonly xM: number; readonly yM: number }) =>
    Math.hypot(robot.pose().xM - from.xM, robot.pose().yM - from.yM);
  const trial = {
    robot,
    faults,
    distanceM,
    toGoalM: () => distanceM({ xM: goal.x, yM: goal.y }),
    order: (x = goal.x, y = goal.y, more: object = {}) =>
      robot.order({ creator: 't', type: 'standard', target_x: x, target_y: y, ...more }),
    run(seconds: number) {
      for (let i = 0; i < seconds / STEP_S - 1e-9; i += 1) robot.step(STEP_S);
    },
    /** Seconds until it holds. */
    until(holds: () => boolean): number {
      let seconds = 0;
      for (; !holds(); seconds += STEP_S) {
        if (seconds > 200) throw new Error('not within 200 s');
        robot.step(STEP_S);
      }
      return seconds;
    },
    /** Under way to the goal, at its speed. */
    underWay(more: object = {}) {
      const move = trial.order(goal.x, goal.y, more);
      trial.until(() => distanceM(dock) > 0.4);
      return move;
    },
    /** Speeds until it holds. */
    speeds(holds: () => boolean) {
      const all: number[] = [];
      trial.until(() => all.push(robot.speedMS()) > 0 && holds());
      return all;
    },
    standsFor(seconds: number) {
      const before = robot.pose();
      trial.run(seconds);
      expect(robot.pose()).toEqual(before);
    },
    turnOverDeg(seconds: number) {
      const before = robot.turnedRad();
      trial.run(seconds);
      return ((robot.turnedRad() - before) * 180) / Math.PI;
    },
  };
  return trial;
}

type Trial = ReturnType<typeof newRobot>;

describe.each(isFull ? [0.02, 0.05, 0.1, 0.3, 0.6, 1] : [0.05, 0.3, 1])('at %s m/s', (speedMS) => {
  it('the speed option limits every way of driving', () => {
    const trial = newRobot([], speedMS);
    const move = trial.order();
    const speeds = trial.speeds(() => move.state !== 'moving');
    trial.robot.order({ creator: 't', type: 'charge' });
    speeds.push(...trial.speeds(() => trial.robot.isDocked()));
    expect(Math.max(...speeds) / speedMS).toBeCloseTo(1, 2);
    expect(Math.min(...speeds)).toBeGreaterThanOrEqual(-Math.min(0.35, speedMS) - 1e-9);
  });

  it('cancel-lies reports the move as cancelled, and drives on to the goal at its speed', () => {
    const trial = newRobot(['cancel-lies'], speedMS);
    const move = trial.underWay();
    expect(trial.robot.moves.cancel()).toBe(true);
    const { moves } = trial.robot;
    expect([move.state, moves.isMoving(), moves.remainingM()]).toEqual(['cancelled', false, 0]);
    expect(Math.max(...trial.speeds(() => trial.robot.isAtRest())) / speedMS).toBeGreaterThan(0.95);
    expect([trial.toGoalM() < 0.03, move.state]).toEqual([true, 'cancelled']);
  });

  it('coasting rolls on for about 4 s at 0.3 m/s or its speed, then rests', () => {
    const trial = newRobot(['coasting'], speedMS);
    const move = trial.underWay();
    trial.robot.moves.cancel();
    expect([move.state, trial.robot.moves.isMoving()]).toEqual(['cancelled', false]);
    const at = trial.robot.pose();
    trial.run(0.5);
    expect(trial.robot.speedMS() / Math.min(0.3, speedMS)).toBeCloseTo(1, 1);
    expect(Math.abs(trial.until(() => trial.robot.isAtRest()) - 3.5)).toBeLessThan(0.5);
    expect(trial.distanceM(at)).toBeGreaterThan(Math.min(0.3, speedMS) * 3);
    trial.standsFor(5);
    // The next move is at full speed again.
    trial.order(3.5, 4);
    trial.run(2);
    expect(trial.robot.speedMS()).toBeCloseTo(speedMS, 1);
  });

  it('misses rests about 1 m before the goal and reports success', () => {
    const trial = newRobot(['misses'], speedMS);
    const move = trial.underWay({ target_ori: 1 });
    trial.until(() => move.state !== 'moving');
    expect([move.state, trial.robot.isAtRest()]).toEqual(['succeeded', true]);
    expect(Math.abs(trial.toGoalM() - 0.95)).toBeLessThan(0.1);
    // Only the place is wrong.
    expect(Math.abs(wrapRad(trial.robot.pose().yawRad - 1))).toBeLessThan(0.02);
  });

  it('succeeds-early reports success halfway, and drives on to the goal', () => {
    const trial = newRobot(['succeeds-early'], speedMS);
    const move = trial.underWay();
    trial.until(() => move.state !== 'moving');
    expect([move.state, trial.robot.moves.isMoving()]).toEqual(['succeeded', false]);
    expect(trial.toGoalM()).toBeGreaterThan(1);
    expect(trial.robot.speedMS() / speedMS).toBeCloseTo(1, 1);
    trial.until(() => trial.robot.speedMS() === 0 && trial.toGoalM() < 0.03);
  });
});

describe('cancel-lies', () => {
  const lying = () => {
    const trial = newRobot(['cancel-lies']);
    trial.underWay();
    trial.robot.moves.cancel();
    return trial;
  };

  it('stops at the emergency stop, goes on afterwards, and rests when the fault is off', () => {
    const trial = lying();
    trial.faults.set('emergency-stop', true);
    trial.run(1);
    expect(trial.robot.isAtRest()).toBe(true);
    trial.faults.set('emergency-stop', false);
    trial.run(0.5);
    expect(trial.robot.speedMS()).toBeGreaterThan(0.2);
    trial.faults.set('cancel-lies', false);
    trial.run(1);
    trial.standsFor(5);
    expect(trial.toGoalM()).toBeGreaterThan(0.3);
  });

  it.each<[string, (trial: Trial) => void]>([
    ['change of the map', ({ robot }) => robot.useMap(robot.maps.list()[0] as never)],
    ['restart', ({ robot }) => robot.restart()],
    ['new pose', ({ robot }) => robot.setPose({ xM: 0, yM: 0, yawRad: 0 })],
  ])('ends with a %s', (_, change) => {
    const trial = lying();
    change(trial);
    trial.run(1);
    trial.standsFor(3);
  });
});

describe('creeping', () => {
  it('creeps at 0.1 m/s while no move runs, within 1.2 m, without a report, and off: rests where it is', () => {
    const trial = newRobot(['creeping']);
    const start = trial.robot.pose();
    trial.run(0.5);
    expect(trial.robot.speedMS()).toBeCloseTo(0.1, 6);
    trial.run(10);
    expect(trial.distanceM(start)).toBeGreaterThan(0.99);
    for (let i = 0; i < 60; i += 1) {
      const before = trial.robot.pose();
      trial.run(1);
      expect(trial.distanceM(start)).toBeLessThan(1.25);
      expect(Math.abs(trial.robot.speedMS())).toBeLessThanOrEqual(0.1 + 1e-9);
      if (i % 12 !== 1) expect(trial.distanceM(before)).toBeGreaterThan(0.05);
    }
    expect(trial.robot.moves.latest()).toBeUndefined();
    trial.faults.set('creeping', false);
    trial.run(0.2);
    expect(trial.robot.isAtRest()).toBe(true);
    trial.standsFor(5);
  });
});

describe('spinning', () => {
  it('spins in place at 15 degrees per second while no move runs, also after a cancel', () => {
    const trial = newRobot(['spinning']);
    trial.run(1);
    expect(trial.turnOverDeg(30)).toBeCloseTo(450, 0);
    expect(trial.distanceM(dock)).toBe(0);
    trial.underWay();
    trial.robot.moves.cancel();
    trial.run(1);
    const at = trial.robot.pose();
    expect(trial.turnOverDeg(4)).toBeCloseTo(60, 0);
    expect(trial.distanceM(at)).toBeLessThan(1e-6);
    trial.faults.set('spinning', false);
    trial.run(0.5);
    expect(trial.turnOverDeg(5)).toBe(0);
  });

  it('neither spins nor creeps in manual control', () => {
    newRobot(['spinning', 'creeping', 'manual-control']).standsFor(3);
  });
});

describe('misses and succeeds-early', () => {
  it('report no success under the emergency stop', () => {
    const trial = newRobot(['misses', 'succeeds-early', 'emergency-stop']);
    const move = trial.order(0, -1.2);
    trial.run(5);
    expect([move.state, trial.robot.moves.remainingM() < 1]).toEqual(['moving', true]);
  });

  it('miss the dock too, which is not charging then', () => {
    const trial = newRobot();
    const away = trial.order(0, 1.5);
    trial.until(() => away.state === 'succeeded');
    trial.faults.set('misses', true);
    const charge = trial.robot.order({ creator: 't', type: 'charge' });
    trial.until(() => charge.state !== 'moving');
    expect(charge.state).toBe('succeeded');
    expect([trial.robot.isDocked(), trial.robot.battery().status]).toEqual([false, 'discharging']);
  });
});

describe('in any order with orders and cancels', () => {
  const names = 'cancel-lies cancel-ignored coasting creeping spinning misses succeeds-early'.split(' ') as FaultName[];
  const goals = [1.4, 1, -1.6, 0.4, 3.5, 4, 0, -1.5, 400, 0];
  type Action = (trial: Trial) => unknown;
  const actions = fc.array(
    fc.oneof(
      fc.tuple(fc.constantFrom(...names), fc.boolean()).map(
        ([name, on]): Action =>
          ({ faults }) =>
            faults.set(name, on),
      ),
      fc.nat(4).map(
        (at): Action =>
          ({ order }) =>
            order(goals[2 * at], goals[2 * at + 1]),
      ),
      fc.constant<Action>(({ robot }) => robot.order({ creator: 't', type: 'charge' })),
      fc.constant<Action>(({ robot }) => robot.moves.cancel()),
      fc.integer({ min: 1, max: 8 }).map(
        (seconds): Action =>
          ({ run }) =>
            run(seconds),
      ),
    ),
    { maxLength: 20 },
  );
  const always = (holds: (all: Action[]) => void, count = 200) =>
    fc.assert(fc.property(actions, holds), { numRuns: runs(count) });

  it('the emergency stop stops the robot', () => {
    always((all) => {
      const trial = newRobot();
      for (const act of all) act(trial);
      trial.faults.set('emergency-stop', true);
      trial.run(1.5);
      trial.standsFor(3);
    });
  });

  it('without the faults it rests after a cancel, and the next order takes it to its goal', () => {
    always((all) => {
      const trial = newRobot();
      for (const act of all) act(trial);
      for (const name of names) trial.faults.set(name, false);
      trial.robot.moves.cancel();
      trial.run(1.5);
      trial.standsFor(3);
      const move = trial.order();
      trial.until(() => move.state !== 'moving');
      expect([move.state, trial.toGoalM() < 0.03]).toEqual(['succeeded', true]);
    });
  });

  it('the robot never touches a wall', () => {
    const planner = createPlanner(createFloorGrid());
    always((all) => {
      const { run, ...trial } = newRobot();
      const watched = {
        ...trial,
        run(seconds: number) {
          for (let i = 0; i < seconds * 2; i += 1) {
            run(0.5);
            expect(planner.isFree(trial.robot.pose())).toBe(true);
          }
        },
      };
      for (const act of all) act(watched);
      watched.run(5);
    }, 100);
  });
});
