import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FeatureFilter,
  inspectOverlays,
  readOverlays,
  type SelectableKind,
  selectableKinds,
} from '../../../src/lib/overlays/index.ts';
import { runs } from '../../properties.ts';
import { oddCollection } from '../arbitrary.ts';
import { places } from '../places.ts';
import { collectionOf, lookAt, pointAt, zoneOf } from '../render/rendered.ts';

const indices = (filter: FeatureFilter, which: 'floor' | 'sheet' = 'sheet') =>
  lookAt(which, filter).inspection.selected.map(({ index }) => index);

describe('a selection of features', () => {
  it('without a filter is everything, with the findings on the map as a whole', () => {
    const { selected, overlays, findings } = lookAt('sheet').inspection;
    expect(selected).toBe(overlays.features);
    expect(findings.some(({ features }) => features.length === 0)).toBe(true);
  });

  it('by kind uses the geometry, and charger selects both items of a station', () => {
    const { selected } = lookAt('sheet', { kinds: ['zone', 'lane'] }).inspection;
    expect(new Set(selected.map(({ kind }) => kind))).toEqual(new Set(['zone', 'lane']));
    const chargers = lookAt('floor', { kinds: ['charger'] }).inspection;
    expect(chargers.selected.map(({ id }) => id)).toEqual(['charger-1', 'docking-point-1']);
    expect(chargers.pairs).toMatchObject([{ charger: 3, dockingPoint: 4 }]);
  });

  it('by mark selects the features with a number of exactly this mark', () => {
    const assumed = lookAt('floor', { mark: 'VORSICHT' }).inspection.selected;
    expect(assumed.map(({ name }) => name)).toEqual(['A', 'B', 'C']);
    const open = lookAt('sheet', { mark: 'OFFEN' }).inspection.selected.map(({ id }) => id);
    expect(open).toContain('zone-24');
    expect(open).toContain('zone-word');
    expect(open).not.toContain('point-9');
    expect(indices({ mark: 'BELEGT' })).toEqual([]);
  });

  it('by place selects features that intersect the circle, also a zone around it, and none without a place', () => {
    const square = places('-5,-5 5,-5 5,5 -5,5');
    const collection = collectionOf(pointAt(0, 1), pointAt(0, 3), zoneOf(square), { type: 'Feature', geometry: null });
    const overlays = readOverlays(JSON.stringify(collection));
    const near = (radiusM: number, at: readonly [number, number] = [0, 0]) =>
      inspectOverlays(overlays, { frame: null, device: null, filter: { near: { at, radiusM } } }).selected.map(
        ({ index }) => index,
      );
    expect(near(1)).toEqual([0, 2]);
    expect(near(0.999)).toEqual([2]);
    expect(near(3)).toEqual([0, 1, 2]);
    expect(near(4, [9, 0])).toEqual([2]);
    expect(near(3.9, [9, 0])).toEqual([]);
  });

  it('by findings selects the features with a finding, and those findings', () => {
    const { selected, findings } = lookAt('sheet', { withFindings: true }).inspection;
    const about = new Set(findings.flatMap(({ features }) => features));
    expect(selected.length).toBeGreaterThan(10);
    expect(selected.every(({ index }) => about.has(index))).toBe(true);
    expect(findings.filter(({ features }) => features.length === 0)).toMatchObject([{ rule: 'no-feature' }]);
  });

  it('keeps the order, combines all filters, and has no findings on others but those that concern any selection', {
    tags: 'property',
  }, () => {
    const filters = fc.record(
      {
        kinds: fc.uniqueArray(fc.constantFrom<SelectableKind>(...selectableKinds), { minLength: 1 }),
        mark: fc.constantFrom('HINWEIS', 'VORSICHT', 'OFFEN'),
        near: fc.record({ at: fc.tuple(fc.integer(), fc.integer()), radiusM: fc.nat() }),
        withFindings: fc.boolean(),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<FeatureFilter>;
    fc.assert(
      fc.property(oddCollection(), filters, (collection, filter) => {
        const overlays = readOverlays(JSON.stringify(collection));
        const look = (wanted: FeatureFilter) =>
          inspectOverlays(overlays, { frame: null, device: null, filter: wanted });
        const { selected, findings } = look(filter);
        const single = Object.entries(filter).map(([key, value]) => look({ [key]: value }).selected);
        const expected = overlays.features.filter((feature) => single.every((some) => some.includes(feature)));
        expect(selected).toEqual(expected);
        const shown = new Set(selected.map(({ index }) => index));
        if (selected.length < overlays.features.length) {
          for (const { rule, severity, features } of findings) {
            if (features.some((index) => shown.has(index))) continue;
            // On the map as a whole, or on features of which the filter cannot be sure.
            expect(['wrong', 'not-checked']).toContain(severity);
            expect([0, ...features].length === 1 || /geometry|properties/.test(rule), rule).toBe(true);
          }
        }
      }),
      { numRuns: runs(30) },
    );
  });
});
