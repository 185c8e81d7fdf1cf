import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createPoseAlarm } from '../../src/lib/motion/pose-alarm.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { until as waitUntil } from '../waiting.ts';
import { ground } from './snapshot.ts';

let dir: string;
let stateDir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-pose-alarm-'));
  stateDir = join(dir, 'state');
  mkdirSync(stateDir, { mode: 0o700 });
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

const file = () => join(stateDir, 'pose-alarm.json');
const reasons = () => JSON.parse(readFileSync(file(), 'utf8')).alarms.map(({ reason }: { reason: string }) => reason);
/** Waits for the real disk, independent of the clock of the test. */
const until = (holds: () => boolean) => waitUntil(() => null, holds);

async function world() {
  const clock = createFakeClock({ startMs: 1_000_000 });
  const alarm = createPoseAlarm({ stateDir, clock, log: silentLog, onChange() {} });
  await alarm.load();
  return { clock, alarm };
}

describe('an alarm of the pose whose file was removed', () => {
  it.each([
    ['file', () => rmSync(file())],
    ['folder', () => rmSync(stateDir, { recursive: true })],
    [
      'folder, which was made anew,',
      () => {
        rmSync(stateDir, { recursive: true });
        mkdirSync(stateDir);
      },
    ],
  ])('is saved again: with its %s', async (_what, remove) => {
    const { clock, alarm } = await world();
    using _watching = alarm.watch();
    await alarm.raise('why', ground);
    remove();
    await clock.advance(2_000);
    await until(() => existsSync(file()));
    await until(() => alarm.trouble() === null);
    expect(reasons()).toEqual(['why']);
    expect(await (await world()).alarm.all()).toMatchObject([{ reason: 'why', map: ground }]);
  });

  it('says that it is not saved until it is', async () => {
    const { clock, alarm } = await world();
    using _watching = alarm.watch();
    await alarm.raise('why', ground);
    rmSync(stateDir, { recursive: true });
    writeFileSync(stateDir, 'in the way');
    await clock.advance(2_000);
    await until(() => alarm.trouble()?.reason.includes('not a folder') === true);
    await clock.advance(10_000);
    expect(alarm.trouble()).not.toBeNull();
    rmSync(stateDir);
    await waitUntil(
      async () => {
        await clock.advance(2_000);
        return alarm.trouble();
      },
      (trouble) => trouble === null,
    );
    expect(reasons()).toEqual(['why']);
  });

  it('is cleared also where its folder is gone', async () => {
    const { alarm } = await world();
    await alarm.raise('why', ground);
    rmSync(stateDir, { recursive: true });
    await alarm.clear(ground);
    expect([alarm.all(), existsSync(file())]).toEqual([[], false]);
  });
});

describe('an alarm of the pose that could not be saved', () => {
  it('holds in memory, and is saved later', async () => {
    const { clock, alarm } = await world();
    using _watching = alarm.watch();
    chmodSync(stateDir, 0o777);
    await expect(alarm.raise('why', ground)).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(alarm.all()).toMatchObject([{ reason: 'why' }]);
    expect(alarm.trouble()).toMatchObject({ reason: expect.stringContaining('pose alarm cannot be saved') });
    chmodSync(stateDir, 0o700);
    await clock.advance(2_000);
    await until(() => alarm.trouble() === null);
    expect(reasons()).toEqual(['why']);
  });

  it('stays where its end could not be saved', async () => {
    const { alarm } = await world();
    await alarm.raise('why', ground);
    chmodSync(stateDir, 0o777);
    await expect(alarm.clear(ground)).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(alarm.all()).toMatchObject([{ reason: 'why' }]);
  });

  it('of more maps than are kept counts on every map', async () => {
    const { alarm } = await world();
    for (let count = 0; count < 12; count += 1) await alarm.raise('why', { ...ground, uid: `map-${count}` });
    expect(alarm.all()).toHaveLength(9);
    expect(alarm.all().at(-1)).toMatchObject({ map: null });
    expect((await world()).alarm.all()).toEqual(alarm.all());
  });
});
