import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { differenceLines, differenceText } from '../../../../src/cli/render/map-restore.ts';
import { compareOverlays } from '../../../../src/lib/maps/live-maps.ts';
import { createCodeBook, diffOverlays, readOverlays } from '../../../../src/lib/overlays/index.ts';
import { renderDiffPage, renderDiffSvg } from '../../../../src/lib/overlays/render/index.ts';
import { differenceOf } from '../../../../src/lib/toolkit/map/change.ts';
import { overlaysDifferenceSchema } from '../../../../src/lib/toolkit/map/running-map.result.ts';
import { place } from '../../../overlays/arbitrary.ts';
import { forAllOf } from '../../kit.ts';

const square = (side: number) => {
  const h = side / 2;
  return [
    [5 - h, 5 - h],
    [5 + h, 5 - h],
    [5 + h, 5 + h],
    [5 - h, 5 + h],
    [5 - h, 5 - h],
  ];
};
const text = (geometry: unknown, more: object = {}) =>
  JSON.stringify({
    type: 'FeatureCollection',
    features: [{ id: 'z-17', type: 'Feature', geometry, properties: { name: 'Treppe', regionType: 1, ...more } }],
  });
const zone = (side: number) => text({ type: 'Polygon', coordinates: [square(side)] });
const lane = (...line: number[][]) => text({ type: 'LineString', coordinates: line });
const differenceBetween = (from: string, to: string) => {
  const difference = differenceOf(compareOverlays(from, to));
  expect(difference).toEqual(overlaysDifferenceSchema.parse(difference));
  return difference;
};

describe('the summary of a difference', () => {
  it('of a no-go zone that shrank around its centre names it, its corners and both areas', () => {
    const difference = differenceBetween(zone(10), zone(2));
    expect(difference.first).toEqual([
      'zone "Treppe" (id "z-17"): corners moved up to 5.657 m, area 100 → 4 m²: 4 corners around (5, 5), 100 m² → 4 corners around (5, 5), 4 m²',
    ]);
    expect(differenceText(difference)).toBe('1 changed (1 with another form); 1 features');
    expect(differenceLines('from the chassis to the backup', difference, '  ').join('\n')).not.toContain('0.000 m');
    expect(difference.shapes).toMatchObject([
      { id: 'z-17', name: 'Treppe', kind: 'zone', movedM: 0, fromAreaM2: 100, toAreaM2: 4, isMovedAsWhole: false },
    ]);
    expect(difference.counts).toMatchObject({ moved: 1, reshaped: 1 });
  });

  it('of a reversed lane states the reversal', () => {
    const difference = differenceBetween(lane([0, 0], [4, 0]), lane([4, 0], [0, 0]));
    expect(difference.first[0]).toContain('lane "Treppe" (id "z-17")');
    expect(difference.first[0]).toContain('direction reversed');
    expect(difference.shapes[0]).toMatchObject({ isReversed: true, fromLengthM: 4, toLengthM: 4 });
  });

  it('distinguishes equal names by ids, and keeps text of a feature on one line', () => {
    const found = differenceBetween(
      zone(10),
      text({ type: 'Polygon', coordinates: [square(10)] }, { name: 'Tre\u202eppe\n0.000 m', x: 'a\u2028b' }),
    );
    expect(found.first).toHaveLength(1);
    expect(found.first[0]).toMatch(/^zone "Treppe" \(id "z-17"\): /);
    expect(found.first[0]).not.toMatch(/[\n\u202e\u2028]/);
  });

  it('is shown on the page and in the picture too', () => {
    const [a, b] = [zone(10), zone(2)].map((one) => readOverlays(one));
    if (a === undefined || b === undefined) throw new Error('nothing was read');
    const subject = { diff: diffOverlays(a, b), from: a, to: b, frame: null, image: null };
    const labels = { title: 'x', fromLabel: 'old', toLabel: 'new' };
    const svg = renderDiffSvg(subject, labels);
    expect(svg).toContain('Treppe (z-17): corners moved up to 5.657 m, area 100 → 4 m²');
    expect(svg).toContain('(1 in form)');
    const page = renderDiffPage(subject, { ...labels, codeBook: createCodeBook(null), warnings: [], madeAt: 'now' });
    expect(page).toContain('area 100 → 4 m²');
    expect(page).toContain('4 corners around (5, 5), 100 m²');
    expect(page).toContain('z-17');
    // No arrow: its centre is unchanged.
    expect(page).not.toContain('Black arrow');
  });

  it('of any two geometries never shows a distance of 0.000 m alone, nor that they are the same', {
    tags: 'property',
  }, () => {
    const lines = fc.array(place(), { minLength: 3, maxLength: 6 });
    const geometry = fc.oneof(
      lines.map((coordinates) => ({ type: 'LineString', coordinates })),
      lines.map((ring) => ({ type: 'Polygon', coordinates: [ring] })),
      place().map((coordinates) => ({ type: 'Point', coordinates })),
    );
    const scaled = fc.tuple(geometry, fc.constantFrom(0.2, 0.9999, -1)).map(([one, by]) => {
      const around = (value: unknown): unknown =>
        Array.isArray(value) ? value.map(around) : typeof value === 'number' ? value * by : value;
      return [one, { ...one, coordinates: around(one.coordinates) }] as const;
    });
    forAllOf(500)(fc.oneof(scaled, fc.tuple(geometry, geometry)), ([from, to]) => {
      fc.pre(JSON.stringify(from) !== JSON.stringify(to));
      const difference = differenceBetween(text(from), text(to));
      expect(difference.same).toBe(false);
      expect(difference.first).toHaveLength(1);
      expect(difference.first[0]).not.toMatch(/moved (by |up to )?0(\.0+)? m/);
      expect(differenceText(difference)).not.toMatch(/the same|^;|^\s*$/);
      expect(differenceText(difference)).toMatch(/moved|with another form|with other properties/);
    });
  });
});
