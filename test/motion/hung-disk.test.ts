import { expect, it, vi } from 'vitest';
import type { KeptLatch } from '../../src/lib/motion/latch/latch-disk.ts';
import { isLatchRead, moveTo, startBench, until } from './bench.ts';
import { startScriptedChassis } from './scripted-chassis.ts';
import { time } from './time.ts';

/** What the disk answers, once it does. */
const disk = vi.hoisted(() => ({ latch: new Promise<never>(() => {}) as Promise<KeptLatch> }));

/** A disk that hangs, as a broken card or a network file system does. */
vi.mock('../../src/lib/motion/latch/latch-disk.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../src/lib/motion/latch/latch-disk.ts')>();
  const never = () => new Promise<never>(() => {});
  return {
    ...original,
    createLatchDisk(stateDir: string): ReturnType<typeof original.createLatchDisk> {
      const { path } = original.createLatchDisk(stateDir);
      const probe = () => disk.latch.then(() => {});
      return { path, probe, check: never, isThere: never, read: () => disk.latch, write: never };
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

it.each([true, false])(
  'until the stop latch was read no foreign move is cancelled, and then by a stop alone (latched: %s)',
  async (latched) => {
    const answered = Promise.withResolvers<KeptLatch>();
    disk.latch = answered.promise;
    await using chassis = await startScriptedChassis();
    const cancels = () => chassis.orders.filter(({ path }) => path === '/chassis/moves/current').length;
    await using bench = await startBench(chassis, { isDiskHung: true });
    await until(() => bench.link.snapshot().link.kind === 'connected');
    await time.sleep(3_000);
    chassis.plan({ action_id: 77, move_state: 'moving' });
    chassis.onCancel = () => ({ status: 200 });
    await time.sleep(5_000);
    expect([bench.motion.status().stop.latched, cancels()]).toEqual([true, 0]);
    await expect(bench.motion.execute(moveTo(3, 4))).rejects.toMatchObject({ code: 'MOTION_STOPPED' });
    const by = latched ? 'tablet' : null;
    answered.resolve({ latched, reason: by, by, since: null });
    await until(() => isLatchRead(bench.motion));
    await time.sleep(3_000);
    expect([bench.motion.status().stop.latched, cancels() > 0]).toEqual([latched, latched]);
  },
);
