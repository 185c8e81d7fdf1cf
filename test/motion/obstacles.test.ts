import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeCondition, obstaclesIn } from '../../src/lib/chassis/index.ts';
import { chosenPose } from '../../src/lib/motion/index.ts';
import { runs } from '../properties.ts';
import { moveTo, until } from './bench.ts';
import * as rig from './each-bench.ts';
import { ground, received, withValues } from './snapshot.ts';

const wheels = (change: object) => () => {
  rig.chassis.wheels = { ...rig.chassis.wheels, ...change };
  rig.chassis.publish('/wheel_state');
};
const positioning = (change: object) => () => {
  rig.chassis.positioning = { ...rig.chassis.positioning, ...change };
  rig.chassis.publish('/slam/state');
};

/** What happens, what is said of it, whether it refuses setting the pose, ends a drive, and spoils an arrival. */
const table = [
  ['emergency stop', wheels({ emergency_stop_pressed: true }), /emergency stop/, true, true, false],
  ['control mode', wheels({ control_mode: 'remote' }), /control mode 'remote'/, false, true, false],
  ['released wheels', wheels({ wheels_released: true }), /wheels of the robot are released/, false, true, false],
  ['lost position', positioning({ reliable: false }), /lost its position/, false, true, true],
  ['lost quality', positioning({ position_quality: 1 }), /lost its position/, false, true, true],
  ['mapping', positioning({ state: 'slam' }), /is mapping/, false, true, true],
  ['poor position', positioning({ position_quality: 3 }), /not sure of its position/, false, false, true],
  ['unreadable wheels', wheels({ emergency_stop_pressed: 'off' }), /wheel_state could not be read/, true, true, false],
  ['unreadable position', positioning({ reliable: 'yes' }), /slam.state could not be read/, false, true, true],
] as const;

describe.each(table)('%s', (_what, happen, says, refusesPose, endsDrive, spoilsArrival) => {
  rig.eachHasBench();

  it(`refuses a drive${refusesPose ? ', and setting the pose' : ', and not setting the pose'}`, async () => {
    happen();
    await rig.gate('closed');
    await rig.refused(rig.motion.execute(moveTo(1, 2)), 'MOTION_REFUSED', says);
    const pose = rig.motion.execute(chosenPose({ xM: 1, yM: 2, yawDeg: 90, map: ground }, 'test'));
    if (refusesPose) await rig.refused(pose, 'MOTION_REFUSED', says);
    else expect(await pose).toMatchObject({ state: 'succeeded' });
    expect(rig.moves()).toEqual([]);
  });

  it(endsDrive ? 'cancels a drive on its way' : 'lets a drive go on', async () => {
    await rig.motion.startTour('round');
    await rig.ordered();
    happen();
    if (endsDrive) {
      await rig.tourEnded();
      expect(rig.tour()).toMatchObject({ state: 'stopped', at: 0 });
      expect(rig.cancels()).toBeGreaterThan(0);
      expect(rig.moves()).toHaveLength(1);
    } else {
      await rig.gate('closed');
      expect([rig.tour()?.state, rig.cancels()]).toEqual(['running', 0]);
    }
  });

  it(spoilsArrival ? 'spoils an arrival' : 'leaves an arrival to the poses', async () => {
    await rig.motion.startDrive({ station: 'A' });
    await rig.ordered();
    rig.succeed();
    await until(() => rig.planned() === 'succeeded');
    happen();
    await rig.driveEnded();
    expect(rig.drive()?.state === 'succeeded').toBe(!spoilsArrival);
    expect(rig.drive()?.outcome?.arrival?.verdict).toBe(spoilsArrival ? 'not-known' : 'at-goal');
  });
});

it('what refuses a drive is a fault in the probe or not checked, and a fault of these kinds refuses it', {
  tags: 'property',
}, () => {
  const kinds = {
    'emergency-stop': ['emergency-stop'],
    'control-mode': ['control-mode', 'wheels-released'],
    positioning: ['position-lost', 'mapping', 'position-poor'],
  } as const;
  fc.assert(
    fc.property(
      fc.record({
        controlMode: fc.constantFrom('auto', 'manual', 'remote', 'other'),
        emergencyStopPressed: fc.boolean(),
        wheelsReleased: fc.constantFrom(true, false, null),
      }),
      fc.record({
        state: fc.constantFrom('positioning', 'slam', 'inactive', 'other'),
        reliable: fc.boolean(),
        quality: fc.constantFrom(0, 1, 3, 8, 10, null),
      }),
      (wheel, position) => {
        const { values } = withValues({ wheels: received(wheel), positioning: received(position) });
        const found: readonly string[] = obstaclesIn(values).map(({ kind }) => kind);
        for (const condition of judgeCondition(values)) {
          if (!Object.hasOwn(kinds, condition.id)) continue;
          const isRefused = kinds[condition.id as keyof typeof kinds].some((kind) => found.includes(kind));
          if (isRefused) expect(condition.verdict, condition.id).not.toBe('ok');
          if (condition.verdict === 'wrong') expect(isRefused, condition.id).toBe(true);
        }
      },
    ),
    { numRuns: runs(500) },
  );
});
