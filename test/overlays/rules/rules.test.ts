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
import { isFull, runs } from '../../properties.ts';
import { collectionText, oddCollection } from '../arbitrary.ts';
import { places } from '../places.ts';

interface Options {
  readonly frame?: MapFrame | null;
  readonly device?: DeviceEvidence;
  readonly steps?: number;
}

/** The picture of a floor of 40 m by 40 m around the origin. */
const frame: MapFrame = { originXM: -20, originYM: -20, resolutionM: 0.05, width: 800, height: 800 };

function faultsOf(features: readonly unknown[], options: Options = {}): OverlayFinding[] {
  return faultsOfText(JSON.stringify({ type: 'FeatureCollection', features }), options);
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
function feature(geometry: unknown, properties: unknown, id: unknown = `id-${given++}`): object {
  return { ...(id !== undefined && { id }), type: 'Feature', geometry, properties };
}
const point = (at: readonly number[], properties: object = { type: '30' }, id?: unknown) =>
  feature({ type: 'Point', coordinates: at }, properties, id ?? `id-${given++}`);
const zone = (ring: readonly unknown[], properties: object = { regionType: 2 }, id?: unknown) =>
  feature({ type: 'Polygon', coordinates: [ring] }, properties, id ?? `id-${given++}`);
const lane = (line: readonly unknown[], properties: object = { lineType: '1' }) =>
  feature({ type: 'LineString', coordinates: line }, properties);
const withoutId = (id: unknown) => ({
  ...{ id, type: 'Feature', geometry: { type: 'Point', coordinates: [1, 1] }, properties: { type: 30 } },
});

const square = places('0,0 4,0 4,3 0,3 0,0');
const bowTie = places('0,0 4,3 4,0 0,3 0,0');
/** Touches itself at (2, 0). */
const pinched = places('0,0 2,0 4,0 4,3 2,0 0,3 0,0');

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
  'unknown-geometry': { features: [feature({ type: 'GeometryCollection', geometries: [] }, {})] },
  'geometry-elsewhere': { features: [point([1, 1], { type: 30, area: { type: 'Polygon', coordinates: [square] } })] },
  'properties-unread': { features: [feature({ type: 'Point', coordinates: [1, 1] }, [])] },
  'duplicate-id': { features: [point([1, 1], { type: 30 }, 'a'), point([2, 2], { type: 30 }, 'a')] },
  'missing-id': { features: [withoutId(undefined)] },
  'id-not-text': { features: [point([1, 1], { type: 30 }, 17)] },
  'id-loses-digits': { features: [point([1, 1], { type: 30 }, 12345678901234567000)] },
  'code-not-whole': { features: [point([1, 1], { type: '30.5' })] },
  'code-missing': { features: [zone(square, {})] },
  'code-of-another-kind': { features: [lane(square, { regionType: 1 })] },
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
  'ring-no-hole': { features: [feature({ type: 'Polygon', coordinates: [square, square] }, { regionType: 2 })] },
  'zone-crosses-itself': { features: [zone(bowTie)] },
  'zone-touches-itself': { features: [zone(pinched)] },
  'zone-tiny': { features: [zone(places('0,0 0.05,0 0.05,0.05 0,0'))] },
  'lane-tiny': { features: [lane(places('1,1 1,1'))] },
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
  'name-not-unique': { features: [point([1, 1], { type: 30, name: 'A' }), point([2, 2], { type: 30, name: 'a' })] },
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
      zone(places('10,10 12,10 12,12 10,12 10,10'), { regionType: 1 }),
      lane(places('0,0 5,5')),
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
    expect(detail).toMatch(/^300 features have the id "same": point #0 "same", .*point #4 "same" and 295 more\.$/);
  });

  it('are equal as number and as string, since references do not distinguish them', () => {
    const findings = faultsOf([point([1, 1], { type: 30 }, 7), point([2, 2], { type: 30 }, '7')]);
    expect(rulesOf(findings)).toEqual(['duplicate-id', 'id-not-text']);
  });

  it('that are missing are one finding, whether absent, null or empty', () => {
    expect(only(faultsOf([undefined, null, ''].map(withoutId)), 'missing-id').features).toEqual([0, 1, 2]);
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

  it('that are no round angle in radians look like degrees, as every whole number does', () => {
    const asText = ['0', '0.00', '3', '45', '1.5', '1.0', '2.25', '0.26', '12.566', '-82.5'];
    for (const written of [...asText, 0, 1, 90, -82, 0.5, 1.6, 0.001, 1e-9]) {
      expect(likelyTurnDeg(Number(written), written), String(written)).toBeNull();
    }
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
    expect(faultsOf([point([1, 1], { type: 30, name: 'A', yaw: '1.5708' })])).toMatchObject([
      {
        ...{ rule: 'yaw-like-radians', mark: null, severity: 'warning' },
        detail: 'yaw of point #0 "A" may be in radians: 1.5708 rad equals 90 degrees to the written digits.',
      },
    ]);
  });

  it('of icons are checked as well, and one turn is allowed', () => {
    const odd = [{ yaw: 360, iconYaw: [90] }, { yaw: '-360.5' }];
    expect(faultsOf(odd.map((more) => point([1, 1], { type: 30, ...more })))).toMatchObject([
      { rule: 'yaw-not-a-number', detail: expect.stringContaining('is an array, which is not a number of degrees') },
      { rule: 'yaw-beyond-turn', detail: expect.stringContaining('-360.5 degrees') },
    ]);
  });
});

describe('codes', () => {
  it('of unknown meaning are one finding for each number, with all features that carry it', () => {
    const lanes = Array.from({ length: 1_000 }, (_, nth) =>
      lane(places('0,0 1,1'), { lineType: 1, direction: nth % 2 === 0 ? 3 : '3' }),
    );
    const { features, detail, mark } = only(faultsOf(lanes), 'code-unknown');
    expect(features).toHaveLength(1_000);
    expect(detail).toMatch(/^1000 features carry direction 3, whose meaning is unknown: lane #0 .* and 995 more\.$/);
    expect(mark).toBe('OFFEN');
  });

  it('with any reading are known, whatever its mark', () => {
    expect(faultsOf([point([1, 1], { type: 11 }), point([1, 1], { type: 38 })])).toEqual([]);
    const unknown = rulesOf(faultsOf([point([1, 1], { type: 40 }), zone(square, { regionType: 18 })]));
    expect(unknown).toEqual(['code-unknown', 'code-unknown']);
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
      const ring = places(`0,0 ${value},0 1,5 0,0`);
      for (const one of [point([value, 1]), point([1, value]), lane(places(`0,0 1,${value}`)), zone(ring)]) {
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
    const findings = faultsOf([point([1, 1, 0]), lane(places('0,0 1,1,2')), zone(square), point([1, 1])]);
    expect(only(findings, 'third-coordinate').features).toEqual([0, 1]);
  });
});

describe('a map without overlays', () => {
  it.each([
    ['null', ',"overlays":null', 'null'],
    ['an empty text', ',"overlays":""', 'an empty text'],
    ['blanks', ',"overlays":" \\n"', 'an empty text'],
    ['nothing', '', 'missing'],
    ['an empty object', ',"overlays":{}', 'empty'],
  ])('where they are %s is noted', (_, member, why) => {
    const detail = `The map has no overlays: \`overlays\` is ${why}.`;
    const findings = faultsOfText(`{"map_name":"1","grid_resolution":0.05${member}}`);
    expect(findings).toMatchObject([{ rule: 'no-overlays', severity: 'note', detail }]);
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
    const hole = places('1,1 2,1 2,2 1,1');
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
});

describe('ids as numbers', () => {
  const text = (features: string) => `{"type":"FeatureCollection","features":[${features}]}`;
  const at = (id: string, more: string) =>
    `{"type":"Feature","id":${id},"geometry":{"type":"Point","coordinates":[1,1]},"properties":{${more}}}`;

  it('keep every digit: two that are one when parsed stay two, and references find theirs', () => {
    const charger = at('12345678901234567891', '"type":9,"dockingPointId":12345678901234567892');
    const station = text(`${charger},${at('12345678901234567892', '"type":36')}`);
    const findings = faultsOfText(station);
    expect(rulesOf(findings)).toEqual(['id-loses-digits', 'id-loses-digits', 'id-loses-digits']);
    expect(findings.map(({ detail }) => detail)).toContainEqual(
      expect.stringMatching(/number 12345678901234567891, which most programs read as 12345678901234567000\.$/),
    );
    expect(readOverlays(station).features).toMatchObject([
      { id: '12345678901234567891', partnerId: '12345678901234567892' },
      { id: '12345678901234567892' },
    ]);
    expect(rulesOf(faultsOfText(text(at('"12345678901234567891"', '"type":30'))))).toEqual([]);
    expect(readOverlays(at('12345678901234567893', '"type":30')).features[0]?.id).toBe('12345678901234567893');
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
      lane(places('-30,0 30,0')),
      zone(places('-50,-50 50,-50 50,50 -50,50 -50,-50')),
      point([-20.001, 0]),
      lane(places('21,0 30,0')),
      zone(places('0,21 1,21 1,22 0,21')),
    ]);
    const { features, mark, detail } = only(findings, 'outside-picture');
    expect([features, mark]).toEqual([[4, 5, 6], 'HINWEIS']);
    expect(detail).toContain('(x -20 to 20 m, y -20 to 20 m)');
  });

  it('when missing is one finding, and none where no feature has a place', () => {
    const findings = faultsOf([point([1, 1]), point([99, 1])], { frame: { ...frame, width: null, height: null } });
    const detail = expect.stringContaining('its size is unknown.');
    expect(findings).toMatchObject([{ rule: 'picture-not-checked', features: [], severity: 'not-checked', detail }]);
    expect(faultsOf([], { frame: null })).toEqual([]);
  });
});

describe('no-go zones', () => {
  const about = { serial: 'SN0001', software: '2.12.3' };
  const device = (fact: string, value: unknown): DeviceEvidence => {
    const record = { fact, value, ...about, how: 'drove up to it', who: 'A. T.', when: '2026-01-31T12:00:00Z' };
    return { ...about, records: [record as DeviceEvidence['records'][number]] };
  };

  it('have the mark of the vendor reading', () => {
    const pool = zone(square, { regionType: 1, name: 'Pool' });
    expect(faultsOf([pool, point([1, 1], { type: 30, name: 'A' }), point([9, 9])])).toMatchObject([
      {
        ...{ rule: 'point-in-no-go-zone', severity: 'warning', mark: 'HINWEIS', features: [0, 1] },
        detail: expect.stringContaining('read as \'no-go zone\' (HINWEIS, vendor SDK): point #1 "A".'),
      },
    ]);
  });

  it('are BELEGT where that was verified on this device, and none where it was contradicted', () => {
    const features = [zone(square, { regionType: 1 }), point([1, 1])];
    const here = (meaning: string) => ({ device: device('vendor.overlays.region-types', { 1: meaning }) });
    expect(only(faultsOf(features, here('no-go zone')), 'point-in-no-go-zone').mark).toBe('BELEGT');
    expect(rulesOf(faultsOf(features, here('lawn')))).not.toContain('point-in-no-go-zone');
    const measured = device('overlays.no-go-region-type', 7);
    const seven = [zone(square, { regionType: 7 }), point([1, 1])];
    expect(rulesOf(faultsOf(seven, { device: measured }))).toContain('point-in-no-go-zone');
  });

  it('count a point for the first zone that contains it', () => {
    const [one, other] = [zone(square, { regionType: 1 }), zone(square, { regionType: 1 })];
    const features = [point([1, 1]), one, other, point([2, 2]), point([4, 3])];
    expect(only(faultsOf(features), 'point-in-no-go-zone').features).toEqual([0, 1, 3, 4]);
  });

  it('do not contain points in their holes or between their arms', () => {
    const cup = places('0,0 9,0 9,9 6,9 6,3 3,3 3,9 0,9 0,0');
    const coordinates = [square, places('1,1 2,1 2,2 1,2 1,1')];
    const holed = feature({ type: 'Polygon', coordinates }, { regionType: 1 });
    expect(faultsOf([zone(cup, { regionType: 1 }), point([4.5, 6])])).toEqual([]);
    expect(faultsOf([holed, point([1.5, 1.5])])).toEqual([]);
  });
});

describe('outlines', () => {
  const meeting = (...rings: Place[][]) => {
    const found = findMeeting(rings, createBudget(1000));
    return found === null || found === 'not-finished' ? found : found.how;
  };

  it('of ordinary zones have no self-intersection', { tags: 'property' }, () => {
    for (const ring of [square, square.slice(0, 4), square.toReversed(), wheel(64), wheel(400)]) {
      expect(findMeeting([ring], createBudget(100_000))).toBeNull();
    }
    expect(meeting([...square.slice(0, 2), [4, 0], [4, 1], ...square.slice(2)])).toBeNull();
    expect(meeting([])).toBeNull();
  });

  it('that cross, touch or run back along themselves are distinguished', { tags: 'property' }, () => {
    expect(meeting(bowTie)).toBe('crosses');
    expect(meeting(bowTie.toReversed())).toBe('crosses');
    expect(meeting(pinched)).toBe('touches');
    expect(meeting(places('0,0 4,0 4,3 4,-1 0,-1'))).toBe('touches');
    expect(meeting(places('0,0 1,0 2,0'))).toBe('touches');
    // Two turns in one direction.
    expect(meeting(places('0,0 4,0 4,4 0,4 0.5,0.5 3,1 3,3 1,3'))).toBe('crosses');
  });

  it('of several rings may touch, not cross', { tags: 'property' }, () => {
    expect(meeting(square, places('0,1 1,1 1,2'))).toBeNull();
    expect(meeting(square, places('-1,1 1,1 1,2'))).toBe('crosses');
  });

  it('crossing in a corner count as touching, with the place', () => {
    const { detail } = only(faultsOf([zone(pinched, { regionType: 2, name: 'Z' })]), 'zone-touches-itself');
    expect(detail).toBe('The outline of zone #0 "Z" touches itself at (2, 0) m.');
  });

  it('that cross are not called tiny, though their halves cancel out', () => {
    expect(rulesOf(faultsOf([zone(places('0,0 1,1 1,0 0,1 0,0'))]))).toEqual(['zone-crosses-itself']);
  });

  it('are judged the same with many corners as with few', { tags: 'property' }, () => {
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
});

describe('chargers and door zones', () => {
  it('are vendor readings, so the findings have their mark', () => {
    const findings = faultsOf([point([1, 1], { type: 9 }), zone(square, { regionType: 4, mac: ' ' })]);
    expect(findings).toMatchObject([
      { rule: 'charger-without-partner', mark: 'HINWEIS' },
      { rule: 'door-without-controller', mark: 'HINWEIS', detail: expect.stringContaining('and its mac is " ".') },
    ]);
  });
});

describe('coordinates that look like longitude and latitude', () => {
  const isHinted = (features: readonly unknown[]) =>
    faultsOf(features, { frame: null }).some(({ rule }) => rule === 'coordinates-like-longitude-latitude');
  const around = (x: number, y: number, spread: number) =>
    [0, 0.3, 1].map((part) => point([x + part * spread, y - part * spread * 0.7]));

  it('are suspected for a site anywhere on land, in either axis order, with zones and lines', () => {
    const sites = '8.682,50.111 -73.985,40.748 151.215,-33.857 6.73,0.33 -179.9,-16.5';
    for (const [longitude, latitude] of places(sites)) {
      expect(isHinted(around(longitude, latitude, 0.001))).toBe(true);
      expect(isHinted(around(latitude, longitude, 0.04))).toBe(true);
    }
    const corner = (x: number, y: number): Place => [8.682 + x / 1e5, 50.111 + y / 1e5];
    const outline = [corner(0, 0), corner(40, 0), corner(40, 30), corner(0, 0)];
    const site = [zone(outline), lane([corner(1, 1), corner(20, 20)]), point(corner(7, 7))];
    expect(only(faultsOf(site, { frame: null }), 'coordinates-like-longitude-latitude')).toMatchObject({
      ...{ severity: 'warning', mark: 'HINWEIS' },
      detail: expect.stringMatching(/^All 3 features lie within 0\.0004 by 0\.0003 at \(8\.682, 50\.111\): one spot/),
    });
  });

  it('are not suspected where metres are equally likely', () => {
    // Few features on one spot, a pair that is a metre apart, a map at its origin, a country.
    for (const [x, y, spread] of [
      ...[[8.682, 50.111, 0.899] as const, [0.5, -1.2, 0.001] as const, [8.682, 50.111, 5] as const],
      ...[[150, 120, 0.001] as const, [966_000, 6_480_000, 0.01] as const],
    ]) {
      expect(isHinted(around(x, y, spread)), `${x} ${y} ${spread}`).toBe(false);
    }
    for (const features of [
      around(8.682, 50.111, 0.001).slice(1),
      [0, 0, 0].map(() => point([8.682, 50.111])),
      [zone(places('8.8,2.2 8.81,2.2 8.81,2.21 8.8,2.2'))],
      [],
      [point([1]), feature(null, {}), lane([])],
    ]) {
      expect(isHinted(features), JSON.stringify(features)).toBe(false);
    }
  });

  it('are never suspected on a map whose features are half a metre apart, at any position', {
    tags: 'property',
  }, () => {
    const coordinate = fc.double({ min: -200, max: 200, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.tuple(coordinate, coordinate), { maxLength: 12 }), coordinate, (places, x) => {
        expect(isHinted([...places.map((at) => point(at)), point([x, 1]), point([x, 1.5])])).toBe(false);
      }),
    );
  });
});

describe('properties that may limit the speed', () => {
  it('are found whether a map has a few such names or a name for every feature', { tags: 'property' }, () => {
    const named = (count: number) =>
      Array.from({ length: count }, (_, nth) => zone(square, { regionType: 2, [`speed${nth}`]: 1 }));
    for (const count of [1, 16, 17, 100]) {
      const found = faultsOf(named(count)).filter(({ rule }) => rule === 'speed-limit-uninterpreted');
      expect(found.map(({ features }) => features)).toEqual(Array.from({ length: count }, (_, nth) => [nth]));
    }
    const many = isFull ? 20_000 : 500;
    expect(faultsOf(named(many)).at(-1)?.detail).toContain(`${many - 200} more findings`);
  });

  it('are one finding for each name, with the range of their values, and are not judged', () => {
    const findings = faultsOf([
      zone(square, { regionType: 2, speedLimit: 0.3, limits: { maxVelocity: '1.2' } }),
      zone(square, { regionType: 2, speedLimit: '0.8', rows: [{ limit: 1 }, { limit: 3 }, 'x'] }),
      point([1, 1], { type: 30, speedLimit: 'slow', deep: { deeper: { speed: 1 } } }),
    ]);
    const found: [features: number[], detail: string][] = [
      [[0, 1, 2], '3 features carry the property "speedLimit" (0.3 to 0.8, 2 as string).'],
      [[0], '"limits.maxVelocity" (1.2, 1 as string)'],
      [[1], '"rows.limit" (1 to 3)'],
    ];
    const finding = { rule: 'speed-limit-uninterpreted', severity: 'not-checked', mark: 'OFFEN' };
    expect(findings).toMatchObject(
      found.map(([features, detail]) => ({ ...finding, features, detail: expect.stringContaining(detail) })),
    );
  });

  it('are found beside the features as well', () => {
    const text = '{"type":"FeatureCollection","maxSpeed":[1],"features":[]}';
    expect(only(faultsOfText(text), 'speed-limit-uninterpreted')).toMatchObject({ features: [] });
  });
});

describe('bad input', () => {
  const options = [frame, null].map((of) => ({ frame: of }));

  it('never throws, and every finding is of the table, on one line, and on existing features', {
    tags: 'property',
  }, () => {
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

  it('is reported as unfinished wherever the steps run out', { tags: 'property' }, () => {
    const features = [
      ...Array.from({ length: 5 }, () => zone(wheel(100), { regionType: 1 })),
      ...Array.from({ length: 50 }, (_, nth) => point([nth / 10, 8.9])),
    ];
    const all = faultsOf(features);
    expect(rulesOf(all)).not.toContain('not-finished');
    for (let steps = 0; steps < 2000; steps += isFull ? 37 : 149) {
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
      Array.from({ length: 1000 }, (_, nth) => point([1, 1], { type: 30, yaw: `north ${nth}` })),
    );
    expect(findings).toHaveLength(201);
    const detail = '800 more findings of the same kind, about 800 features.';
    expect(findings.at(-1)).toMatchObject({ detail, mark: 'BELEGT' });
    expect(new Set(findings.flatMap(({ features }) => features)).size).toBe(1000);
  });

  // In `npm run test:all` quadratic work would not terminate for this count.
  const MANY = isFull ? 100_000 : 1_500;
  const rings: Readonly<Record<string, () => Place[]>> = {
    'of many corners, round and fine': () => wheel(MANY),
    // More corners than a call may have arguments.
    'of many corners, all on one spot': () => Array.from({ length: 150_000 }, () => [1, 1]),
    'of many corners, a comb': () => [
      ...Array.from({ length: MANY }, (_, nth): Place => [nth / 1000, nth % 2]),
      [MANY / 1000, 2],
      [0, 2],
    ],
    'of many corners, a tangle': () =>
      Array.from({ length: MANY }, (_, nth) => [(nth * 7919) % 1009, (nth * 104_729) % 997]),
    'back and forth along one line': () => Array.from({ length: MANY }, (_, nth) => [nth % 2, 0]),
    'with long edges side by side': () =>
      Array.from({ length: MANY }, (_, nth) => [nth % 2 === 0 ? 0 : 100, nth / 1e4 + (nth % 2) * 50]),
    'of the largest numbers': () =>
      Array.from({ length: MANY }, (_, nth) => [(nth % 2 === 0 ? 1 : -1) * 1.7e308, (nth % 3) * 5e307]),
  };
  it.each(Object.keys(rings))('terminates for an outline %s', { tags: 'property' }, (name) => {
    const overlays = readOverlays(JSON.stringify({ type: 'FeatureCollection', features: [] }));
    const ring = rings[name]?.() ?? [];
    const feature = {
      ...{ index: 0, id: 'z', writtenId: 'z', name: null, yaw: null, iconYaw: null, partnerId: null },
      ...{ mac: undefined, codes: [], speeds: [] },
      kind: 'zone',
      shape: { kind: 'zone', rings: [ring] },
      code: { field: 'regionType', number: 1, written: 1 },
    } as const;
    const points = Array.from({ length: isFull ? 1000 : 100 }, (_, nth) => ({
      ...{ ...feature, index: nth + 1, id: `p${nth}`, writtenId: `p${nth}`, kind: 'point' as const },
      ...{ shape: { kind: 'point', at: [nth / 100, 0.5] } as const, code: null },
    }));
    const many = { ...overlays, rawOf: () => ({}), features: [feature, ...points] };
    const findings = findFaults(many, { frame, codeBook: createCodeBook(null), pairs: [] });
    expect(findings.some(({ features }) => features.includes(0))).toBe(true);
  });

  it('has only edges compared that lie beside each other', () => {
    let spent = 0;
    const spend = (steps: number) => {
      spent += steps;
      return true;
    };
    expect(findMeeting([wheel(2_000)], { spend, isSpent: false })).toBeNull();
    expect(spent).toBeGreaterThan(2_000);
    expect(spent).toBeLessThan(2_000 ** 2 / 50);
  });

  it('terminates for thousands of stacked zones and as many points beside their edges', { tags: 'property' }, () => {
    const [many, options] = isFull ? [10_000, {}] : [1_000, { steps: 50_000 }];
    const notch = places('0,0 1,0 1,1 0.5,0.2 0,1 0,0');
    const features = [
      ...Array.from({ length: many }, () => zone(notch, { regionType: 1 })),
      ...Array.from({ length: many }, (_, nth) => point([0.5, 0.5 + nth / 1e5])),
    ];
    expect(rulesOf(faultsOf(features, options))).toEqual(['not-finished']);
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
});
