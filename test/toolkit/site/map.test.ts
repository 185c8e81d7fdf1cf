import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { renderSiteMap } from '../../../src/cli/render/site.ts';
import { directDialer } from '../../../src/lib/net/index.ts';
import { loadSite, mapOfPlace } from '../../../src/lib/site/index.ts';
import { nameMap } from '../../../src/lib/toolkit/site/map.ts';
import { type MapChassis, mapChassis, time } from '../../maps/map-chassis.ts';

let chassis: MapChassis;
beforeEach(async () => {
  chassis = await mapChassis();
});
afterEach(async () => {
  await chassis[Symbol.asyncDispose]();
});

const places = `# Our stations, measured in May.
stations:
  A: { xM: 1.5, yM: -2, yawDeg: 90 } # beside the lift
  B: { xM: 8.25, yM: 0 }
dock: { xM: 0.5, yM: 0, yawDeg: 180 }
`;

function siteFile(text = places): string {
  const path = join(mkdtempSync(join(tmpdir(), 'gw-site-map-')), 'site.yaml');
  const { host, port } = chassis.fake.endpoint;
  writeFileSync(path, `name: test\nchassis: { host: ${host}, port: ${port}, serial: ${chassis.fake.serial} }\n${text}`);
  return path;
}

async function name(path: string, { isConfirmed = true, key = null as string | null } = {}) {
  const context = { signal: new AbortController().signal, onProgress: () => {} };
  return nameMap({ site: await loadSite(path), dialer: directDialer, clock: time }, { isConfirmed, key }, context);
}

const current = () => {
  const map = chassis.maps.get(chassis.current ?? -1);
  if (map === undefined) throw new Error('no current map');
  return map;
};

describe('gw site map', () => {
  it('writes nothing without the word of a person, and says which places would count', async () => {
    const path = siteFile();
    const before = readFileSync(path, 'utf8');
    expect(await name(path, { isConfirmed: false })).toMatchObject({
      ...{ verdict: 'to-confirm', before: null, places: ['A', 'B', 'the dock'] },
      map: { uid: current().uid, version: current().mapVersion, title: current().name },
    });
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it('adds the map to an old file and keeps its comments; run again, it changes nothing', async () => {
    const path = siteFile();
    expect((await name(path)).verdict).toBe('written');
    const text = readFileSync(path, 'utf8');
    expect(text).toContain('# Our stations, measured in May.');
    expect(text).toContain('# beside the lift');
    const site = await loadSite(path);
    for (const place of [site.stations.A, site.stations.B, site.dock]) {
      expect(mapOfPlace(site, place ?? {})).toMatchObject({ uid: current().uid, version: current().mapVersion });
    }
    expect((await name(path)).verdict).toBe('unchanged');
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('asks again when the map has changed, and then writes its version', async () => {
    const path = siteFile();
    await name(path);
    const was = current().mapVersion;
    current().mapVersion = (was ?? 0) + 1;
    expect(await name(path, { isConfirmed: false })).toMatchObject({ verdict: 'to-confirm', before: { version: was } });
    expect((await name(path)).verdict).toBe('written');
    const { maps } = await loadSite(path);
    expect(Object.values(maps)).toMatchObject([{ uid: current().uid, version: (was ?? 0) + 1 }]);
  });

  it('asks again in the file of another robot, and then names this one', async () => {
    const path = siteFile();
    const { key } = await name(path);
    const { serial } = chassis.fake;
    expect((await loadSite(path)).maps[key]).toMatchObject({ robot: serial });
    // As copied from the first robot of the site.
    writeFileSync(path, readFileSync(path, 'utf8').replace(`robot: ${serial}`, 'robot: SN-OTHER'));
    const asked = await name(path, { isConfirmed: false });
    expect(asked).toMatchObject({ verdict: 'to-confirm', before: { robot: 'SN-OTHER' } });
    expect(renderSiteMap(asked)).toContain('The site file has the robot SN-OTHER.');
    expect((await name(path)).verdict).toBe('written');
    expect((await loadSite(path)).maps[key]).toMatchObject({ robot: serial });
  });

  it('adds this robot to a file of before, by the word of a person alone', async () => {
    const path = siteFile();
    const { key } = await name(path);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/\n +robot: [\w-]+/, ''));
    expect((await loadSite(path)).maps[key]).not.toHaveProperty('robot');
    expect((await name(path, { isConfirmed: false })).verdict).toBe('unchanged');
    expect((await name(path)).verdict).toBe('written');
    expect((await loadSite(path)).maps[key]).toMatchObject({ robot: chassis.fake.serial });
  });

  it('leaves the places of another map there: each of them names it from then on', async () => {
    const path = siteFile();
    const first = await name(path);
    chassis.current = 2;
    expect(await name(path, { key: 'upstairs' })).toMatchObject({ verdict: 'written', key: 'upstairs', places: [] });
    const site = await loadSite(path);
    expect(Object.keys(site.maps)).toEqual([first.key, 'upstairs']);
    expect([site.stations.A?.map, site.stations.B?.map, site.dock?.map]).toEqual([first.key, first.key, first.key]);
  });

  it('distinguishes a map from one of the same name and number that the file has already', async () => {
    const path = siteFile();
    const first = await name(path);
    // As after a restart that lost the maps: the chassis counts anew.
    current().uid = 'made-anew';
    const second = await name(path);
    expect(second).toMatchObject({ verdict: 'written', places: [] });
    const { maps } = await loadSite(path);
    expect(maps[first.key]).not.toHaveProperty('id');
    expect(maps[first.key]?.title).toBe(first.map.title);
    expect(maps[second.key]).toMatchObject({ uid: 'made-anew', id: first.map.id });
    expect(maps[second.key]?.title).toBe(`${first.map.title} (${second.key})`);
    // Its name in the file stays the one that differs.
    current().mapVersion = 99;
    expect(await name(path)).toMatchObject({ verdict: 'written' });
    expect((await loadSite(path)).maps[second.key]?.title).toBe(`${first.map.title} (${second.key})`);
  });

  it.each(['no map', 'a map without a uid'])('is refused where the chassis uses %s', async (what) => {
    if (what === 'no map') chassis.current = null;
    else current().uid = null;
    await expect(name(siteFile())).rejects.toMatchObject({
      code: 'MAP_UNKNOWN',
      message: expect.stringContaining(what),
    });
  });
});
