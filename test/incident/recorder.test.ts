import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeIncident } from '../../src/lib/incident/incident-file.ts';
import {
  createIncidentRecorder,
  decodeIncident,
  type IncidentStore,
  type LogEntry,
  type ObservedPose,
  openIncidentStore,
  type Places,
  type Sight,
} from '../../src/lib/incident/index.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { until } from '../waiting.ts';
import { calm, sampleBody, sampleHead, sightWith, stopped } from './incidents.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-incidents-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const away = sightWith({ link: { kind: 'not-connected', failure: 'cut' } });

async function setUp(over: Partial<IncidentStore> = {}) {
  const clock = createFakeClock();
  const store = { ...openIncidentStore(dir, clock.wall()), ...over };
  let sight: Sight = calm;
  let pose: ObservedPose | null = null;
  const frame: { map: ObservedPose['map'] } = { map: null };
  const places: { stations?: Places['stations']; dock?: Places['dock'] } = {};
  const events: LogEntry[] = [];
  let listener = () => {};
  let posed = () => {};
  const recorder = createIncidentRecorder({
    store,
    clock,
    log: silentLog,
    about: { serial: 'TEST-1', site: 'Lobby', version: '1', timeZone: 'UTC' },
    places: () => ({ stations: [], dock: null, ...places }),
    look: () => sight,
    pose: () => pose,
    logSince: (ms) => events.filter(({ atMs }) => atMs >= ms),
    subscribe(fn) {
      listener = fn;
      return { [Symbol.dispose]: () => {} };
    },
    followPose(fn) {
      posed = fn;
      return { [Symbol.dispose]: () => {} };
    },
  });
  /** Poses at ten a second for this long. */
  async function drive(ms: number) {
    for (let left = ms; left > 0; left -= 100) {
      await clock.advance(100);
      pose = { atMs: clock.monotonicMs(), xM: clock.monotonicMs() / 1_000, yM: 0, yawDeg: 90, map: frame.map };
      posed();
      listener();
    }
  }
  return {
    ...{ clock, store, recorder, drive, events, frame, places },
    /** It is so from now on, without a call. */
    see(next: Sight) {
      sight = next;
    },
    async become(next: Sight) {
      sight = next;
      listener();
      await clock.advance(250);
    },
    kept: async (id: number) => decodeIncident(await readFile(join(dir, `incident-${id}.jsonl`)), 'x'),
    /** The file system answers in its own time. */
    settled: () => recorder[Symbol.asyncDispose](),
  };
}

describe('the memory of incidents', () => {
  it('keeps the minute before a stop and ten seconds after it', async () => {
    const { clock, drive, become, kept, settled, recorder } = await setUp();
    await drive(90_000);
    await become(stopped);
    expect((await recorder.list()).incidents).toEqual([]);
    await drive(12_000);
    await settled();
    const { head, body } = await kept(1);
    expect(head).toMatchObject({ id: 1, serial: 'TEST-1', fromMs: -60_000, isComplete: true, moreCauses: 0 });
    expect(head.causes).toEqual([{ code: 'stop', atMs: 0, origin: 'surface', by: '192.0.2.9' }]);
    expect(head.toMs).toBeGreaterThanOrEqual(10_000);
    expect(head.toMs).toBeLessThan(10_500);
    const times = body.poses.map(({ atMs }) => atMs);
    expect(Math.min(...times)).toBeGreaterThanOrEqual(-60_000);
    expect(Math.min(...times)).toBeLessThan(-59_800);
    expect(Math.max(...times)).toBeGreaterThan(9_500);
    expect(body.poses.length).toBeGreaterThan(690);
    expect(body.scenes.map(({ atMs, headline }) => [atMs, headline.code])).toEqual([
      [-60_000, 'ready'],
      [0, 'stopped'],
    ]);
    expect(clock.pending).toBe(0);
  });

  it('lists the age of each by the clocks of this start, and none for one of an earlier start', async () => {
    const earlier = await setUp();
    await earlier.become(stopped);
    await earlier.clock.advance(12_000);
    await earlier.settled();
    const { clock, become, recorder, settled } = await setUp();
    await become(stopped);
    await clock.advance(1_000);
    await until(
      async () => (await recorder.list()).incidents,
      ({ length }) => length === 2,
    );
    clock.setWall(new Date('2020-01-01T00:00:00Z'));
    await clock.advance(60_000);
    const { incidents } = await recorder.list();
    expect(incidents.map(({ id, ageMs }) => [id, ageMs])).toEqual([
      [2, 61_000],
      [1, null],
    ]);
    await settled();
  });

  it('has each pose with the map on which it was observed, and each place with the map of the site file', async () => {
    const { drive, become, kept, settled, frame, places } = await setUp();
    const [hall, attic] = [
      { uid: 'u-1', version: 1, title: 'hall' },
      { uid: 'u-2', version: null, title: 'attic' },
    ];
    const A = { name: 'A', xM: 1, yM: 2 };
    places.stations = [
      { ...A, map: attic },
      { ...A, name: 'B', map: null },
    ];
    places.dock = { xM: 0, yM: 0, yawDeg: 0, map: hall };
    frame.map = hall;
    await drive(1_000);
    await become(stopped);
    frame.map = null;
    await drive(1_000);
    frame.map = { ...attic };
    await drive(12_000);
    await settled();
    const { body } = await kept(1);
    expect(body.maps).toEqual([attic, hall]);
    expect(body.stations).toEqual([
      { ...A, map: 0 },
      { ...A, name: 'B', map: null },
    ]);
    expect(body.dock).toMatchObject({ map: 1 });
    // In the order in which they were observed, whatever the map at the time of writing is.
    const seen = body.poses.map(({ map }) => map);
    expect(seen.filter((map, at) => map !== seen[at - 1])).toEqual([1, null, 0]);
    expect(seen.length).toBe(body.poses.length);
  });

  it('has a bound for maps, beyond which the map of a pose is not known', async () => {
    const { drive, become, kept, settled, frame } = await setUp();
    await become(stopped);
    for (let count = 0; count < 40; count += 1) {
      frame.map = { uid: `u-${count}`, version: 1, title: '\u0000'.repeat(500) };
      await drive(200);
    }
    await drive(3_000);
    await settled();
    const { body } = await kept(1);
    expect(body.maps).toHaveLength(32);
    expect(body.poses.at(-1)?.map).toBeNull();
  });

  it('has what has changed with time alone, of which nothing is called', async () => {
    const { clock, see, kept, settled } = await setUp();
    await clock.advance(5_000);
    see(away);
    await clock.advance(1_300);
    see(calm);
    await clock.advance(12_000);
    await settled();
    const { head, body } = await kept(1);
    expect(head.causes).toMatchObject([{ code: 'link-lost' }]);
    expect(body.scenes.map(({ link }) => link.kind)).toEqual(['connected', 'not-connected', 'connected']);
  });

  it('has it on disk after a second, for a robot that is switched off', async () => {
    const { drive, become, kept, store, clock } = await setUp();
    await drive(2_000);
    await become(stopped);
    await clock.advance(1_000);
    await until(store.heads, ({ length }) => length === 1);
    const { head } = await kept(1);
    expect([head.isComplete, head.fromMs]).toEqual([false, -2_150]);
    // The next process finds it, and counts on.
    const again = openIncidentStore(dir, new Date());
    expect(await again.heads()).toEqual([head]);
    expect(await again.takeId()).toBe(2);
  });

  it('takes what follows at once as one incident, for a minute at most', async () => {
    const { become, clock, settled, store } = await setUp();
    // A link that comes and goes every four seconds.
    for (let count = 0; count < 35; count += 1) {
      await become(count % 2 === 0 ? away : calm);
      await clock.advance(3_750);
    }
    await clock.advance(15_000);
    await settled();
    const heads = await store.heads();
    expect(heads.map(({ id }) => id)).toEqual([3, 2, 1]);
    for (const { causes, toMs } of heads) {
      expect(causes.length).toBeGreaterThan(1);
      expect(toMs).toBeLessThanOrEqual(60_300);
    }
  });

  it('keeps of each kind some: a link that fails for a day leaves the stop', async () => {
    const { become, clock, settled, store, recorder } = await setUp();
    await become(stopped);
    await clock.advance(20_000);
    await become(calm);
    for (let count = 0; count < 60; count += 1) {
      await become(away);
      await become(calm);
      await clock.advance(20_000);
      await until(recorder.list, ({ recording }) => recording === null);
    }
    await settled();
    expect(await store.heads()).toHaveLength(50);
    expect((await readdir(dir)).length).toBe(50);
    expect((await store.heads()).filter(({ causes }) => causes[0]?.code === 'stop')).toHaveLength(1);
    expect((await store.heads())[0]?.id).toBe(61);
  });

  it('holds the log of that time, and cuts long texts of others', async () => {
    const { become, clock, events, kept, settled } = await setUp();
    const entry = { level: 'warn', message: 'm', fields: { by: 'x' }, count: 1 } as const;
    events.push({ ...entry, atMs: clock.monotonicMs() });
    await clock.advance(30_000);
    const message = 'x'.repeat(100_000);
    await become(sightWith({ alerts: { ...calm.scene.alerts, value: [{ code: 1, level: 'error', message }] } }));
    await clock.advance(20_000);
    await settled();
    const { body } = await kept(1);
    expect(body.log).toEqual([{ ...entry, atMs: -30_250 }]);
    expect(body.scenes.at(-1)?.alerts.value?.[0]?.message).toHaveLength(300);
  });

  it('stays within its size however much happens, and says what it left out', async () => {
    const { become, clock, kept, settled } = await setUp();
    const alert = { level: 'error', message: 'y'.repeat(900) };
    const many = (tag: number) => {
      const value = Array.from({ length: 500 }, (_, code) => ({ ...alert, code: code + tag }));
      return sightWith({ alerts: { ...calm.scene.alerts, value } });
    };
    for (let count = 0; count < 200; count += 1) await become(many(count));
    await clock.advance(20_000);
    await settled();
    expect((await readFile(join(dir, 'incident-1.jsonl'))).length).toBeLessThan(1_500_000);
    const { head, body } = await kept(1);
    expect(body.leftOut.scenes).toBeGreaterThan(0);
    expect(head.causes).toHaveLength(32);
    expect(head.moreCauses).toBeGreaterThan(100);
  });

  it.each(['y', 'ü', '漢', '\u0000'])(
    'of texts of %j by others stays readable, and its entry in the list small',
    async (character) => {
      const { become, clock, events, settled, store } = await setUp();
      const long = character.repeat(60_000);
      for (let count = 0; count < 2_000; count += 1) {
        const fields = { by: character.repeat(1_000) };
        events.push({ level: 'warn', message: 'm', fields, count: 1, atMs: clock.monotonicMs() });
      }
      for (let code = 0; code < 200; code += 1) {
        const value = [{ code, level: long, message: long }];
        await become(sightWith({ alerts: { ...calm.scene.alerts, value } }));
      }
      await clock.advance(60_000);
      await settled();
      expect((await readFile(join(dir, 'incident-1.jsonl'))).length).toBeLessThan(2_000_000);
      const again = openIncidentStore(dir, new Date());
      const heads = await again.heads();
      expect([again.unreadable(), heads]).toEqual([0, await store.heads()]);
      for (const head of heads) expect(Buffer.byteLength(JSON.stringify(head))).toBeLessThan(8_000);
      // The file has what the list leaves out.
      const bytes = await again.read(1);
      const { head } = decodeIncident(bytes ?? new Uint8Array(), 'x');
      expect(head.causes.length + head.moreCauses).toBe(8 + (heads.at(-1)?.moreCauses ?? 0));
      expect(head.causes).toHaveLength(32);
    },
  );

  it('says that it could not be written', async () => {
    const { become, clock, recorder } = await setUp({ save: () => Promise.reject(new Error('disk full')) });
    await become(stopped);
    await clock.advance(20_000);
    const { incidents } = await until(recorder.list, ({ notKept }) => notKept?.count === 1);
    expect(incidents).toEqual([]);
  });

  it('keeps what led to the end of the gateway', async () => {
    const { become, kept, settled } = await setUp();
    await become(stopped);
    await settled();
    expect((await kept(1)).head.isComplete).toBe(false);
  });
});

describe('the folder of incidents', () => {
  it('counts what it cannot read, leaves it, and gives its number to no other', async () => {
    await writeFile(join(dir, 'incident-7.jsonl'), 'not json\n');
    await writeFile(join(dir, 'incident-8.jsonl'), '');
    await writeFile(join(dir, 'notes.txt'), 'mine');
    const store = openIncidentStore(dir, new Date());
    expect([await store.heads(), store.unreadable(), await store.takeId()]).toEqual([[], 2, 9]);
    expect(await store.read(7)).toBe(null);
    expect((await readdir(dir)).sort()).toEqual(['incident-7.jsonl', 'incident-8.jsonl', 'notes.txt']);
  });

  it('counts on past foreign names, hides nothing for them, and writes over no file', async () => {
    await writeFile(join(dir, 'incident-3.jsonl'), encodeIncident(sampleHead, sampleBody));
    const absurd = encodeIncident({ ...sampleHead, id: 999_999_999 }, sampleBody);
    const foreign = {
      ...{
        'incident-999999999.jsonl': absurd,
        'incident-999999998.jsonl': 'x',
        'incident-99999999999999999999.jsonl': 'x',
      },
      ...{ 'incident-0.jsonl': 'x', 'incident-05.jsonl': 'x', 'incident-6.jsonl.bak': 'x', 'incident--7.jsonl': 'x' },
    };
    for (const [name, text] of Object.entries(foreign)) await writeFile(join(dir, name), text);
    await mkdir(join(dir, 'incident-4.jsonl'));
    execFileSync('mkfifo', [join(dir, 'incident-5.jsonl')]);
    for (const taken of [6, 7]) {
      const store = openIncidentStore(dir, new Date());
      const id = await store.takeId();
      expect([id, store.unreadable()]).toEqual([taken, 3]);
      await store.save({ ...sampleHead, id }, sampleBody);
    }
    const store = openIncidentStore(dir, new Date());
    expect((await store.heads()).map(({ id }) => id)).toEqual([999_999_999, 7, 6, 3]);
    for (const [name, text] of Object.entries(foreign)) expect(await readFile(join(dir, name), 'utf8')).toBe(text);
  });

  it('gives no number twice where a foreign name has the largest that counts', async () => {
    await writeFile(join(dir, 'incident-99999999.jsonl'), 'x');
    for (const taken of [100_000_000, 100_000_001]) {
      const store = openIncidentStore(dir, new Date());
      expect(await store.takeId()).toBe(taken);
      await store.save({ ...sampleHead, id: taken }, sampleBody);
    }
  });

  it('says that it could not be read, and is not called empty', async () => {
    const file = join(dir, 'file');
    await writeFile(file, '');
    for (const [path, problem] of [
      [file, /cannot be read/],
      [join(dir, 'none'), /^null$/],
    ] as const) {
      const store = openIncidentStore(path, new Date());
      await store.heads();
      expect(`${store.folderProblem()}`).toMatch(problem);
    }
  });

  it('of which other users may replace files is neither read nor written', async () => {
    await chmod(dir, 0o777);
    const store = openIncidentStore(dir, new Date());
    await store.heads();
    expect(store.folderProblem()).toMatch(/other users may write/);
    await expect(store.save(sampleHead, sampleBody)).rejects.toThrow(/other users may write/);
    expect(await readdir(dir)).toEqual([]);
  });

  it('gives out no file that was changed', async () => {
    const { become, clock, settled, store } = await setUp();
    await become(stopped);
    await clock.advance(20_000);
    await settled();
    expect(await store.read(1)).not.toBe(null);
    const path = join(dir, 'incident-1.jsonl');
    await writeFile(path, (await readFile(path, 'utf8')).replace('192.0.2.9', '192.0.2.8'));
    await expect(store.read(1)).rejects.toMatchObject({ code: 'INCIDENT_INVALID' });
    await rm(path);
    await expect(store.read(1)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });
});
