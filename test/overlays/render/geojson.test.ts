import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Feature, type Overlays, readOverlays } from '../../../src/lib/overlays/index.ts';
import { toGeojson } from '../../../src/lib/overlays/render/index.ts';
import { oddCollection } from '../arbitrary.ts';
import { collectionOf, lookAt, lookAtCollection, pointAt } from './rendered.ts';

/** A feature as received, without the member of gw and without its index. */
function asItCame({ rawOf }: Overlays, feature: Feature, ours: string) {
  const { kind, name, id, codes, shape } = feature;
  return { raw: Object.entries(rawOf(feature)).filter(([key]) => key !== ours), kind, name, id, codes, shape };
}

const parse = (text: string) => JSON.parse(text) as Record<string, unknown> & { features: Record<string, unknown>[] };

describe('toGeojson', () => {
  it('keeps every feature as received and adds one member with the reading', () => {
    const { inspection } = lookAt('floor');
    const [first] = inspection.selected;
    const read = parse(toGeojson(inspection));
    expect(read.type).toBe('FeatureCollection');
    expect(read.features[0]).toEqual({
      ...(first && inspection.overlays.rawOf(first)),
      gw: {
        index: 0,
        kind: 'point',
        yawDeg: 90,
        iconYawDeg: 8,
        codes: [{ field: 'type', number: 11, mark: 'VORSICHT', basis: 'assumed' }],
        findings: expect.any(Array) as unknown,
      },
    });
    expect(read.gw).toMatchObject({
      coordinates: 'metres on the map, x and y; not longitude and latitude',
      frame: { originXM: -3, resolutionM: 0.05 },
      selected: 15,
    });
    expect(JSON.stringify(read.gw)).toContain('overlays.point-type-11');
  });

  it('keeps digits that a number cannot hold', () => {
    const overlays = readOverlays(
      '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null,"properties":{"serial":12345678901234567890123,"height":1.50}}]}',
    );
    const text = toGeojson({ ...lookAtCollection(collectionOf()), overlays, selected: overlays.features });
    expect(text).toContain('"serial":12345678901234567890123,"height":1.50');
  });

  it('uses another name where a feature or the collection has a member `gw`', () => {
    const own = { ...pointAt(0, 0), gw: 'theirs' };
    const read = parse(toGeojson(lookAtCollection(collectionOf(own))));
    expect(read.features[0]?.gw).toBe('theirs');
    expect(read.features[0]?.gwReading).toMatchObject({ index: 0, kind: 'point' });
    const both = parse(toGeojson(lookAtCollection({ ...collectionOf(own), gwReading: 1 })));
    expect(both.gwReading).toBe(1);
    expect(both.gwReading2).toBeDefined();
  });

  it('holds only the filtered features, with their index in the whole list', () => {
    const { inspection } = lookAt('floor', { kinds: ['lane'] });
    const read = parse(toGeojson(inspection));
    expect(read.features.map(({ gw }) => (gw as { index: number }).index)).toEqual([13, 14]);
    expect(read.gw).toMatchObject({ features: 15, selected: 2 });
  });

  it('yields the same features when it is read back', { tags: 'property' }, () => {
    fc.assert(
      fc.property(oddCollection(), (collection) => {
        const inspection = lookAtCollection(collection);
        const text = toGeojson(inspection);
        const ours = ['gw', 'gwReading', 'gwReading2', 'gwReading3', 'gwReading4'].find(
          (name) =>
            !Object.hasOwn(inspection.overlays.topLevel, name) &&
            !inspection.overlays.features.some((feature) => Object.hasOwn(inspection.overlays.rawOf(feature), name)),
        );
        const again = readOverlays(text);
        expect(again.features.map((feature) => asItCame(again, feature, ours ?? ''))).toEqual(
          inspection.selected.map((feature) => asItCame(inspection.overlays, feature, ours ?? '')),
        );
        const theirs = Object.entries(again.topLevel).filter(([key]) => key !== ours);
        expect(theirs).toEqual(Object.entries(inspection.overlays.topLevel));
      }),
    );
  });
});
