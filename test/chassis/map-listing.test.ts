import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMapListing } from '../../src/lib/chassis/map-listing.ts';
import { runs } from '../properties.ts';

const bytes = new Uint8Array();
const entry = fc.oneof(
  fc.jsonValue(),
  fc.record(
    {
      id: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.jsonValue()),
      uid: fc.oneof(fc.string(), fc.jsonValue()),
      map_name: fc.oneof(fc.string(), fc.jsonValue()),
      map_version: fc.oneof(fc.integer(), fc.jsonValue()),
    },
    { requiredKeys: [] },
  ),
);

describe('the list of maps', () => {
  it('loses no entry and gives no number twice, whatever the entries', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 8 }), (entries) => {
        const { maps, damaged } = readMapListing(entries, bytes);
        expect(maps.length + damaged.length).toBe(entries.length);
        const ids = maps.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        // What is damaged is not readable under the same number.
        expect(damaged.filter(({ id }) => id !== null && ids.includes(id))).toEqual([]);
        expect(damaged.every(({ why, entry: at }) => why !== '' && at >= 1 && at <= entries.length)).toBe(true);
      }),
      { numRuns: runs(500) },
    );
  });

  it('takes both entries of a number for damaged, and says what is wrong with each', () => {
    const { maps, damaged } = readMapListing(
      [{ id: 1, map_name: 'A' }, { id: 2, map_name: 'B' }, { id: 1, map_name: null }, { id: 1 }],
      bytes,
    );
    expect(maps.map(({ id }) => id)).toEqual([2]);
    expect(damaged.map(({ entry: at, name, why }) => [at, name, why])).toEqual([
      [1, 'A', 'its number is listed 3 times'],
      [3, null, 'map_name: expected string, received null'],
      [4, null, 'map_name: expected string, received undefined'],
    ]);
  });
});
