import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmdirSync, rmSync, statfsSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { watchDisk } from '../../src/lib/gateway/disk-watch.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { folderOfEach } from '../lifecycle/folder.ts';
import { until } from '../waiting.ts';

const dir = folderOfEach();

const watch = (path: string, reserveBytes = 1, clock = createFakeClock({ startMs: 1_000_000 }), isHeld = false) =>
  watchDisk({ path, key: 'operator.mediaDir', reserveBytes, isHeld, clock, log: silentLog });

const checked = (disk: ReturnType<typeof watch>) =>
  until(
    () => disk.view(),
    ({ status }) => status !== 'not-checked',
  );

describe('the free space of a folder', () => {
  it('is not checked before the first check, and never ok then', () => {
    using disk = watch(dir.path);
    expect(disk.view()).toMatchObject({ status: 'not-checked', freeBytes: null });
  });

  it('is that of its file system, also where the folder does not exist yet', async () => {
    const { blocks, bsize } = statfsSync(dir.path);
    for (const path of [dir.path, dir.at('not/yet')]) {
      using disk = watch(path);
      expect(await checked(disk)).toMatchObject({ path, status: 'ok', totalBytes: blocks * bsize, remedy: null });
      expect(disk.view().freeBytes).toBeGreaterThan(0);
    }
  });

  it('is low below the reserve, with a remedy', async () => {
    using disk = watch(dir.path, 1e18);
    expect(await checked(disk)).toMatchObject({
      status: 'low',
      detail: expect.stringContaining('less than the reserve'),
      remedy: expect.stringContaining('du -x'),
    });
  });

  it.each([
    ['a file', (path: string) => writeFileSync(path, ''), 'a part of the path is no folder'],
    ['a pipe', (path: string) => void execFileSync('mkfifo', [path]), 'a part of the path is no folder'],
    ['a loop of links', (path: string) => symlinkSync('folder', path), 'too many symbolic links'],
  ])('is unusable where %s is in its place', async (_, create, code) => {
    const path = dir.at('folder');
    create(path);
    using disk = watch(path);
    expect(await checked(disk)).toMatchObject({
      status: 'unusable',
      freeBytes: null,
      detail: expect.stringContaining(code),
      remedy: expect.stringContaining('operator.mediaDir'),
    });
  });

  it('is checked again, so that a repair is detected', async () => {
    const clock = createFakeClock({ startMs: 1_000_000 });
    const path = dir.at('folder');
    writeFileSync(path, '');
    using disk = watch(path, 1, clock);
    expect((await checked(disk)).status).toBe('unusable');
    rmSync(path);
    mkdirSync(path);
    await clock.advance(10_000);
    await expect.poll(() => disk.view().status).toBe('ok');
  });
});

describe('a folder in which gw keeps files open', () => {
  /** What the next check after this change finds: it reads a real disk. */
  async function afterChange(
    disk: ReturnType<typeof watch>,
    clock: ReturnType<typeof createFakeClock>,
    change: () => void,
  ) {
    change();
    const before = disk.view();
    await clock.advance(10_000);
    return until(
      () => disk.view(),
      (view) => view !== before,
    );
  }

  it('is unusable from its removal on, also when another one takes its place, until it is back', async () => {
    const clock = createFakeClock({ startMs: 1_000_000 });
    const [path, away] = [dir.at('state'), dir.at('away')];
    mkdirSync(path);
    using disk = watch(path, 1, clock, true);
    expect((await checked(disk)).status).toBe('ok');
    expect(await afterChange(disk, clock, () => renameSync(path, away))).toMatchObject({
      status: 'unusable',
      detail: expect.stringContaining('was removed while gw ran'),
      remedy: expect.stringContaining('restart `gw serve`'),
    });
    expect(await afterChange(disk, clock, () => mkdirSync(path))).toMatchObject({
      status: 'unusable',
      detail: expect.stringContaining('another folder'),
    });
    const isBack = () => {
      rmdirSync(path);
      renameSync(away, path);
    };
    expect(await afterChange(disk, clock, isBack)).toMatchObject({ status: 'ok', remedy: null });
  });

  it('is one from the time on at which it was made', async () => {
    const clock = createFakeClock({ startMs: 1_000_000 });
    const path = dir.at('state');
    using disk = watch(path, 1, clock, true);
    expect((await checked(disk)).status).toBe('ok');
    expect((await afterChange(disk, clock, () => mkdirSync(path))).status).toBe('ok');
    expect((await afterChange(disk, clock, () => rmdirSync(path))).status).toBe('unusable');
  });
});
