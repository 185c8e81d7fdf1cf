import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chosenPose } from '../../src/lib/motion/index.ts';
import { parsePoseAlarm } from '../../src/lib/motion/pose-alarm.ts';
import { moveTo, until } from './bench.ts';
import { bench, chassis, eachHasBench, motion, moves, restart, status, stop } from './each-bench.ts';
import { ground } from './snapshot.ts';
import { attended, startSupervised } from './trial/supervised.ts';

const WRONG = /The pose of the robot is wrong or not known/;
const pose = chosenPose({ xM: 1, yM: 2, yawDeg: 90, map: ground }, 'test');

describe('a pose that was sent', () => {
  eachHasBench(() => ({ file: { dock: { xM: 7, yM: 8, yawDeg: -90 } } }));
  const file = () => join(bench.stateDir, 'pose-alarm.json');
  const isOpen = () => status().gate.open;
  /** It is reported so, once it was sent. */
  const shows = (ori: number | null) => {
    chassis.onPose = () => {
      chassis.pose = ori === null ? null : { pos: [1, 2], ori };
      return { status: 201, json: {} };
    };
  };
  const dropped = async () => {
    chassis.onPose = () => 'drop';
    await expect(motion.execute(pose)).rejects.toThrow();
  };
  const refused = async () => {
    chassis.onPose = () => ({ status: 400, json: { message: 'no map' } });
    await expect(motion.execute(pose)).rejects.toThrow(/no map/);
  };

  async function closedForDrives(): Promise<void> {
    expect(status()).toMatchObject({ gate: { open: false, reasons: [expect.stringMatching(WRONG)] } });
    await expect(motion.startTour('round')).rejects.toThrow(WRONG);
    await expect(motion.startDrive({ station: 'A' })).rejects.toThrow(WRONG);
    await expect(motion.startDrive({ dock: true })).rejects.toThrow(WRONG);
    await expect(motion.execute(moveTo(1, 2))).rejects.toThrow(WRONG);
    expect(moves()).toEqual([]);
  }

  it('and reported back leaves the gate open', async () => {
    expect(await motion.execute(pose)).toMatchObject({ state: 'succeeded' });
    expect([isOpen(), existsSync(file())]).toEqual([true, false]);
  });

  it.each([
    ['reported as another one', 1.57, 'failed'],
    ['not reported back', null, 'unknown'],
  ] as const)(
    'and %s closes the gate for drives, also after a restart, until one is reported back',
    async (_what, ori, state) => {
      shows(ori);
      expect(await motion.execute(pose)).toMatchObject({ state });
      chassis.pose = { pos: [1, 2], ori: 1.57 };
      await until(() => bench.link.snapshot().values.pose.status === 'received');
      await until(() => status().gate.reasons.length === 1);
      await closedForDrives();
      await restart();
      await closedForDrives();
      expect((await stop()).latched).toBe(true);
      await until(() => status().standstill.verdict === 'stands');
      await motion.clearStop('test');
      shows(90);
      expect(await motion.execute(pose)).toMatchObject({ state: 'succeeded' });
      expect(isOpen()).toBe(true);
      await restart();
      expect(isOpen()).toBe(true);
    },
  );

  it('without an answer closes the gate, and refused by the chassis leaves it as it was', async () => {
    await refused();
    expect(isOpen()).toBe(true);
    await dropped();
    await closedForDrives();
    await refused();
    await closedForDrives();
  });

  it('is on the disk before it is sent, so that a crash in between is not forgotten', async () => {
    let seen = '';
    chassis.onPose = () => {
      seen = readFileSync(file(), 'utf8');
      return { status: 201, json: {} };
    };
    await motion.execute(pose);
    expect(parsePoseAlarm(seen)).toMatchObject({ reason: expect.stringContaining('not known whether') });
    writeFileSync(file(), seen);
    await restart();
    await closedForDrives();
  });

  it('is not sent where the alarm cannot be saved', async () => {
    chmodSync(bench.stateDir, 0o777);
    await expect(motion.execute(pose)).rejects.toThrow();
    expect(chassis.orders).toEqual([]);
    chmodSync(bench.stateDir, 0o700);
  });

  it.each(['', 'nonsense', '{}', '{"format":"gw/pose-alarm/1"}'])(
    'counts as wrong where its file is %j',
    async (text) => {
      await motion.stop();
      writeFileSync(file(), text);
      await restart();
      await closedForDrives();
      expect(await motion.execute(pose)).toMatchObject({ state: 'succeeded' });
      expect(isOpen()).toBe(true);
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
          alarm.map((found) => `${JSON.stringify(found)}\n`),
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

it('a pose trial that leaves a wrong pose closes the gate for drives and pose trials', async () => {
  await using robot = await startSupervised({ evidence: true, isUnitShown: true });
  const { motion: tried, sim, clock, site } = robot;
  sim.setFault('pose-in-degrees', true);
  const ended = await robot.conduct({ kind: 'pose' });
  expect(ended).toMatchObject({
    outcome: 'contradicted',
    alarm: expect.stringMatching(/^THE POSE OF THE ROBOT IS WRONG/),
  });
  await clock.sleep(1_000);
  const tour = Object.keys(site.tours)[0] ?? '';
  await expect(tried.startTour(tour)).rejects.toThrow(WRONG);
  await expect(tried.startDrive({ dock: true })).rejects.toThrow(WRONG);
  const second = tried.trials.start({ kind: 'pose', ...attended });
  await expect(second).rejects.toThrow(WRONG);
  expect(tried.status().poseAlarm?.reason).toMatch(/could not be restored/);
});
