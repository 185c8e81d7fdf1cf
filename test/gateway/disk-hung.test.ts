import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, it, vi } from 'vitest';
import { watchDisk } from '../../src/lib/gateway/disk-watch.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';

/** Checks of the disk wait for it. */
const disk = vi.hoisted(() => ({ answers: Promise.resolve() }));

vi.mock('node:fs/promises', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs/promises')>();
  return {
    ...original,
    async stat(path: string) {
      await disk.answers;
      return await original.stat(path);
    },
  };
});

it('the free space of a hung file system is not checked until the file system responds again', async () => {
  const clock = createFakeClock({ startMs: 1_000_000 });
  using watch = watchDisk({ path: tmpdir(), key: 'stateDir', reserveBytes: 1, isHeld: true, clock, log: silentLog });
  await expect.poll(() => watch.view().status).toBe('ok');
  const { promise, resolve } = Promise.withResolvers<void>();
  disk.answers = promise;
  // The check after 10 s hangs; it is abandoned 15 s later, at the next check time.
  await clock.advance(20_000);
  expect(watch.view().status).toBe('ok');
  await clock.advance(10_000);
  expect(watch.view()).toMatchObject({
    status: 'not-checked',
    detail: expect.stringContaining('does not answer'),
    remedy: expect.stringContaining('dmesg'),
  });
  resolve();
  await expect.poll(() => watch.view().status).toBe('ok');
  const { blocks, bsize } = statfsSync(tmpdir());
  expect(watch.view()).toMatchObject({ totalBytes: blocks * bsize, remedy: null });
});
