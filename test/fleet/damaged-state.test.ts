import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createFleet } from '../../src/lib/fleet/index.ts';
import { createReplayGuard } from '../../src/lib/fleet/replay-guard.ts';
import { neighboursView } from '../../src/lib/gateway/neighbours.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { folderOfEach } from '../lifecycle/folder.ts';

const dir = folderOfEach();
let stateDir: string;
beforeEach(() => {
  stateDir = dir.at('state');
  mkdirSync(stateDir, { mode: 0o700 });
  writeFileSync(dir.at('key'), `${'ab'.repeat(32)}\n`, { mode: 0o600 });
});

const never = { signal: new AbortController().signal, fail: () => {} };
const fleet = () =>
  createFleet({
    serial: 'R-1',
    keyFile: dir.at('key'),
    acceptedKeyFiles: [],
    broadcast: false,
    unicast: [],
    stateDir,
    state: () => ({ moving: null, stopped: null, batteryPercent: null, pose: null, map: null, software: '' }),
    clock: createFakeClock({ startMs: 1_000_000 }),
    log: silentLog,
  });

const damages: readonly [string, (path: string) => void, RegExp][] = [
  ['cut off', (path) => writeFileSync(path, '{"format":"gw/heartbe'), /invalid content/],
  ['all zeros', (path) => writeFileSync(path, Buffer.alloc(512)), /invalid content/],
  ['not text', (path) => writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00, 0x80])), /invalid content/],
  ['empty', (path) => writeFileSync(path, ''), /invalid content/],
  ['a pipe without a writer', (path) => void execFileSync('mkfifo', [path]), /not a regular file/],
  ['a folder', (path) => mkdirSync(path), /it is a folder/],
  ['larger than gw ever writes', (path) => writeFileSync(path, ' '.repeat(3_000_000)), /more than 2097152 bytes/],
];

describe.each(['heartbeat-received.json', 'heartbeat-boots.json'])(
  'the heartbeat service with a damaged %s',
  (name) => {
    it.each(damages)('%s: does not run, names the file, and leaves it unchanged', async (_, damage, why) => {
      const path = join(stateDir, name);
      damage(path);
      const { ino, size } = statSync(path);
      const heartbeat = fleet();
      await expect(heartbeat.start(never)).rejects.toMatchObject({
        code: 'FILE_UNREADABLE',
        message: expect.stringMatching(new RegExp(`${name}.*${why.source}`)),
        remedy: expect.stringMatching(/^Inspect the file\./),
      });
      // No silent restart from empty: recordings would be accepted, and two boots would share a counter.
      expect(statSync(path)).toMatchObject({ ino, size });
      expect(heartbeat.failedStart).toBe('is-retried');
      expect(heartbeat.view()).toMatchObject({ running: false, sending: null });
      await heartbeat.stop();
    });
  },
);

describe('a heartbeat service that cannot run', () => {
  it('is not shown as one that received no robot', () => {
    expect(neighboursView(fleet().view(), 'The file x is damaged.', null)).toMatchObject({
      status: 'not-checked',
      detail: expect.stringMatching(/none is sent or received: The file x is damaged\.$/),
      sending: null,
    });
  });

  it.runIf(process.getuid?.() === 0)('in a folder of another user writes nothing there', async () => {
    chownSync(stateDir, 65_534, 65_534);
    await expect(fleet().start(never)).rejects.toMatchObject({
      message: expect.stringContaining('belongs to user 65534'),
      remedy: expect.stringContaining('chown'),
    });
    expect(readdirSync(stateDir)).toEqual([]);
  });

  it('leaves the file of received heartbeats unchanged when it has received none', async () => {
    const path = join(stateDir, 'heartbeat-received.json');
    writeFileSync(path, '{"format":"gw/heartbeat-received/1","refused":[["R-2",3,99]]}\n', { mode: 0o600 });
    const before = statSync(path).ino;
    const guard = createReplayGuard({ stateDir, clock: createFakeClock({ startMs: 1_000_000 }), log: silentLog });
    await guard.load();
    await guard.close();
    // On a full disk writing it would hide the reason why the heartbeat did not start.
    expect(statSync(path).ino).toBe(before);
    expect(readFileSync(path, 'utf8')).toContain('"R-2",3,99');
  });
});
