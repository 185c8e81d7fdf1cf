import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { packArchive } from '../../../src/lib/maps/index.ts';
import { type Sim, startSim } from '../../../src/lib/sim/index.ts';
import type { OpenOverlaysOptions } from '../../../src/lib/toolkit/overlays/source/model.ts';
import { openOverlays, parseOverlaysSource } from '../../../src/lib/toolkit/overlays/source.ts';
import { archivedMap, errorOf, mapDocument, oddOverlays, picture, sampleArchive } from '../../maps/samples.ts';
import { call } from '../../sim/raw-client.ts';
import { eachTest, has, sharedFolder, toolkitOf } from '../kit.ts';

const folder = sharedFolder();

const noSite = () => Promise.reject(new GwError('SITE_FILE_NOT_FOUND', 'There is no site file.'));

function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function openFrom(text: string, options: Partial<OpenOverlaysOptions> & { readonly imagePath?: string } = {}) {
  const { imagePath, ...rest } = options;
  const source = { ...parseOverlaysSource(text), imagePath };
  const context = { signal: new AbortController().signal, onProgress: () => {} };
  return openOverlays(source, { openToolkit: noSite, needImage: true, ...rest }, context);
}

function openLive(sim: Sim, text: string, options: Partial<OpenOverlaysOptions> = {}) {
  const { host, port, serial } = sim.chassis;
  const toolkit = toolkitOf({ host, port, serial }, { path: join(folder, 's') });
  return openFrom(text, { openToolkit: () => Promise.resolve(toolkit), ...options });
}

describe('the name of a source of overlays', () => {
  it('is a map of the chassis, a file, or one map of a backup', () => {
    expect(parseOverlaysSource('live:current')).toEqual({ kind: 'live', map: 'current' });
    expect(parseOverlaysSource('live:3')).toEqual({ kind: 'live', map: '3' });
    expect(parseOverlaysSource('a/live.json')).toEqual({ kind: 'file', path: 'a/live.json' });
    expect(parseOverlaysSource('b.tar.gz#3')).toEqual({ kind: 'file', path: 'b.tar.gz', map: '3' });
    expect(parseOverlaysSource('#3')).toEqual({ kind: 'file', path: '#3' });
  });

  it.each(['', 'live', 'live:', 'b.tar.gz#'])('is invalid: %j', (text) => {
    expect(() => parseOverlaysSource(text)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
});

describe('overlays in a file', () => {
  it('need no site and no chassis, and have no device', async () => {
    const path = fileOf('bare.json', oddOverlays);
    const opened = await openFrom(path);
    expect(opened).toMatchObject({ label: path, image: null, frame: null, map: null, chassis: null, device: null });
    expect(opened.overlays.features).toHaveLength(1);
    expect(opened.warnings).toEqual([]);
  });

  it('of a map object include its name, versions and frame; the picture is named by hand', async () => {
    const path = fileOf('map.json', mapDocument(2, oddOverlays));
    const imagePath = fileOf('map.png', picture(40, 30));
    const opened = await openFrom(path, { imagePath });
    expect(opened).toMatchObject({
      label: `map "Floor 2" in ${path}`,
      map: { id: 2, uid: 'uid-2', name: 'Floor 2', mapVersion: 3, overlaysVersion: 7 },
      frame: { originXM: -3, resolutionM: 0.05, width: 40, height: 30 },
      warnings: [],
    });
    expect(await openFrom(path)).toMatchObject({ image: null, frame: { width: null, height: null } });
  });

  it('warn about a named picture without a position', async () => {
    const { warnings } = await openFrom(fileOf('bare2.json', oddOverlays), { imagePath: fileOf('p.png', picture()) });
    expect(warnings).toEqual([has('was not used: ')]);
  });

  it('may have a # in the name of the file', async () => {
    const path = fileOf('level#2', oddOverlays);
    expect((await openFrom(path)).label).toBe(path);
  });

  it('that are invalid or unreadable are reported with the name of the file and a remedy', async () => {
    const nowhere = await errorOf(openFrom(join(folder, 'nowhere.json')));
    expect(nowhere).toMatchObject({ code: 'FILE_UNREADABLE', message: has('File not found') });
    expect(await errorOf(openFrom(folder))).toMatchObject({ message: `${folder} is a folder.` });
    expect(await errorOf(openFrom(fileOf('empty.json', '')))).toMatchObject({ code: 'OVERLAYS_INVALID' });
    const path = fileOf('plain.json', oddOverlays);
    expect(await errorOf(openFrom(`${path}#3`))).toMatchObject({ code: 'USAGE', message: has('is not a backup') });
    expect(await errorOf(openFrom(path, { imagePath: path }))).toMatchObject({
      code: 'USAGE',
      message: `${path} is not a PNG image.`,
    });
  });
});

describe('overlays in a backup', () => {
  const backup = async (name: string, ...maps: Parameters<typeof archivedMap>[]) =>
    fileOf(name, await packArchive(sampleArchive({ maps: maps.map((map) => archivedMap(...map)) })));

  it('are those of the current map at the time, with its picture and its chassis', async () => {
    const path = await backup('two.tar.gz', [1], [2]);
    const opened = await openFrom(path);
    expect(opened.label).toContain(`map 1 "Floor 1" in ${path}, backup of`);
    expect(opened).toMatchObject({ map: { id: 1 }, frame: { width: 8, height: 6 }, warnings: [] });
    expect(opened.device).toMatchObject({ serial: opened.chassis?.serial, records: [] });
    expect(opened.overlays.text).toBe(oddOverlays);
  });

  it('can be selected by id and by uid', async () => {
    const path = await backup('named.tar.gz', [1], [2]);
    expect((await openFrom(`${path}#2`)).map).toMatchObject({ id: 2 });
    expect((await openFrom(`${path}#uid-2`)).map).toMatchObject({ id: 2 });
    expect(await errorOf(openFrom(`${path}#9`))).toMatchObject({
      code: 'MAP_UNKNOWN',
      remedy: has('1 "Floor 1", 2 "Floor 2"'),
    });
  });

  it('must be selected when none of several was current', async () => {
    const path = await backup('unused.tar.gz', [2], [3]);
    expect(await errorOf(openFrom(path))).toMatchObject({ code: 'MAP_UNKNOWN' });
    expect((await openFrom(await backup('one.tar.gz', [3]))).map).toMatchObject({ id: 3 });
  });

  it('without a picture are a warning', async () => {
    const path = await backup('blind.tar.gz', [
      1,
      { image: null, missing: [{ what: 'image', why: 'gone', received: null }] },
    ]);
    expect(await openFrom(path)).toMatchObject({ image: null, warnings: ['The backup has no picture of map 1.'] });
  });

  it('count the records of the site file, which must exist when a person named it', async () => {
    const path = await backup('records.tar.gz', [1]);
    expect(await errorOf(openFrom(path, { siteNamed: true }))).toMatchObject({ code: 'SITE_FILE_NOT_FOUND' });
    const record = { fact: 'overlays.lane-direction-3', value: 'x', serial: 'S', software: 'v', how: 'h', who: 'w' };
    fileOf('evidence.jsonl', `${JSON.stringify({ ...record, when: '2026-01-31T12:00:00Z' })}\n`);
    const toolkit = toolkitOf({ host: '127.0.0.1', port: 1, serial: 'S' }, { path: join(folder, 'site.yaml') });
    const { device } = await openFrom(path, { openToolkit: () => Promise.resolve(toolkit) });
    expect(device?.records).toMatchObject([record]);
    rmSync(join(folder, 'evidence.jsonl'));
  });
});

describe('overlays on the chassis', () => {
  let sim: Sim;
  eachTest(
    () => startSim(),
    (one) => {
      sim = one;
    },
  );

  it('are those of the current map or of the selected one, with picture, identity and verified facts', async () => {
    const current = await openLive(sim, 'live:current');
    const { serial, software, port } = sim.chassis;
    expect(current.label).toBe(`map 1 "Erdgeschoss" of ${serial} at 127.0.0.1:${port}`);
    expect(current).toMatchObject({
      chassis: { serial, software },
      device: { serial, software, records: [] },
      frame: { width: 320, height: 180 },
      warnings: [],
    });
    const other = await openLive(sim, 'live:3', { needImage: false });
    expect(other).toMatchObject({ map: { id: 3, name: 'Musterblatt' }, image: null, frame: { width: null } });
  });

  it('of an unknown map name the existing ones', async () => {
    expect(await errorOf(openLive(sim, 'live:9'))).toMatchObject({
      code: 'MAP_UNKNOWN',
      message: has('No map 9'),
      remedy: has('1 "Erdgeschoss"'),
    });
    expect(await errorOf(openLive(sim, 'live:../x'))).toMatchObject({ code: 'USAGE' });
  });

  it('cannot be read from a map that was set from data, with an explanation', async () => {
    const image = Buffer.from(await (await fetch(`http://127.0.0.1:${sim.chassis.port}/maps/1.png`)).arrayBuffer());
    await call(sim, 'POST', '/chassis/current-map', {
      map_name: 'from data',
      carto_map: '',
      occupancy_grid: image.toString('base64'),
      grid_resolution: 0.05,
      grid_origin_x: -3,
      grid_origin_y: -3,
    });
    expect(await errorOf(openLive(sim, 'live:current'))).toMatchObject({
      code: 'MAP_UNKNOWN',
      message: has('has the id -1: it was set from data and never stored'),
    });
  });

  it('are read without their picture when that fails, with a warning', async () => {
    sim.setFault('image-fails', true);
    const failed = await openLive(sim, 'live:current');
    expect(failed).toMatchObject({ image: null, frame: { width: null, height: null } });
    expect(failed.warnings).toEqual([has(/^The picture of the map was not read: .* 500/)]);
    sim.setFault('image-fails', false);
    sim.setFault('image-cut', true);
    expect((await openLive(sim, 'live:current')).warnings).toHaveLength(1);
  });

  it('are not read from another chassis, and reading can be interrupted', async () => {
    const openToolkit = async () => toolkitOf({ ...sim.chassis, serial: 'OTHER' }, { path: join(folder, 's') });
    expect(await errorOf(openFrom('live:current', { openToolkit }))).toMatchObject({ code: 'CHASSIS_WRONG_DEVICE' });

    sim.setFault('image-slow', true);
    const interrupt = new AbortController();
    const opening = openOverlays(
      { kind: 'live', map: 'current' },
      { openToolkit: async () => toolkitOf(sim.chassis), needImage: true },
      {
        signal: interrupt.signal,
        onProgress: (text) => {
          if (text.includes('picture')) setImmediate(() => interrupt.abort(new GwError('INTERRUPTED', 'Stop.')));
        },
      },
    );
    expect(await errorOf(opening)).toMatchObject({ code: 'INTERRUPTED' });
  });
});
