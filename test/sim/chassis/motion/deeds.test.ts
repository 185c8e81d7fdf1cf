import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFloorGrid, dock } from '../../../../src/lib/sim/chassis/floor/floor.ts';
import { createPlanner } from '../../../../src/lib/sim/chassis/floor/plan.ts';
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
    order: (x = goal.x, y = goal.y) => robot.order({ creator: 't', type: 'standard', target_x: x, target_y: y }),
    run(seconds: number) {
      for (let i = 0; i < seconds / STEP_S - 1e-9; i += 1) robot.step(STEP_S);
    },
    until(holds: () => boolean) {
      for (let seconds = 0; !holds(); seconds += STEP_S) {
        if (seconds > 200) throw new Error('not within 200 s');
        robot.step(STEP_S);
      }
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
  };
  return trial;
}

type Trial = ReturnType<typeof newRobot>;

it.each(isFull ? [0.02, 0.05, 0.1, 0.3, 0.6, 1] : [0.05, 0.3, 1])(
  '%s m/s limits every way of driving',
  { tags: 'property' },
  (speedMS) => {
    const trial = newRobot([], speedMS);
    const move = trial.order();
    const speeds = trial.speeds(() => move.state !== 'moving');
    trial.robot.order({ creator: 't', type: 'charge' });
    speeds.push(...trial.speeds(() => trial.robot.isDocked()));
    expect(Math.max(...speeds) / speedMS).toBeCloseTo(1, 2);
    expect(Math.min(...speeds)).toBeGreaterThanOrEqual(-Math.min(0.35, speedMS) - 1e-9);
  },
);

describe('cancel-lies', () => {
  const lying = () => {
    const trial = newRobot(['cancel-lies']);
    trial.order();
    trial.until(() => trial.distanceM(dock) > 0.4);
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

it('spinning and creeping rest in manual control', () => {
  newRobot(['spinning', 'creeping', 'manual-control']).standsFor(3);
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

  it('the emergency stop stops the robot', { tags: 'property' }, () => {
    always((all) => {
      const trial = newRobot();
      for (const act of all) act(trial);
      trial.faults.set('emergency-stop', true);
      trial.run(1.5);
      trial.standsFor(3);
    });
  });

  it('without the faults it rests after a cancel, and the next order takes it to its goal', {
    tags: 'property',
  }, () => {
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

  it('the robot never touches a wall', { tags: 'property' }, () => {
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
