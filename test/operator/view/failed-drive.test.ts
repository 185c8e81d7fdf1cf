import { describe, expect, it } from 'vitest';
import type { StateFiles } from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import type { MotionStatus } from '../../../src/lib/motion/index.ts';
import { createFailedDrive, type RunAsShown } from '../../../src/lib/operator/view/failed-drive.ts';
import { createRunView } from '../../../src/lib/operator/view/run-view.ts';
import { until } from '../../waiting.ts';
import { freeMotion, SERIAL, standInClock } from '../stand-ins.ts';

const run: RunAsShown = {
  ...{ id: 'd1', kind: 'drive', name: 'B', stations: [], at: 0, state: 'failed', failReason: null, although: [] },
  failure: { cause: 'refused', offM: null, offDeg: null, technical: 'x'.repeat(9_000) },
};

/** A disk that answers nothing until the test ends a call. */
function slowDisk() {
  const calls: { readonly what: string; end(): void }[] = [];
  const call = (what: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    calls.push({ what, end: resolve });
    return promise;
  };
  const files: StateFiles = {
    read: async () => {
      await call('read');
      return null;
    },
    write: (_path, value) => call(JSON.stringify(value)),
  };
  const next = async () =>
    (await until(
      () => calls.shift() ?? null,
      (one) => one !== null,
    )) as { what: string; end(): void };
  return { files, calls, next };
}

function opened() {
  const [disk, clock] = [slowDisk(), standInClock()];
  const options = { stateDir: '/state', serial: SERIAL, clock, log: silentLog };
  return { disk, clock, failedDrive: createFailedDrive(options, disk.files) };
}

it('is not known before its file is read, and what fails meanwhile is not lost by that', async () => {
  const { disk, failedDrive } = opened();
  expect(failedDrive.now()).toMatchObject({ id: 'not-read', failure: { cause: 'not-read' } });
  const loaded = failedDrive.start();
  failedDrive.ended(run);
  // What the file holds may be one more.
  expect(failedDrive.now()).toMatchObject({ id: 'd1', earlier: 1 });
  (await disk.next()).end();
  await loaded;
  expect(failedDrive.now()).toMatchObject({ id: 'd1', earlier: 0 });
  expect(failedDrive.now()?.failure.technical).toHaveLength(500);
});

it('is called saved when the disk has it, and waits no longer than 3 s for a disk that hangs', async () => {
  const { disk, clock, failedDrive } = opened();
  const loaded = failedDrive.start();
  (await disk.next()).end();
  await loaded;
  expect(failedDrive.now()).toBeNull();
  failedDrive.ended(run);
  const first = await disk.next();
  const seen = failedDrive.seen('d1');
  expect(failedDrive.now()).toBeNull();
  clock.advance(3_000);
  expect(await seen).toEqual({ saved: false });
  // One write at a time, and then the newest state.
  expect(disk.calls).toEqual([]);
  first.end();
  const second = await disk.next();
  expect([first.what, second.what].map((text) => text.includes('"failed":null'))).toEqual([false, true]);
  const again = failedDrive.seen('d1');
  second.end();
  expect(await again).toEqual({ saved: true });
});

/** A disk in memory, which can be made to fail. */
function keptFile(kept: object | null, clock = standInClock()) {
  const disk = { kept: kept as unknown, fails: false };
  const files: StateFiles = {
    read: async () => {
      if (disk.fails) throw new Error('input/output error');
      return disk.kept as never;
    },
    write: async (_path, value) => {
      disk.kept = JSON.parse(JSON.stringify(value));
    },
  };
  const failedDrive = createFailedDrive({ stateDir: '/state', serial: SERIAL, clock, log: silentLog }, files);
  return { disk, clock, failedDrive, runs: createRunView(clock, failedDrive) };
}
const driven = (state: 'running' | 'failed' | 'stopped' | 'succeeded'): MotionStatus => ({
  ...freeMotion,
  drive: { id: 'd1', kind: 'move', station: 'B', state, outcome: null, reason: null },
});

describe('where the server is started again and the gateway goes on', () => {
  it('what a person has seen, and what a person ended, is no new failure', async () => {
    const { failedDrive, runs } = keptFile(null);
    await failedDrive.start();
    runs.follow(driven('running'));
    runs.follow(driven('failed'));
    expect(await failedDrive.seen('d1')).toEqual({ saved: true });
    await failedDrive.stop();
    await failedDrive.start();
    runs.follow(driven('failed'));
    expect(failedDrive.now()).toBeNull();
  });

  it('a drive that arrives meanwhile has not failed', async () => {
    const { failedDrive, runs } = keptFile(null);
    await failedDrive.start();
    runs.follow(driven('running'));
    await failedDrive.stop();
    await failedDrive.start();
    runs.follow(driven('succeeded'));
    expect(failedDrive.now()).toBeNull();
  });
});

it('a file that cannot be read yet is not overwritten, and counts once it can be', async () => {
  const failed = { ...run, id: 'd0', failure: { ...run.failure, technical: 'before' }, earlier: 2 };
  const kept = { format: 'gw/failed-drive/1', serial: SERIAL, failed };
  const { disk, clock, failedDrive } = keptFile(kept);
  disk.fails = true;
  await failedDrive.start();
  failedDrive.runs({ ...run, state: 'running', failure: null });
  failedDrive.ended(run);
  expect([failedDrive.now()?.id, disk.kept]).toEqual(['d1', kept]);
  disk.fails = false;
  clock.advance(2_000);
  await until(
    () => failedDrive.now(),
    (now) => now?.earlier === 3,
  );
  await failedDrive.stop();
  expect(disk.kept).toMatchObject({ failed: { id: 'd1', earlier: 3 } });
});

it('a file that cannot be read is overwritten once a person has seen that', async () => {
  const { disk, failedDrive } = keptFile({ anything: 'else' });
  disk.fails = true;
  await failedDrive.start();
  expect(failedDrive.now()?.id).toBe('not-read');
  expect(await failedDrive.seen('not-read')).toEqual({ saved: true });
  expect([failedDrive.now(), disk.kept]).toMatchObject([null, { failed: null }]);
  await failedDrive.stop();
});
