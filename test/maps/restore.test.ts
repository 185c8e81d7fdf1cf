import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backUpMaps, type MapArchive, readArchive } from '../../src/lib/maps/index.ts';
import {
  type MapOutcome,
  type RestoreRun,
  type RestoreWrite,
  restoreMaps,
} from '../../src/lib/maps/restore/restore.ts';
import { type MapChassis, mapChassis, quickPace, standsStill, storedMap, time, topicsOf } from './map-chassis.ts';
import { errorOf, oddOverlays, picture } from './samples.ts';

let dir: string;
let count = 0;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-restore-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const calm = () => {};
const never = new AbortController().signal;

const archiveOf = ({ client }: MapChassis): Promise<MapArchive> =>
  backUpMaps(client, { ids: 'all', gwVersion: '0.1.0', clock: time, signal: never, onProgress: calm });

interface Request {
  readonly ids?: 'all' | readonly string[];
  readonly signal?: AbortSignal;
  readonly write?: Partial<RestoreWrite> | null;
}

function restore(chassis: MapChassis, archive: MapArchive, request: Request = {}): Promise<RestoreRun> {
  count += 1;
  const own = count;
  const write: RestoreWrite | null =
    request.write === null
      ? null
      : {
          checkStillness: standsStill,
          isConfirmedStill: false,
          backupPath: join(dir, `before-${own}.tar.gz`),
          gwVersion: '0.1.0',
          onBackup: calm,
          pace: quickPace,
          ...request.write,
        };
  const { ids = 'all', signal = never } = request;
  return restoreMaps({
    client: chassis.client,
    archive,
    ids,
    topics: topicsOf(chassis),
    write,
    clock: time,
    signal,
    onProgress: calm,
  });
}

function outcomeOf(run: RestoreRun, id = 1): MapOutcome {
  const found = run.written?.maps.find(({ planned }) => planned.archived.id === id);
  if (!found) throw new Error('nothing was written');
  return found.outcome;
}

const other = '{"type":"FeatureCollection","features":[]}';
/** The overlays of map 1 are changed after the backup. */
async function changed(): Promise<{ chassis: MapChassis; archive: MapArchive } & AsyncDisposable> {
  const chassis = await mapChassis();
  const archive = await archiveOf(chassis);
  const map = chassis.maps.get(1);
  if (map) map.overlays = other;
  return { chassis, archive, [Symbol.asyncDispose]: () => chassis[Symbol.asyncDispose]() };
}

describe('a dry run', () => {
  it('plans and writes nothing, neither to the chassis nor to disk', async () => {
    await using made = await changed();
    const { chassis, archive } = made;
    chassis.maps.delete(2);
    const before = readdirSync(dir);
    const run = await restore(chassis, archive, { write: null });
    expect(run.plan.maps.map(({ verdict }) => verdict)).toEqual(['overlays-differ', 'missing']);
    expect(run.written).toBeNull();
    expect(chassis.writes).toEqual([]);
    expect(readdirSync(dir)).toEqual(before);
  });

  it('is refused for another chassis', async () => {
    await using made = await changed();
    const archive = { ...made.archive, chassis: { ...made.archive.chassis, serial: 'SN-2' } };
    const error = await errorOf(restore(made.chassis, archive, { write: null }));
    expect(error.code).toBe('ARCHIVE_FOREIGN');
    expect(error.message).toContain('"SN-2"');
    expect((await errorOf(restore(made.chassis, archive))).code).toBe('ARCHIVE_FOREIGN');
    expect(made.chassis.writes).toEqual([]);
  });

  it('lists the maps of the archive for an unknown one', async () => {
    await using made = await changed();
    const error = await errorOf(restore(made.chassis, made.archive, { ids: ['7'], write: null }));
    expect(error.code).toBe('MAP_UNKNOWN');
    expect(error.message).toContain('It contains 1, 2.');
  });
});

describe('overlays that differ', () => {
  it('are written exactly as in the archive, after a safety backup', async () => {
    await using made = await changed();
    const { chassis, archive } = made;
    let keptBeforeWrite = false;
    const backupPath = join(dir, 'kept.tar.gz');
    chassis.onWrite = () => {
      keptBeforeWrite = existsSync(backupPath);
      return 'usual';
    };
    const run = await restore(chassis, archive, { write: { backupPath } });
    expect(outcomeOf(run)).toMatchObject({ kind: 'overlays', outcome: 'written', orderError: null, rolledBack: false });
    expect(outcomeOf(run, 2)).toEqual({ kind: 'untouched' });
    expect(chassis.writes).toEqual([{ what: 'patch', id: 1, body: { overlays: oddOverlays } }]);
    expect(keptBeforeWrite).toBe(true);
    const kept = (await readArchive(backupPath)).archive;
    expect(kept.maps.find(({ id }) => id === 1)?.overlays).toBe(other);
  });

  it('count as written when the chassis normalises the text', async () => {
    await using made = await changed();
    made.chassis.keep = (text) => JSON.stringify(JSON.parse(text), null, 1);
    const outcome = outcomeOf(await restore(made.chassis, made.archive));
    expect(outcome).toMatchObject({ outcome: 'written', after: { same: true, sameText: false } });
  });

  it.each([
    ['an object with features and no type', '{"map_uid":"u","features":[{"id":"a","geometry":null}]}'],
    ['a list of features', '[{"type":"Feature","id":"a","geometry":null}]'],
  ])('are written back and read back when they are %s', async (_, overlays) => {
    await using chassis = await mapChassis();
    const map = chassis.maps.get(1);
    if (map) map.overlays = overlays;
    const archive = await archiveOf(chassis);
    if (map) map.overlays = other;
    chassis.keep = (text) => JSON.stringify(JSON.parse(text), null, 1);
    expect(outcomeOf(await restore(chassis, archive))).toMatchObject({
      outcome: 'written',
      after: { same: true, sameText: false, problem: null },
    });
    expect(chassis.writes).toEqual([{ what: 'patch', id: 1, body: { overlays } }]);
  });

  it('count as written with an unchanged overlays_version', async () => {
    await using made = await changed();
    made.chassis.keep = (text, map) => {
      map.overlaysVersion = 6;
      return text;
    };
    expect(outcomeOf(await restore(made.chassis, made.archive))).toMatchObject({ outcome: 'written' });
  });

  it('have no effect when the chassis accepts and changes nothing', async () => {
    await using made = await changed();
    made.chassis.keep = (_, map) => map.overlays;
    const outcome = outcomeOf(await restore(made.chassis, made.archive));
    expect(outcome).toMatchObject({ outcome: 'no-effect', orderError: null, rolledBack: false, now: { same: true } });
    expect(made.chassis.writes).toHaveLength(1);
  });

  it('have no effect when the chassis refuses, with its error', async () => {
    await using made = await changed();
    made.chassis.onWrite = () => 400;
    const outcome = outcomeOf(await restore(made.chassis, made.archive));
    expect(outcome).toMatchObject({
      outcome: 'no-effect',
      orderError: expect.stringContaining('configured status 400'),
    });
  });

  it('are rolled back when the chassis stores something else', async () => {
    await using made = await changed();
    let first = true;
    made.chassis.keep = (text) => {
      if (!first) return text;
      first = false;
      return text.replace('"90.0"', '90');
    };
    const run = await restore(made.chassis, made.archive);
    expect(outcomeOf(run)).toMatchObject({
      outcome: 'rolled-back',
      rolledBack: true,
      after: { same: false, diff: { counts: { changed: 1 } } },
      now: { same: true },
    });
    expect(made.chassis.maps.get(1)?.overlays).toBe(other);
    expect(made.chassis.writes.map(({ body }) => body.overlays)).toEqual([oddOverlays, other]);
  });

  it('are reported as neither old nor new when the rollback differs too', async () => {
    await using made = await changed();
    const strange = '{"type":"FeatureCollection","features":[null]}';
    made.chassis.keep = () => strange;
    const outcome = outcomeOf(await restore(made.chassis, made.archive));
    expect(outcome).toMatchObject({
      outcome: 'differs',
      rolledBack: true,
      now: { same: false, diff: { counts: { added: 1 } } },
    });
  });

  it('are rolled back when the chassis returns no collection', async () => {
    await using made = await changed();
    let first = true;
    made.chassis.keep = (text) => {
      if (!first) return text;
      first = false;
      return '{"type":"Feature';
    };
    expect(outcomeOf(await restore(made.chassis, made.archive))).toMatchObject({
      outcome: 'rolled-back',
      after: { same: false, diff: null, problem: expect.any(String) },
    });
  });

  it('are rolled back, with the differences, when the write changed name or grid of the map', async () => {
    await using made = await changed();
    made.chassis.keep = (text, map) => {
      map.originXM = 0;
      return text;
    };
    expect(outcomeOf(await restore(made.chassis, made.archive))).toMatchObject({
      outcome: 'differs',
      now: { same: true },
      alsoChanged: [expect.stringContaining('grid_origin_x')],
    });
  });

  it('are gone when the write destroyed the map', async () => {
    await using made = await changed();
    made.chassis.onWrite = (_what, _body, id) => {
      made.chassis.maps.delete(id);
      return 500;
    };
    expect(outcomeOf(await restore(made.chassis, made.archive))).toMatchObject({ outcome: 'gone', rolledBack: false });
  });
});

describe('a connection lost during the write', () => {
  it('is written when the chassis had accepted it: the read-back decides', async () => {
    await using made = await changed();
    made.chassis.onWrite = () => 'cut-after';
    const outcome = outcomeOf(await restore(made.chassis, made.archive));
    expect(outcome).toMatchObject({
      outcome: 'written',
      orderError: expect.stringContaining('whether the chassis accepted it'),
    });
    expect(made.chassis.writes).toHaveLength(1);
  });

  it('leaves the old overlays when the chassis had not accepted it, without a second order', async () => {
    await using made = await changed();
    made.chassis.onWrite = () => 'cut-before';
    expect(outcomeOf(await restore(made.chassis, made.archive))).toMatchObject({ outcome: 'no-effect' });
    expect(made.chassis.writes).toHaveLength(1);
  });

  it('is waited for when the chassis applies it later', async () => {
    await using made = await changed();
    made.chassis.onWrite = (_what, body) => {
      time.after(100, () => {
        const map = made.chassis.maps.get(1);
        if (map) map.overlays = body.overlays;
      });
      return 'cut-before';
    };
    expect(outcomeOf(await restore(made.chassis, made.archive))).toMatchObject({ outcome: 'written' });
  });

  it('is unknown when the chassis is not connected any more, with the safety backup', async () => {
    await using made = await changed();
    made.chassis.onWrite = () => {
      made.chassis.onRead = () => 'cut-before';
      return 'cut-after';
    };
    const run = await restore(made.chassis, made.archive, { write: { pace: { ...quickPace, readBackMs: 300 } } });
    expect(outcomeOf(run)).toMatchObject({
      outcome: 'unknown',
      why: expect.stringContaining('not connected'),
      now: null,
    });
    expect(run.written?.backup?.path).toMatch(/before-\d+\.tar\.gz$/);
  });

  it('is unknown when another chassis answers at the address afterwards, without a write to it', async () => {
    await using made = await changed();
    made.chassis.onWrite = () => {
      made.chassis.fake.serial = 'SN-OTHER';
      return 'usual';
    };
    const outcome = outcomeOf(await restore(made.chassis, made.archive));
    expect(outcome).toMatchObject({ outcome: 'unknown', why: expect.stringContaining('SN-OTHER') });
    expect(made.chassis.writes).toHaveLength(1);
  });

  it('sends nothing when another chassis answers at the address before', async () => {
    await using made = await changed();
    const onBackup = () => {
      made.chassis.fake.serial = 'SN-OTHER';
    };
    const outcome = outcomeOf(await restore(made.chassis, made.archive, { write: { onBackup } }));
    expect(outcome).toMatchObject({ outcome: 'not-sent', orderError: expect.stringContaining('SN-OTHER') });
    expect(made.chassis.writes).toEqual([]);
  });

  it('is read back again while responses are invalid', async () => {
    await using made = await changed();
    let spoiled = 0;
    made.chassis.onWrite = () => {
      made.chassis.onRead = () => (spoiled++ < 4 ? 500 : 'usual');
      return 'usual';
    };
    expect(outcomeOf(await restore(made.chassis, made.archive))).toMatchObject({ outcome: 'written' });
    expect(spoiled).toBeGreaterThan(3);
  });
});

describe('Ctrl-C', () => {
  it('during the write: it is read back, later maps are not started', async () => {
    await using made = await changed();
    const map = made.chassis.maps.get(2);
    if (map) map.overlays = other;
    const ending = new AbortController();
    made.chassis.onWrite = () => {
      ending.abort();
      return 'usual';
    };
    const run = await restore(made.chassis, made.archive, { signal: ending.signal });
    expect(outcomeOf(run)).toMatchObject({ outcome: 'written' });
    expect(outcomeOf(run, 2)).toEqual({ kind: 'not-started', why: 'interrupted before' });
    expect(run.written).toMatchObject({ interrupted: true, backup: { path: expect.any(String) } });
  });

  it('during the write: a wrong result is still rolled back', async () => {
    await using made = await changed();
    const ending = new AbortController();
    let first = true;
    made.chassis.keep = (text) => {
      ending.abort();
      if (!first) return text;
      first = false;
      return '{"type":"FeatureCollection","features":[7]}';
    };
    const run = await restore(made.chassis, made.archive, { signal: ending.signal });
    expect(outcomeOf(run)).toMatchObject({ outcome: 'rolled-back' });
    expect(made.chassis.maps.get(1)?.overlays).toBe(other);
  });

  it('while the chassis does not answer: ends within the limit as unknown', async () => {
    await using made = await changed();
    const ending = new AbortController();
    made.chassis.onWrite = () => {
      time.after(50, () => ending.abort());
      made.chassis.onRead = () => 'hang';
      return 'hang';
    };
    const pace = { ...quickPace, readBackMs: 60_000, graceMs: 300 };
    const began = performance.now();
    const run = await restore(made.chassis, made.archive, { signal: ending.signal, write: { pace } });
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(outcomeOf(run)).toMatchObject({
      outcome: 'unknown',
      orderError: expect.any(String),
      why: expect.any(String),
    });
    expect(run.written?.interrupted).toBe(true);
  });

  it('before the write: INTERRUPTED, with nothing sent', async () => {
    await using made = await changed();
    const ending = new AbortController();
    const write = {
      checkStillness: async () => {
        ending.abort();
        return { verdict: 'still', detail: '' } as const;
      },
    };
    const error = await errorOf(restore(made.chassis, made.archive, { signal: ending.signal, write }));
    expect(error.code).toBe('INTERRUPTED');
    expect(made.chassis.writes).toEqual([]);
  });
});

describe('a restore is refused or stopped', () => {
  it('for a robot that moves, also when a person confirms a standstill', async () => {
    await using made = await changed();
    const write = {
      checkStillness: async () => ({ verdict: 'moving', detail: 'a move is under way' }) as const,
      isConfirmedStill: true,
    };
    expect((await errorOf(restore(made.chassis, made.archive, { write }))).code).toBe('CHASSIS_MOVING');
    expect(made.chassis.writes).toEqual([]);
  });

  it('for a robot that does not report, unless a person confirms a standstill', async () => {
    await using made = await changed();
    const checkStillness = async () => ({ verdict: 'not-checked', detail: 'nothing received' }) as const;
    const error = await errorOf(restore(made.chassis, made.archive, { write: { checkStillness } }));
    expect(error).toMatchObject({ code: 'CHASSIS_MOVING', remedy: expect.stringContaining('--robot-stands-still') });
    expect(made.chassis.writes).toEqual([]);
    const run = await restore(made.chassis, made.archive, { write: { checkStillness, isConfirmedStill: true } });
    expect(run.written?.stillness.verdict).toBe('not-checked');
    expect(outcomeOf(run)).toMatchObject({ outcome: 'written' });
  });

  it('for a robot that starts to move after the backup: nothing is sent', async () => {
    await using made = await changed();
    let checks = 0;
    const checkStillness = async () => {
      checks += 1;
      return checks === 1
        ? ({ verdict: 'still', detail: '' } as const)
        : ({ verdict: 'moving', detail: 'a move is under way' } as const);
    };
    const run = await restore(made.chassis, made.archive, { write: { checkStillness } });
    expect(outcomeOf(run)).toMatchObject({ kind: 'not-started', why: expect.stringContaining('is moving') });
    expect(made.chassis.writes).toEqual([]);
  });

  it('when the safety backup cannot be written: a folder that is a file, an existing name', async () => {
    await using made = await changed();
    const file = join(dir, 'a-file');
    await writeFile(file, 'x');
    const inFile = join(file, 'backup.tar.gz');
    expect(await errorOf(restore(made.chassis, made.archive, { write: { backupPath: inFile } }))).toMatchObject({
      code: 'FILE_UNWRITABLE',
      message: expect.stringContaining('nothing was changed on the chassis'),
    });
    expect((await errorOf(restore(made.chassis, made.archive, { write: { backupPath: file } }))).code).toBe(
      'FILE_EXISTS',
    );
    expect(made.chassis.writes).toEqual([]);
  });

  it('for a map that neither backup could restore', async () => {
    await using made = await changed();
    const [first, ...rest] = made.archive.maps;
    if (!first) throw new Error('no map');
    const archive = { ...made.archive, maps: [{ ...first, localisation: null }, ...rest] };
    const map = made.chassis.maps.get(1);
    if (map) map.localisation = null;
    const run = await restore(made.chassis, archive);
    expect(outcomeOf(run)).toMatchObject({ kind: 'not-started', why: expect.stringContaining('localisation') });
    expect(made.chassis.writes).toEqual([]);
  });

  it('at the first failed map: later ones are not started', async () => {
    await using made = await changed();
    const map = made.chassis.maps.get(2);
    if (map) map.overlays = other;
    made.chassis.onWrite = () => 500;
    const run = await restore(made.chassis, made.archive);
    expect(outcomeOf(run, 2)).toMatchObject({ kind: 'not-started', why: expect.stringContaining('map 1') });
    expect(made.chassis.writes).toHaveLength(1);
  });
});

describe('maps that were lost', () => {
  it('are created with every file, and the former current map is set again', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    chassis.maps.clear();
    chassis.current = null;
    const run = await restore(chassis, archive);
    expect(outcomeOf(run)).toMatchObject({ kind: 'creation', outcome: 'written', differences: [], notCompared: [] });
    expect(outcomeOf(run, 2)).toMatchObject({ kind: 'creation', outcome: 'written' });
    const [one] = [...chassis.maps.values()];
    expect(run.written?.use).toMatchObject({ outcome: 'set', id: one?.id, why: null });
    expect(run.written?.backup).toBeNull();
    const again = await restore(chassis, archive);
    expect(again.plan.maps.map(({ verdict }) => verdict)).toEqual(['same', 'same']);
    expect(again.written).toBeNull();
  });

  it('are not set as current map over another current map', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    chassis.maps.delete(1);
    chassis.current = 2;
    const run = await restore(chassis, archive);
    expect(outcomeOf(run)).toMatchObject({ outcome: 'written' });
    expect(run.written?.use).toBeNull();
    expect(chassis.current).toBe(2);
  });

  it('are found in the list when the response was lost, and not created twice', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    chassis.maps.delete(2);
    chassis.onWrite = () => 'cut-after';
    const run = await restore(chassis, archive);
    expect(outcomeOf(run, 2)).toMatchObject({ kind: 'creation', outcome: 'written', orderError: expect.any(String) });
    expect(chassis.maps.size).toBe(2);
    expect(chassis.writes).toHaveLength(1);
  });

  it('are reported as missing when the order had no effect', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    chassis.maps.delete(2);
    for (const fate of ['cut-before', 400] as const) {
      chassis.onWrite = () => fate;
      expect(outcomeOf(await restore(chassis, archive), 2)).toMatchObject({ kind: 'creation', outcome: 'no-effect' });
    }
  });

  it('are reported as different when the chassis changed them, and not set as current map', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    chassis.maps.clear();
    chassis.current = null;
    chassis.keep = (text, map) => {
      map.uid = 'its-own';
      map.localisation = Buffer.from('other');
      return text.replace('"id":"a"', '"id":"own-1"');
    };
    const run = await restore(chassis, archive);
    expect(outcomeOf(run)).toMatchObject({
      outcome: 'differs',
      after: { same: false },
      differences: ['the chassis assigned another uid', 'its localisation data differs'],
    });
    expect(outcomeOf(run, 2)).toMatchObject({ kind: 'not-started' });
    expect(run.written?.use).toMatchObject({ outcome: 'not-started' });
    expect(chassis.current).toBeNull();
  });

  it('with another uid are matched by name, grid and picture, and not created again', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    const map = chassis.maps.get(2);
    if (map) map.uid = 'its-own';
    const { plan } = await restore(chassis, archive, { write: null });
    expect(plan.maps[1]).toMatchObject({ verdict: 'same', matchedBy: 'content' });
  });

  it('cannot be restored when the backup lacks their picture or localisation data', async () => {
    await using chassis = await mapChassis([storedMap(1), storedMap(2, { localisation: null })]);
    const archive = await archiveOf(chassis);
    chassis.maps.delete(2);
    const { plan, written } = await restore(chassis, archive);
    expect(plan.maps[1]).toMatchObject({
      verdict: 'not-restorable',
      why: expect.stringContaining('localisation data'),
    });
    expect(written).toBeNull();
  });

  it('leave the current map unknown when the chassis does not report it', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    chassis.current = null;
    chassis.onWrite = (what) => {
      chassis.onRead = (path) => (path === '/chassis/current-map' ? 500 : 'usual');
      return what === 'use' ? 'cut-after' : 'usual';
    };
    const run = await restore(chassis, archive, { write: { pace: { ...quickPace, readBackMs: 300 } } });
    expect(run.written?.use).toMatchObject({ outcome: 'unknown', id: 1 });
  });

  it('are set as current map when they exist and there is no current map', async () => {
    await using chassis = await mapChassis();
    const archive = await archiveOf(chassis);
    chassis.current = null;
    const run = await restore(chassis, archive);
    expect(run.written?.maps.every(({ outcome }) => outcome.kind === 'untouched')).toBe(true);
    expect(run.written?.use).toMatchObject({ outcome: 'set', id: 1, why: null });
    expect(chassis.writes.map(({ what }) => what)).toEqual(['use']);
  });
});

describe('a map that was recreated since the backup', () => {
  it.each([
    ['grid', { originXM: 1 }, 'its grid differs'],
    ['picture', { image: picture(9, 6) }, 'its picture differs'],
    ['version', { mapVersion: 4 }, 'its map_version is 4, was 3'],
  ] as const)('keeps its own overlays: %s', async (_name, change, why) => {
    await using made = await changed();
    Object.assign(made.chassis.maps.get(1) ?? {}, change);
    const { plan, written } = await restore(made.chassis, made.archive);
    expect(plan.maps[0]).toMatchObject({ verdict: 'conflict', why: expect.stringContaining(why) });
    expect(written).toBeNull();
    expect(made.chassis.writes).toEqual([]);
  });
});
