import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chosenPose } from '../../src/lib/motion/index.ts';
import { encodePoseAlarms, parsePoseAlarms } from '../../src/lib/motion/pose-alarm-file.ts';
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
    expect(parsePoseAlarms(seen)).toMatchObject([
      { reason: expect.stringContaining('not known whether'), map: ground },
    ]);
    writeFileSync(file(), seen);
    await restart();
    await closedForDrives();
  });

  it('is not sent where the alarm cannot be saved', async () => {
    chmodSync(bench.stateDir, 0o777);
    await expect(motion.execute(pose)).rejects.toThrow();
    expect(chassis.orders).toEqual([]);
    chmodSync(bench.stateDir, 0o700);
    expect(isOpen()).toBe(true);
  });

  it('and refused by the chassis leaves an unreadable file to the gw that can read it', async () => {
    const text = '{"format":"gw/pose-alarm/3"}';
    await motion.stop();
    writeFileSync(file(), text);
    await restart();
    await refused();
    expect(readFileSync(file(), 'utf8')).toBe(text);
    await closedForDrives();
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
  it('is alarms or unreadable, whatever it contains (property)', { tags: 'property' }, () => {
    const alarm = { reason: fc.string(), since: fc.string() };
    const written = fc.oneof(
      fc.record({ format: fc.constant('gw/pose-alarm/1'), ...alarm }),
      fc.record({
        format: fc.constant('gw/pose-alarm/2'),
        alarms: fc.array(fc.record({ ...alarm, map: fc.oneof(fc.constant(null), fc.anything()) })),
      }),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          written.map((found) => `${JSON.stringify(found)}\n`),
        ),
        (text) => {
          const found = parsePoseAlarms(text);
          if (typeof found === 'string') return;
          expect(found.length).toBeGreaterThan(0);
          for (const { reason } of found) expect(typeof reason).toBe('string');
        },
      ),
    );
  });

  it('has each alarm with its map; one of an older gw has none, one of a newer is unreadable', () => {
    const since = '2026-01-31T12:00:00.000Z';
    const of = (format: string, more: object) => parsePoseAlarms(JSON.stringify({ format, ...more }));
    const alarms = [{ reason: 'why', since, map: ground }];
    expect(parsePoseAlarms(encodePoseAlarms(alarms))).toEqual(alarms);
    expect(of('gw/pose-alarm/1', { reason: 'why', since })).toEqual([{ reason: 'why', since, map: null }]);
    expect(of('gw/pose-alarm/3', { alarms })).toMatch(/another version of gw/);
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

it('a pose trial whose alarm cannot be saved sends no pose, and leaves no alarm', async () => {
  await using robot = await startSupervised({ evidence: true, isUnitShown: true });
  const { motion: tried, site, clock } = robot;
  chmodSync(site.stateDir, 0o777);
  const ended = await robot.conduct({ kind: 'pose' });
  chmodSync(site.stateDir, 0o700);
  expect(ended).toMatchObject({
    outcome: 'not-decided',
    alarm: null,
    reason: expect.stringMatching(/cannot be saved/),
  });
  expect(JSON.stringify(await robot.report(ended))).not.toContain('pose sent');
  // By then what is not saved was saved again.
  await clock.sleep(5_000);
  expect(tried.status()).toMatchObject({ poseAlarm: null, poseAlarmTrouble: null });
  expect(existsSync(join(site.stateDir, 'pose-alarm.json'))).toBe(false);
});

it('a pose trial whose map changes has restored nothing, and its alarm counts on every map', async () => {
  await using robot = await startSupervised({ evidence: true, isUnitShown: true });
  const { motion: tried, sim } = robot;
  const base = `http://${sim.chassis.host}:${sim.chassis.port}`;
  const maps = (await (await fetch(`${base}/maps/`)).json()) as { id: number; uid: string }[];
  const current = (await (await fetch(`${base}/chassis/current-map`)).json()) as { uid: string };
  const other = maps.find(({ uid }) => uid !== current.uid);
  const trial = await tried.trials.start({ kind: 'pose', ...attended });
  const ended = robot.follow(trial);
  await until(() => tried.trials.view()?.phase.startsWith('Restores') === true);
  await fetch(`${base}/chassis/current-map`, { method: 'POST', body: JSON.stringify({ map_id: other?.id }) });
  expect((await ended).alarm).toMatch(/^THE POSE OF THE ROBOT IS WRONG.*map/);
  expect(tried.status().poseAlarm).toMatchObject({ map: null, reason: expect.stringMatching(/could not be restored/) });
});
