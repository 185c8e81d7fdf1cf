import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backUpMaps, type MapArchive, packArchive, parseArchive, restoreMaps } from '../../src/lib/maps/index.ts';
import { collectionText, oddCollection } from '../overlays/arbitrary.ts';
import { runs } from '../properties.ts';
import { type MapChassis, mapChassis, quickPace, standsStill, storedMap, time, topicsOf } from './map-chassis.ts';

let dir: string;
let chassis: MapChassis;
let count = 0;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'gw-round-trip-'));
  chassis = await mapChassis([storedMap(1)]);
});
afterAll(async () => {
  await chassis[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true, force: true });
});

const signal = new AbortController().signal;
const calm = () => {};

/** A backup, packed and parsed. */
async function throughFile(): Promise<MapArchive> {
  const options = { ids: 'all', gwVersion: '0.1.0', clock: time, signal, onProgress: calm } as const;
  return await parseArchive(await packArchive(await backUpMaps(chassis.client, options)), 'backup');
}

async function restore(archive: MapArchive) {
  count += 1;
  return await restoreMaps({
    client: chassis.client,
    archive,
    ids: 'all',
    topics: topicsOf(chassis),
    write: {
      checkStillness: standsStill,
      isConfirmedStill: false,
      backupPath: join(dir, `before-${count}.tar.gz`),
      gwVersion: '0.1.0',
      onBackup: calm,
      pace: { ...quickPace, settleMs: 0 },
    },
    clock: time,
    signal,
    onProgress: calm,
  });
}

function hold(overlays: unknown): void {
  chassis.maps.clear();
  chassis.maps.set(1, storedMap(1, { overlays }));
  chassis.current = 1;
  chassis.writes.length = 0;
}

describe('overlays in a round trip of backup and restore', () => {
  it('are restored character for character after all were replaced', async () => {
    await fc.assert(
      fc.asyncProperty(collectionText(), async (text) => {
        hold(text);
        const archive = await throughFile();
        const map = chassis.maps.get(1);
        if (!map) throw new Error('no map');
        map.overlays = '{"type":"FeatureCollection","features":[{"type":"Feature","id":"new"}]}';
        const run = await restore(archive);
        expect(run.written?.maps[0]?.outcome).toMatchObject({ outcome: 'written', after: { sameText: true } });
        expect(map.overlays).toBe(text);
      }),
      { numRuns: runs(60) },
    );
  });

  it('are restored character for character with a lost map', async () => {
    await fc.assert(
      fc.asyncProperty(collectionText(), async (text) => {
        hold(text);
        const archive = await throughFile();
        chassis.maps.clear();
        chassis.current = null;
        const run = await restore(archive);
        expect(run.written?.maps[0]?.outcome).toMatchObject({ outcome: 'written', after: { sameText: true } });
        expect([...chassis.maps.values()].map(({ overlays }) => overlays)).toEqual([text]);
        expect(run.written?.use?.outcome).toBe('set');
      }),
      { numRuns: runs(40) },
    );
  });

  it('keep the text of every unchanged feature when another one was changed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(collectionText(), { minLength: 2, maxLength: 5 }), async (texts) => {
        // Whole collections as features of a collection, where any JSON text is allowed.
        const of = (features: readonly string[]) =>
          `{ "type":"FeatureCollection" ,"features":[${features.join(' ,')}]}`;
        hold(of(texts));
        const archive = await throughFile();
        const map = chassis.maps.get(1);
        if (!map) throw new Error('no map');
        map.overlays = of(texts.map((text, at) => (at === 0 ? '{"type":"Feature","id":"changed"}' : text)));
        await restore(archive);
        for (const text of texts) expect(map.overlays).toContain(text);
        expect(map.overlays).toBe(of(texts));
      }),
      { numRuns: runs(40) },
    );
  });

  it('are restored with a lost map also in object form', async () => {
    await fc.assert(
      fc.asyncProperty(oddCollection(), async (collection) => {
        hold(collection);
        const archive = await throughFile();
        expect(archive.maps[0]?.overlaysForm).toBe('object');
        chassis.maps.clear();
        chassis.current = null;
        const run = await restore(archive);
        expect(run.written?.maps[0]?.outcome).toMatchObject({ outcome: 'written' });
        expect([...chassis.maps.values()].map(({ overlays }) => overlays)).toEqual([archive.maps[0]?.overlays]);
      }),
      { numRuns: runs(40) },
    );
  });

  it('are restored with everything that parsing and serialising would change', async () => {
    const texts = [
      '{"type":"FeatureCollection","features":[{"id":1e400,"a":-0,"b":12345678901234567890,"c":1.0,"d":"\\u0041"}]}',
      '\ufeff{"type":"FeatureCollection","features":[]}',
      ' {"features":[],"type":"FeatureCollection","__proto__":{"x":1},"constructor":null}\r\n',
      '{"type":"FeatureCollection","features":[{"name":"<script>\u2028"}]}',
      '{"type":"FeatureCollection","features":[{"name":"half a pair \ud83d"}]}',
    ];
    for (const text of texts) {
      hold(text);
      const archive = await throughFile();
      const map = chassis.maps.get(1);
      if (!map) throw new Error('no map');
      map.overlays = '{"type":"FeatureCollection","features":[{"type":"Feature","id":"new"}]}';
      await restore(archive);
      expect(map.overlays).toBe(text);
    }
  });
});
