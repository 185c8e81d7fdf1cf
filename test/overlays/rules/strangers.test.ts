import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FeatureFilter, inspectOverlays, readOverlays } from '../../../src/lib/overlays/index.ts';
import type { MapFrame, Place } from '../../../src/lib/overlays/model.ts';
import { runs } from '../../properties.ts';
import { place } from '../arbitrary.ts';
import { places } from '../places.ts';

const frame: MapFrame = { originXM: -20, originYM: -20, resolutionM: 0.05, width: 800, height: 800 };
const noGo = { regionType: '1' };

let given = 0;
const feature = (geometry: unknown, properties: unknown = {}) => ({
  ...{ type: 'Feature', id: `id-${given++}`, geometry, properties },
});
const of = (type: string, coordinates: unknown, properties: unknown) => feature({ type, coordinates }, properties);
const point = (x: number, y: number, properties: object = {}) => of('Point', [x, y], { type: '30', ...properties });
const polygon = (rings: readonly unknown[], properties: unknown = noGo) => of('Polygon', rings, properties);

function findingsOf(features: readonly unknown[], filter: FeatureFilter = {}, more: object = {}) {
  const overlays = readOverlays(JSON.stringify({ type: 'FeatureCollection', features, ...more }));
  const { findings } = inspectOverlays(overlays, { frame, device: null, filter });
  // Short rings are easier to read here.
  return findings.filter(({ rule }) => rule !== 'ring-not-closed');
}
const rowsOf = (features: readonly unknown[], filter: FeatureFilter = {}, more: object = {}) =>
  findingsOf(features, filter, more).map(
    ({ severity, rule, features: about }) => `${severity} ${rule} ${about.join()}`,
  );

const shell = places('0,0 4,0 4,4 0,4 0,0');
const inner = places('1,1 3,1 3,3 1,3 1,1');
const at = (ring: readonly Place[], x: number, y = 0): Place[] => ring.map(([px, py]) => [px + x, py + y]);

describe('a further ring of a zone', () => {
  it.each<[name: string, rings: readonly Place[][], detail: string]>([
    ['that equals the outline', [shell, shell], 'Ring 2 of zone #0 "id" equals its outline.'],
    ['that equals it from another corner, backwards', [shell, places('4,4 4,0 0,0 0,4 4,4')], 'equals its outline.'],
    ['that equals it with more corners', [shell, places('0,0 2,0 4,0 4,2 4,4 0,4')], 'equals its outline.'],
    ['around it', [inner, shell], 'Ring 2 of zone #0 "id" lies around its outline.'],
    ['around it along one side', [inner, places('1,0 4,0 4,4 1,4')], 'lies around its outline.'],
    ['beside it', [shell, at(inner, 10)], 'Ring 2 of zone #0 "id" lies beside its outline.'],
    ['beside it along one side', [shell, at(shell, 4)], 'lies beside its outline.'],
    [
      'over one of its sides',
      [shell, places('2,0 6,0 6,4 2,4')],
      'Ring 2 of zone #0 "id" overlaps its outline partly.',
    ],
    [
      'in a notch of it',
      [places('0,0 9,0 9,9 6,9 6,3 3,3 3,9 0,9'), places('3,3 6,3 6,9 3,9')],
      'lies beside its outline.',
    ],
    ['inside another hole', [shell, inner, places('1.5,1.5 2,1.5 2,2')], 'Ring 3 of zone #0 "id" lies inside ring 2.'],
    ['around another hole', [shell, places('1.5,1.5 2,1.5 2,2'), inner], 'Ring 3 of zone #0 "id" lies around ring 2.'],
    ['that equals another hole', [shell, inner, inner], 'Ring 3 of zone #0 "id" equals ring 2.'],
    [
      'over another hole',
      [at(shell, 0), inner, places('2,1 3.5,1 3.5,3 2,3')],
      'Ring 3 of zone #0 "id" overlaps ring 2 partly.',
    ],
  ])('%s is no hole: wrong', (_, rings, detail) => {
    const zone = { ...polygon(rings, { regionType: 2 }), id: 'id' };
    expect(findingsOf([zone])).toMatchObject([
      { rule: 'ring-no-hole', severity: 'wrong', features: [0], detail: expect.stringContaining(detail) },
    ]);
  });

  it('that crosses another is said with both', () => {
    const zone = { ...polygon([shell, at(inner, 2.5, 0.5)], { regionType: 2 }), id: 'id' };
    const detail = 'Ring 2 of zone #0 "id" crosses its outline at (4, 1.5) m.';
    expect(findingsOf([zone])).toMatchObject([{ rule: 'zone-crosses-itself', severity: 'wrong', detail }]);
  });

  it('inside the outline is a hole, also where it touches it or another hole', () => {
    for (const rings of [
      [shell, inner],
      [shell, inner.toReversed()],
      [shell, places('0,2 1,1 1,3')],
      [shell, places('0,0 1,1 1,2 0,0')],
      [shell, places('0,1 1,1 1,2 0,2')],
      [shell, places('1,1 2,1 2,2'), places('2,2 3,2 3,3')],
      [shell, places('1,1 2,1 2,2 1,2'), places('2,1 3,1 3,2 2,2')],
    ]) {
      expect(rowsOf([polygon(rings, { regionType: 2 })]), JSON.stringify(rings)).toEqual([]);
    }
  });

  it('that is no hole has no place outside: the no-go rule takes every ring', () => {
    const middle = point(2, 2);
    const warn = (...about: number[]) => `warning point-in-no-go-zone ${about.join()}`;
    const wrong = 'wrong ring-no-hole 0';
    expect(rowsOf([polygon([shell, shell]), middle])).toEqual([wrong, warn(0, 1)]);
    expect(rowsOf([polygon([inner, at(shell, 0)]), middle, point(0.5, 0.5), point(9, 9)])).toEqual([
      wrong,
      warn(0, 1, 2),
    ]);
    expect(rowsOf([polygon([shell, at(inner, 10)]), middle, point(12, 2)])).toEqual([wrong, warn(0, 1, 2)]);
    expect(rowsOf([polygon([shell, inner, inner, at(inner, 10)]), middle])).toEqual([wrong, warn(0, 1)]);
    // A hole that is one stays one.
    expect(rowsOf([polygon([shell, inner]), middle])).toEqual([]);
    expect(rowsOf([of('MultiPolygon', [[at(shell, 9)], [shell, shell]], noGo), middle])).toEqual([
      'wrong ring-no-hole 0',
      warn(0, 1),
    ]);
  });

  it('is not needed to lose an inside: an outline that goes round twice or crosses itself keeps it', () => {
    const twice = [...shell, ...shell.slice(1)];
    expect(rowsOf([polygon([twice]), point(2, 2)])).toContain('warning point-in-no-go-zone 0,1');
    const star = places('0,3 3,-3 -3,1 3,1 -3,-3 0,3');
    expect(rowsOf([polygon([star]), point(0, 0)])).toContain('warning point-in-no-go-zone 0,1');
  });

  it('that is no hole leaves no place out of a selection, and the zone has no area', () => {
    const features = [polygon([shell, shell]), polygon([shell, inner])];
    const overlays = readOverlays(JSON.stringify({ type: 'FeatureCollection', features }));
    const near = { near: { at: [2, 2] as Place, radiusM: 0.1 } };
    expect(inspectOverlays(overlays, { frame, device: null, filter: near }).selected.map(({ index }) => index)).toEqual(
      [0],
    );
  });

  it('never hides a place that lies inside any ring, whatever the rings are, unless it is a hole', {
    tags: 'property',
  }, () => {
    const ring = fc
      .tuple(place(), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 12 }))
      .map(([[x, y], w, h]): Place[] =>
        places(`0,0 ${w},0 ${w},${h} 0,${h} 0,0`).map(([dx, dy]) => [Math.round(x / 4) + dx, Math.round(y / 4) + dy]),
      );
    type Box = readonly [number, number, number, number];
    const box = (corners: Place[]): Box => {
      const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
      return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    };
    const within = (a: Box, b: Box) => a[0] >= b[0] && a[1] >= b[1] && a[2] <= b[2] && a[3] <= b[3];
    const apart = (a: Box, b: Box) => a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
    fc.assert(
      fc.property(fc.array(ring, { minLength: 1, maxLength: 4 }), place(), (rings, [x, y]) => {
        const [first, ...others] = rings.map(box) as [Box, ...Box[]];
        const isSame = (a: Box, b: Box) => a.every((edge, nth) => edge === b[nth]);
        const areHoles =
          others.every((hole) => within(hole, first) && !isSame(hole, first)) &&
          others.every((hole, nth) => others.slice(nth + 1).every((other) => apart(hole, other)));
        const found = findingsOf([polygon(rings), point(x / 2 + 0.003, y / 2 + 0.003)]);
        const rules = found.map(({ rule }) => rule);
        expect(rules.some((rule) => rule === 'ring-no-hole' || rule === 'zone-crosses-itself')).toBe(!areHoles);
        const isIn = ([x0, y0, x1, y1]: Box) =>
          x / 2 + 0.003 > x0 && y / 2 + 0.003 > y0 && x / 2 + 0.003 < x1 && y / 2 + 0.003 < y1;
        const isInside = areHoles ? isIn(first) && !others.some(isIn) : [first, ...others].some(isIn);
        expect(rules.includes('point-in-no-go-zone')).toBe(isInside);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe('a geometry of several parts', () => {
  it('is read as its parts are: points, lanes and zones, with their numbers', () => {
    const overlays = readOverlays(
      JSON.stringify({
        type: 'FeatureCollection',
        features: [
          of('MultiPoint', places('1,1 2,2'), { type: 11 }),
          of('MultiLineString', [places('0,0 1,0'), places('5,5 5,7')], { lineType: 2 }),
          of('MultiPolygon', [[shell]], noGo),
        ],
      }),
    );
    expect(overlays.features.map(({ kind, code }) => [kind, code?.field, code?.number])).toEqual([
      ['point', 'type', 11],
      ['lane', 'lineType', 2],
      ['zone', 'regionType', 1],
    ]);
  });

  it('passes the checks of its parts: coordinates, place, picture, no-go zones', () => {
    const broken = 'wrong broken-geometry 0';
    for (const [type, coordinates] of [
      ['MultiPoint', []],
      ['MultiPoint', [[1, 1], [2]]],
      [
        'MultiPoint',
        [
          [1, 1],
          ['1', 2],
        ],
      ],
      ['MultiPoint', [1, 2]],
      ['MultiPoint', null],
      ['MultiLineString', []],
      ['MultiLineString', [places('0,0 1,0'), places('0,1')]],
      ['MultiLineString', places('0,0 1,0')],
      [
        'MultiLineString',
        [
          places('0,0 1,0'),
          [
            [0, null],
            [1, 1],
          ],
        ],
      ],
    ] as const) {
      const numbers = { type: 30, lineType: 1 };
      expect(rowsOf([of(type, coordinates, numbers)]), JSON.stringify([type, coordinates])).toContain(broken);
    }
    const huge =
      '{"type":"Feature","id":"a","properties":{"type":30},"geometry":{"type":"MultiPoint","coordinates":[[1,1],[1e999,1]]}}';
    expect(readOverlays(`[${huge}]`).features[0]?.shape.kind).toBe('broken');
    const far = (type: string, coordinates: unknown) => rowsOf([of(type, coordinates, { type: 30, lineType: 1 })]);
    expect(far('MultiPoint', places('1,1 999999,5'))).toContain('wrong coordinates-beyond-site 0');
    expect(far('MultiLineString', [places('0,0 1,0'), places('0,0 50000000,0')])).toContain(
      'wrong coordinates-beyond-site 0',
    );
    // One part outside the picture is outside, as a feature of its own would be.
    expect(far('MultiPoint', places('1,1 30,5'))).toEqual(['warning outside-picture 0']);
    expect(far('MultiLineString', [places('0,0 1,0'), places('30,0 31,0')])).toEqual(['warning outside-picture 0']);
    expect(rowsOf([of('MultiPolygon', [[shell], [at(shell, 30)]], { regionType: 2 })])).toEqual([
      'warning outside-picture 0',
    ]);
    expect(rowsOf([polygon([shell]), of('MultiPoint', places('9,9 2,2 1,1'), { type: 30 })])).toEqual([
      'warning point-in-no-go-zone 0,1',
    ]);
    expect(rowsOf([of('MultiPoint', [[1, 1, 7]], { type: 30 })])).toEqual(['note third-coordinate 0']);
  });

  it('is checked for its place also where another part is invalid, or where it is not read', () => {
    const far = 'wrong coordinates-beyond-site 0';
    const lines = [places('0,0 50000000,0'), places('0,1')];
    expect(rowsOf([of('MultiLineString', lines, { lineType: 1 })])).toEqual([
      'wrong coordinates-beyond-site 0',
      'wrong broken-geometry 0',
    ]);
    const geometries = [{ type: 'Point', coordinates: [1, -20_000] }];
    expect(rowsOf([feature({ type: 'GeometryCollection', geometries })])).toContain(far);
    const wkid = { x: 1, y: 2, spatialReference: { wkid: 25_832 } };
    expect(rowsOf([feature(wkid)])).toEqual(['not-checked unknown-geometry 0']);
  });

  it('with a third coordinate is found in a no-go zone too', () => {
    for (const height of [-50, 0.3, 50]) {
      const high = of('Point', [2, 2, height, 1], { type: 30 });
      expect(rowsOf([polygon([shell]), high])).toContain('warning point-in-no-go-zone 0,1');
    }
  });

  it('is near wherever one part is', () => {
    const features = [
      of('MultiPoint', places('9,9 1,1'), { type: 30 }),
      of('MultiLineString', [places('9,9 9,8'), places('1,1 2,1')], { lineType: 1 }),
      // Its two lines have no edge between them.
      of('MultiLineString', [places('1,-9 1,-8'), places('1,9 1,8')], { lineType: 1 }),
    ];
    const overlays = readOverlays(JSON.stringify({ type: 'FeatureCollection', features }));
    const filter = { near: { at: [1, 1] as Place, radiusM: 0.5 } };
    expect(inspectOverlays(overlays, { frame, device: null, filter }).selected.map(({ index }) => index)).toEqual([
      0, 1,
    ]);
  });
});

describe('a geometry that is not read', () => {
  const collection = { type: 'GeometryCollection', geometries: [{ type: 'Polygon', coordinates: [shell] }] };

  it.each<[unknown, string]>([
    [
      collection,
      '1 feature has the geometry "GeometryCollection", which gw neither renders nor checks: feature #0 "id".',
    ],
    [{ x: 1, y: 2 }, 'a geometry without a type'],
    [{ rings: [shell], spatialReference: { wkid: 25832 } }, 'a geometry without a type'],
    [{ type: 'polygon', coordinates: [shell] }, '"polygon"'],
    [{ type: 'Circle', coordinates: [1, 1], radius: 2 }, '"Circle"'],
    ['POINT (1 1)', 'a geometry that is not an object'],
    [null, 'no geometry'],
    [undefined, 'no geometry'],
  ])('is not checked: %j', (geometry, detail) => {
    const found = findingsOf([{ ...feature(geometry, noGo), id: 'id' }]);
    expect(found).toMatchObject([
      { rule: 'unknown-geometry', severity: 'not-checked', features: [0], detail: expect.stringContaining(detail) },
    ]);
  });

  it('stays not checked under every filter, since its place, kind and number are unknown', () => {
    const features = [feature(collection, noGo), point(1, 1), null];
    for (const filter of [
      { kinds: ['zone'] },
      { kinds: ['point'] },
      { near: { at: [1, 1], radiusM: 1 } },
      { mark: 'HINWEIS' },
      { withFindings: true },
    ] as const satisfies readonly FeatureFilter[]) {
      const rows = rowsOf(features, filter);
      expect(rows, JSON.stringify(filter)).toEqual(['wrong no-feature ', 'not-checked unknown-geometry 0']);
    }
  });

  it.each<[name: string, features: readonly unknown[], more: object, row: string, detail: string]>([
    [
      'in another member of a feature',
      [{ ...point(1, 1), area: { type: 'Polygon', coordinates: [shell] } }],
      {},
      '0',
      'feature member "area"',
    ],
    ['in a property', [point(1, 1, { outline: [collection] })], {}, '0', 'property "outline"'],
    ['beside the features', [], { zones: [polygon([shell])] }, '', 'the member "zones" of the collection'],
    [
      'in a collection among the features',
      [{ type: 'FeatureCollection', features: [polygon([shell])] }],
      {},
      '0',
      'feature member "features"',
    ],
  ])('%s is not checked', (_, features, more, about, detail) => {
    const found = findingsOf(features, {}, more).filter(({ rule }) => rule === 'geometry-elsewhere');
    expect(found).toMatchObject([{ severity: 'not-checked', detail: expect.stringContaining(detail) }]);
    expect(found[0]?.features.join()).toBe(about);
  });

  it('is not seen in members that only resemble one', () => {
    const odd = { coordinates: [1, 2], type: 'x', list: [{ type: 'Point' }], center: { coordinates: 'A1' } };
    expect(rowsOf([point(1, 1, { ...odd, type: '30' })], {}, { bbox: [0, 0, 1, 1], rackDefaults: odd })).toEqual([]);
  });
});

describe('what a feature says in a form that is not read', () => {
  it.each([['{"regionType":1}'], [[{ regionType: 1 }]], [7], [true]])(
    'properties as %j are not checked',
    (properties) => {
      expect(rowsOf([polygon([shell], properties)])).toContain('not-checked properties-unread 0');
    },
  );

  it('missing properties are none', () => {
    expect(rowsOf([polygon([shell], null)])).toEqual(['warning code-missing 0']);
  });

  it('a number of zones on a line or a point, and of lanes on a zone, is not checked', () => {
    const closedLine = of('LineString', shell, noGo);
    expect(findingsOf([closedLine])).toMatchObject([
      {
        ...{ rule: 'code-of-another-kind', severity: 'not-checked', features: [0] },
        detail: expect.stringContaining(`1 lane has regionType "1" instead of lineType`),
      },
    ]);
    expect(rowsOf([point(1, 1, { type: null, regionType: 1, radius: 2 })])).toContain(
      'not-checked code-of-another-kind 0',
    );
    expect(rowsOf([polygon([shell], { lineType: '2' })])).toContain('not-checked code-of-another-kind 0');
    // Beside the number of its own kind it is carried through.
    expect(rowsOf([polygon([shell], { regionType: 2, lineType: '2' })])).toEqual([]);
  });
});

describe('lanes', () => {
  it('of no length are a finding, each part for itself', () => {
    const lineType = { lineType: 1 };
    expect(rowsOf([of('LineString', places('1,1 1,1'), lineType)])).toEqual(['warning lane-tiny 0']);
    expect(rowsOf([of('LineString', places('1,1 1.005,1 1,1'), lineType)])).toEqual(['warning lane-tiny 0']);
    expect(rowsOf([of('MultiLineString', [shell, places('1,1 1,1')], lineType)])).toEqual(['warning lane-tiny 0']);
    expect(rowsOf([of('LineString', places('1,1 1.02,1'), lineType)])).toEqual([]);
  });
});

describe('names of points', () => {
  const named = (...names: unknown[]) => names.map((name, nth) => point(nth, 1, { name }));

  it.each([
    [
      ['Küche', 'Küche', 'Ku\u0308che'],
      [0, 1, 2],
    ],
    [
      ['Bar', 'BAR', 'Lobby'],
      [0, 1],
    ],
    [
      ['Straße', 'STRASSE'],
      [0, 1],
    ],
    [
      ['Zimmer 1', ' Zimmer\u00a0 1 '],
      [0, 1],
    ],
    [
      ['A\u200b', 'A'],
      [0, 1],
    ],
    [
      ['Ａ１', 'A1'],
      [0, 1],
    ],
    [
      [101, '101'],
      [0, 1],
    ],
  ])('that read the same are a finding: %j', (names, about) => {
    const found = findingsOf(named(...names)).filter(({ rule }) => rule === 'name-not-unique');
    expect(found).toMatchObject([{ severity: 'warning', features: about }]);
  });

  it('that differ, are missing, or are of a zone, a lane or the two items of a charging station are none', () => {
    const pair = [
      { ...point(1, 1, { type: 9, name: 'dock', dockingPointId: 'd' }), id: 'c' },
      { ...point(2, 1, { type: 36, name: 'dock' }), id: 'd' },
    ];
    const zones = [polygon([shell], { regionType: 2, name: 'A' }), polygon([shell], { regionType: 2, name: 'A' })];
    expect(rowsOf([...named('A', 'B', 'Ä', '', '', null), ...pair, ...zones])).toEqual([]);
  });
});
