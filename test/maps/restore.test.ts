import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MapArchive, readArchive } from '../../src/lib/maps/index.ts';
import { type MapChassis, mapChassis, quickPace, storedMap, time } from './map-chassis.ts';
import {
  archiveOf,
  dir,
  keepsBackups,
  empty as other,
  outcomeOf,
  type RestoreRequest,
  restore as restoreOf,
  store,
} from './restoring.ts';
import { errorOf, oddOverlays, picture } from './samples.ts';

keepsBackups();

/** Those of the present test: after the backup the overlays of map 1 were changed. */
let chassis: MapChassis;
let archive: MapArchive;
beforeEach(() => begin());
afterEach(() => chassis[Symbol.asyncDispose]());

async function begin(maps?: Parameters<typeof mapChassis>[0]): Promise<void> {
  await chassis?.[Symbol.asyncDispose]();
  chassis = await mapChassis(maps);
  archive = await archiveOf(chassis);
  store(chassis, other);
}
const restore = (request?: RestoreRequest, of = archive) => restoreOf(chassis, of, request);
/** As after the backup. */
const unchanged = () => store(chassis, oddOverlays);
const isLost = (...ids: readonly number[]) => {
  unchanged();
  for (const id of ids) chassis.maps.delete(id);
  if (ids.length === 2) chassis.current = null;
};
/** Stores this the first time, and what was sent from then on. */
const storesFirst = (change: (text: string) => string) => {
  let isFirst = true;
  chassis.keep = (text) => {
    const kept = isFirst ? change(text) : text;
    isFirst = false;
    return kept;
  };
};

describe('a dry run', () => {
  it('plans and writes nothing, neither to the chassis nor to disk', async () => {
    chassis.maps.delete(2);
    const before = readdirSync(dir);
    const run = await restore({ write: null });
    expect(run.plan.maps.map(({ verdict }) => verdict)).toEqual(['overlays-differ', 'missing']);
    expect([run.written, chassis.writes]).toEqual([null, []]);
    expect(readdirSync(dir)).toEqual(before);
  });

  it('is refused for another chassis, and lists the maps of the archive for an unknown one', async () => {
    const foreign = { ...archive, chassis: { ...archive.chassis, serial: 'SN-2' } };
    const error = await errorOf(restore({ write: null }, foreign));
    expect(error).toMatchObject({ code: 'ARCHIVE_FOREIGN', message: expect.stringContaining('"SN-2"') });
    expect((await errorOf(restore({}, foreign))).code).toBe('ARCHIVE_FOREIGN');
    expect(await errorOf(restore({ ids: ['7'], write: null }))).toMatchObject({
      ...{ code: 'MAP_UNKNOWN', message: expect.stringContaining('It contains 1, 2.') },
    });
    expect(chassis.writes).toEqual([]);
  });
});

describe('overlays that differ', () => {
  it('are written exactly as in the archive, after a safety backup', async () => {
    let keptBeforeWrite = false;
    const backupPath = join(dir, 'kept.tar.gz');
    chassis.onWrite = () => {
      keptBeforeWrite = existsSync(backupPath);
      return 'usual';
    };
    const run = await restore({ write: { backupPath } });
    expect(outcomeOf(run)).toMatchObject({ kind: 'overlays', outcome: 'written', orderError: null, rolledBack: false });
    expect(outcomeOf(run, 2)).toEqual({ kind: 'untouched' });
    expect(chassis.writes).toEqual([{ what: 'patch', id: 1, body: { overlays: oddOverlays } }]);
    expect(keptBeforeWrite).toBe(true);
    const kept = (await readArchive(backupPath)).archive;
    expect(kept.maps.find(({ id }) => id === 1)?.overlays).toBe(other);
  });

  it.each([
    ['an object with features and no type', '{"map_uid":"u","features":[{"id":"a","geometry":null}]}'],
    ['a list of features', '[{"type":"Feature","id":"a","geometry":null}]'],
  ])('are written back and read back when they are %s', async (_, overlays) => {
    store(chassis, overlays);
    archive = await archiveOf(chassis);
    store(chassis, other);
    chassis.keep = (text) => JSON.stringify(JSON.parse(text), null, 1);
    const after = { same: true, sameText: false, problem: null };
    expect(outcomeOf(await restore())).toMatchObject({ outcome: 'written', after });
    expect(chassis.writes).toEqual([{ what: 'patch', id: 1, body: { overlays } }]);
  });

  /** `writes`: how many orders the chassis receives. */
  it.each<[string, () => void, object, number]>([
    [
      'count as written when the chassis normalises the text',
      () => {
        chassis.keep = (text) => JSON.stringify(JSON.parse(text), null, 1);
      },
      { outcome: 'written', after: { same: true, sameText: false } },
      1,
    ],
    [
      'count as written with an unchanged overlays_version',
      () => {
        chassis.keep = (text, map) => {
          map.overlaysVersion = 6;
          return text;
        };
      },
      { outcome: 'written' },
      1,
    ],
    [
      'have no effect when the chassis accepts and changes nothing',
      () => {
        chassis.keep = (_, map) => map.overlays;
      },
      { outcome: 'no-effect', orderError: null, rolledBack: false, now: { same: true } },
      1,
    ],
    [
      'have no effect when the chassis refuses, with its error',
      () => {
        chassis.onWrite = () => 400;
      },
      { outcome: 'no-effect', orderError: expect.stringContaining('configured status 400') },
      1,
    ],
    [
      'are rolled back when the chassis stores something else',
      () => storesFirst((text) => text.replace('"90.0"', '90')),
      {
        ...{ outcome: 'rolled-back', rolledBack: true, now: { same: true } },
        after: { same: false, diff: { counts: { changed: 1 } } },
      },
      2,
    ],
    [
      'are reported as neither old nor new when the rollback differs too',
      () => {
        chassis.keep = () => '{"type":"FeatureCollection","features":[null]}';
      },
      { outcome: 'differs', rolledBack: true, now: { same: false, diff: { counts: { added: 1 } } } },
      2,
    ],
    [
      'are rolled back when the chassis returns no collection',
      () => storesFirst(() => '{"type":"Feature'),
      { outcome: 'rolled-back', after: { same: false, diff: null, problem: expect.any(String) } },
      2,
    ],
    [
      'are rolled back, with the differences, when the write changed name or grid of the map',
      () => {
        chassis.keep = (text, map) => {
          map.originXM = 0;
          return text;
        };
      },
      { outcome: 'differs', now: { same: true }, alsoChanged: [expect.stringContaining('grid_origin_x')] },
      2,
    ],
    [
      'are gone when the write destroyed the map',
      () => {
        chassis.onWrite = (_what, _body, id) => {
          chassis.maps.delete(id);
          return 500;
        };
      },
      { outcome: 'gone', rolledBack: false },
      1,
    ],
    [
      'are written when the connection was lost after the chassis had accepted them: the read-back decides',
      () => {
        chassis.onWrite = () => 'cut-after';
      },
      { outcome: 'written', orderError: expect.stringContaining('whether the chassis accepted it') },
      1,
    ],
    [
      'stay old when it was lost before, without a second order',
      () => {
        chassis.onWrite = () => 'cut-before';
      },
      { outcome: 'no-effect' },
      1,
    ],
    [
      'are waited for when the chassis applies them later',
      () => {
        chassis.onWrite = (_what, { overlays }) => {
          time.after(100, () => store(chassis, overlays));
          return 'cut-before';
        };
      },
      { outcome: 'written' },
      1,
    ],
    [
      'are unknown when another chassis answers at the address afterwards, without a write to it',
      () => {
        chassis.onWrite = () => {
          chassis.fake.serial = 'SN-OTHER';
          return 'usual';
        };
      },
      { outcome: 'unknown', why: expect.stringContaining('SN-OTHER') },
      1,
    ],
  ])('%s', async (_, arrange, outcome, writes) => {
    arrange();
    const run = await restore();
    expect(outcomeOf(run)).toMatchObject(outcome);
    expect(chassis.writes.map(({ body }) => body.overlays)).toEqual([oddOverlays, other].slice(0, writes));
    if ('outcome' in outcome && outcome.outcome === 'rolled-back') expect(chassis.maps.get(1)?.overlays).toBe(other);
  });

  it('are unknown when the chassis is not connected any more, with the safety backup', async () => {
    chassis.onWrite = () => {
      chassis.onRead = () => 'cut-before';
      return 'cut-after';
    };
    const run = await restore({ write: { pace: { ...quickPace, readBackMs: 300 } } });
    const why = expect.stringContaining('not connected');
    expect(outcomeOf(run)).toMatchObject({ outcome: 'unknown', why, now: null });
    expect(run.written?.backup?.path).toMatch(/before-\d+\.tar\.gz$/);
  });

  it('are not sent when another chassis answers at the address before', async () => {
    const onBackup = () => {
      chassis.fake.serial = 'SN-OTHER';
    };
    const orderError = expect.stringContaining('SN-OTHER');
    expect(outcomeOf(await restore({ write: { onBackup } }))).toMatchObject({ outcome: 'not-sent', orderError });
    expect(chassis.writes).toEqual([]);
  });

  it('are read back again while responses are invalid', async () => {
    let spoiled = 0;
    chassis.onWrite = () => {
      chassis.onRead = () => (spoiled++ < 4 ? 500 : 'usual');
      return 'usual';
    };
    expect(outcomeOf(await restore())).toMatchObject({ outcome: 'written' });
    expect(spoiled).toBeGreaterThan(3);
  });
});

describe('Ctrl-C', () => {
  it('during the write: it is read back, later maps are not started', async () => {
    store(chassis, other, 2);
    const ending = new AbortController();
    chassis.onWrite = () => {
      ending.abort();
      return 'usual';
    };
    const run = await restore({ signal: ending.signal });
    expect(outcomeOf(run)).toMatchObject({ outcome: 'written' });
    expect(outcomeOf(run, 2)).toEqual({ kind: 'not-started', why: 'interrupted before' });
    expect(run.written).toMatchObject({ interrupted: true, backup: { path: expect.any(String) } });
  });

  it('during the write: a wrong result is still rolled back', async () => {
    const ending = new AbortController();
    storesFirst(() => {
      ending.abort();
      return '{"type":"FeatureCollection","features":[7]}';
    });
    expect(outcomeOf(await restore({ signal: ending.signal }))).toMatchObject({ outcome: 'rolled-back' });
    expect(chassis.maps.get(1)?.overlays).toBe(other);
  });

  it('while the chassis does not answer: ends within the limit as unknown', async () => {
    const ending = new AbortController();
    chassis.onWrite = () => {
      time.after(50, () => ending.abort());
      chassis.onRead = () => 'hang';
      return 'hang';
    };
    const pace = { ...quickPace, readBackMs: 60_000, graceMs: 300 };
    const beganMs = time.monotonicMs();
    const run = await restore({ signal: ending.signal, write: { pace } });
    expect(time.monotonicMs() - beganMs).toBeLessThan(5_000);
    const unknown = { outcome: 'unknown', orderError: expect.any(String), why: expect.any(String) };
    expect(outcomeOf(run)).toMatchObject(unknown);
    expect(run.written?.interrupted).toBe(true);
  });

  it('before the write: INTERRUPTED, with nothing sent', async () => {
    const ending = new AbortController();
    const checkStillness = async () => {
      ending.abort();
      return { verdict: 'still', detail: '' } as const;
    };
    const error = await errorOf(restore({ signal: ending.signal, write: { checkStillness } }));
    expect(error.code).toBe('INTERRUPTED');
    expect(chassis.writes).toEqual([]);
  });
});

describe('a restore is refused or stopped', () => {
  const moving = { verdict: 'moving', detail: 'a move is under way' } as const;

  it('for a robot that moves, also when a person confirms a standstill', async () => {
    const write = { checkStillness: async () => moving, isConfirmedStill: true };
    expect((await errorOf(restore({ write }))).code).toBe('CHASSIS_MOVING');
    expect(chassis.writes).toEqual([]);
  });

  it('for a robot that does not report, unless a person confirms a standstill', async () => {
    const checkStillness = async () => ({ verdict: 'not-checked', detail: 'nothing received' }) as const;
    const error = await errorOf(restore({ write: { checkStillness } }));
    expect(error).toMatchObject({ code: 'CHASSIS_MOVING', remedy: expect.stringContaining('--robot-stands-still') });
    expect(chassis.writes).toEqual([]);
    const run = await restore({ write: { checkStillness, isConfirmedStill: true } });
    expect(run.written?.stillness.verdict).toBe('not-checked');
    expect(outcomeOf(run)).toMatchObject({ outcome: 'written' });
  });

  it('for a robot that starts to move after the backup: nothing is sent', async () => {
    let checks = 0;
    const checkStillness = async () => {
      checks += 1;
      return checks === 1 ? ({ verdict: 'still', detail: '' } as const) : moving;
    };
    const why = expect.stringContaining('is moving');
    expect(outcomeOf(await restore({ write: { checkStillness } }))).toMatchObject({ kind: 'not-started', why });
    expect(chassis.writes).toEqual([]);
  });

  it('when the safety backup cannot be written: a folder that is a file, an existing name', async () => {
    const file = join(dir, 'a-file');
    await writeFile(file, 'x');
    expect(await errorOf(restore({ write: { backupPath: join(file, 'backup.tar.gz') } }))).toMatchObject({
      code: 'FILE_UNWRITABLE',
      message: expect.stringContaining('nothing was changed on the chassis'),
    });
    expect((await errorOf(restore({ write: { backupPath: file } }))).code).toBe('FILE_EXISTS');
    expect(chassis.writes).toEqual([]);
  });

  it('for a map that neither backup could restore', async () => {
    const [first, ...rest] = archive.maps;
    if (!first) throw new Error('no map');
    Object.assign(chassis.maps.get(1) ?? {}, { localisation: null });
    const run = await restore({}, { ...archive, maps: [{ ...first, localisation: null }, ...rest] });
    expect(outcomeOf(run)).toMatchObject({ kind: 'not-started', why: expect.stringContaining('localisation') });
    expect(chassis.writes).toEqual([]);
  });

  it('at the first failed map: later ones are not started', async () => {
    store(chassis, other, 2);
    chassis.onWrite = () => 500;
    const why = expect.stringContaining('map 1');
    expect(outcomeOf(await restore(), 2)).toMatchObject({ kind: 'not-started', why });
    expect(chassis.writes).toHaveLength(1);
  });
});

describe('maps that were lost', () => {
  it('are created with every file, and the former current map is set again', async () => {
    isLost(1, 2);
    const run = await restore();
    expect(outcomeOf(run)).toMatchObject({ kind: 'creation', outcome: 'written', differences: [], notCompared: [] });
    expect(outcomeOf(run, 2)).toMatchObject({ kind: 'creation', outcome: 'written' });
    const [one] = [...chassis.maps.values()];
    expect(run.written).toMatchObject({ use: { outcome: 'set', id: one?.id, why: null }, backup: null });
    const again = await restore();
    expect(again.plan.maps.map(({ verdict }) => verdict)).toEqual(['same', 'same']);
    expect(again.written).toBeNull();
  });

  it('are not set as current map over another current map', async () => {
    isLost(1);
    chassis.current = 2;
    const run = await restore();
    expect(outcomeOf(run)).toMatchObject({ outcome: 'written' });
    expect([run.written?.use, chassis.current]).toEqual([null, 2]);
  });

  it('are found in the list when the response was lost, and not created twice', async () => {
    isLost(2);
    chassis.onWrite = () => 'cut-after';
    const created = { kind: 'creation', outcome: 'written', orderError: expect.any(String) };
    expect(outcomeOf(await restore(), 2)).toMatchObject(created);
    expect([chassis.maps.size, chassis.writes.length]).toEqual([2, 1]);
  });

  it('are reported as missing when the order had no effect', async () => {
    isLost(2);
    for (const fate of ['cut-before', 400] as const) {
      chassis.onWrite = () => fate;
      expect(outcomeOf(await restore(), 2)).toMatchObject({ kind: 'creation', outcome: 'no-effect' });
    }
  });

  it('are reported as different when the chassis changed them, and not set as current map', async () => {
    isLost(1, 2);
    chassis.keep = (text, map) => {
      Object.assign(map, { uid: 'its-own', localisation: Buffer.from('other') });
      return text.replace('"id":"a"', '"id":"own-1"');
    };
    const run = await restore();
    expect(outcomeOf(run)).toMatchObject({
      ...{ outcome: 'differs', after: { same: false } },
      differences: ['the chassis assigned another uid', 'its localisation data differs'],
    });
    expect(outcomeOf(run, 2)).toMatchObject({ kind: 'not-started' });
    expect(run.written?.use).toMatchObject({ outcome: 'not-started' });
    expect(chassis.current).toBeNull();
  });

  it('with another uid are matched by name, grid and picture, and not created again', async () => {
    Object.assign(chassis.maps.get(2) ?? {}, { uid: 'its-own' });
    const { plan } = await restore({ write: null });
    expect(plan.maps[1]).toMatchObject({ verdict: 'same', matchedBy: 'content' });
  });

  it('cannot be restored when the backup lacks their picture or localisation data', async () => {
    await begin([storedMap(1), storedMap(2, { localisation: null })]);
    isLost(2);
    const { plan, written } = await restore();
    const why = expect.stringContaining('localisation data');
    expect(plan.maps[1]).toMatchObject({ verdict: 'not-restorable', why });
    expect(written).toBeNull();
  });

  it('leave the current map unknown when the chassis does not report it', async () => {
    unchanged();
    chassis.current = null;
    chassis.onWrite = (what) => {
      chassis.onRead = (path) => (path === '/chassis/current-map' ? 500 : 'usual');
      return what === 'use' ? 'cut-after' : 'usual';
    };
    const run = await restore({ write: { pace: { ...quickPace, readBackMs: 300 } } });
    expect(run.written?.use).toMatchObject({ outcome: 'unknown', id: 1 });
  });

  it('are set as current map when they exist and there is no current map', async () => {
    unchanged();
    chassis.current = null;
    const run = await restore();
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
    Object.assign(chassis.maps.get(1) ?? {}, change);
    const { plan, written } = await restore();
    expect(plan.maps[0]).toMatchObject({ verdict: 'conflict', why: expect.stringContaining(why) });
    expect([written, chassis.writes]).toEqual([null, []]);
  });
});
