import { expect, it } from 'vitest';
import type { StateFiles } from '../../../src/lib/json/index.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { createFailedDrive, type RunAsShown } from '../../../src/lib/operator/view/failed-drive.ts';
import { until } from '../../waiting.ts';
import { SERIAL, standInClock } from '../stand-ins.ts';

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
  const loaded = failedDrive.load();
  failedDrive.ended(run);
  (await disk.next()).end();
  await loaded;
  expect(failedDrive.now()).toMatchObject({ id: 'd1', earlier: 1 });
  expect(failedDrive.now()?.failure.technical).toHaveLength(500);
});

it('is called saved when the disk has it, and waits no longer than 3 s for a disk that hangs', async () => {
  const { disk, clock, failedDrive } = opened();
  const loaded = failedDrive.load();
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
