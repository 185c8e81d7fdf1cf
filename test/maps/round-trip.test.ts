import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type MapArchive, packArchive, parseArchive } from '../../src/lib/maps/index.ts';
import { shared } from '../lifecycle/shared.ts';
import { collectionText, oddCollection } from '../overlays/arbitrary.ts';
import { runs } from '../properties.ts';
import { mapChassis, quickPace, storedMap } from './map-chassis.ts';
import { archiveOf, keepsBackups, restore as restoreOf, store } from './restoring.ts';

const chassis = shared(await mapChassis([storedMap(1)]));
keepsBackups();

/** A backup, packed and parsed. */
const throughFile = async (): Promise<MapArchive> =>
  parseArchive(await packArchive(await archiveOf(chassis)), 'backup');
const restore = async (archive: MapArchive) => {
  const { written } = await restoreOf(chassis, archive, { write: { pace: { ...quickPace, settleMs: 0 } } });
  return { outcome: written?.maps[0]?.outcome, use: written?.use?.outcome };
};
const overlaysNow = () => [...chassis.maps.values()].map(({ overlays }) => overlays);
const NEW = '{"type":"FeatureCollection","features":[{"type":"Feature","id":"new"}]}';
const asWas = { outcome: 'written', after: { sameText: true } };

function hold(overlays: unknown): void {
  chassis.maps.clear();
  chassis.maps.set(1, storedMap(1, { overlays }));
  chassis.current = 1;
  chassis.writes.length = 0;
}

describe('overlays in a round trip of backup and restore', () => {
  it('are restored character for character after all were replaced', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(collectionText(), async (text) => {
        hold(text);
        const archive = await throughFile();
        store(chassis, NEW);
        expect((await restore(archive)).outcome).toMatchObject(asWas);
        expect(overlaysNow()).toEqual([text]);
      }),
      { numRuns: runs(60, 4) },
    );
  });

  it('are restored character for character with a lost map', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(collectionText(), async (text) => {
        hold(text);
        const archive = await throughFile();
        chassis.maps.clear();
        chassis.current = null;
        expect(await restore(archive)).toMatchObject({ outcome: asWas, use: 'set' });
        expect(overlaysNow()).toEqual([text]);
      }),
      { numRuns: runs(40, 4) },
    );
  });

  it('are restored with a lost map also in object form', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(oddCollection(), async (collection) => {
        hold(collection);
        const archive = await throughFile();
        expect(archive.maps[0]?.overlaysForm).toBe('object');
        chassis.maps.clear();
        chassis.current = null;
        expect((await restore(archive)).outcome).toMatchObject({ outcome: 'written' });
        expect(overlaysNow()).toEqual([archive.maps[0]?.overlays]);
      }),
      { numRuns: runs(40, 4) },
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
      store(chassis, NEW);
      await restore(archive);
      expect(overlaysNow()).toEqual([text]);
    }
  });
});
