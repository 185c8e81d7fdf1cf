import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DeviceEvidence, findFact } from '../../../src/lib/evidence/index.ts';
import { createCodeBook } from '../../../src/lib/overlays/codes.ts';
import { chargerPairs } from '../../../src/lib/overlays/inspect/chargers.ts';
import { severities } from '../../../src/lib/overlays/kinds.ts';
import type { MapFrame, OverlayFinding, Place } from '../../../src/lib/overlays/model.ts';
import { readOverlays } from '../../../src/lib/overlays/read/read.ts';
import { findMeeting } from '../../../src/lib/overlays/rules/edges.ts';
import { findFaults } from '../../../src/lib/overlays/rules/faults.ts';
import { createBudget } from '../../../src/lib/overlays/rules/input.ts';
import { scatter } from '../../../src/lib/overlays/rules/no-go.ts';
import { likelyTurnDeg } from '../../../src/lib/overlays/rules/properties.ts';
import { type OverlayRuleId, overlayRules } from '../../../src/lib/overlays/rules/table.ts';
import { runs } from '../../properties.ts';
import { collectionText, oddCollection, plainCollection } from '../arbitrary.ts';

interface Options {
  readonly frame?: MapFrame | null;
  readonly device?: DeviceEvidence;
  readonly steps?: number;
}

/** The picture of a floor of 40 m by 40 m around the origin. */
const frame: MapFrame = { originXM: -20, originYM: -20, resolutionM: 0.05, width: 800, height: 800 };

function faultsOf(features: readonly unknown[], { frame: of = frame, device, steps }: Options = {}): OverlayFinding[] {
  return faultsOfText(JSON.stringify({ type: 'FeatureCollection', features }), {
    frame: of,
    ...(device && { device }),
    ...(steps !== undefined && { steps }),
  });
}

function faultsOfText(text: string, { frame: of = frame, device, steps }: Options = {}): OverlayFinding[] {
  const overlays = readOverlays(text);
  const codeBook = createCodeBook(device ?? null);
  const pairs = chargerPairs(overlays, codeBook);
  return findFaults(overlays, { frame: of, codeBook, pairs, ...(steps !== undefined && { steps }) });
}

function rulesOf(findings: readonly OverlayFinding[]): string[] {
  return findings.map(({ rule }) => rule);
}

function only(findings: readonly OverlayFinding[], rule: OverlayRuleId): OverlayFinding {
  const found = findings.filter((finding) => finding.rule === rule);
  expect(found).toHaveLength(1);
  return found[0] as OverlayFinding;
}

let given = 0;
function feature(geometry: unknown, properties: object, id: unknown = `id-${given++}`): object {
  return { ...(id !== undefined && { id }), type: 'Feature', geometry, properties };
}
const point = (at: readonly number[], properties: object = { type: '30' }, id?: unknown) =>
  feature({ type: 'Point', coordinates: at }, properties, id ?? `id-${given++}`);
const zone = (ring: readonly unknown[], properties: object = { regionType: 2 }, id?: unknown) =>
  feature({ type: 'Polygon', coordinates: [ring] }, properties, id ?? `id-${given++}`);
const lane = (line: readonly unknown[], properties: object = { lineType: '1' }) =>
  feature({ type: 'LineString', coordinates: line }, properties);

const square: Place[] = [
  [0, 0],
  [4, 0],
  [4, 3],
  [0, 3],
  [0, 0],
];
const bowTie: Place[] = [
  [0, 0],
  [4, 3],
  [4, 0],
  [0, 3],
  [0, 0],
];
/** Touches itself at (2, 0). */
const pinched: Place[] = [
  [0, 0],
  [2, 0],
  [4, 0],
  [4, 3],
  [2, 0],
  [0, 3],
  [0, 0],
];

/** For each rule of the table a map that violates it, and no other rule. */
interface Broken {
  readonly features: readonly unknown[];
  readonly options?: Options;
  readonly asList?: boolean;
  /** The whole text, where `features` cannot say it. */
  readonly text?: string;
}

const broken: Readonly<Record<OverlayRuleId, Broken>> = {
  'not-a-feature-collection': { features: [point([1, 1])], asList: true },
  'no-overlays': { features: [], text: '{"map_name":"1","grid_resolution":0.05,"overlays":null}' },
  'no-feature': { features: [null, point([1, 1]), 7, []] },
  'broken-geometry': { features: [point([1])] },
  'unknown-geometry': { features: [feature({ type: 'MultiPoint', coordinates: [[1, 2]] }, {})] },
  'duplicate-id': { features: [point([1, 1], { type: 30 }, 'a'), point([2, 2], { type: 30 }, 'a')] },
  'missing-id': {
    features: [{ type: 'Feature', geometry: { type: 'Point', coordinates: [1, 1] }, properties: { type: 30 } }],
  },
  'id-not-text': { features: [point([1, 1], { type: 30 }, 17)] },
  'id-loses-digits': { features: [point([1, 1], { type: 30 }, 12345678901234567000)] },
  'code-not-whole': { features: [point([1, 1], { type: '30.5' })] },
  'code-missing': { features: [zone(square, {})] },
  'code-unknown': { features: [point([1, 1], { type: 30, startType: 1 })] },
  'yaw-not-a-number': { features: [point([1, 1], { type: 30, yaw: 'north' })] },
  'yaw-like-radians': { features: [point([1, 1], { type: 30, yaw: '1.5708' })] },
  'yaw-beyond-turn': { features: [point([1, 1], { type: 30, yaw: 900 })] },
  'outside-picture': { features: [point([20.1, 0])] },
  'picture-not-checked': { features: [point([1, 1])], options: { frame: null } },
  'coordinates-like-longitude-latitude': {
    features: [point([8.68213, 50.11097]), point([8.68241, 50.11102]), point([8.68199, 50.1109])],
    options: { frame: { originXM: 0, originYM: 0, resolutionM: 0.05, width: 2000, height: 2000 } },
  },
  'coordinates-beyond-site': {
    features: [point([476_000, 5_550_000]), point([1, 1])],
    options: { frame: { originXM: -1e6, originYM: -1e6, resolutionM: 10_000, width: 800, height: 800 } },
  },
  'foreign-reference-system': {
    features: [],
    text: JSON.stringify({
      type: 'FeatureCollection',
      crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::25832' } },
      features: [point([1, 1])],
    }),
  },
  'third-coordinate': { features: [point([1, 1, 0.2])] },
  'point-in-no-go-zone': { features: [zone(square, { regionType: '1' }), point([1, 1])] },
  'zone-crosses-itself': { features: [zone(bowTie)] },
  'zone-touches-itself': { features: [zone(pinched)] },
  'zone-tiny': {
    features: [
      zone([
        [0, 0],
        [0.05, 0],
        [0.05, 0.05],
        [0, 0],
      ]),
    ],
  },
  'ring-not-closed': { features: [zone(square.slice(0, 4))] },
  'charger-without-partner': { features: [point([1, 1], { type: 9, dockingPointId: 'gone' })] },
  'docking-point-without-charger': { features: [point([1, 1], { type: 36 })] },
  'docking-point-shared': {
    features: [
      point([1, 1], { type: 9, dockingPointId: 'd' }),
      point([1, 2], { type: 9, dockingPointId: 'd' }),
      point([1, 3], { type: 36 }, 'd'),
    ],
  },
  'charger-shared': {
    features: [
      point([1, 1], { type: 9, dockingPointId: 'd' }, 'c'),
      point([1, 2], { type: 36 }, 'd'),
      point([1, 3], { type: 36, dockingPointId: 'c' }, 'e'),
    ],
  },
  'docking-reference-unresolved': {
    features: [
      point([1, 1], { type: 9, dockingPointId: 'gone' }, 'c'),
      point([1, 2], { type: 36, dockingPointId: 'c' }, 'd'),
    ],
  },
  'door-without-controller': { features: [zone(square, { regionType: 5 })] },
  'speed-limit-uninterpreted': { features: [zone(square, { regionType: 2, maxSpeed: 0.4 })] },
  'name-with-control-characters': { features: [point([1, 1], { type: 30, name: 'A\u0007' })] },
  'not-finished': { features: [zone(wheel(200)), point([1, 1])], options: { steps: 20 } },
};

/** A ring of many corners whose radius goes up and down. */
function wheel(corners: number): Place[] {
  const ring = Array.from({ length: corners }, (_, nth): Place => {
    const turn = (2 * Math.PI * nth) / corners;
    const far = nth % 2 === 0 ? 9 : 8.9;
    return [far * Math.cos(turn), far * Math.sin(turn)];
  });
  return [...ring, ring[0] as Place];
}

describe('the rule table', () => {
  it.each(Object.keys(overlayRules) as OverlayRuleId[])(
    '%s is found where it is violated, and nothing else is',
    (id) => {
      const { features, options, asList = false, text } = broken[id];
      const whole = text ?? (asList ? JSON.stringify(features) : null);
      const findings = whole === null ? faultsOf(features, options) : faultsOfText(whole, options);
      expect(rulesOf(findings)).toEqual([id]);
      const { severity, remedy } = overlayRules[id];
      expect(findings[0]).toMatchObject({ severity, remedy });
    },
  );

  it('has a remedy for each rule, and only facts of the ledger', () => {
    for (const [id, { remedy, fact, severity }] of Object.entries(overlayRules)) {
      expect(id).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(remedy).toMatch(/^[\p{Lu}`].*\.$/su);
      expect(severities).toContain(severity);
      if (fact !== undefined) expect(findFact(fact)?.id).toBe(fact);
    }
  });

  it('has no rule of severity wrong that relies on a vendor reading', () => {
    for (const { severity, fact } of Object.values(overlayRules)) {
      if (severity === 'wrong' && fact !== undefined) expect(findFact(fact)?.mark).toBe('BELEGT');
    }
  });

  it('finds nothing in a valid map', () => {
    const findings = faultsOf([
      point([1, 1], { type: '9', name: 'dock', yaw: 45, dockingPointId: 'd' }),
      point([1.9, 1], { type: 36, yaw: '-135' }, 'd'),
      point([-5, -5], { type: '11', name: 'Küche 👩‍🚀', yaw: '-82.5', iconYaw: -164.5 }),
      zone(square, { regionType: '4', mac: '30:AE:A4:00:00:01' }),
      zone(
        [
          [10, 10],
          [12, 10],
          [12, 12],
          [10, 12],
          [10, 10],
        ],
        { regionType: 1 },
      ),
      lane([
        [0, 0],
        [5, 5],
      ]),
    ]);
    expect(findings).toEqual([]);
  });

  it('sorts by severity, then by index', () => {
    const findings = faultsOf(
      Object.values(broken).flatMap(({ features }) => features),
      { frame: null },
    );
    const ranks = findings.map(({ severity }) => severities.indexOf(severity));
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
    for (const severity of severities) {
      const firsts = findings.filter((it) => it.severity === severity).map(({ features }) => features[0] ?? -1);
      expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
      expect(firsts.length).toBeGreaterThan(0);
    }
  });
});

describe('identifiers', () => {
  it('that several features share are one finding for any number of features', () => {
    const findings = faultsOf(Array.from({ length: 300 }, () => point([1, 1], { type: 30 }, 'same')));
    const { features, detail } = only(findings, 'duplicate-id');
    expect(features).toHaveLength(300);
    expect(detail).toBe(
      '300 features have the id "same": point #0 "same", point #1 "same", point #2 "same", point #3 "same", point #4 "same" and 295 more.',
    );
  });

  it('are equal as number and as string, since references do not distinguish them', () => {
    const findings = faultsOf([point([1, 1], { type: 30 }, 7), point([2, 2], { type: 30 }, '7')]);
    expect(rulesOf(findings)).toEqual(['duplicate-id', 'id-not-text']);
  });

  it('that are missing are one finding, whether absent, null or empty', () => {
    const features = [undefined, null, ''].map((id) => ({
      id,
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [1, 1] },
      properties: { type: 30 },
    }));
    expect(only(faultsOf(features), 'missing-id').features).toEqual([0, 1, 2]);
  });

  it('named like built-in properties are ordinary ids', () => {
    const names = ['__proto__', 'constructor', 'toString'];
    expect(faultsOf(names.map((name) => point([1, 1], { type: 30 }, name)))).toEqual([]);
    expect(
      only(faultsOf([1, 2].map((x) => point([x, 1], { type: 30 }, '__proto__'))), 'duplicate-id').features,
    ).toEqual([0, 1]);
  });

  it('keep their index in the collection behind entries that are not features', () => {
    const findings = faultsOf([null, point([1, 1], { type: 30 }, 'a'), 3, point([1, 1], { type: 30 }, 'a')]);
    expect(only(findings, 'duplicate-id').detail).toBe('2 features have the id "a": point #1 "a", point #3 "a".');
    expect(only(findings, 'no-feature')).toMatchObject({ features: [], detail: '2 entries are not objects: #0, #2.' });
  });
});

describe('headings', () => {
  it.each([
    ['1.5708', 90],
    ['1.57', 90],
    [1.5707963267948966, 90],
    [1.5707963705062866, 90],
    ['-3.14159', -180],
    ['3.142', 180],
    ['0.785', 45],
    ['0.79', 45],
    [0.7854, 45],
    [6.2832, 360],
    ['0.2618', 15],
    [' 2.356 ', 135],
  ])('%s looks like radians', (written, turn) => {
    expect(likelyTurnDeg(Number(written), written)).toBe(turn);
  });

  it.each([
    0,
    '0',
    '0.00',
    1,
    '3',
    90,
    '45',
    -82,
    '1.5',
    '1.0',
    0.5,
    '2.25',
    '0.26',
    '12.566',
    1.6,
    '-82.5',
    0.001,
    1e-9,
  ])('%s looks like degrees', (written) => {
    expect(likelyTurnDeg(Number(written), written)).toBeNull();
  });

  it('in whole degrees are never suspected', () => {
    for (let yaw = -720; yaw <= 720; yaw += 1) expect(likelyTurnDeg(yaw, String(yaw))).toBeNull();
  });

  it('in radians to four digits are suspected for every multiple of 15 degrees', () => {
    for (let turn = -360; turn <= 360; turn += 15) {
      if (turn === 0) continue;
      const written = ((turn * Math.PI) / 180).toFixed(4);
      expect(likelyTurnDeg(Number(written), written)).toBe(turn);
    }
  });

  it('are suspected with the reason', () => {
    const { detail, mark, severity } = only(
      faultsOf([point([1, 1], { type: 30, name: 'A', yaw: '1.5708' })]),
      'yaw-like-radians',
    );
    expect(detail).toBe('yaw of point #0 "A" may be in radians: 1.5708 rad equals 90 degrees to the written digits.');
    expect([mark, severity]).toEqual([null, 'warning']);
  });

  it('of icons are checked as well, and one turn is allowed', () => {
    const findings = faultsOf([
      point([1, 1], { type: 30, yaw: 360, iconYaw: [90] }),
      point([1, 1], { type: 30, yaw: '-360.5' }),
    ]);
    expect(findings.map(({ rule, detail }) => [rule, detail])).toEqual([
      ['yaw-not-a-number', expect.stringContaining('is an array, which is not a number of degrees')],
      ['yaw-beyond-turn', expect.stringContaining('-360.5 degrees')],
    ]);
  });
});

describe('codes', () => {
  it('of unknown meaning are one finding for each number, with all features that carry it', () => {
    const lanes = Array.from({ length: 10_000 }, (_, nth) =>
      lane(
        [
          [0, 0],
          [1, 1],
        ],
        { lineType: 1, direction: nth % 2 === 0 ? 3 : '3' },
      ),
    );
    const { features, detail, mark } = only(faultsOf(lanes), 'code-unknown');
    expect(features).toHaveLength(10_000);
    expect(detail).toMatch(/^10000 features carry direction 3, whose meaning is unknown: lane #0 .* and 9995 more\.$/);
    expect(mark).toBe('OFFEN');
  });

  it('with any reading are known, whatever its mark', () => {
    expect(faultsOf([point([1, 1], { type: 11 }), point([1, 1], { type: 38 })])).toEqual([]);
    expect(rulesOf(faultsOf([point([1, 1], { type: 40 }), zone(square, { regionType: 18 })]))).toEqual([
      'code-unknown',
      'code-unknown',
    ]);
  });

  it('that are missing are counted by kind', () => {
    const findings = faultsOf([point([1, 1], {}), zone(square, { type: 3 }), point([1, 1], { type: null })]);
    expect(findings.map(({ rule, detail, features }) => [rule, detail, features])).toEqual([
      ['code-missing', expect.stringMatching(/^2 points have no type: /), [0, 2]],
      ['code-missing', expect.stringMatching(/^1 zone has no regionType: /), [1]],
    ]);
  });
});

describe('coordinates', () => {
  const crs = { type: 'name', properties: { name: 'EPSG:25832' } };

  it('beyond ±10 km are wrong, at the bound they are not, wherever in a feature they are', () => {
    const far = { frame: null };
    for (const value of [10_001, -10_000.001, 1e308, -1e308]) {
      const ring = [
        [0, 0],
        [value, 0],
        [1, 5],
        [0, 0],
      ];
      for (const one of [
        point([value, 1]),
        point([1, value]),
        lane([
          [0, 0],
          [1, value],
        ]),
        zone(ring),
      ]) {
        const { severity, detail, features } = only(faultsOf([point([1, 1]), one], far), 'coordinates-beyond-site');
        expect([severity, features]).toEqual(['wrong', [1]]);
        expect(detail).toMatch(/^1 feature has a place beyond ±10 km, read as metres of the map: /);
      }
    }
    expect(rulesOf(faultsOf([point([10_000, -10_000])], far))).toEqual(['picture-not-checked']);
  });

  it('in another reference system are named, whether the collection, a feature or a geometry says so', () => {
    const within = feature({ type: 'Point', coordinates: [1, 1], crs }, { type: 30 });
    const beside = { ...point([1, 1]), crs: 'EPSG:3857' };
    const { detail, features } = only(faultsOf([point([1, 1]), within, beside]), 'foreign-reference-system');
    expect(features).toEqual([1, 2]);
    expect(detail).toMatch(/^2 features have the member crs, "EPSG:25832" for the first: /);
    const whole = faultsOfText(JSON.stringify({ type: 'FeatureCollection', crs, features: [] }));
    expect(only(whole, 'foreign-reference-system').detail).toBe('The collection has the member crs "EPSG:25832".');
    expect(faultsOfText(JSON.stringify({ type: 'FeatureCollection', crs: null, features: [] }))).toEqual([]);
    for (const odd of [7, [], {}, { properties: { name: {} } }]) {
      const text = JSON.stringify({ type: 'FeatureCollection', crs: odd, features: [] });
      expect(rulesOf(faultsOfText(text))).toEqual(['foreign-reference-system']);
    }
  });

  it('of more than two numbers are one finding, and are read by their first two', () => {
    const findings = faultsOf([
      point([1, 1, 0]),
      lane([
        [0, 0],
        [1, 1, 2],
      ]),
      zone(square),
      point([1, 1]),
    ]);
    expect(only(findings, 'third-coordinate').features).toEqual([0, 1]);
  });
});

describe('a map without overlays', () => {
  it.each([
    ['null', '{"map_name":"1","grid_resolution":0.05,"overlays":null}', '`overlays` is null'],
    ['an empty text', '{"map_name":"1","grid_resolution":0.05,"overlays":""}', '`overlays` is an empty text'],
    ['blanks', '{"map_name":"1","grid_resolution":0.05,"overlays":" \\n"}', '`overlays` is an empty text'],
    ['nothing', '{"map_name":"1","grid_resolution":0.05}', '`overlays` is missing'],
    ['an empty object', '{"map_name":"1","grid_resolution":0.05,"overlays":{}}', '`overlays` is empty'],
  ])('where they are %s is noted', (_, text, why) => {
    expect(faultsOfText(text)).toMatchObject([
      { rule: 'no-overlays', severity: 'note', detail: `The map has no overlays: ${why}.` },
    ]);
  });

  it('is not one whose collection is empty', () => {
    expect(faultsOfText('{"overlays":"{\\"type\\":\\"FeatureCollection\\",\\"features\\":[]}"}')).toEqual([]);
  });
});

describe('a zone of several polygons', () => {
  const other = square.map(([x, y]): Place => [x + 10, y]);
  const multi = (polygons: unknown, properties: object = { regionType: '1' }) =>
    feature({ type: 'MultiPolygon', coordinates: polygons }, properties);

  it('is a zone with its regionType: points inside any of them are found, those between are not', () => {
    const features = [multi([[square], [other]]), point([1, 1]), point([11, 1]), point([7, 1])];
    expect(only(faultsOf(features), 'point-in-no-go-zone').features).toEqual([0, 1, 2]);
    expect(rulesOf(faultsOf(features))).toEqual(['point-in-no-go-zone']);
  });

  it('that overlap has no gap where they do, and a hole of one is none of the other', () => {
    const hole = [
      [1, 1],
      [2, 1],
      [2, 2],
      [1, 1],
    ];
    const overlap = square.map(([x, y]): Place => [x + 2, y + 1]);
    const findings = faultsOf([multi([[square], [overlap]]), point([3, 2])]);
    expect(only(findings, 'point-in-no-go-zone').features).toEqual([0, 1]);
    const within = faultsOf([multi([[square, hole], [square]]), point([1.5, 1.2])]);
    expect(only(within, 'point-in-no-go-zone').features).toEqual([0, 1]);
  });

  it('is checked as the zone of one polygon is', () => {
    const found = (polygons: unknown, properties = { regionType: '2' }) =>
      rulesOf(faultsOf([multi(polygons, properties)]));
    expect(found([[square], [bowTie]])).toEqual(['zone-crosses-itself']);
    expect(found([[pinched], [bowTie]])).toEqual(['zone-crosses-itself']);
    expect(found([[square], [other.slice(0, 4)]])).toEqual(['ring-not-closed']);
    expect(found([])).toEqual(['broken-geometry']);
    expect(found([square])).toEqual(['broken-geometry']);
    expect(found([[square], [[[0, 0]]]])).toEqual(['broken-geometry']);
    expect(found([[square]], { regionType: 'no' })).toEqual(['code-not-whole']);
  });

  it('terminates for very many polygons and points', { timeout: 120_000 }, () => {
    const many = Array.from({ length: 150_000 }, (_, nth) => [
      square.map(([x, y]): Place => [x / 20 + nth / 1e4, y / 20]),
    ]);
    const points = Array.from({ length: 2_000 }, (_, nth) => point([nth / 200, 0.1]));
    const findings = faultsOf([multi(many), ...points]);
    for (const rule of rulesOf(findings)) expect(['point-in-no-go-zone', 'not-finished']).toContain(rule);
    expect(findings).not.toEqual([]);
  });
});

describe('ids as numbers', () => {
  const text = (features: string) => `{"type":"FeatureCollection","features":[${features}]}`;
  const at = (id: string, more: string) =>
    `{"type":"Feature","id":${id},"geometry":{"type":"Point","coordinates":[1,1]},"properties":{${more}}}`;

  it('keep every digit: two that are one when parsed stay two, and references find theirs', () => {
    const charger = at('12345678901234567891', '"type":9,"dockingPointId":12345678901234567892');
    const dock = at('12345678901234567892', '"type":36');
    const findings = faultsOfText(text(`${charger},${dock}`));
    expect(rulesOf(findings)).toEqual(['id-loses-digits', 'id-loses-digits', 'id-loses-digits']);
    expect(findings.map(({ detail }) => detail)).toContain(
      'id of point #0 is the number 12345678901234567891, which most programs read as 12345678901234567000.',
    );
    expect(readOverlays(text(`${charger},${dock}`)).features).toMatchObject([
      { id: '12345678901234567891', partnerId: '12345678901234567892' },
      { id: '12345678901234567892' },
    ]);
    expect(rulesOf(faultsOfText(text(at('"12345678901234567891"', '"type":30'))))).toEqual([]);
    expect(readOverlays(at('12345678901234567893', '"type":30')).features[0]?.id).toBe('12345678901234567893');
  });

  it('are as written for any whole number', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (id) => {
        expect(readOverlays(text(at(String(id), '"type":30'))).features[0]?.id).toBe(String(id));
      }),
    );
  });
});

describe('names', () => {
  it.each(['A\u200b', '\ufeffA', 'A\u00adB', 'A\u2060B', 'A\u200dB', 'Zimmer\u200c 1', '\u3164'])(
    'with a character of no width are found: %j',
    (name) => {
      expect(rulesOf(faultsOf([point([1, 1], { type: 30, name })]))).toEqual(['name-with-control-characters']);
    },
  );

  it.each(['👩‍🚀', 'می‌خواهم', 'Küche', 'naïve – 2'])('without one are not: %j', (name) => {
    expect(faultsOf([point([1, 1], { type: 30, name })])).toEqual([]);
  });
});

describe('the picture', () => {
  it('includes its edges, and lanes and zones with any part in it', () => {
    const findings = faultsOf([
      point([-20, -20]),
      point([20, 20]),
      lane([
        [-30, 0],
        [30, 0],
      ]),
      zone([
        [-50, -50],
        [50, -50],
        [50, 50],
        [-50, 50],
        [-50, -50],
      ]),
      point([-20.001, 0]),
      lane([
        [21, 0],
        [30, 0],
      ]),
      zone([
        [0, 21],
        [1, 21],
        [1, 22],
        [0, 21],
      ]),
    ]);
    const { features, mark, detail } = only(findings, 'outside-picture');
    expect([features, mark]).toEqual([[4, 5, 6], 'HINWEIS']);
    expect(detail).toContain('(x -20 to 20 m, y -20 to 20 m)');
  });

  it('when missing is one finding, and none where no feature has a place', () => {
    const unknownSize = { ...frame, width: null, height: null };
    expect(
      only(faultsOf([point([1, 1]), point([99, 1])], { frame: unknownSize }), 'picture-not-checked'),
    ).toMatchObject({
      features: [],
      severity: 'not-checked',
      detail: 'Not checked whether the features lie within the picture: its size is unknown.',
    });
    expect(faultsOf([], { frame: null })).toEqual([]);
  });
});

describe('no-go zones', () => {
  const record = (fact: string, value: unknown) => ({
    fact,
    value,
    how: 'drove up to it',
    who: 'A. Technician',
    when: '2026-01-31T12:00:00Z',
    serial: 'SN0001',
    software: '2.12.3',
  });
  const device = (fact: string, value: unknown): DeviceEvidence => ({
    serial: 'SN0001',
    software: '2.12.3',
    records: [record(fact, value) as DeviceEvidence['records'][number]],
  });

  it('have the mark of the vendor reading', () => {
    const features = [
      zone(square, { regionType: 1, name: 'Pool' }),
      point([1, 1], { type: 30, name: 'A' }),
      point([9, 9]),
    ];
    expect(only(faultsOf(features), 'point-in-no-go-zone')).toMatchObject({
      severity: 'warning',
      mark: 'HINWEIS',
      features: [0, 1],
      detail:
        '1 point lies inside zone #0 "Pool", whose regionType 1 is read as \'no-go zone\' (HINWEIS, vendor SDK): point #1 "A".',
    });
  });

  it('are BELEGT where that was verified on this device, and none where it was contradicted', () => {
    const features = [zone(square, { regionType: 1 }), point([1, 1])];
    const region = 'vendor.overlays.region-types';
    expect(only(faultsOf(features, { device: device(region, { 1: 'no-go zone' }) }), 'point-in-no-go-zone').mark).toBe(
      'BELEGT',
    );
    expect(rulesOf(faultsOf(features, { device: device(region, { 1: 'lawn' }) }))).not.toContain('point-in-no-go-zone');
    const measured = device('overlays.no-go-region-type', 7);
    const seven = [zone(square, { regionType: 7 }), point([1, 1])];
    expect(rulesOf(faultsOf(seven, { device: measured }))).toContain('point-in-no-go-zone');
  });

  it('count a point for the first zone that contains it', () => {
    const features = [
      point([1, 1]),
      zone(square, { regionType: 1 }),
      zone(square, { regionType: 1 }),
      point([2, 2]),
      point([4, 3]),
    ];
    expect(only(faultsOf(features), 'point-in-no-go-zone').features).toEqual([0, 1, 3, 4]);
  });

  it('do not contain points in their holes or between their arms', () => {
    const cup: Place[] = [
      [0, 0],
      [9, 0],
      [9, 9],
      [6, 9],
      [6, 3],
      [3, 3],
      [3, 9],
      [0, 9],
      [0, 0],
    ];
    const holed = feature(
      {
        type: 'Polygon',
        coordinates: [
          square,
          [
            [1, 1],
            [2, 1],
            [2, 2],
            [1, 2],
            [1, 1],
          ],
        ],
      },
      { regionType: 1 },
    );
    expect(faultsOf([zone(cup, { regionType: 1 }), point([4.5, 6])])).toEqual([]);
    expect(faultsOf([holed, point([1.5, 1.5])])).toEqual([]);
  });
});

describe('outlines', () => {
  const meeting = (...rings: Place[][]) => {
    const found = findMeeting(rings, createBudget(1000));
    return found === null || found === 'not-finished' ? found : found.how;
  };

  it('of ordinary zones have no self-intersection', () => {
    for (const ring of [square, square.slice(0, 4), square.toReversed(), wheel(64), wheel(400)]) {
      expect(findMeeting([ring], createBudget(100_000))).toBeNull();
    }
    expect(meeting([...square.slice(0, 2), [4, 0], [4, 1], ...square.slice(2)])).toBeNull();
    expect(meeting([])).toBeNull();
  });

  it('that cross, touch or run back along themselves are distinguished', () => {
    expect(meeting(bowTie)).toBe('crosses');
    expect(meeting(bowTie.toReversed())).toBe('crosses');
    expect(meeting(pinched)).toBe('touches');
    expect(
      meeting([
        [0, 0],
        [4, 0],
        [4, 3],
        [4, -1],
        [0, -1],
      ]),
    ).toBe('touches');
    expect(
      meeting([
        [0, 0],
        [1, 0],
        [2, 0],
      ]),
    ).toBe('touches');
    // Two turns in one direction.
    expect(
      meeting([
        [0, 0],
        [4, 0],
        [4, 4],
        [0, 4],
        [0.5, 0.5],
        [3, 1],
        [3, 3],
        [1, 3],
      ]),
    ).toBe('crosses');
  });

  it('of several rings may touch, not cross', () => {
    expect(
      meeting(square, [
        [0, 1],
        [1, 1],
        [1, 2],
      ]),
    ).toBeNull();
    expect(
      meeting(square, [
        [-1, 1],
        [1, 1],
        [1, 2],
      ]),
    ).toBe('crosses');
  });

  it('crossing in a corner count as touching, with the place', () => {
    const { detail } = only(faultsOf([zone(pinched, { regionType: 2, name: 'Z' })]), 'zone-touches-itself');
    expect(detail).toBe('The outline of zone #0 "Z" touches itself at (2, 0) m.');
  });

  it('that cross are not called tiny, though their halves cancel out', () => {
    expect(
      rulesOf(
        faultsOf([
          zone([
            [0, 0],
            [1, 1],
            [1, 0],
            [0, 1],
            [0, 0],
          ]),
        ]),
      ),
    ).toEqual(['zone-crosses-itself']);
  });

  it('are judged the same with many corners as with few', () => {
    const fine = (ring: Place[]): Place[] =>
      ring.flatMap((corner, nth) => {
        const next = ring[(nth + 1) % ring.length] ?? corner;
        return Array.from({ length: 32 }, (_, part): Place => {
          return [corner[0] + ((next[0] - corner[0]) * part) / 32, corner[1] + ((next[1] - corner[1]) * part) / 32];
        });
      });
    const corner = fc.tuple(fc.integer({ min: 0, max: 8 }), fc.integer({ min: 0, max: 8 }));
    fc.assert(
      fc.property(fc.array(corner, { minLength: 3, maxLength: 7 }), (ring) => {
        const withFew = findMeeting([ring], createBudget(1e6));
        const many = findMeeting([fine(ring)], createBudget(1e6));
        expect(many === null).toBe(withFew === null);
      }),
    );
  });

  it('are judged the same with their axes exchanged', () => {
    const corner = fc.tuple(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 5 }));
    fc.assert(
      fc.property(fc.array(corner, { minLength: 3, maxLength: 30 }), (ring) => {
        const exchanged = ring.map(([x, y]): Place => [y, x]);
        const found = [ring, exchanged].map((corners) => findMeeting([corners], createBudget(1e6)));
        const [one, other] = found.map((meeting) => (meeting === 'not-finished' ? meeting : meeting?.how));
        expect(one).toBe(other);
      }),
    );
  });
});

describe('chargers and door zones', () => {
  it('are vendor readings, so the findings have their mark', () => {
    const findings = faultsOf([point([1, 1], { type: 9 }), zone(square, { regionType: 4, mac: ' ' })]);
    expect(findings.map(({ rule, mark, detail }) => [rule, mark, detail])).toEqual([
      [
        'charger-without-partner',
        'HINWEIS',
        expect.stringContaining('refers to no docking point, and no docking point refers to it.'),
      ],
      ['door-without-controller', 'HINWEIS', expect.stringContaining('and its mac is " ".')],
    ]);
  });
});

describe('coordinates that look like longitude and latitude', () => {
  const isHinted = (features: readonly unknown[]) =>
    faultsOf(features, { frame: null }).some(({ rule }) => rule === 'coordinates-like-longitude-latitude');
  const around = (x: number, y: number, spread: number) =>
    [0, 0.3, 1].map((part) => point([x + part * spread, y - part * spread * 0.7]));

  it('are suspected for a site anywhere on land, in either axis order, with zones and lines', () => {
    for (const [longitude, latitude] of [
      [8.682, 50.111],
      [-73.985, 40.748],
      [151.215, -33.857],
      [6.73, 0.33],
      [-179.9, -16.5],
    ] as const) {
      expect(isHinted(around(longitude, latitude, 0.001))).toBe(true);
      expect(isHinted(around(latitude, longitude, 0.04))).toBe(true);
    }
    const corner = (x: number, y: number): Place => [8.682 + x / 1e5, 50.111 + y / 1e5];
    const outline = [corner(0, 0), corner(40, 0), corner(40, 30), corner(0, 0)];
    const site = [zone(outline), lane([corner(1, 1), corner(20, 20)]), point(corner(7, 7))];
    expect(only(faultsOf(site, { frame: null }), 'coordinates-like-longitude-latitude')).toMatchObject({
      severity: 'warning',
      mark: 'HINWEIS',
      detail:
        'All 3 features lie within 0.0004 by 0.0003 at (8.682, 50.111): one spot in metres, the size of a site in degrees of longitude and latitude.',
    });
  });

  it('are not suspected where metres are equally likely', () => {
    // Few features on one spot, a pair that is a metre apart, a map at its origin, a country.
    expect(isHinted(around(8.682, 50.111, 0.001).slice(1))).toBe(false);
    expect(isHinted([0, 0, 0].map(() => point([8.682, 50.111])))).toBe(false);
    expect(isHinted(around(8.682, 50.111, 0.899))).toBe(false);
    expect(isHinted(around(0.5, -1.2, 0.001))).toBe(false);
    expect(isHinted(around(8.682, 50.111, 5))).toBe(false);
    expect(isHinted(around(150, 120, 0.001))).toBe(false);
    expect(isHinted(around(966_000, 6_480_000, 0.01))).toBe(false);
    const tiny = [8.8, 2.2] as const;
    expect(isHinted([zone([tiny, [8.81, 2.2], [8.81, 2.21], tiny])])).toBe(false);
    expect(isHinted([])).toBe(false);
    expect(isHinted([point([1]), feature(null, {}), lane([])])).toBe(false);
  });

  it('are never suspected on a map whose features are half a metre apart, at any position', () => {
    const coordinate = fc.double({ min: -200, max: 200, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.tuple(coordinate, coordinate), { maxLength: 12 }), coordinate, (places, x) => {
        expect(isHinted([...places.map((at) => point(at)), point([x, 1]), point([x, 1.5])])).toBe(false);
      }),
    );
  });
});

describe('properties that may limit the speed', () => {
  it('are found whether a map has a few such names or a name for every feature, in time linear in the map', () => {
    const named = (count: number) =>
      Array.from({ length: count }, (_, nth) => zone(square, { regionType: 2, [`speed${nth}`]: 1 }));
    for (const count of [1, 16, 17, 100]) {
      const found = faultsOf(named(count)).filter(({ rule }) => rule === 'speed-limit-uninterpreted');
      expect(found.map(({ features }) => features)).toEqual(Array.from({ length: count }, (_, nth) => [nth]));
    }
    const began = cpuSeconds();
    expect(faultsOf(named(20_000)).at(-1)?.detail).toContain('19800 more findings');
    expect(cpuSeconds() - began).toBeLessThan(20);
  });

  it('are one finding for each name, with the range of their values, and are not judged', () => {
    const findings = faultsOf([
      zone(square, { regionType: 2, speedLimit: 0.3, limits: { maxVelocity: '1.2' } }),
      zone(square, { regionType: 2, speedLimit: '0.8', rows: [{ limit: 1 }, { limit: 3 }, 'x'] }),
      point([1, 1], { type: 30, speedLimit: 'slow', deep: { deeper: { speed: 1 } } }),
    ]);
    expect(
      findings.map(({ rule, severity, mark, features, detail }) => [rule, severity, mark, features, detail]),
    ).toEqual([
      [
        'speed-limit-uninterpreted',
        'not-checked',
        'OFFEN',
        [0, 1, 2],
        expect.stringContaining('3 features carry the property "speedLimit" (0.3 to 0.8, 2 as string).'),
      ],
      [
        'speed-limit-uninterpreted',
        'not-checked',
        'OFFEN',
        [0],
        expect.stringContaining('"limits.maxVelocity" (1.2, 1 as string)'),
      ],
      ['speed-limit-uninterpreted', 'not-checked', 'OFFEN', [1], expect.stringContaining('"rows.limit" (1 to 3)')],
    ]);
  });

  it('are found beside the features as well', () => {
    const text = '{"type":"FeatureCollection","maxSpeed":[1],"features":[]}';
    expect(only(faultsOfText(text), 'speed-limit-uninterpreted')).toMatchObject({ features: [] });
  });
});

/** CPU time of this process, independent of the load of the machine. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

describe('bad input', () => {
  const options = [frame, null].map((of) => ({ frame: of }));

  it('never throws, and every finding is of the table, on one line, and on existing features', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          collectionText(),
          oddCollection().map((it) => JSON.stringify(it)),
        ),
        fc.constantFrom(...options),
        (text, of) => {
          const { features } = readOverlays(text);
          const indexes = new Set(features.map(({ index }) => index));
          for (const finding of faultsOfText(text, of)) {
            const rule = overlayRules[finding.rule as OverlayRuleId];
            expect(rule).toMatchObject({ severity: finding.severity, remedy: finding.remedy });
            // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
            expect(finding.detail).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/);
            expect(finding.detail).toMatch(/\.$/);
            expect(finding.detail.length).toBeLessThan(1500);
            expect(finding.features.filter((index) => !indexes.has(index))).toEqual([]);
            expect(finding.features).toEqual([...new Set(finding.features)].sort((a, b) => a - b));
          }
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it('finds no fault in plain collections apart from random places', () => {
    const careful = new Set([
      'zone-crosses-itself',
      'broken-geometry',
      'duplicate-id',
      'missing-id',
      'yaw-not-a-number',
      'code-not-whole',
    ]);
    fc.assert(
      fc.property(plainCollection(), (collection) => {
        expect(rulesOf(faultsOfText(JSON.stringify(collection))).filter((rule) => careful.has(rule))).toEqual([]);
      }),
    );
  });

  it('is reported as unfinished wherever the steps run out', () => {
    const features = [
      ...Array.from({ length: 5 }, () => zone(wheel(100), { regionType: 1 })),
      ...Array.from({ length: 50 }, (_, nth) => point([nth / 10, 8.9])),
    ];
    const all = faultsOf(features);
    expect(rulesOf(all)).not.toContain('not-finished');
    for (let steps = 0; steps < 2000; steps += 37) {
      const findings = faultsOf(features, { steps });
      const unfinished = findings.filter(({ rule }) => rule === 'not-finished');
      for (const { severity, features } of unfinished) {
        expect(severity).toBe('not-checked');
        expect(features.length).toBeGreaterThan(0);
      }
      if (unfinished.length === 0) expect(findings).toEqual(all);
    }
    expect(rulesOf(faultsOf(features, { steps: 0 }))).toContain('not-finished');
  });

  it('combines thousands of findings of one rule', () => {
    const findings = faultsOf(
      Array.from({ length: 3000 }, (_, nth) => point([1, 1], { type: 30, yaw: `north ${nth}` })),
    );
    expect(findings).toHaveLength(201);
    expect(findings.at(-1)).toMatchObject({
      detail: '2800 more findings of the same kind, about 2800 features.',
      mark: 'BELEGT',
    });
    expect(new Set(findings.flatMap(({ features }) => features)).size).toBe(3000);
  });

  it('has bounded texts of names and ids', () => {
    const long = 'x'.repeat(100_000);
    for (const { detail } of faultsOf(
      [1, 2].map(() => point([99, 99], { type: long, name: long, yaw: long, [`speed${long}`]: long }, long)),
    )) {
      expect(detail.length).toBeLessThan(1000);
    }
  });

  // Quadratic work would not terminate for this count, nor would spread arguments.
  const MANY = 300_000;
  const rings: Readonly<Record<string, () => Place[]>> = {
    'of many corners, round and fine': () => wheel(MANY),
    'of many corners, all on one spot': () => Array.from({ length: MANY }, () => [1, 1]),
    'of many corners, a comb': () => [
      ...Array.from({ length: MANY }, (_, nth): Place => [nth / 1000, nth % 2]),
      [MANY / 1000, 2],
      [0, 2],
    ],
    'of many corners, a tangle': () =>
      Array.from({ length: MANY }, (_, nth) => [(nth * 7919) % 1009, (nth * 104_729) % 997]),
    'back and forth along one line': () => Array.from({ length: 200_000 }, (_, nth) => [nth % 2, 0]),
    'with long edges side by side': () =>
      Array.from({ length: 200_000 }, (_, nth) => [nth % 2 === 0 ? 0 : 100, nth / 1e4 + (nth % 2) * 50]),
    'of the largest numbers': () =>
      Array.from({ length: 200_000 }, (_, nth) => [(nth % 2 === 0 ? 1 : -1) * 1.7e308, (nth % 3) * 5e307]),
  };
  it.each(Object.keys(rings))('terminates for an outline %s', { timeout: 120_000 }, (name) => {
    const overlays = readOverlays(JSON.stringify({ type: 'FeatureCollection', features: [] }));
    const ring = rings[name]?.() ?? [];
    const feature = {
      index: 0,
      id: 'z',
      kind: 'zone',
      name: null,
      shape: { kind: 'zone', rings: [ring] },
      code: { field: 'regionType', number: 1, written: 1 },
      codes: [],
      yaw: null,
      iconYaw: null,
      writtenId: 'z',
      partnerId: null,
      mac: undefined,
      speeds: [],
    } as const;
    const points = Array.from({ length: 1000 }, (_, nth) => ({
      ...feature,
      index: nth + 1,
      id: `p${nth}`,
      writtenId: `p${nth}`,
      kind: 'point' as const,
      shape: { kind: 'point', at: [nth / 100, 0.5] } as const,
      code: null,
    }));
    const codeBook = createCodeBook(null);
    const began = cpuSeconds();
    const many = { ...overlays, features: [feature, ...points] };
    const findings = findFaults(many, { frame, codeBook, pairs: [] });
    expect(cpuSeconds() - began).toBeLessThan(20);
    expect(findings.some(({ features }) => features.includes(0))).toBe(true);
  });

  it('terminates for ten thousand stacked zones and as many points beside their edges', () => {
    const notch: Place[] = [
      [0, 0],
      [1, 0],
      [1, 1],
      [0.5, 0.2],
      [0, 1],
      [0, 0],
    ];
    const features = [
      ...Array.from({ length: 10_000 }, () => zone(notch, { regionType: 1 })),
      ...Array.from({ length: 10_000 }, (_, nth) => point([0.5, 0.5 + nth / 1e5])),
    ];
    const began = cpuSeconds();
    const findings = faultsOf(features);
    expect(cpuSeconds() - began).toBeLessThan(20);
    expect(rulesOf(findings)).toEqual(['not-finished']);
  });
});

describe('the shuffle', () => {
  it('returns every number once, deterministically', () => {
    for (const count of [0, 1, 2, 17, 1000, 150_000]) {
      const order = scatter(count);
      expect(order.toSorted()).toEqual(Uint32Array.from({ length: count }, (_, nth) => nth));
      expect(scatter(count)).toEqual(order);
    }
  });

  it('keeps the order of few numbers and shuffles many', () => {
    expect([...scatter(4)]).toEqual([0, 1, 2, 3]);
    const many = scatter(150_000);
    const inPlace = many.filter((nth, place) => Math.abs(nth - place) < 100).length;
    expect(inPlace).toBeLessThan(1000);
  });
});
