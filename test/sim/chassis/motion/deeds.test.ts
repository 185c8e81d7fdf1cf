import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFloorGrid, dock } from '../../../../src/lib/sim/chassis/floor/floor.ts';
import { createPlanner } from '../../../../src/lib/sim/chassis/floor/plan.ts';
import { wrapRad } from '../../../../src/lib/sim/chassis/motion/heading.ts';
import { createRobot } from '../../../../src/lib/sim/chassis/robot.ts';
import { createFaults, type FaultName } from '../../../../src/lib/sim/faults.ts';
import { runs } from '../../../properties.ts';

// Faults in which the robot does something else than it reports, in the true pose.

const STEP_S = 0.05;
const goal = { x: 1.4, y: 1 };

function newRobot({ speedMS, on = [] }: { readonly speedMS?: number; readonly on?: readonly FaultName[] } = {}) {
  const faults = createFaults(() => {});
  const robot = createRobot({
    serial: 'T',
    now: () => 0,
    faults,
    onChange() {},
    ...(speedMS !== undefined && { speedMS }),
  });
  for (const name of on) faults.set(name, true);
  const distanceM = (from: { readonly xM: number; readonly yM: number }) => {
    const { xM, yM } = robot.pose();
    return Math.hypot(xM - from.xM, yM - from.yM);
  };
  return {
    robot,
    faults,
    distanceM,
    toGoalM: () => distanceM({ xM: goal.x, yM: goal.y }),
    run(seconds: number) {
      for (let i = 0; i < seconds / STEP_S - 1e-9; i += 1) robot.step(STEP_S);
    },
    /** Seconds until it holds. */
    until(holds: () => boolean, maxS = 200): number {
      let seconds = 0;
      for (; !holds(); seconds += STEP_S) {
        if (seconds > maxS) throw new Error(`not within ${maxS} s`);
        robot.step(STEP_S);
      }
      return seconds;
    },
  };
}

type Trial = ReturnType<typeof newRobot>;

/** Under way to the goal, at its speed. */
function underWay(trial: Trial, order: object = {}) {
  const move = trial.robot.order({ creator: 't', type: 'standard', target_x: goal.x, target_y: goal.y, ...order });
  trial.until(() => trial.distanceM(dock) > 0.4);
  return move;
}

const SPEEDS = [0.02, 0.05, 0.1, 0.3, 0.6, 1];

describe('the speed option', () => {
  it.each(SPEEDS)('limits every way of driving: %s m/s', (speedMS) => {
    const trial = newRobot({ speedMS });
    const move = trial.robot.order({ creator: 't', type: 'standard', target_x: goal.x, target_y: goal.y });
    const speeds: number[] = [];
    trial.until(() => speeds.push(trial.robot.speedMS()) > 0 && move.state !== 'moving');
    trial.robot.order({ creator: 't', type: 'charge' });
    trial.until(() => speeds.push(trial.robot.speedMS()) > 0 && trial.robot.isDocked());
    expect(Math.max(...speeds) / speedMS).toBeCloseTo(1, 2);
    expect(Math.min(...speeds)).toBeGreaterThanOrEqual(-Math.min(0.35, speedMS) - 1e-9);
  });
});

describe('cancel-lies', () => {
  it.each(SPEEDS)('reports the move as cancelled, and drives on to the goal at its speed: %s m/s', (speedMS) => {
    const trial = newRobot({ speedMS, on: ['cancel-lies'] });
    const move = underWay(trial);
    expect(trial.robot.moves.cancel()).toBe(true);
    expect(move.state).toBe('cancelled');
    expect([trial.robot.moves.isMoving(), trial.robot.moves.remainingM()]).toEqual([false, 0]);
    const speeds: number[] = [];
    trial.until(() => speeds.push(trial.robot.speedMS()) > 0 && trial.robot.isAtRest());
    expect(Math.max(...speeds) / speedMS).toBeGreaterThan(0.95);
    expect(trial.toGoalM()).toBeLessThan(0.03);
    expect(move.state).toBe('cancelled');
  });

  it('stops at the emergency stop, goes on afterwards, and rests when the fault is off', () => {
    const trial = newRobot({ on: ['cancel-lies'] });
    underWay(trial);
    trial.robot.moves.cancel();
    trial.faults.set('emergency-stop', true);
    trial.run(1);
    expect(trial.robot.isAtRest()).toBe(true);
    trial.faults.set('emergency-stop', false);
    trial.run(0.5);
    expect(trial.robot.speedMS()).toBeGreaterThan(0.2);
    trial.faults.set('cancel-lies', false);
    trial.run(1);
    const rest = trial.robot.pose();
    trial.run(5);
    expect(trial.robot.pose()).toEqual(rest);
    expect(trial.toGoalM()).toBeGreaterThan(0.3);
  });

  it('obeys the next order, and rests when that order cannot be planned', () => {
    const trial = newRobot({ on: ['cancel-lies'] });
    underWay(trial);
    trial.robot.moves.cancel();
    const back = trial.robot.order({ creator: 't', type: 'standard', target_x: 0, target_y: -1 });
    trial.until(() => back.state === 'succeeded');
    expect(trial.distanceM({ xM: 0, yM: -1 })).toBeLessThan(0.03);
    underWay(trial);
    trial.robot.moves.cancel();
    const nowhere = trial.robot.order({ creator: 't', type: 'standard', target_x: 500, target_y: 0 });
    trial.until(() => nowhere.state === 'failed');
    trial.run(1);
    expect(trial.robot.isAtRest()).toBe(true);
  });

  it('ends with a change of the map, a restart, and a new pose', () => {
    for (const change of [
      ({ robot }: Trial) => robot.useMap(robot.maps.list()[0] as never),
      ({ robot }: Trial) => robot.restart(),
      ({ robot }: Trial) => robot.setPose({ xM: 0, yM: 0, yawRad: 0 }),
    ]) {
      const trial = newRobot({ on: ['cancel-lies'] });
      underWay(trial);
      trial.robot.moves.cancel();
      change(trial);
      trial.run(1);
      const rest = trial.robot.pose();
      trial.run(3);
      expect(trial.robot.pose()).toEqual(rest);
    }
  });
});

describe('coasting', () => {
  it.each(SPEEDS)('rolls on for about 4 s at 0.3 m/s or its speed, then rests: %s m/s', (speedMS) => {
    const trial = newRobot({ speedMS, on: ['coasting'] });
    const move = underWay(trial);
    trial.robot.moves.cancel();
    expect([move.state, trial.robot.moves.isMoving()]).toEqual(['cancelled', false]);
    const at = trial.robot.pose();
    trial.run(0.5);
    expect(trial.robot.speedMS() / Math.min(0.3, speedMS)).toBeCloseTo(1, 1);
    const seconds = 0.5 + trial.until(() => trial.robot.isAtRest());
    expect(seconds).toBeGreaterThan(3.5);
    expect(seconds).toBeLessThan(4.5);
    expect(trial.distanceM(at)).toBeGreaterThan(Math.min(0.3, speedMS) * 3);
    const rest = trial.robot.pose();
    trial.run(5);
    expect(trial.robot.pose()).toEqual(rest);
    // The next move is at full speed again.
    trial.robot.order({ creator: 't', type: 'standard', target_x: 3.5, target_y: 4 });
    trial.run(2);
    expect(trial.robot.speedMS()).toBeCloseTo(speedMS, 1);
  });
});

describe('creeping', () => {
  it('creeps at 0.1 m/s while no move runs, within 1.2 m, without a report, and off: rests where it is', () => {
    const trial = newRobot({ on: ['creeping'] });
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
    const rest = trial.robot.pose();
    expect(trial.robot.isAtRest()).toBe(true);
    trial.run(5);
    expect(trial.robot.pose()).toEqual(rest);
  });

  it('turns back before a wall', () => {
    const trial = newRobot({ on: ['creeping'] });
    trial.robot.setPose({ xM: -2, yM: 0, yawRad: Math.PI });
    const way: number[] = [];
    trial.until(() => way.push(trial.robot.pose().xM) === 400);
    // The wall is at -2.75, the radius of the robot 0.25 m.
    expect(Math.min(...way)).toBeGreaterThan(-2.51);
    expect(Math.min(...way)).toBeLessThan(-2.4);
    expect(way.at(-1)).toBeGreaterThan(-1.7);
  });

  it('does not keep a move from running, and starts again after it', () => {
    const trial = newRobot({ on: ['creeping'] });
    trial.run(2);
    const move = trial.robot.order({ creator: 't', type: 'standard', target_x: goal.x, target_y: goal.y });
    trial.until(() => move.state !== 'moving');
    expect([move.state, trial.toGoalM() < 0.03]).toEqual(['succeeded', true]);
    trial.run(6);
    expect(trial.toGoalM()).toBeGreaterThan(0.4);
    trial.faults.set('emergency-stop', true);
    trial.run(0.5);
    expect(trial.robot.isAtRest()).toBe(true);
  });
});

describe('spinning', () => {
  const turnOver = (trial: Trial, seconds: number) => {
    const before = trial.robot.turnedRad();
    trial.run(seconds);
    return ((trial.robot.turnedRad() - before) * 180) / Math.PI;
  };

  it('spins in place at 15 degrees per second while no move runs, also after a cancel', () => {
    const trial = newRobot({ on: ['spinning'] });
    trial.run(1);
    expect(turnOver(trial, 30)).toBeCloseTo(450, 0);
    expect(trial.distanceM(dock)).toBe(0);
    const move = underWay(trial);
    trial.robot.moves.cancel();
    expect(move.state).toBe('cancelled');
    trial.run(1);
    const at = trial.robot.pose();
    expect(turnOver(trial, 4)).toBeCloseTo(60, 0);
    expect(trial.distanceM(at)).toBeLessThan(1e-6);
    trial.faults.set('spinning', false);
    trial.run(0.5);
    expect(turnOver(trial, 5)).toBe(0);
  });

  it('begins, as creeping does, once the robot has braked on its way', () => {
    const restingPlace = (on: readonly FaultName[]) => {
      const trial = newRobot({ on });
      trial.robot.order({ creator: 't', type: 'standard', target_x: 3.5, target_y: 4 });
      // In a curve, at speed.
      trial.until(() => trial.robot.speedMS() > 0.5 && Math.abs(trial.robot.pose().yawRad - Math.PI / 2) > 0.3);
      trial.robot.moves.cancel();
      trial.until(() => trial.robot.speedMS() === 0);
      const { xM, yM } = trial.robot.pose();
      return [xM, yM];
    };
    expect(restingPlace(['spinning'])).toEqual(restingPlace([]));
    expect(restingPlace(['creeping'])).toEqual(restingPlace([]));
  });

  it('neither spins nor creeps in manual control', () => {
    const trial = newRobot({ on: ['spinning', 'creeping', 'manual-control'] });
    const before = trial.robot.pose();
    trial.run(3);
    expect(trial.robot.pose()).toEqual(before);
  });

  it('keeps its rate under a fault that reports radians', () => {
    const trial = newRobot({ on: ['spinning', 'radians'] });
    trial.run(1);
    expect(turnOver(trial, 4)).toBeCloseTo(60, 0);
  });

  it('together with creeping describes a circle', () => {
    const trial = newRobot({ on: ['spinning', 'creeping'] });
    trial.run(1);
    expect(trial.robot.speedMS()).toBeCloseTo(0.1, 6);
    expect(turnOver(trial, 4)).toBeCloseTo(60, 0);
  });
});

describe('misses', () => {
  it.each(SPEEDS)('rests about 1 m before the goal and reports success: %s m/s', (speedMS) => {
    const trial = newRobot({ speedMS, on: ['misses'] });
    const move = underWay(trial, { target_ori: 1 });
    trial.until(() => move.state !== 'moving');
    expect(move.state).toBe('succeeded');
    expect(trial.robot.isAtRest()).toBe(true);
    expect(trial.toGoalM()).toBeGreaterThan(0.85);
    expect(trial.toGoalM()).toBeLessThan(1.05);
    // Only the place is wrong.
    expect(Math.abs(wrapRad(trial.robot.pose().yawRad - 1))).toBeLessThan(0.02);
  });

  it('does not report a success under the emergency stop', () => {
    const trial = newRobot({ on: ['misses', 'succeeds-early', 'emergency-stop'] });
    const move = trial.robot.order({ creator: 't', type: 'standard', target_x: 0, target_y: -1.2 });
    trial.run(5);
    expect([move.state, trial.robot.moves.remainingM() < 1]).toEqual(['moving', true]);
  });

  it('misses the dock too, and is not charging', () => {
    const trial = newRobot();
    const away = trial.robot.order({ creator: 't', type: 'standard', target_x: 0, target_y: 1.5 });
    trial.until(() => away.state === 'succeeded');
    trial.faults.set('misses', true);
    const charge = trial.robot.order({ creator: 't', type: 'charge' });
    trial.until(() => charge.state !== 'moving');
    expect(charge.state).toBe('succeeded');
    expect([trial.robot.isDocked(), trial.robot.battery().status]).toEqual([false, 'discharging']);
  });
});

describe('succeeds-early', () => {
  it.each(SPEEDS)('reports success halfway, and drives on to the goal: %s m/s', (speedMS) => {
    const trial = newRobot({ speedMS, on: ['succeeds-early'] });
    const move = underWay(trial);
    trial.until(() => move.state !== 'moving');
    expect([move.state, trial.robot.moves.isMoving()]).toEqual(['succeeded', false]);
    expect(trial.toGoalM()).toBeGreaterThan(1);
    expect(trial.robot.speedMS() / speedMS).toBeCloseTo(1, 1);
    trial.until(() => trial.robot.speedMS() === 0 && trial.toGoalM() < 0.03);
  });

  it('takes the next order on the way to the goal', () => {
    const trial = newRobot({ on: ['succeeds-early'] });
    const first = underWay(trial);
    trial.until(() => first.state === 'succeeded');
    const second = trial.robot.order({ creator: 't', type: 'standard', target_x: 0, target_y: -1 });
    trial.until(() => second.state === 'succeeded');
    trial.until(() => trial.robot.isAtRest() && trial.distanceM({ xM: 0, yM: -1 }) < 0.03);
  });
});

describe('in any order with orders and cancels', () => {
  const names = [
    'cancel-lies',
    'cancel-ignored',
    'coasting',
    'creeping',
    'spinning',
    'misses',
    'succeeds-early',
  ] as const satisfies readonly FaultName[];
  const action = fc.oneof(
    fc.tuple(fc.constant('fault' as const), fc.constantFrom(...names), fc.boolean()),
    fc.tuple(fc.constant('order' as const), fc.constantFrom([1.4, 1], [-1.6, 0.4], [3.5, 4], [0, -1.5], [400, 0])),
    fc.tuple(fc.constant('charge' as const)),
    fc.tuple(fc.constant('cancel' as const)),
    fc.tuple(fc.constant('wait' as const), fc.integer({ min: 1, max: 8 })),
  );

  function play(trial: Trial, actions: readonly (typeof action extends fc.Arbitrary<infer T> ? T : never)[]) {
    for (const [kind, what, on] of actions) {
      if (kind === 'fault') trial.faults.set(what, on);
      else if (kind === 'order')
        trial.robot.order({ creator: 't', type: 'standard', target_x: what[0] ?? 0, target_y: what[1] ?? 0 });
      else if (kind === 'charge') trial.robot.order({ creator: 't', type: 'charge' });
      else if (kind === 'cancel') trial.robot.moves.cancel();
      else trial.run(what);
    }
  }
  const standsFor = (trial: Trial, seconds: number) => {
    const before = trial.robot.pose();
    trial.run(seconds);
    expect(trial.robot.pose()).toEqual(before);
  };

  it('an emergency stop on a way that is just given up leaves no turn behind', () => {
    const trial = newRobot({ on: ['coasting'] });
    trial.robot.order({ creator: 't', type: 'standard', target_x: 1.4, target_y: 1 });
    trial.run(1);
    trial.robot.order({ creator: 't', type: 'standard', target_x: 1.4, target_y: 1 });
    trial.robot.moves.cancel();
    trial.faults.set('emergency-stop', true);
    trial.run(1.5);
    standsFor(trial, 10);
  });

  it('the emergency stop stops the robot', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 20 }), (actions) => {
        const trial = newRobot();
        play(trial, actions);
        trial.faults.set('emergency-stop', true);
        trial.run(1.5);
        standsFor(trial, 3);
      }),
      { numRuns: runs(200) },
    );
  });

  it('without the faults it rests after a cancel, and the next order takes it to its goal', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 20 }), (actions) => {
        const trial = newRobot();
        play(trial, actions);
        for (const name of names) trial.faults.set(name, false);
        trial.robot.moves.cancel();
        trial.run(1.5);
        standsFor(trial, 3);
        const move = trial.robot.order({ creator: 't', type: 'standard', target_x: 1.4, target_y: 1 });
        trial.until(() => move.state !== 'moving');
        expect([move.state, trial.toGoalM() < 0.03]).toEqual(['succeeded', true]);
      }),
      { numRuns: runs(200) },
    );
  });

  it('the robot never touches a wall', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 20 }), (actions) => {
        const trial = newRobot();
        const planner = createPlanner(createFloorGrid());
        const run = trial.run;
        trial.run = (seconds) => {
          for (let i = 0; i < seconds * 2; i += 1) {
            run(0.5);
            expect(planner.isFree(trial.robot.pose())).toBe(true);
          }
        };
        play(trial, actions);
        trial.run(5);
      }),
      { numRuns: runs(100) },
    );
  });
});
