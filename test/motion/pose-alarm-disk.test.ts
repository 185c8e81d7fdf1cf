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

/** `isLoaded`: false: the start of gw did not wait for a slow disk. */
async function world({ isLoaded = true } = {}) {
  const clock = createFakeClock({ startMs: 1_000_000 });
  const changes = { on() {} };
  const alarm = createPoseAlarm({ stateDir, clock, log: silentLog, onChange: () => changes.on() });
  if (isLoaded) await alarm.load();
  return { clock, alarm, changes };
}

describe('an alarm of a pose that was not sent', () => {
  const other = { ...ground, uid: 'map-other' };

  it.each([true, false])('leaves what was before, and the alarm of another map (read before: %s)', async (isLoaded) => {
    const { alarm } = await world({ isLoaded });
    await (await alarm.raiseBefore('sent', ground))();
    expect([alarm.all(), existsSync(file())]).toEqual([[], false]);
    await alarm.raise('why', other);
    const { alarm: next } = await world({ isLoaded });
    const withdraw = await next.raiseBefore('sent', ground);
    expect(reasons()).toEqual(['why', 'sent']);
    await withdraw();
    expect(reasons()).toEqual(['why']);
    expect(next.all()).toMatchObject([{ reason: 'why', map: other }]);
  });

  it.each(['', 'damaged', '{"format":"gw/pose-alarm/3"}'])(
    'leaves a file that cannot be read, here %j, as it is, and raised on every map',
    async (text) => {
      writeFileSync(file(), text);
      const { clock, alarm } = await world({ isLoaded: false });
      using _watching = alarm.watch();
      const withdraw = await alarm.raiseBefore('sent', ground);
      expect(reasons()).toEqual([expect.stringContaining('cannot be read'), 'sent']);
      await withdraw();
      expect(readFileSync(file(), 'utf8')).toBe(text);
      expect(alarm.all()).toMatchObject([{ reason: expect.stringContaining('cannot be read'), map: null }]);
      rmSync(file());
      await clock.advance(2_000);
      await until(() => alarm.all().length === 0);
    },
  );

  it('is not raised where the file cannot be opened, so that it could not be put back', async () => {
    const text = 'x'.repeat(200_000);
    writeFileSync(file(), text);
    const { alarm } = await world();
    await expect(alarm.raiseBefore('sent', ground)).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(readFileSync(file(), 'utf8')).toBe(text);
    expect(alarm.all()).toMatchObject([{ reason: expect.stringContaining('cannot be read'), map: null }]);
  });

  it('is not raised where it cannot be saved, and not saved later', async () => {
    const { clock, alarm } = await world();
    using _watching = alarm.watch();
    chmodSync(stateDir, 0o777);
    await expect(alarm.raiseBefore('sent', ground)).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(alarm.all()).toEqual([]);
    await until(() => alarm.trouble() !== null);
    chmodSync(stateDir, 0o700);
    await clock.advance(2_000);
    await until(() => alarm.trouble() === null);
    expect([alarm.all(), existsSync(file())]).toEqual([[], false]);
  });

  it.each(['damaged', null])('is not raised where the disk hangs, and not saved late (file: %j)', async (text) => {
    if (text !== null) writeFileSync(file(), text);
    const { clock, alarm, changes } = await world();
    const before = alarm.all();
    changes.on = () => {
      if (alarm.all().at(-1)?.reason !== 'sent') return;
      changes.on = () => {};
      queueMicrotask(() => void clock.advance(3_000));
    };
    await expect(alarm.raiseBefore('sent', ground)).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(alarm.all()).toEqual(before);
    await until(() => alarm.trouble() === null);
    expect(alarm.all()).toEqual(before);
    expect(existsSync(file()) ? readFileSync(file(), 'utf8') : null).toBe(text);
  });
});

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
