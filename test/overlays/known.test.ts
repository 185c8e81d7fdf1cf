import { describe, expect, it } from 'vitest';
import { type EvidenceRecord, facts } from '../../src/lib/evidence/index.ts';
import { inspectOverlays, knownOf, readOverlays } from '../../src/lib/overlays/index.ts';
import { places } from './places.ts';
import { collectionOf, lookAt, lookAtCollection, pointAt } from './render/rendered.ts';

const foundOf = (rows: ReturnType<typeof knownOf>, fact: string) => rows.find((row) => row.fact === fact)?.found;

describe('statements of the specification about maps and overlays', () => {
  it('cover every row of the specification and every open question, once', () => {
    const rows = knownOf(lookAt('floor').inspection);
    const ids = rows.map(({ fact }) => fact);
    expect(new Set(ids).size).toBe(ids.length);
    const inLedger = facts.filter(({ id }) => id.startsWith('overlays.')).map(({ id }) => id);
    const others = ['angles.overlay-yaw', 'angles.overlay-icon-yaw', 'chassis.clock-and-zone'];
    expect(ids.toSorted()).toEqual([...inLedger, ...others].toSorted());
  });

  it('have the mark of the ledger, OFFEN for open questions', () => {
    for (const row of knownOf(lookAt('sheet').inspection)) {
      const fact = facts.find(({ id }) => id === row.fact);
      expect(row.mark).toBe(fact?.mark);
      expect(row.group).toBe(fact?.basis === 'not-shown' ? 'not-shown' : 'known');
      expect(row.here).toBeNull();
      expect(row.found).toMatch(/\.$/);
    }
  });

  it('show the content of this map', () => {
    const rows = knownOf(lookAt('floor').inspection);
    for (const [fact, found] of [
      ['overlays.features', '9 points, 4 zones, 2 lanes here.'],
      ['overlays.version', '"5" here. '],
      ['overlays.point-type-11', "3 features of type 11 here. Other readings: 'table number' (HINWEIS)."],
      ['overlays.no-go-region-type', "1 feature with `regionType` 1 here; vendor SDK: 'no-go zone' (HINWEIS)."],
      ['overlays.charging-pair-distance', '1 pair here: 0.899 m apart'],
      ['overlays.icon-yaw-offset-meaning', '4 of 4 features with both angles show -82 degrees'],
    ] as const) {
      expect(foundOf(rows, fact)).toContain(found);
    }
    expect(foundOf(knownOf(lookAt('sheet').inspection), 'overlays.zone-speed-limit-field')).toContain('"maxSpeed" (1)');
  });

  it('count a number on every geometry that is a zone, and say where another one carries it', () => {
    const ring = places('0,0 4,0 4,3 0,0');
    const inMap = (type: string, coordinates: unknown, properties: object) => ({
      ...{ type: 'Feature', id: type, geometry: { type, coordinates }, properties },
    });
    const found = (...features: object[]) =>
      foundOf(knownOf(lookAtCollection(collectionOf(...features))), 'overlays.zone-region-type');
    expect(found(inMap('MultiPolygon', [[ring]], { regionType: '1' }))).toBe('1 feature here carries `regionType`: 1.');
    expect(found(inMap('LineString', ring, { regionType: '1' }), inMap('MultiPoint', ring, { regionType: 1 }))).toBe(
      'No zone here carries `regionType`; 2 features of another geometry do, which is carried through.',
    );
    expect(found(inMap('Point', [0, 0], {}))).toBe('No zone here carries `regionType`.');
  });

  it('show for a bare collection that its map was not checked', () => {
    const rows = knownOf(lookAtCollection(collectionOf()));
    expect(foundOf(rows, 'overlays.map-id')).toBe('The source does not identify the map.');
    expect(foundOf(rows, 'overlays.map-image')).toMatch(/^Not checked: the map has no valid grid/);
    expect(foundOf(rows, 'overlays.charging-pair-distance-constant')).toContain('No pair here to measure.');
  });

  it('raise a mark by a measurement on this device only', () => {
    const record: EvidenceRecord = {
      ...{ fact: 'overlays.lane-direction-3', value: 'both ways', serial: 'SN-1', software: '2.12' },
      ...{ how: 'watched the robot take the lane', who: 'T. Technician', when: '2026-01-31T12:00:00Z' },
    };
    const rowOn = (software: string) => {
      const overlays = readOverlays(JSON.stringify(collectionOf()));
      const device = { serial: 'SN-1', software, records: [record] };
      const rows = knownOf(inspectOverlays(overlays, { frame: null, device }));
      return rows.find(({ fact }) => fact === record.fact);
    };
    expect(rowOn('2.12')).toMatchObject({ mark: 'BELEGT', here: { verdict: 'verified', who: 'T. Technician' } });
    expect(rowOn('2.13')).toMatchObject({ mark: 'OFFEN', here: null });
  });
});

describe('the survey of a collection', () => {
  it('counts a number written as string and as number as one code', () => {
    const points = ['11', 11, 'lift'].map((type, nth) => pointAt(nth, 0, { type }));
    const { survey } = lookAtCollection(collectionOf(...points));
    expect(survey.codes).toEqual([
      { field: 'type', number: 11, count: 2 },
      { field: 'type', number: null, count: 1 },
    ]);
  });

  it('finds the offset of icons modulo full turns', () => {
    const iconYaws = ['8', 278, '178', '11', '8', null];
    const points = ['90', 0, '-100', '10', 'x', '5'].map((yaw, nth) => pointAt(0, 0, { yaw, iconYaw: iconYaws[nth] }));
    const { survey } = lookAtCollection(collectionOf(...points));
    expect(survey.icons).toEqual({ withBoth: 4, withOffset: 3, offsetDeg: -82 });
    expect(survey.yaw).toEqual({ asString: 5, asNumber: 1, unreadable: 1 });
  });

  it('lists uninterpreted members with JSON types and kinds, also names of built-in properties', () => {
    const text =
      '{"type":"FeatureCollection","bbox":[1],"features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[0,0]},"properties":{"__proto__":{"a":1},"mac":"x"}},{"type":"Feature","geometry":null,"properties":{"mac":null,"toString":true},"note":1}]}';
    const { survey } = inspectOverlays(readOverlays(text), { frame: null, device: null });
    expect(survey.carried).toEqual([
      { in: 'properties', name: 'mac', count: 2, kinds: ['point', 'other'], types: ['string', 'null'] },
      { in: 'properties', name: '__proto__', count: 1, kinds: ['point'], types: ['object'] },
      { in: 'collection', name: 'bbox', count: 1, kinds: [], types: ['array'] },
      { in: 'feature', name: 'note', count: 1, kinds: ['other'], types: ['number'] },
      { in: 'properties', name: 'toString', count: 1, kinds: ['other'], types: ['boolean'] },
    ]);
  });

  it('lists names up to a limit, with the number of others', () => {
    const many = Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`name-${at}`, at]));
    const { survey } = lookAtCollection(collectionOf(pointAt(0, 0, many)));
    expect(survey.carried).toHaveLength(200);
    expect(survey.carriedMore).toBe(50);
  });
});
