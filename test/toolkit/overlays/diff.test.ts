import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderOverlaysDiff } from '../../../src/cli/render/overlays.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { writeArchive } from '../../../src/lib/maps/index.ts';
import { startSim } from '../../../src/lib/sim/index.ts';
import { overlaysDiffSchema } from '../../../src/lib/toolkit/overlays/diff.result.ts';
import { compareMapOverlays, type OverlaysDiffOptions } from '../../../src/lib/toolkit/overlays/diff.ts';
import { parseOverlaysSource } from '../../../src/lib/toolkit/overlays/source.ts';
import { archivedMap, errorOf, mapDocument, sampleArchive } from '../../maps/samples.ts';
import { call } from '../../sim/raw-client.ts';
import { sharedFolder, toolkitOf } from '../kit.ts';

const folder = sharedFolder();

const noChassis = () => Promise.reject(new Error('no site file is needed here'));
const noSite = () => Promise.reject(new GwError('SITE_FILE_NOT_FOUND', 'There is no site file.'));
const now = () => new Date('2026-01-31T12:00:00.000Z');

function fileOf(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function compare(a: string, b: string, more: Partial<OverlaysDiffOptions> = {}) {
  const options = { from: parseOverlaysSource(a), to: parseOverlaysSource(b), openToolkit: noChassis, now, ...more };
  const context = { signal: new AbortController().signal, onProgress: () => {} };
  const compared = await compareMapOverlays(options, context);
  expect(overlaysDiffSchema.parse(compared)).toEqual(compared);
  expect(JSON.parse(JSON.stringify(compared))).toEqual(compared);
  return { result: compared, document: compared.document };
}

const features = (x: number, properties: object = {}) => ({
  type: 'FeatureCollection',
  features: [
    {
      id: 'a',
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [x, 0] },
      properties: { type: '11', ...properties },
    },
    { id: 'b', type: 'Feature', geometry: { type: 'Point', coordinates: [5, 5] }, properties: { type: 11 } },
  ],
});
const before = fileOf('before.json', JSON.stringify(features(0, { name: 'A', yaw: '0' })));
const after = fileOf('after.json', JSON.stringify(features(0.5, { name: 'A', yaw: '90', type: '30' })));

describe('a comparison of two files', () => {
  it('says of a geometry that gw does not read that it was compared as text', async () => {
    const unread = (x: number) => {
      const geometry = { type: 'GeometryCollection', geometries: [{ type: 'Point', coordinates: [x, 1] }] };
      return { type: 'FeatureCollection', features: [{ type: 'Feature', id: 'z', geometry, properties: {} }] };
    };
    const [one, other] = [
      fileOf('one.json', JSON.stringify(unread(1))),
      fileOf('other.json', JSON.stringify(unread(2))),
    ];
    const warning =
      '1 feature has no geometry that gw reads: it was compared as text, so that no distance and no place of it is known.';
    const moved = await compare(one, other);
    expect(moved.result.diff.same).toBe(false);
    expect(moved.result.warnings).toEqual([warning]);
    expect((await compare(one, one)).result.warnings).toEqual([warning]);
    expect((await compare(before, after)).result.warnings).toEqual([]);
  });

  it('needs no site file, and shows differences with unit, mark and every reading of a changed code', async () => {
    const { result, document } = await compare(before, after);
    expect(document).toBeNull();
    expect(result).toMatchObject({
      from: { source: { label: before, kind: 'file', form: 'collection', chassis: null }, map: null },
      diff: { same: false, counts: { from: 2, to: 2, unchanged: 1, changed: 1, moved: 1, turned: 1, recoded: 1 } },
      fields: {
        movedM: { unit: 'm', mark: 'HINWEIS' },
        turnedDeg: { unit: 'degrees', mark: 'BELEGT', basis: 'stated' },
      },
      warnings: [],
      written: null,
    });
    const eleven = result.codes.find(({ number }) => number === 11);
    expect(eleven?.readings.map(({ mark, meaning }) => `${mark} ${meaning}`)).toEqual(
      expect.arrayContaining(['VORSICHT Delivery Point', 'HINWEIS table number']),
    );
    expect(result.codes.map(({ number }) => number)).toEqual([11, 30]);
  });

  it('finds no difference between one text in two formats', async () => {
    const wrapped = fileOf('map.json', mapDocument(1, JSON.stringify(features(0, { name: 'A', yaw: '0' }))));
    const { result } = await compare(before, wrapped);
    expect(result.diff).toMatchObject({ same: true, sameText: true });
    expect(result.to.source.form).toBe('text-in-map');
  });

  it('returns a picture or a page, or writes it, and replaces nothing without --force', async () => {
    const { document: svg } = await compare(before, after, { document: { format: 'svg' } });
    expect(svg).toMatch(/^<svg /);
    const out = join(folder, 'diff.html');
    const first = await compare(before, after, { document: { format: 'html', out } });
    expect(first.document).toBeNull();
    expect(first.result.written).toEqual({ format: 'html', path: out, bytes: readFileSync(out).length });
    expect(readFileSync(out, 'utf8')).toContain('2026-01-31T12:00:00.000Z');
    const again = errorOf(compare(before, after, { document: { format: 'html', out } }));
    await expect(again).resolves.toMatchObject({ code: 'FILE_EXISTS' });
    await compare(before, before, { document: { format: 'svg', out, force: true } });
    expect(readFileSync(out, 'utf8')).toMatch(/^<svg /);
  });

  it('writes nothing where one side holds no overlays', async () => {
    const out = join(folder, 'never.svg');
    const broken = fileOf('broken.json', '{"type":"FeatureCollection","features":[');
    const error = await errorOf(compare(before, broken, { document: { format: 'svg', out } }));
    expect(error.code).toBe('OVERLAYS_INVALID');
    expect(existsSync(out)).toBe(false);
  });
});

describe('a comparison with a backup', () => {
  it('selects one map of it, and warns where the two are not of one map or one chassis', async () => {
    const path = join(folder, 'maps.tar.gz');
    await writeArchive(path, sampleArchive({ maps: [archivedMap(1), archivedMap(2)] }), { force: false });
    const same = await compare(`${path}#1`, `${path}#1`, { openToolkit: noSite });
    expect(same.result).toMatchObject({ diff: { same: true }, warnings: [] });
    const { result } = await compare(`${path}#1`, `${path}#2`, { openToolkit: noSite });
    expect(result.warnings).toEqual([
      'The overlays are of two maps with different uid: their coordinates need not agree.',
    ]);
    const other = join(folder, 'other.tar.gz');
    const chassis = { serial: 'ANOTHER', software: null, model: null };
    await writeArchive(other, sampleArchive({ chassis, maps: [archivedMap(1)] }), { force: false });
    const foreign = await compare(`${path}#1`, other, { openToolkit: noSite });
    expect(foreign.result.warnings[0]).toMatch(/^The overlays are of two chassis, .* and ANOTHER\.$/);
  });

  it('warns where the map was created again in between', async () => {
    const at = (grid_origin_x: number) =>
      mapDocument(1, JSON.stringify(features(0)), { grid_origin_x, grid_origin_y: 0, grid_resolution: 0.05 });
    const { result } = await compare(fileOf('m1.json', at(0)), fileOf('m2.json', at(-1)));
    expect(result.diff.same).toBe(true);
    expect(result.warnings).toEqual([
      'The grids of the two maps differ, so the map was created anew in between: places need not agree.',
    ]);
  });
});

describe('a comparison with the chassis', () => {
  it('reads the current map, and puts the picture under the differences', async () => {
    await using sim = await startSim();
    const openToolkit = async () => toolkitOf(sim.chassis);
    const { json } = await call(sim, 'GET', '/maps/1');
    const map = json as { overlays: string };
    const edited = JSON.parse(map.overlays) as { features: { geometry: { coordinates: number[] } }[] };
    const [first] = edited.features;
    if (first) first.geometry.coordinates = [3, 1];
    const old = fileOf('live.json', JSON.stringify({ ...map, overlays: JSON.stringify(edited) }));
    const { result, document } = await compare(old, 'live:1', { openToolkit, document: { format: 'html' } });
    expect(result.diff.counts).toMatchObject({ changed: 1, moved: 1, added: 0, removed: 0 });
    expect(result.to.source).toMatchObject({ kind: 'live', chassis: { serial: sim.chassis.serial } });
    expect(document).toContain('data:image/png;base64,');
    expect((await compare('live:current', 'live:1', { openToolkit })).result.diff.sameText).toBe(true);
    const error = await errorOf(compare('live:77', 'live:1', { openToolkit }));
    expect(error.code).toBe('MAP_UNKNOWN');
  });
});

describe('a comparison in the terminal', () => {
  const shown = async (a: string, b: string, isComplete = false) =>
    renderOverlaysDiff((await compare(a, b)).result, { isComplete });

  it('states the verdict in its first line', async () => {
    expect((await shown(before, before)).split('\n')[0]).toBe('The overlays are the same: 2 features, identical text.');
    expect((await shown(before, after)).split('\n')[0]).toBe(
      'The overlays differ: 1 of 2 changed (1 in place, 1 in heading, 1 in code).',
    );
  });

  it('shows before and now of every change, and the readings of changed codes', async () => {
    const text = await shown(before, after);
    expect(text).toMatch(
      /#0 +A +a +point +id +moved 0\.5 m +\(0, 0\) +\(0\.5, 0\)\n +turned \+90° +"0" +"90"\n +type +"11" +"30"/,
    );
    expect(text).toMatch(/type 11 +HINWEIS +'table number'/);
    expect(text).toMatch(/ +VORSICHT +'Delivery Point'/);
    expect(text).toContain('places in metres (HINWEIS), headings in degrees (BELEGT stated)');
  });

  it('shows added and removed features, the order and the members', async () => {
    const [a, b] = features(0).features;
    const of = (name: string, ...features: unknown[]) =>
      fileOf(name, JSON.stringify({ type: 'FeatureCollection', features, extra: name }));
    const text = await shown(of('one', a, b, 7), of('two', b, a, { id: 'c' }));
    expect(text).toContain('Only in the new overlays (1)');
    expect(text).toMatch(/#2 +c +other +—/);
    expect(text).toMatch(/#2 +none +not a feature +—/);
    expect(text).toContain('Reordered (1)');
    expect(text).toMatch(/extra +"one" +"two"/);
  });

  it('truncates long tables and names the flag to see the rest', async () => {
    const many = (dx: number) => {
      const features = Array.from({ length: 60 }, (_, i) => ({
        id: `p${i}`,
        geometry: { type: 'Point', coordinates: [i * 9 + dx, 0] },
      }));
      return JSON.stringify({ type: 'FeatureCollection', features });
    };
    const [one, two] = [fileOf('many1', many(0)), fileOf('many2', many(1))];
    expect(await shown(one, two)).toContain('and 20 more: --all, --json');
    expect((await shown(one, two)).split('\n').filter((line) => line.includes('moved 1 m'))).toHaveLength(40);
    expect((await shown(one, two, true)).split('\n').filter((line) => line.includes('moved 1 m'))).toHaveLength(60);
  });

  it('passes no control characters of a file', async () => {
    const evil = '\u001b]0;owned\u0007\u202e\r\nx';
    const of = (name: string, value: string) =>
      fileOf(
        name,
        `{"type":"FeatureCollection","k":${JSON.stringify(value)},"features":[{"id":"a","properties":{"name":${JSON.stringify(value)},${JSON.stringify(evil)}:${JSON.stringify(value)}}}]}`,
      );
    const text = await shown(of('e1', evil), of('e2', `${evil}2`));
    expect(text).toContain('differ');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are searched for
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202e]|\u001b\]/);
  });

  it('reports numbers that differ only in notation', async () => {
    const of = (name: string, x: string) =>
      fileOf(name, `{"type":"FeatureCollection","features":[{"id":"a","x":${x}}]}`);
    const text = await shown(of('s1', '1.0'), of('s2', '1'));
    expect(text).toContain('same content, written differently.');
    expect(text).toContain('1 number is equal in different notation, as 1.0 and 1 in x of #0.');
  });
});
