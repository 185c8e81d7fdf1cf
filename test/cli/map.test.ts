import { describe, expect, it } from 'vitest';
import * as render from '../../src/cli/render/map.ts';
import type { MapArchiveView, MapList, MapShow } from '../../src/lib/toolkit/map/map.result.ts';
import { expectHarmless, firstLine, HOSTILE as hostile, plain } from './shown.ts';

const item = { id: 1, uid: 'u-1', name: 'Erdgeschoss', mapVersion: 3, overlaysVersion: null, isCurrent: true };
const chassis = { serial: 'SN-1', software: '2.12.3', model: null };
const address = { host: '127.0.0.1', port: 8090, way: 'direct' };

const list: MapList = {
  address,
  chassis,
  maps: [item, { ...item, id: 12, uid: null, name: '1. Stock', isCurrent: false }],
  damaged: [],
  currentProblem: null,
  current: { id: 1, uid: 'u-1', name: 'Erdgeschoss', isStored: true },
  fields: { id: { mark: 'BELEGT', basis: 'stated', source: 'specification' } },
};

describe('gw map list', () => {
  it('starts with the number of maps, and lists every map and the marks', () => {
    const text = plain(render.renderMapList(list));
    expect(firstLine(text)).toBe("2 maps on chassis SN-1 at 127.0.0.1:8090; current map 1 'Erdgeschoss'.");
    expect(text).toMatch(/^ 1 +Erdgeschoss +u-1 +3 +none +yes$/m);
    expect(text).toMatch(/^12 +1\. Stock +none +3 +none$/m);
    expect(text).toMatch(/^id +BELEGT stated +specification$/m);
  });

  it('reports no maps, no map in use, and one in use that is not stored', () => {
    const empty = plain(render.renderMapList({ ...list, maps: [], current: null }));
    expect(firstLine(empty)).toBe('No maps on chassis SN-1 at 127.0.0.1:8090; no current map.');
    expect(empty).toContain('gw map restore FILE');
    const unstored = plain(
      render.renderMapList({ ...list, current: { id: -1, uid: null, name: 'mine', isStored: false } }),
    );
    expect(firstLine(unstored)).toContain("current map is not stored, 'mine'.");
    expect(unstored).toContain('no backup contains it');
  });
});

const show: MapShow = {
  ...{ address, chassis, map: item, data: { bytes: 3_600, sha256: 'a' } },
  frame: { originXM: -3, originYM: 2.5, resolutionM: 0.05, widthM: 16, heightM: 9 },
  picture: { bytes: 571, sha256: 'b', width: 320, height: 180 },
  localisation: { bytes: 41_000_000, sha256: 'c' },
  overlays: { form: 'text', bytes: 2_800, count: { point: 1, lane: 2, zone: 0, other: 3 }, problem: null },
  missing: [],
  fields: { originXM: { mark: 'HINWEIS', basis: 'vendor', source: 'vendor', unit: 'm' } },
};

describe('gw map show', () => {
  it('starts with name and features, with units and marks below', () => {
    const text = plain(render.renderMapShow(show));
    expect(firstLine(text)).toMatch(/^Map 1 'Erdgeschoss' of chassis SN-1: 1 point, 2 lanes, 3 other; .* complete\.$/);
    expect(text).toMatch(/^lower left corner +x -3 m, y 2\.5 m +HINWEIS +vendor$/m);
    expect(text).toMatch(/^picture +320 × 180 pixels, 16 × 9 m, 571 bytes$/m);
    expect(text).toMatch(/^localisation +41\.0 MB$/m);
  });

  it('lists missing files with the reason', () => {
    const missing: MapShow['missing'] = [
      { what: 'image', why: 'status 500' },
      { what: 'localisation', why: 'truncated' },
    ];
    const overlays = { ...show.overlays, count: null, problem: 'not a collection' };
    const lacking = { ...show, frame: null, picture: null, localisation: null, overlays, missing };
    const text = plain(render.renderMapShow(lacking));
    expect(firstLine(text)).toMatch(/unreadable overlays; a backup would lack a picture and localisation data\.$/);
    expect(text).toContain('FAIL overlays: not a collection');
    expect(text).toContain('FAIL no picture: status 500');
    expect(text).toContain('FAIL no localisation data: truncated');
  });
});

const archive: MapArchiveView = {
  ...{ verdict: 'ok', file: 'maps.tar.gz', bytes: 9_000, sha256: 'f'.repeat(64), gwVersion: '0.1.0', chassis },
  ...{ createdAt: '2026-01-31T12:00:00.000Z', complete: true, damaged: [] },
  maps: [
    {
      ...item,
      files: [
        { name: 'maps/1/map.json', bytes: 10, sha256: 'a' },
        { name: 'maps/1/localisation.pbstream', bytes: 60, sha256: 'b' },
      ],
      ...{ picture: { width: 320, height: 180 }, overlays: show.overlays, missing: [] },
    },
  ],
  findings: [
    { id: 'intact', title: 'The archive is intact', verdict: 'ok', detail: '2 files', remedy: null, spec: null },
    { id: 'restoring', title: 'It can be restored', verdict: 'not-checked', detail: 'never', remedy: null, spec: null },
  ],
};

const lacking: MapArchiveView = {
  ...archive,
  verdict: 'wrong',
  maps: archive.maps.map((map) => ({
    ...map,
    picture: null,
    missing: [{ what: 'image', why: 'status 500' }],
    overlays: { ...map.overlays, count: null, problem: 'none' },
  })),
  findings: [
    {
      ...{ id: 'image', title: 'Every map has its picture', verdict: 'wrong', remedy: 'Again.', spec: null },
      detail: 'map 1: status 500\nmap 2: truncated',
    },
  ],
};

describe('gw map backup', () => {
  it('starts with number, chassis and file, and has the checksum', () => {
    const text = plain(render.renderMapBackup(archive));
    expect(firstLine(text)).toBe('1 map of SN-1 in maps.tar.gz');
    expect(text).toContain(`sha256   ${'f'.repeat(64)}  (9.0 kB)`);
    expect(text).toMatch(/^ 1 +Erdgeschoss +3 +none +yes +6 +320×180 +60 bytes$/m);
    expect(text).toMatch(/^-- {3}It can be restored: never$/m);
    expect(text).toContain('gw map verify maps.tar.gz');
    expect(render.backupWarnings(archive)).toEqual([]);
  });

  it('starts with missing files, and warns of each', () => {
    const text = plain(render.renderMapBackup(lacking));
    expect(firstLine(text)).toBe('1 map of SN-1 in maps.tar.gz, INCOMPLETE: without a picture');
    expect(text).toMatch(/FAIL Every map has its picture:\n {5}map 1: status 500\n {5}map 2: truncated\n {5}Again\./);
    const warnings = ['the backup of map 1 has no picture', 'the overlays of map 1 are not readable'];
    expect(render.backupWarnings(lacking)).toEqual(warnings);
  });
});

describe('gw map verify', () => {
  it('starts with the verdict and the number of checks', () => {
    const rest = '1 map of chassis SN-1 in maps.tar.gz, checksums verified.';
    expect(firstLine(render.renderMapVerify(archive))).toBe(`ok: 1 of 2 checks, 1 not checked. ${rest}`);
    expect(firstLine(render.renderMapVerify(lacking))).toBe(`FAILED: 1 of 1 check. ${rest}`);
  });
});

it('escapes control sequences of devices and files', () => {
  const hostileChassis = { serial: hostile, software: hostile, model: hostile };
  const hostileItem = { ...item, uid: hostile, name: hostile };
  const overlays = { ...show.overlays, problem: hostile, count: null };
  const hostileMap = { ...hostileItem, files: [], picture: null, overlays };
  const missing = [{ what: 'image' as const, why: hostile }];
  const current = { id: 9, uid: hostile, name: hostile, isStored: false };
  const maps = [{ ...hostileMap, missing }];
  const about = { file: hostile, gwVersion: hostile, chassis: hostileChassis, maps };
  const finding = { id: 'x', title: 'x', verdict: 'wrong' as const, detail: hostile, remedy: hostile, spec: null };
  expectHarmless(
    render.renderMapList({ ...list, chassis: hostileChassis, maps: [hostileItem], current }),
    render.renderMapShow({ ...show, chassis: hostileChassis, map: hostileItem, overlays, missing }),
    render.renderMapVerify({ ...archive, ...about, findings: [finding] }),
    render.renderMapBackup({ ...lacking, ...about }),
  );
});
