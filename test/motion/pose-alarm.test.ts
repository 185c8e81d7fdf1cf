import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { chosenPose } from '../../src/lib/motion/index.ts';
import { parsePoseAlarm } from '../../src/lib/motion/pose-alarm.ts';
import { type Bench, moveTo, startBench, until } from './bench.ts';
import { type ScriptedChassis, startScriptedChassis } from './scripted-chassis.ts';
import { onSite, startSupervised } from './trial/supervised.ts';

const WRONG = /The pose of the robot is wrong or not known/;
const pose = chosenPose({ xM: 1, yM: 2, yawDeg: 90 }, 'test');

describe('a pose that was sent', () => {
  let chassis: ScriptedChassis;
  let bench: Bench;
  beforeEach(async () => {
    chassis = await startScriptedChassis();
    bench = await startBench(chassis, { file: { dock: { xM: 7, yM: 8, yawDeg: -90 } } });
  });
  afterEach(async () => {
    await bench[Symbol.asyncDispose]();
    await chassis[Symbol.asyncDispose]();
  });
  const file = () => join(bench.stateDir, 'pose-alarm.json');
  const drives = () => chassis.orders.filter(({ path }) => path === '/chassis/moves').length;
  const isOpen = (motion = bench.motion) => motion.status().gate.open;

  async function closedForDrives(motion = bench.motion): Promise<void> {
    expect(motion.status()).toMatchObject({ gate: { open: false, reasons: [expect.stringMatching(WRONG)] } });
    await expect(motion.startTour('round')).rejects.toThrow(WRONG);
    await expect(motion.startDrive({ station: 'A' })).rejects.toThrow(WRONG);
    await expect(motion.startDrive({ dock: true })).rejects.toThrow(WRONG);
    await expect(motion.execute(moveTo(1, 2))).rejects.toThrow(WRONG);
    expect(drives()).toBe(0);
  }

  it('and reported back leaves the gate open', async () => {
    expect(await bench.motion.execute(pose)).toMatchObject({ state: 'succeeded' });
    expect(isOpen()).toBe(true);
    expect(existsSync(file())).toBe(false);
  });

  it.each([
    [
      'reported as another one',
      () => {
        chassis.pose = { pos: [1, 2], ori: 1.57 };
      },
      'failed',
    ],
    [
      'not reported back',
      () => {
        chassis.onPose = () => {
          chassis.pose = null;
          return { status: 201, json: {} };
        };
      },
      'unknown',
    ],
  ] as const)(
    'and %s closes the gate for drives, also after a restart, until one is reported back',
    async (_what, happen, state) => {
      happen();
      expect(await bench.motion.execute(pose)).toMatchObject({ state });
      chassis.pose = { pos: [1, 2], ori: 1.57 };
      await until(() => bench.link.snapshot().values.pose.status === 'received', 'a pose');
      await until(() => bench.motion.status().gate.reasons.length === 1, 'a fresh pose');
      await closedForDrives();
      await bench.motion.stop();
      const again = await bench.again();
      await closedForDrives(again);
      expect((await again.stopRobot('drill', 'test')).latched).toBe(true);
      await until(() => again.status().standstill.verdict === 'stands', 'the robot to stand', 15_000);
      await again.clearStop('test');
      chassis.onPose = () => {
        chassis.pose = { pos: [1, 2], ori: 90 };
        return { status: 201, json: {} };
      };
      expect(await again.execute(pose)).toMatchObject({ state: 'succeeded' });
      expect(isOpen(again)).toBe(true);
      await again.stop();
      expect(isOpen(await bench.again())).toBe(true);
    },
  );

  it('without an answer closes the gate', async () => {
    chassis.onPose = () => 'drop';
    await expect(bench.motion.execute(pose)).rejects.toThrow();
    await closedForDrives();
  });

  it('and refused by the chassis leaves the gate as it was', async () => {
    chassis.onPose = () => ({ status: 400, json: { message: 'no map' } });
    await expect(bench.motion.execute(pose)).rejects.toThrow(/no map/);
    expect(isOpen()).toBe(true);
    chassis.onPose = () => 'drop';
    await expect(bench.motion.execute(pose)).rejects.toThrow();
    chassis.onPose = () => ({ status: 400, json: { message: 'no map' } });
    await expect(bench.motion.execute(pose)).rejects.toThrow(/no map/);
    await closedForDrives();
  });

  it('is on the disk before it is sent, so that a crash in between is not forgotten', async () => {
    let seen: string | null = null;
    chassis.onPose = () => {
      seen = readFileSync(file(), 'utf8');
      return { status: 201, json: {} };
    };
    await bench.motion.execute(pose);
    expect(parsePoseAlarm(seen ?? '')).toMatchObject({ reason: expect.stringContaining('not known whether') });
    writeFileSync(file(), seen ?? '');
    await bench.motion.stop();
    await closedForDrives(await bench.again());
  });

  it('is not sent where the alarm cannot be saved', async () => {
    chmodSync(bench.stateDir, 0o777);
    await expect(bench.motion.execute(pose)).rejects.toThrow();
    expect(chassis.orders).toEqual([]);
    chmodSync(bench.stateDir, 0o700);
  });

  it.each(['', 'nonsense', '{}', '{"format":"gw/pose-alarm/1"}'])(
    'counts as wrong where its file is %j',
    async (text) => {
      await bench.motion.stop();
      writeFileSync(file(), text);
      const again = await bench.again();
      await closedForDrives(again);
      expect(await again.execute(pose)).toMatchObject({ state: 'succeeded' });
      expect(isOpen(again)).toBe(true);
    },
  );
});

describe('the file of the pose alarm', () => {
  it('is an alarm or unreadable, whatever it contains (property)', () => {
    const alarm = fc.record({ format: fc.constant('gw/pose-alarm/1'), reason: fc.string(), since: fc.string() });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          alarm.map((found) => JSON.stringify(found)),
          fc.json().map((json) => `${json}\n`),
        ),
        (text) => {
          const found = parsePoseAlarm(text);
          expect(found === null).toBe(false);
          expect(typeof found === 'string' || typeof found.reason === 'string').toBe(true);
        },
      ),
    );
    const since = '2026-01-31T12:00:00.000Z';
    const text = JSON.stringify({ format: 'gw/pose-alarm/1', reason: 'why', since });
    expect(parsePoseAlarm(text)).toEqual({ reason: 'why', since });
  });
});

describe('the pose trial', { timeout: 120_000 }, () => {
  it('that leaves a wrong pose closes the gate for drives and pose trials', async () => {
    await using robot = await startSupervised({ evidence: true });
    const { motion, sim, clock, site } = robot;
    // Away from the dock, which it leaves straight ahead whatever the course.
    await robot.conduct({ kind: 'stop' });
    expect(await robot.conduct({ kind: 'move', distanceM: 0.6 })).toMatchObject({ outcome: 'verified' });
    sim.setFault('pose-in-degrees', true);
    const ended = await robot.conduct({ kind: 'pose' });
    expect(ended.alarm).toMatch(/^THE POSE OF THE ROBOT IS WRONG/);
    await clock.sleep(1_000);
    const tour = Object.keys(site.tours)[0] ?? '';
    await expect(motion.startTour(tour)).rejects.toThrow(WRONG);
    await expect(motion.startDrive({ dock: true })).rejects.toThrow(WRONG);
    const second = motion.trials.start({ kind: 'pose', who: 'J. Doe', conditions: onSite });
    await expect(second).rejects.toThrow(WRONG);
    expect(motion.status().poseAlarm?.reason).toMatch(/could not be restored/);
  });

  it('that restores the pose leaves the gate open', async () => {
    await using robot = await startSupervised({ evidence: true });
    // Away from the dock, which it leaves straight ahead whatever the course.
    await robot.conduct({ kind: 'stop' });
    expect(await robot.conduct({ kind: 'move', distanceM: 0.6 })).toMatchObject({ outcome: 'verified' });
    expect((await robot.conduct({ kind: 'pose' })).outcome).toBe('verified');
    expect(robot.motion.status().gate).toMatchObject({ open: true });
    expect(robot.motion.status().poseAlarm).toBeNull();
  });
});
