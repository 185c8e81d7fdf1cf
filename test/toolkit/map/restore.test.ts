import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderMapRestore } from '../../../src/cli/render/map-restore.ts';
import { backUpMaps, restoreMaps, writeArchive } from '../../../src/lib/maps/index.ts';
import { type MapRestore, mapRestoreSchema } from '../../../src/lib/toolkit/map/change.result.ts';
import { commandText } from '../../../src/lib/toolkit/map/change.ts';
import { restoreFromBackup, viewRestore } from '../../../src/lib/toolkit/map/restore.ts';
import {
  type Handling,
  type MapChassis,
  mapChassis,
  quickPace,
  reportsRest,
  standsStill,
  storedMap,
  time,
  topicsOf,
} from '../../maps/map-chassis.ts';
import { errorOf, oddOverlays } from '../../maps/samples.ts';
import { eachTest, has, sharedFolder, toolkitOf } from '../kit.ts';

const dir = sharedFolder();
let count = 0;

const signal = new AbortController().signal;
const calm = () => {};
const empty = '{"type":"FeatureCollection","features":[]}';
const firstLine = (text: string) => text.split('\n')[0];

/** Takes a backup, changes the chassis, restores, and returns the result of the command. */
async function restored(
  chassis: MapChassis,
  meanwhile: () => void,
  more: { write?: boolean; isConfirmedStill?: boolean; signal?: AbortSignal } = {},
): Promise<MapRestore> {
  count += 1;
  const own = count;
  const { client } = chassis;
  const options = { ids: 'all', gwVersion: '0.1.0', clock: time, signal, onProgress: calm } as const;
  const file = await writeArchive(join(dir, `backup-${own}.tar.gz`), await backUpMaps(client, options), {
    force: false,
  });
  meanwhile();
  const run = await restoreMaps({
    fromAnotherRobot: null,
    client,
    archive: file.archive,
    ids: 'all',
    topics: topicsOf(chassis),
    write:
      more.write === false
        ? null
        : {
            checkStillness: more.isConfirmedStill
              ? async () => ({ verdict: 'not-checked', detail: 'nothing received' })
              : standsStill,
            isConfirmedStill: more.isConfirmedStill ?? false,
            backupPath: join(dir, `before-${own}.tar.gz`),
            gwVersion: '0.1.0',
            onBackup: calm,
            pace: { ...quickPace, readBackMs: 300 },
          },
    clock: time,
    signal: more.signal ?? signal,
    onProgress: calm,
  });
  const result = viewRestore(run, {
    fromAnotherRobot: null,
    file,
    options: {
      path: file.path,
      ids: [],
      write: more.write !== false,
      itStandsStill: false,
      sitePath: 'robot 7/site.yaml',
      gwVersion: '0.1.0',
    },
    address: { host: '127.0.0.1', port: 1, way: 'direct' },
  });
  expect(result).toEqual(mapRestoreSchema.parse(result));
  return result;
}

const empties = (chassis: MapChassis) => () => {
  const map = chassis.maps.get(1);
  if (map) map.overlays = empty;
};

let chassis: MapChassis;
eachTest(
  () => mapChassis(),
  (one) => {
    chassis = one;
  },
);

describe('the result of a restore', () => {
  it('of a dry run has the planned changes and the command', async () => {
    const result = await restored(chassis, empties(chassis), { write: false });
    expect(result).toMatchObject({ mode: 'dry-run', verdict: 'to-do', stillness: null, safetyBackup: null });
    expect(result.maps[0]).toMatchObject({
      plan: 'overlays-differ',
      outcome: 'dry-run',
      contentNow: 'other overlays than the backup',
      difference: {
        same: false,
        counts: { added: 1 },
        first: ['point "Café é <b>" (id "a") was added', expect.any(String)],
      },
    });
    expect(result.facts.map(({ id, mark }) => [id, mark])).toEqual([
      ['chassis.patch-maps', 'VORSICHT'],
      ['vendor.map.patch-effects', 'OFFEN'],
      ['vendor.map.running-overlays', 'HINWEIS'],
    ]);
    expect(result.notes).toEqual([has('the running map is compared')]);
    expect(result.next[0]).toMatch(/--write-although-never-measured --site 'robot 7\/site.yaml'$/);
    expect(firstLine(renderMapRestore(result))).toBe(
      'Dry run, nothing written: a restore would replace the overlays of 1 map of SN-1; now the running map 1 has other overlays than the stored one.',
    );
  });

  it('marks the map that was current at the backup, also when another one is now', async () => {
    const result = await restored(chassis, () => Object.assign(chassis, { current: 2 }));
    expect(result.maps.map(({ id, wasCurrent }) => [id, wasCurrent])).toEqual([
      [1, true],
      [2, false],
    ]);
    expect(renderMapRestore(result)).toMatch(/^1 \(current at the backup\) /m);
  });

  it('that succeeded has the safety backup', async () => {
    const result = await restored(chassis, empties(chassis));
    expect(result).toMatchObject({ verdict: 'restored', problem: null, safetyBackup: { maps: 2, lacks: [] } });
    expect(firstLine(renderMapRestore(result))).toMatch(
      /^Restored: 1 map of SN-1 written, read back and compared; stored and running map 1 have the same overlays; the former state is in .*before-\d+\.tar\.gz\.$/,
    );
  });

  it('that only set the current map again does not say that it wrote maps', async () => {
    const result = await restored(chassis, () => Object.assign(chassis, { current: null }));
    expect(result).toMatchObject({ verdict: 'restored', use: { id: 1, outcome: 'set' }, position: 'must-be-set' });
    expect(result.maps.map(({ outcome }) => outcome)).toEqual(['untouched', 'untouched']);
    expect(firstLine(renderMapRestore(result))).toMatch(
      /^Current map set: map 1 of SN-1; the chassis stored 2 maps as in the backup, so none was written; stored and running map 1 have the same overlays; the former state is in .*before-\d+\.tar\.gz\.$/,
    );
  });

  it('reports stored and running map when the robot keeps driving by the old overlays', async () => {
    const result = await restored(chassis, () => {
      empties(chassis)();
      chassis.load(1);
      chassis.loadsWrites = false;
    });
    expect(result).toMatchObject({ verdict: 'stored-only', problem: null, running: { verdict: 'differs', mapId: 1 } });
    const text = renderMapRestore(result);
    expect(firstLine(text)).toMatch(
      /^Stored, but the robot drives by other overlays: 1 map of SN-1 written, read back and compared; the running map 1 has other overlays than the stored one; /,
    );
    expect(text).toMatch(/running map FAIL .*no new announcement since the write.*overlays version 7/);
    expect(text).toContain('point "Café é <b>" (id "a") was removed');
    expect(result.next[0]).toContain("gw map select 1 --site 'robot 7/site.yaml'");
    expect(text).not.toContain('drive one tour');
  });

  it('without changes is not green when the robot drives by other overlays', async () => {
    const well = await restored(chassis, () => {});
    expect(well.verdict).toBe('nothing-to-do');
    expect(firstLine(renderMapRestore(well))).toBe(
      'Nothing to restore: the chassis stores 2 maps of SN-1 as in the backup; stored and running map 1 have the same overlays.',
    );
    if (chassis.running) chassis.running.overlays = empty;
    const found = await restored(chassis, () => {});
    expect(found).toMatchObject({ verdict: 'stored-only', running: { verdict: 'differs' } });
    expect(firstLine(renderMapRestore(found))).toBe(
      'Nothing to restore, but the robot drives by other overlays: the chassis stores 2 maps of SN-1 as in the backup; the running map 1 has other overlays than the stored one.',
    );
    expect(found.next[0]).toContain('gw map select 1');
  });

  it('is not green when the running map could not be compared', async () => {
    chassis.running = null;
    const result = await restored(chassis, () => {
      empties(chassis)();
      chassis.loadsWrites = false;
    });
    expect(result).toMatchObject({ verdict: 'restored', running: { verdict: 'not-checked' } });
    expect(firstLine(renderMapRestore(result))).toMatch(
      /^Stored: 1 map .*; running map 1 not compared with the stored one; /,
    );
    expect(renderMapRestore(result)).toMatch(/running map -- +\/map\/info was not received/);
  });

  it('is not checked, never green, for a standstill confirmed by a person only', async () => {
    const result = await restored(chassis, empties(chassis), { isConfirmedStill: true });
    expect(result.stillness).toEqual({ verdict: 'not-checked', detail: 'nothing received' });
    expect(renderMapRestore(result)).toContain(
      'standstill  --   not checked before the first write, confirmed by --robot-stands-still: nothing received',
    );
  });

  const [neither, back] = ['neither the overlays of the backup nor the former ones', 'the old overlays were restored'];
  const failures: readonly [
    string,
    MapRestore['verdict'],
    string,
    string,
    (chassis: MapChassis) => Partial<MapChassis>,
  ][] = [
    ['changes nothing', 'differs', 'no-effect', 'the write had no effect', () => ({ keep: (_, map) => map.overlays })],
    [
      'makes something else of it',
      ...(['differs', 'differs', neither] as const),
      () => ({ keep: () => '{"type":"FeatureCollection","features":[null]}' }),
    ],
    [
      'makes something else of it once',
      ...(['differs', 'rolled-back', back] as const),
      () => {
        let writes = 0;
        return { keep: (text) => (writes++ === 0 ? text.replace('"id":"a"', '"id":"own"') : text) };
      },
    ],
    [
      'loses the map',
      ...(['differs', 'gone', 'no longer listed by the chassis'] as const),
      ({ maps }) => ({ onWrite: (_what, _body, id) => (maps.delete(id) ? 500 : 404) }),
    ],
    [
      'is gone',
      ...(['unknown', 'unknown', 'unknown: not connected'] as const),
      (chassis) => ({
        onWrite(): Handling {
          chassis.onRead = () => 'cut-before';
          return 'cut-before';
        },
      }),
    ],
  ];

  it.each(failures)('of a chassis that %s reports the current content', async (_, verdict, outcome, text, prepare) => {
    const result = await restored(chassis, () => {
      empties(chassis)();
      Object.assign(chassis, prepare(chassis));
    });
    expect(result.verdict).toBe(verdict);
    expect(result.problem?.code ?? null).toBe(verdict === 'differs' ? 'WRITE_DIFFERS' : null);
    expect(result.maps[0]).toMatchObject({ outcome, contentNow: has(text) });
    const rendered = renderMapRestore(result);
    expect(firstLine(rendered)).toContain(
      verdict === 'differs' ? 'Write failed: content on the chassis differs' : 'Content on the chassis is unknown',
    );
    expect(firstLine(rendered)).toContain(result.safetyBackup?.file ?? 'never');
    expect(rendered).toContain(text);
    expect(result.next.some((line) => line.includes(result.safetyBackup?.file ?? 'never'))).toBe(true);
  });

  it('of a recreated map leaves its overlays unchanged', async () => {
    const result = await restored(chassis, () => Object.assign(chassis.maps.get(1) ?? {}, { originXM: 8 }));
    expect(result).toMatchObject({ verdict: 'incomplete', safetyBackup: null });
    expect(result.maps[0]).toMatchObject({ plan: 'conflict', why: has('recreated') });
    expect(firstLine(renderMapRestore(result))).toBe(
      '1 map of SN-1 cannot be restored; nothing written; stored and running map 1 have the same overlays.',
    );
  });

  it('reports another software version, and maps that are not in the backup', async () => {
    const result = await restored(
      chassis,
      () => {
        chassis.maps.set(9, storedMap(9, { name: '\u001b[31mred' }));
        chassis.maps.delete(2);
      },
      { write: false },
    );
    expect(result.others).toEqual([{ id: 9, uid: 'uid-9', name: '\u001b[31mred' }]);
    const text = renderMapRestore({ ...result, notes: [] });
    expect(text).not.toContain('\u001b');
    expect(text).toContain("Not in the backup, unchanged: 9 '\uFFFD[31mred'");
    expect(firstLine(text)).toBe(
      'Dry run, nothing written: a restore would create 1 map of SN-1; now stored and running map 1 have the same overlays.',
    );
  });

  it('shows text of overlays shortened and without control sequences', async () => {
    await using chassis = await mapChassis([
      storedMap(1, { overlays: oddOverlays.replace('Café', '\\u001b[2J'.padEnd(900, 'x')) }),
    ]);
    const result = await restored(chassis, empties(chassis), { write: false });
    const text = renderMapRestore(result);
    expect(text).not.toContain('\u001b');
    expect(Math.max(...(result.maps[0]?.difference?.first ?? []).map((line) => line.length))).toBeLessThan(200);
  });
});

describe('gw map restore', () => {
  const options = { ids: [], write: true, itStandsStill: false, sitePath: 'site.yaml', gwVersion: '0.1.0' };
  const context = { signal, onProgress: calm, onSafetyBackup: calm };

  it('sends nothing to the chassis when the file is not a backup', async () => {
    const path = join(dir, 'nothing-there.tar.gz');
    const error = await errorOf(
      restoreFromBackup(toolkitOf(chassis.fake.endpoint, { clock: time }), { ...options, path }, context),
    );
    expect(error.code).toBe('FILE_UNREADABLE');
    expect(chassis.fake.requests).toEqual([]);
  });

  it('writes the safety backup to a free generated name, and returns it', async () => {
    using _rest = reportsRest(chassis);
    const archive = { ids: 'all', gwVersion: '0.1.0', clock: time, signal, onProgress: calm } as const;
    const path = join(dir, 'named.tar.gz');
    await writeArchive(path, await backUpMaps(chassis.client, archive), {});
    empties(chassis)();
    const toolkit = toolkitOf(chassis.fake.endpoint, { clock: time });
    const wall = () => new Date('2026-01-31T12:00:05.500Z');
    const before = process.cwd();
    process.chdir(dir);
    try {
      const existing = `maps-${toolkit.site.chassis.serial}-before-restore-20260131T120005Z`;
      writeFileSync(`${existing}.tar.gz`, 'another file');
      const events: string[] = [];
      const work = { ...context, onSafetyBackup: (file: string) => events.push(file) };
      const here = { ...toolkit, clock: { ...toolkit.clock, wall } };
      const result = await restoreFromBackup(here, { ...options, path }, work);
      expect(result).toMatchObject({ verdict: 'restored', safetyBackup: { file: `${existing}2.tar.gz` } });
      expect(events).toEqual([`${existing}2.tar.gz`]);
      expect(readFileSync(`${existing}.tar.gz`, 'utf8')).toBe('another file');
    } finally {
      process.chdir(before);
    }
  });

  it('reports the safety backup before the first write', async () => {
    using _rest = reportsRest(chassis);
    const archive = { ids: 'all', gwVersion: '0.1.0', clock: time, signal, onProgress: calm } as const;
    const path = join(dir, 'reported.tar.gz');
    await writeArchive(path, await backUpMaps(chassis.client, archive), { force: false });
    empties(chassis)();
    const events: string[] = [];
    chassis.onWrite = (what) => {
      events.push(what);
      return 'usual';
    };
    const backupPath = join(dir, 'reported-before.tar.gz');
    const onSafetyBackup = (file: string) => events.push(file);
    const work = { ...context, onSafetyBackup };
    const result = await restoreFromBackup(
      toolkitOf(chassis.fake.endpoint, { clock: time }),
      { ...options, path, backupPath },
      work,
    );
    expect(events).toEqual([backupPath, 'patch']);
    expect(result).toMatchObject({ verdict: 'restored', stillness: { verdict: 'still' } });
  });
});

describe('a damaged map', () => {
  const on = (path: string, handling: Handling) => {
    chassis.onRead = (asked) => (asked === path ? handling : 'usual');
  };

  it('of the backup makes its restore incomplete, also where the others are restored', async () => {
    on('/maps/2', 500);
    const result = await restored(chassis, () => {
      on('/none', 'usual');
      empties(chassis)();
    });
    expect(result).toMatchObject({
      verdict: 'incomplete',
      backup: { complete: false, damaged: [{ id: 2, called: 'map 2 "Floor 2"' }] },
      maps: [{ id: 1, outcome: 'written' }],
    });
    expect(firstLine(renderMapRestore(result))).toContain('1 map of 2 written');
    expect(renderMapRestore(result)).toContain('incomplete');
    expect(result.notes).toContainEqual(expect.stringMatching(/cannot restore map 2 "Floor 2".*status 500\)/));
    const dry = await restored(chassis, () => on('/maps/2', 500), { write: false });
    expect(dry.notes.join()).toContain('The chassis returns map 2 "Floor 2" damaged');
  });

  it('of the chassis is a conflict, and lacks in the safety backup', async () => {
    const result = await restored(chassis, () => {
      on('/maps/2', Buffer.from('<html>'));
      empties(chassis)();
    });
    expect(result).toMatchObject({
      verdict: 'incomplete',
      maps: [{ outcome: 'written' }, { plan: 'conflict', outcome: 'untouched' }],
      damaged: [{ id: 2 }],
      safetyBackup: { maps: 1, lacks: [expect.stringContaining('map 2 "Floor 2"')] },
    });
  });
});

describe('a copy of the maps of another robot', () => {
  const record = (serial: string, fact: string) => ({
    ...{
      fact,
      value: true,
      serial,
      software: '2.12.3',
      how: 'a trial',
      who: 'J. Doe',
      when: '2026-01-31T12:00:00.000Z',
    },
  });

  async function copy(evidence: string, more: { readonly write?: boolean } = {}) {
    count += 1;
    const path = join(dir, `other-${count}.tar.gz`);
    const calls = { ids: 'all', gwVersion: '0.1.0', clock: time, signal, onProgress: calm } as const;
    const archive = await backUpMaps(chassis.client, calls);
    await writeArchive(path, { ...archive, chassis: { serial: 'SN-OTHER', software: null, model: null } }, {});
    chassis.maps.clear();
    chassis.current = null;
    writeFileSync(join(dir, 'evidence.jsonl'), evidence);
    const places =
      'maps: { ground: { uid: uid-1, version: 3 }, hall: { uid: u-9, version: 1 } }\nstations: { A: { xM: 1, yM: 1, map: ground }, B: { xM: 2, yM: 1, map: hall } }\nevidenceFile: evidence.jsonl\n';
    const toolkit = toolkitOf(chassis.fake.endpoint, { clock: time, more: places, path: join(dir, 'site.yaml') });
    const options = { path, ids: [], fromAnotherRobot: 'SN-OTHER', write: more.write ?? true, itStandsStill: true };
    const rest = { sitePath: 'site.yaml', gwVersion: '0.1.0', backupPath: join(dir, `copied-${count}.tar.gz`) };
    using _rest = reportsRest(chassis);
    return await restoreFromBackup(
      toolkit,
      { ...options, ...rest },
      { signal, onProgress: calm, onSafetyBackup: calm },
    );
  }

  it('says that the position is to be set and the trials repeated, and which records do not count', async () => {
    const lines = [record('SN-OTHER', 'angles.pose-ori'), record('SN-1', 'vendor.move.cancel')];
    const result = await copy(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`);
    expect(mapRestoreSchema.parse(result)).toEqual(result);
    expect(result).toMatchObject({
      verdict: 'restored',
      position: 'must-be-set',
      use: null,
      fromAnotherRobot: { serial: 'SN-OTHER', notCounting: ['angles.pose-ori'], evidenceProblem: null, places: ['A'] },
    });
    const trials = result.fromAnotherRobot?.trials ?? [];
    // Without a dock in the site file none is driven to.
    expect(trials.map(({ kind }) => kind)).toEqual(['stop', 'move', 'pose']);
    expect(trials[0]).toMatchObject({ facts: ['vendor.move.cancel'], recordedBefore: ['vendor.move.cancel'] });
    const id = result.maps[0]?.idOnChassis;
    const next = result.next.join('\n');
    expect(next).toContain(`gw map select ${id}`);
    expect(next).toMatch(
      /gw motion pose[\s\S]*gw evidence verify[\s\S]*stop, move, pose[\s\S]*SN-OTHER counts[\s\S]*: A\./,
    );
    const text = renderMapRestore(result);
    expect(firstLine(text)).toMatch(
      /^\S*Copied\S*: 2 maps of SN-OTHER for SN-1 written.*position and trials are to be done anew/,
    );
    expect(text).toMatch(/trial .*stop, to be repeated on the copied maps: vendor\.move\.cancel; verified before/);
  });

  it('names its flag in the command of the dry run, and an evidence file that cannot be read', async () => {
    const result = await copy('{', { write: false });
    expect(result).toMatchObject({ verdict: 'to-do', position: 'untouched', fromAnotherRobot: { notCounting: [] } });
    expect(result.fromAnotherRobot?.evidenceProblem).toContain('evidence.jsonl:1');
    expect(result.next[0]).toContain('--from-another-robot SN-OTHER --write-although-never-measured');
    expect(chassis.writes).toEqual([]);
  });
});

describe('a command text', () => {
  it('is quoted for a shell', () => {
    expect(commandText('gw', 'map', 'restore', "it's here.tar.gz", '--site', '$HOME/x')).toBe(
      `gw map restore 'it'\\''s here.tar.gz' --site '$HOME/x'`,
    );
  });
});
