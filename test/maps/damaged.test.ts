import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isComplete, packArchive, parseArchive, readArchive } from '../../src/lib/maps/index.ts';
import { restartChassis } from '../../src/lib/maps/restart/restart.ts';
import { runs } from '../properties.ts';
import { type Handling, type MapChassis, mapChassis, standsStill, storedMap, time, topicsOf } from './map-chassis.ts';
import { archiveOf, calm, dir, empty, keepsBackups, never, outcomeOf, restore, store } from './restoring.ts';
import { archivedMap, errorOf, mapDocument, oddOverlays, picture, sampleArchive } from './samples.ts';

keepsBackups();

/** Those of the present test. */
let chassis: MapChassis;
beforeEach(async () => {
  chassis = await mapChassis([storedMap(1), storedMap(2), storedMap(3)]);
});
afterEach(() => chassis[Symbol.asyncDispose]());

/** From here on the chassis answers these paths otherwise. */
function answer(answers: Readonly<Record<string, Handling>>): void {
  chassis.onRead = (path) => answers[path] ?? 'usual';
}

const item = (id: unknown, name: unknown = `Floor ${id}`) => ({ id, uid: `uid-${id}`, map_name: name });
const list = (...entries: unknown[]) => Buffer.from(JSON.stringify(entries));
const hex = (bytes: Uint8Array | null | undefined) => (bytes ? Buffer.from(bytes).toString('hex') : null);

/** Comparable whatever the class of the bytes. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return hex(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

const damages: readonly (readonly [name: string, handling: Handling, why: RegExp, received: RegExp | null])[] = [
  ['status 500', 500, /status 500/, /configured status 500/],
  ['status 404', 404, /status 404/, /configured status 404/],
  ['status 503 of a chassis that does not start', 503, /503|starting/, /configured status 503/],
  ['a resolution of 0', mapDocument(2, oddOverlays, { grid_resolution: 0 }), /grid_resolution/, /"grid_resolution":0/],
  ['no grid', Buffer.from('{}'), /grid_origin_x/, /^\{\}$/],
  ['a page', Buffer.from('<html>'), /HTML|JSON/, /^<html>$/],
  ['nothing', Buffer.alloc(0), /empty|JSON|end/i, /^$/],
  ['a lost connection', 'cut-before', /connection|closed|answer/i, null],
];

describe('a map that the chassis returns damaged', () => {
  it.each(damages)(
    'with %s is kept as received, and every other map is saved',
    async (_name, handling, why, received) => {
      answer({ '/maps/2': handling });
      const archive = await archiveOf(chassis);
      expect(archive.maps.map(({ id, missing }) => [id, missing.length])).toEqual([
        [1, 0],
        [3, 0],
      ]);
      expect(archive.damaged).toMatchObject([{ id: 2, uid: 'uid-2', name: 'Floor 2', entry: null, isCurrent: false }]);
      expect(archive.damaged[0]?.why).toMatch(why);
      const bytes = archive.damaged[0]?.received.data ?? null;
      if (received === null) expect(bytes).toBeNull();
      else expect(Buffer.from(bytes ?? []).toString()).toMatch(received);
      expect(hex(archive.damaged[0]?.received.image)).toBe(hex(picture()));
      expect([archive.complete, isComplete(archive)]).toEqual([false, false]);
      expect(plain(await parseArchive(await packArchive(archive), 'x'))).toEqual(plain(archive));
    },
  );

  it.each([
    ['without a name', [item(1), item(2, null), item(3)], [1, 3], [{ entry: 2, id: 2, uid: 'uid-2', name: null }]],
    ['without a number', [item(1), item('x'), item(3)], [1, 3], [{ entry: 2, id: null, uid: 'uid-x' }]],
    [
      'that is no object',
      [null, item(2), [], item(3)],
      [2, 3],
      [
        { entry: 1, id: null },
        { entry: 3, id: null },
      ],
    ],
    [
      'twice',
      [item(1), item(2), item(2, 'Hall'), item(3)],
      [1, 3],
      [
        { entry: 2, id: 2, name: 'Floor 2', why: 'its number is listed twice' },
        { entry: 3, id: 2, name: 'Hall' },
      ],
    ],
  ])('listed %s is kept with the list, and every other map is saved', async (_name, entries, read, damaged) => {
    const bytes = list(...entries);
    answer({ '/maps/': bytes });
    const archive = await archiveOf(chassis);
    expect(archive.maps.map(({ id }) => id)).toEqual(read);
    expect(archive.damaged).toMatchObject(damaged);
    expect(hex(archive.list)).toBe(hex(bytes));
    // What stands behind a known number is kept once.
    const kept = archive.damaged.filter(({ received }) => received.data !== null).map(({ id }) => id);
    expect(kept).toEqual([...new Set(damaged.map(({ id }) => id).filter((id) => id !== null))]);
    expect(isComplete(archive)).toBe(false);
    expect(plain(await parseArchive(await packArchive(archive), 'x'))).toEqual(plain(archive));
  });

  it('leaves a picture that cannot be read in the archive, which is not complete', async () => {
    const half = picture().subarray(0, -15);
    answer({ '/maps/2.png': half, '/maps/3.pbstream': 500 });
    const archive = await archiveOf(chassis);
    expect(archive.maps.map(({ id, missing }) => [id, missing.map(({ what }) => what)])).toEqual([
      [1, []],
      [2, ['image']],
      [3, ['localisation']],
    ]);
    expect(hex(archive.maps[1]?.missing[0]?.received)).toBe(hex(half));
    expect([archive.complete, isComplete(archive)]).toEqual([true, false]);
    expect(plain(await parseArchive(await packArchive(archive), 'x'))).toEqual(plain(archive));
  });

  it('makes the current map unknown where that is the one, and the others are saved', async () => {
    answer({ '/chassis/current-map': 500 });
    const archive = await archiveOf(chassis);
    expect(archive).toMatchObject({ complete: false, currentProblem: expect.stringContaining('status 500') });
    expect(archive.maps).toHaveLength(3);
    expect(plain(await parseArchive(await packArchive(archive), 'x'))).toEqual(plain(archive));
  });

  it('ends the backup where the chassis itself has gone', async () => {
    answer({ '/maps/2': 'cut-before' });
    chassis.onRead = (path) => {
      if (path === '/maps/2') chassis.fake.serial = 'SN-OTHER';
      return path === '/maps/2' ? 'cut-before' : 'usual';
    };
    expect(await errorOf(archiveOf(chassis))).toMatchObject({ code: 'CHASSIS_WRONG_DEVICE' });
  });
});

describe('an archive with damaged maps', () => {
  const bytes = fc.option(fc.uint8Array({ maxLength: 40 }), { nil: null });
  const text = fc.option(fc.string({ maxLength: 20 }), { nil: null });
  const damaged = fc.record({
    ...{ entry: fc.option(fc.integer({ min: 1, max: 9 }), { nil: null }), id: fc.option(fc.integer(), { nil: null }) },
    ...{ uid: text, name: text, why: fc.string({ maxLength: 20 }), isCurrent: fc.boolean() },
    received: fc.record({ data: bytes, image: bytes, localisation: bytes }),
  });

  it('comes back as it was packed, whatever the chassis answered', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(damaged, { minLength: 1, maxLength: 4 }), fc.uint8Array(), async (maps, answered) => {
        const archive = sampleArchive({ complete: false, damaged: maps, list: answered });
        expect(plain(await parseArchive(await packArchive(archive), 'x'))).toEqual(plain(archive));
      }),
      { numRuns: runs(100) },
    );
  });

  it.each([
    ['that is marked as complete', { complete: true }, 'marked as complete, but lists damaged maps'],
    ['without the list of maps', { list: null }, 'damaged maps without the list of maps'],
  ])('%s is no backup', async (_name, changes, problem) => {
    const received = { data: null, image: null, localisation: null };
    const map = { entry: 2, id: null, uid: null, name: null, why: 'x', isCurrent: false, received };
    const archive = sampleArchive({ complete: false, damaged: [map], list: Buffer.from('[]'), ...changes });
    const error = await errorOf(parseArchive(await packArchive(archive), 'x'));
    expect(error).toMatchObject({ code: 'ARCHIVE_INVALID', message: expect.stringContaining(problem) });
  });
});

describe('a restore to a chassis with a damaged map', () => {
  it('restores the others, and says what its safety backup lacks', async () => {
    const archive = await archiveOf(chassis);
    store(chassis, empty, 3);
    answer({ '/maps/2': 500 });
    const run = await restore(chassis, archive);
    expect(run.plan.maps.map(({ verdict }) => verdict)).toEqual(['same', 'conflict', 'overlays-differ']);
    expect(run.plan.maps[1]?.why).toMatch(/map 2 "Floor 2" .*status 500.*delete map 2/);
    expect(outcomeOf(run, 3)).toMatchObject({ outcome: 'written' });
    expect(run.live.damaged).toMatchObject([{ id: 2 }]);
    const saved = await readArchive(run.written?.backup?.path ?? '');
    expect(saved.archive.damaged).toMatchObject([{ id: 2 }]);
    expect(chassis.writes.map(({ what, id }) => [what, id])).toEqual([['patch', 3]]);
    expect(readFileSync(run.written?.backup?.path ?? '').byteLength).toBeGreaterThan(0);
    expect(run.written?.backup?.path.startsWith(dir)).toBe(true);
  });

  it('creates a lost map beside a damaged one, and none that the damaged one may be', async () => {
    const archive = await archiveOf(chassis);
    chassis.maps.delete(3);
    answer({ '/maps/2': mapDocument(2, oddOverlays, { grid_resolution: 0 }) });
    const run = await restore(chassis, archive);
    expect(run.plan.maps.map(({ verdict }) => verdict)).toEqual(['same', 'conflict', 'missing']);
    expect(outcomeOf(run, 3)).toMatchObject({ outcome: 'written' });
    expect(chassis.writes.map(({ what }) => what)).toEqual(['create']);
  });

  it('does not say that an order had no effect where a new entry cannot be read', async () => {
    const archive = await archiveOf(chassis);
    chassis.maps.delete(3);
    chassis.onWrite = () => {
      answer({ '/maps/': list(item(1), item(2), item(77, null)) });
      return 'cut-after';
    };
    expect(outcomeOf(await restore(chassis, archive), 3)).toMatchObject({ outcome: 'unknown' });
  });

  it('sets no current map where the present one is unknown', async () => {
    const archive = await archiveOf(chassis);
    answer({ '/chassis/current-map': 500 });
    expect((await restore(chassis, archive, { write: null })).plan.mapToSelect).toBeNull();
  });

  it('from a backup with a damaged map names it, unless others were asked for', async () => {
    answer({ '/maps/2': 500 });
    const archive = await archiveOf(chassis);
    answer({});
    expect((await restore(chassis, archive, { write: null })).plan.damaged).toMatchObject([{ id: 2 }]);
    expect((await restore(chassis, archive, { write: null, ids: ['2'] })).plan).toMatchObject({
      maps: [],
      damaged: [{}],
    });
    expect((await restore(chassis, archive, { write: null, ids: ['1'] })).plan.damaged).toEqual([]);
  });
});

it('a restart of a chassis with a damaged map is refused, and names the map', async () => {
  answer({ '/maps/2': 500 });
  const archive = { ...(await archiveOf(chassis)), maps: [1, 2, 3].map((id) => archivedMap(id)) };
  const error = await errorOf(
    restartChassis({
      ...{ client: chassis.client, archive, topics: topicsOf(chassis), clock: time, signal: never, onProgress: calm },
      ...{ checkStillness: standsStill, isConfirmedStill: false, withinMs: 1_000 },
    }),
  );
  expect(error).toMatchObject({ code: 'BACKUP_OUTDATED', message: expect.stringContaining('map 2 "Floor 2"') });
  expect(error.remedy).toContain('map 2 "Floor 2"');
  expect(chassis.writes).toEqual([]);
});
