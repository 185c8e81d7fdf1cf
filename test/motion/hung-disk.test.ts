import { expect, it, vi } from 'vitest';
import { moveTo, startBench, until } from './bench.ts';
import { startScriptedChassis } from './scripted-chassis.ts';

/** A disk that hangs, as a broken card or a network file system does. */
vi.mock('../../src/lib/motion/latch-disk.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/lib/motion/latch-disk.ts')>();
  const never = () => new Promise<never>(() => {});
  return {
    ...original,
    createLatchDisk(stateDir: string): ReturnType<typeof original.createLatchDisk> {
      const { path } = original.createLatchDisk(stateDir);
      return { path, probe: never, check: never, isThere: never, read: never, write: never };
    },
  };
});

it('a disk that hangs from the start leaves the robot stopped, and a stop still reaches the chassis', async () => {
  await using chassis = await startScriptedChassis();
  const cancels = () => chassis.orders.filter(({ path }) => path === '/chassis/moves/current').length;
  await using bench = await startBench(chassis, { isDiskHung: true });
  await until(() => bench.link.snapshot().link.kind === 'connected');
  expect(bench.motion.status()).toMatchObject({ stop: { latched: true, by: 'gw' }, gate: { open: false } });
  await expect(bench.motion.execute(moveTo(3, 4))).rejects.toMatchObject({ code: 'MOTION_STOPPED' });
  const before = cancels();
  expect(await bench.motion.stopRobot('person in the way', 'tablet')).toMatchObject({
    latched: true,
    by: 'tablet',
    saved: 'pending',
  });
  expect(cancels()).toBeGreaterThan(before);
});
