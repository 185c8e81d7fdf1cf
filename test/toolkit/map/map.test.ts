import { existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { backupWarnings, renderMapBackup, renderMapList, renderMapVerify } from '../../../src/cli/render/map.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { writeArchive } from '../../../src/lib/maps/index.ts';
import { startSim } from '../../../src/lib/sim/index.ts';
import { backUpMapsToFile } from '../../../src/lib/toolkit/map/backup.ts';
import { listMaps } from '../../../src/lib/toolkit/map/list.ts';
import { mapArchiveSchema, mapListSchema, mapShowSchema } from '../../../src/lib/toolkit/map/map.result.ts';
import { showMap } from '../../../src/lib/toolkit/map/show.ts';
import { verifyMapBackup } from '../../../src/lib/toolkit/map/verify.ts';
import { openOverlays } from '../../../src/lib/toolkit/overlays/source.ts';
import { plain } from '../../cli/shown.ts';
import { createPacedClock } from '../../lifecycle/paced-clock.ts';
import { mapChassis, storedMap } from '../../maps/map-chassis.ts';
import { archivedMap, errorOf, mapDocument, sampleArchive } from '../../maps/samples.ts';
import { call } from '../../sim/raw-client.ts';
import { until } from '../../waiting.ts';
import { context, sharedFolder, toolkitOf } from '../kit.ts';

const folder = sharedFolder();

const verdictOf = (findings: readonly { id: string; verdict: string }[], id: string) =>
  findings.find((finding) => finding.id === id)?.verdict;

describe('the list of maps', () => {
  it('has each map, the current one, and the evidence mark of each field', async () => {
    await using sim = await startSim();
    const list = await listMaps(toolkitOf(sim.chassis), context());
    expect(mapListSchema.parse(list)).toEqual(list);
    expect(list.maps.length).toBeGreaterThanOrEqual(2);
    expect(list.maps.filter(({ isCurrent }) => isCurrent).map(({ id }) => id)).toEqual([list.current?.id]);
    expect(list).toMatchObject({
      chassis: { serial: sim.chassis.serial, software: sim.chassis.software },
      current: { isStored: true },
      fields: { id: { mark: 'BELEGT' }, overlaysVersion: { mark: 'BELEGT' }, uid: { mark: 'HINWEIS' } },
    });
    const shown = Object.keys(list.maps[0] ?? {});
    expect(shown.filter((field) => !(field in list.fields))).toEqual([]);
  });

  it('of a chassis that lost its maps is empty, and a map set from data is not among the stored ones', async () => {
    await using sim = await startSim({ bootMs: 0 });
    const detail = (await call(sim, 'GET', '/maps/1')).json as Record<string, unknown>;
    const picture = Buffer.from(await (await fetch(`http://127.0.0.1:${sim.chassis.port}/maps/1.png`)).arrayBuffer());
    await call(sim, 'POST', '/chassis/current-map', {
      map_name: 'from data',
      carto_map: '',
      occupancy_grid: picture.toString('base64'),
      grid_resolution: detail.grid_resolution,
      grid_origin_x: detail.grid_origin_x,
      grid_origin_y: detail.grid_origin_y,
    });
    const toolkit = toolkitOf(sim.chassis);
    expect((await listMaps(toolkit, context())).current).toMatchObject({ id: -1, name: 'from data', isStored: false });
    const path = join(folder, 'unstored.tar.gz');
    const backup = await backUpMapsToFile(toolkit, { ids: [], path, force: false, gwVersion: '1' }, context());
    expect(backup).toMatchObject({ verdict: 'wrong', complete: false });
    expect(verdictOf(backup.findings, 'all-maps')).toBe('wrong');

    sim.setFault('map-loss', true);
    await call(sim, 'POST', '/services/restart_service', {});
    const list = () => listMaps(toolkit, context()).catch(() => null);
    expect(await until(list, (found) => found?.maps.length === 0)).toMatchObject({ current: null });
    const none = join(folder, 'none.tar.gz');
    const error = await errorOf(
      backUpMapsToFile(toolkit, { ids: [], path: none, force: false, gwVersion: '1' }, context()),
    );
    expect(error).toMatchObject({ code: 'MAP_UNKNOWN', remedy: expect.stringContaining('gw map restore') });
    expect(existsSync(none)).toBe(false);
  });

  it('of another chassis at this address is rejected', async () => {
    await using sim = await startSim();
    const toolkit = toolkitOf({ ...sim.chassis, serial: 'SN-OTHER' });
    for (const work of [
      listMaps(toolkit, context()),
      showMap(toolkit, { id: '1' }, context()),
      backUpMapsToFile(toolkit, { ids: [], path: join(folder, 'x'), force: false, gwVersion: '1' }, context()),
    ]) {
      expect(await errorOf(work)).toMatchObject({ code: 'CHASSIS_WRONG_DEVICE' });
    }
    expect(existsSync(join(folder, 'x'))).toBe(false);
  });
});

describe('one map', () => {
  it('is shown with its frame in metres, its features by kind, and nothing missing', async () => {
    await using sim = await startSim();
    const map = await showMap(toolkitOf(sim.chassis), { id: '1' }, context());
    expect(mapShowSchema.parse(map)).toEqual(map);
    expect(map).toMatchObject({
      map: { id: 1, name: 'Erdgeschoss', isCurrent: true },
      frame: { originXM: -3, originYM: -3, resolutionM: 0.05, widthM: 16, heightM: 9 },
      picture: { width: 320, height: 180 },
      overlays: { form: 'text', problem: null },
      missing: [],
      fields: { originXM: { mark: 'HINWEIS', unit: 'm' } },
    });
    const overlays = JSON.parse(((await call(sim, 'GET', '/maps/1')).json as { overlays: string }).overlays);
    const { point = 0, lane = 0, zone = 0, other = 0 } = map.overlays.count ?? {};
    expect(point + lane + zone + other).toBe(overlays.features.length);
  });

  it('lists missing files', async () => {
    await using sim = await startSim();
    sim.setFault('image-fails', true);
    const map = await showMap(toolkitOf(sim.chassis), { id: '2' }, context());
    expect(mapShowSchema.parse(map)).toEqual(map);
    expect(map.missing.map(({ what }) => what)).toEqual(['image', 'localisation']);
    expect(map).toMatchObject({ picture: null, localisation: null, frame: { widthM: null } });
  });

  it('that does not exist is MAP_UNKNOWN', async () => {
    await using sim = await startSim();
    const error = await errorOf(showMap(toolkitOf(sim.chassis), { id: '77' }, context()));
    expect(error).toMatchObject({ code: 'MAP_UNKNOWN', message: expect.stringContaining('It has: 1, 2') });
  });
});

describe('a backup into a file', () => {
  it('without --out gets a new name each time, also within one second', async () => {
    await using sim = await startSim();
    const wall = () => new Date('2026-01-31T12:00:05.500Z');
    const toolkit = { ...toolkitOf(sim.chassis), clock: { ...systemClock, wall } };
    const place = join(folder, 'own-names');
    const files: string[] = [];
    for (const force of [false, false, true]) {
      const view = await backUpMapsToFile(toolkit, { ids: ['1'], folder: place, force, gwVersion: '1' }, context());
      files.push(view.file);
    }
    const start = `maps-${sim.chassis.serial}-20260131T120005Z`;
    expect(files).toEqual(['', '2', '3'].map((number) => join(place, `${start}${number}.tar.gz`)));
    expect(readdirSync(place)).toHaveLength(3);
  });

  it('is verified, with the same result without a chassis', async () => {
    await using sim = await startSim();
    const path = join(folder, 'all.tar.gz');
    const toolkit = toolkitOf(sim.chassis);
    const view = await backUpMapsToFile(toolkit, { ids: [], path, force: false, gwVersion: '1.2.3' }, context());
    expect(mapArchiveSchema.parse(view)).toEqual(view);
    expect(view).toMatchObject({
      verdict: 'ok',
      file: path,
      gwVersion: '1.2.3',
      complete: true,
      chassis: { serial: sim.chassis.serial },
    });
    expect(view.maps.map(({ id }) => id)).toEqual((await listMaps(toolkit, context())).maps.map(({ id }) => id));
    expect(view.maps.every(({ files }) => files.length === 4)).toBe(true);
    // What was never measured is never ok.
    expect(verdictOf(view.findings, 'restoring')).toBe('not-checked');
    const verified = await verifyMapBackup({ path });
    expect(verified).toEqual(view);
  });

  it('creates its folder, and reports progress', async () => {
    await using sim = await startSim();
    const seen: string[] = [];
    const path = join(folder, 'not', 'there', 'yet.tar.gz');
    const telling = { ...context(), onProgress: (text: string) => seen.push(text) };
    await backUpMapsToFile(toolkitOf(sim.chassis), { ids: ['1'], path, force: false, gwVersion: '1' }, telling);
    expect(readdirSync(join(folder, 'not', 'there'))).toEqual(['yet.tar.gz']);
    expect(seen).toContain('map 1: reading the picture');
    expect(seen.at(-1)).toBe('writing the backup and reading it back');
  });

  it('replaces nothing without force, without a request to the chassis', async () => {
    await using sim = await startSim();
    const path = join(folder, 'there.tar.gz');
    writeFileSync(path, 'precious');
    sim.setFault('cut', true);
    const options = { ids: [], path, force: false, gwVersion: '1' };
    expect(await errorOf(backUpMapsToFile(toolkitOf(sim.chassis), options, context()))).toMatchObject({
      code: 'FILE_EXISTS',
    });
    const forced = backUpMapsToFile(toolkitOf(sim.chassis), { ...options, force: true }, context());
    expect(await errorOf(forced)).toMatchObject({ code: 'CHASSIS_NOT_CONNECTED' });
  });

  it.each(['image-fails', 'image-cut'] as const)(
    'while %s is wrong, still written, and lists missing parts',
    async (fault) => {
      await using sim = await startSim();
      sim.setFault(fault, true);
      const path = join(folder, `${fault}.tar.gz`);
      const view = await backUpMapsToFile(
        toolkitOf(sim.chassis),
        { ids: ['1'], path, force: false, gwVersion: '1' },
        context(),
      );
      expect(view).toMatchObject({ verdict: 'wrong', complete: false, maps: [{ id: 1, picture: null }] });
      expect(view.maps[0]?.missing.map(({ what }) => what)).toContain('image');
      expect(verdictOf(view.findings, 'image')).toBe('wrong');
      expect(verdictOf(view.findings, 'all-maps')).toBe('not-applicable');
      expect(verdictOf(view.findings, 'overlays')).toBe('ok');
      expect((await verifyMapBackup({ path })).verdict).toBe('wrong');
    },
  );

  it('of a chassis with a damaged map has every other one, lists that one, and is not complete', async () => {
    await using sim = await startSim();
    const healthy = await listMaps(toolkitOf(sim.chassis), context());
    sim.setFault('map-damaged', true);
    const path = join(folder, 'damaged-by-fault.tar.gz');
    const view = await backUpMapsToFile(
      toolkitOf(sim.chassis),
      { ids: [], path, force: false, gwVersion: '1' },
      context(),
    );
    expect(mapArchiveSchema.parse(view)).toEqual(view);
    const ids = healthy.maps.map(({ id }) => id);
    expect(view.maps.map(({ id }) => id)).toEqual(ids.slice(0, -1));
    expect(view).toMatchObject({ verdict: 'wrong', complete: false, damaged: [{ id: ids.at(-1) }] });
    expect(view.damaged[0]?.why).toContain('500');
    expect((await verifyMapBackup({ path })).verdict).toBe('wrong');
    sim.setFault('map-damaged', false);
    const whole = join(folder, 'whole-again.tar.gz');
    const again = await backUpMapsToFile(
      toolkitOf(sim.chassis),
      { ids: [], path: whole, force: false, gwVersion: '1' },
      context(),
    );
    expect(again).toMatchObject({ verdict: 'ok', complete: true, damaged: [] });
  });

  it('while the current map is not known has every map, and is not complete', async () => {
    await using sim = await startSim();
    sim.setFault('current-map-fails', true);
    const path = join(folder, 'current.tar.gz');
    const view = await backUpMapsToFile(
      toolkitOf(sim.chassis),
      { ids: [], path, force: false, gwVersion: '1' },
      context(),
    );
    expect(view).toMatchObject({ complete: false, damaged: [] });
    expect(view.verdict).not.toBe('ok');
    expect(view.maps.length).toBeGreaterThan(1);
  });

  it('waits for a slow picture', async () => {
    const clock = createPacedClock();
    await using sim = await startSim({ clock });
    sim.setFault('image-slow', true);
    const path = join(folder, 'slow.tar.gz');
    const toolkit = { ...toolkitOf(sim.chassis), clock };
    const view = await backUpMapsToFile(toolkit, { ids: ['1'], path, force: false, gwVersion: '1' }, context());
    expect(view).toMatchObject({ verdict: 'ok', maps: [{ missing: [] }] });
  });

  it('that is interrupted leaves no file', async () => {
    await using sim = await startSim();
    sim.setFault('image-slow', true);
    const here = mkdtempSync(join(folder, 'interrupted-'));
    const ending = new AbortController();
    const options = { ids: [], path: join(here, 'a.tar.gz'), force: false, gwVersion: '1' };
    const work = backUpMapsToFile(toolkitOf(sim.chassis), options, {
      signal: ending.signal,
      onProgress: (text) => text.includes('picture') && setImmediate(() => ending.abort()),
    });
    expect(await errorOf(work)).toMatchObject({ code: 'INTERRUPTED' });
    expect(readdirSync(here)).toEqual([]);
  });
});

describe('verifying', () => {
  it('finds unreadable overlays, and a list that differs from the map', async () => {
    const path = join(folder, 'odd.tar.gz');
    const maps = [
      archivedMap(1, { data: mapDocument(1, '{"type":"Feat'), overlays: '{"type":"Feat' }),
      archivedMap(2, { overlaysVersion: 99 }),
      archivedMap(3, { data: mapDocument(3, undefined), overlays: null, overlaysForm: 'none' }),
    ];
    await writeArchive(path, sampleArchive({ maps, complete: false }), { force: false });
    const view = await verifyMapBackup({ path });
    expect(mapArchiveSchema.parse(view)).toEqual(view);
    expect(view.findings.map(({ id, verdict }) => [id, verdict])).toEqual([
      ['intact', 'ok'],
      ['overlays', 'wrong'],
      ['versions', 'wrong'],
      ['image', 'ok'],
      ['localisation', 'ok'],
      ['all-maps', 'not-checked'],
      ['restoring', 'not-checked'],
    ]);
    expect(view.findings.find(({ id }) => id === 'versions')?.detail).toBe(
      'overlays_version of map 2 is 99 in the list and 7 in the map',
    );
    expect(view.maps.map(({ overlays }) => overlays.count)).toEqual([
      null,
      { point: 1, lane: 0, zone: 0, other: 0 },
      { point: 0, lane: 0, zone: 0, other: 0 },
    ]);
  });

  it('of a backup without maps does not check missing ones', async () => {
    const path = join(folder, 'empty.tar.gz');
    await writeArchive(path, sampleArchive({ maps: [] }), { force: false });
    const view = await verifyMapBackup({ path });
    expect(view.findings.filter(({ verdict }) => verdict === 'ok').map(({ id }) => id)).toEqual(['intact', 'all-maps']);
  });

  it('of a corrupt file is ARCHIVE_INVALID', async () => {
    const path = join(folder, 'corrupt.tar.gz');
    writeFileSync(path, 'no archive');
    expect(await errorOf(verifyMapBackup({ path }))).toMatchObject({ code: 'ARCHIVE_INVALID', exitCode: 2 });
  });
});

describe('a damaged map', () => {
  const damagedItem = { id: 3, uid: 'uid-3', map_name: null };

  it('ends neither the list nor the backup of the others, which are incomplete and name it', async () => {
    await using chassis = await mapChassis([storedMap(1), storedMap(2)]);
    const { fake } = chassis;
    const items = [1, 2].map((id) => ({
      id,
      uid: `uid-${id}`,
      map_name: `Floor ${id}`,
      map_version: 3,
      overlays_version: 7,
    }));
    const listed = Buffer.from(JSON.stringify([...items, damagedItem]));
    chassis.onRead = (path) => (path === '/maps/' ? listed : path === '/maps/2' ? 500 : 'usual');
    const toolkit = toolkitOf({ ...fake.endpoint, serial: fake.serial });

    const list = await listMaps(toolkit, context());
    expect(mapListSchema.parse(list)).toEqual(list);
    expect(list.maps.map(({ id }) => id)).toEqual([1, 2]);
    expect(list.damaged).toMatchObject([
      { id: 3, entry: 3, called: 'map 3', why: expect.stringContaining('map_name') },
    ]);
    expect(plain(renderMapList(list))).toMatch(
      /^INCOMPLETE: 1 entry cannot be read; 2 maps on .*\nFAIL map 3: map_name: /,
    );

    const path = join(folder, 'damaged.tar.gz');
    const view = await backUpMapsToFile(toolkit, { ids: [], path, force: false, gwVersion: '1' }, context());
    expect(mapArchiveSchema.parse(view)).toEqual(view);
    expect(view).toMatchObject({
      verdict: 'wrong',
      complete: false,
      maps: [{ id: 1 }],
      damaged: [{ id: 2 }, { id: 3 }],
    });
    expect(view.damaged[0]?.files.map(({ name }) => name)).toContain('damaged/1/map.received');
    const finding = view.findings.find(({ id }) => id === 'all-maps');
    expect(finding).toMatchObject({ verdict: 'wrong', detail: expect.stringContaining('status 500') });
    expect(finding?.remedy).toContain('map 2 "Floor 2"');
    expect(`${finding?.detail} ${finding?.remedy}`).not.toMatch(/proxy|address/);
    expect(plain(renderMapBackup(view)).split('\n')[0]).toBe(
      `1 map of ${fake.serial} in ${path}, INCOMPLETE: without map 2 "Floor 2", map 3`,
    );
    expect(backupWarnings(view)).toHaveLength(2);
    const verified = await verifyMapBackup({ path });
    expect(verified).toEqual(view);
    expect(plain(renderMapVerify(verified)).split('\n')[0]).toMatch(
      /^FAILED: 1 of 7 checks\. 1 map of .*, without 2 damaged maps/,
    );

    const shown = await errorOf(showMap(toolkit, { id: '2' }, context()));
    expect(shown).toMatchObject({ code: 'MAP_UNREADABLE', remedy: expect.stringContaining('map 2 "Floor 2"') });
    expect(await errorOf(showMap(toolkit, { id: '3' }, context()))).toMatchObject({ code: 'MAP_UNREADABLE' });
    const source = { kind: 'live', map: '2' } as const;
    const opened = openOverlays(source, { openToolkit: async () => toolkit, needImage: false }, context());
    expect(await errorOf(opened)).toMatchObject({ code: 'MAP_UNREADABLE', message: expect.stringContaining('map 2') });
  });

  it('is kept by a backup of nothing else', async () => {
    await using chassis = await mapChassis([storedMap(1)]);
    chassis.onRead = (path) => (path === '/maps/1' ? Buffer.from('<html>') : 'usual');
    const toolkit = toolkitOf({ ...chassis.fake.endpoint, serial: chassis.fake.serial });
    const options = { ids: [], path: join(folder, 'one-damaged.tar.gz'), force: false, gwVersion: '1' };
    const view = await backUpMapsToFile(toolkit, options, context());
    expect(view).toMatchObject({ verdict: 'wrong', complete: false, maps: [], damaged: [{ id: 1, isCurrent: true }] });
  });
});
