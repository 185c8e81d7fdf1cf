import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DeviceEvidence, markRank } from '../../src/lib/evidence/index.ts';
import { createCodeBook } from '../../src/lib/overlays/codes.ts';
import type { CodeField } from '../../src/lib/overlays/model.ts';
import { readingText } from '../../src/lib/overlays/render/wording.ts';

const fields: readonly CodeField[] = ['type', 'lineType', 'regionType', 'direction', 'startType', 'endType'];
const book = createCodeBook(null);

/** Readings without the members that most tests ignore. */
function readings(field: CodeField, number: number, device: DeviceEvidence | null = null) {
  return createCodeBook(device)
    .meaning(field, number)
    .readings.map(({ meaning, mark, fact }) => ({ meaning, mark, fact }));
}

/** A device with records, the newest last. */
function device(...records: readonly (readonly [fact: string, value: unknown])[]): DeviceEvidence {
  const about = { serial: 'SN1', software: '2.12.3', how: 'measured', who: 'Ada', when: '2026-01-31T12:00:00Z' };
  return {
    serial: 'SN1',
    software: '2.12.3',
    records: records.map(([fact, value]) => ({ ...about, fact, value: value as never })),
  };
}

describe('the readings of a number', () => {
  it('has both readings of point type 11, best mark first, and their disagreement', () => {
    const vendor = { mark: 'HINWEIS', basis: 'vendor', source: 'vendor SDK and vendor app API' };
    const ours = { mark: 'VORSICHT', basis: 'assumed', source: "specification, 'Map and overlays'" };
    expect(book.meaning('type', 11)).toEqual({
      ...{ field: 'type', number: 11, mark: 'VORSICHT', basis: 'assumed' },
      disagreement: 'disagreement.c4-point-type-11',
      readings: [
        { meaning: 'table number', ...vendor, fact: 'vendor.overlays.point-types', here: null },
        { meaning: 'Delivery Point', ...ours, fact: 'overlays.point-type-11', here: null },
      ],
    });
  });

  it('has beside the vendor reading the open question of the specification for zones', () => {
    expect(readings('regionType', 1)).toEqual([
      { meaning: 'no-go zone', mark: 'HINWEIS', fact: 'vendor.overlays.region-types' },
      { meaning: null, mark: 'OFFEN', fact: 'overlays.no-go-region-type' },
    ]);
    expect(readings('regionType', 2)).toEqual([
      { meaning: 'slow zone', mark: 'HINWEIS', fact: 'vendor.overlays.region-types' },
      { meaning: null, mark: 'OFFEN', fact: 'overlays.other-region-types' },
    ]);
    expect(book.meaning('regionType', 1).mark).toBe('HINWEIS');
  });

  it('has no meaning for unexplained numbers', () => {
    for (const [field, number, fact] of [
      ['type', 0, 'overlays.point-kind-numbers'],
      ['type', 99, 'overlays.point-kind-numbers'],
      ['lineType', 5, 'overlays.lane-fields'],
      ['regionType', 24, 'overlays.other-region-types'],
      ['direction', 3, 'overlays.lane-direction-3'],
      ['direction', 4, 'overlays.lane-direction-3'],
      ['startType', 1, 'overlays.start-end-type-meaning'],
      ['endType', 2, 'overlays.start-end-type-meaning'],
    ] as const) {
      expect(readings(field, number)).toEqual([{ meaning: null, mark: 'OFFEN', fact }]);
      expect(book.meaning(field, number)).toMatchObject({ mark: 'OFFEN', disagreement: null });
    }
  });

  it('has at least one reading of every number, best mark first, each resolved once', { tags: 'property' }, () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...fields),
        fc.oneof(fc.integer({ min: -5, max: 50 }), fc.maxSafeInteger()),
        (field, number) => {
          const meaning = book.meaning(field, number);
          expect(book.meaning(field, number)).toBe(meaning);
          expect(meaning.readings.length).toBeGreaterThan(0);
          const ranks = meaning.readings.map(({ mark }) => markRank[mark]);
          expect(ranks).toEqual([...ranks].sort());
          expect(meaning.mark === 'OFFEN').toBe(meaning.readings.every((reading) => reading.meaning === null));
          for (const reading of meaning.readings) {
            expect(reading.meaning === null).toBe(reading.mark === 'OFFEN');
            expect(reading.mark).not.toBe('BELEGT');
          }
        },
      ),
    );
  });
});

describe('a record of a simulator', () => {
  it('is BELEGT on a simulator, in every text with the reading', () => {
    const made = device(['vendor.overlays.region-types', { 1: 'no-go zone' }]);
    const simulated = { ...made, records: made.records.map((record) => ({ ...record, simulated: true as const })) };
    const meaning = createCodeBook(simulated).meaning('regionType', 1);
    expect(meaning).toMatchObject({ mark: 'BELEGT', basis: 'simulated' });
    expect(meaning.readings.map(readingText)[0]).toBe('no-go zone (on a simulator)');
    const here = createCodeBook(made).meaning('regionType', 1);
    expect(here).toMatchObject({ mark: 'BELEGT', basis: 'here' });
    expect(here.readings.map(readingText)[0]).toBe('no-go zone');
  });
});

describe('a record of a device', () => {
  it('raises a vendor reading, for that number only, with author and time', () => {
    const here = device(['vendor.overlays.region-types', { 1: 'no-go zone' }]);
    const [first] = createCodeBook(here).meaning('regionType', 1).readings;
    const verified = { verdict: 'verified', who: 'Ada', when: '2026-01-31T12:00:00Z' };
    expect(first).toMatchObject({ meaning: 'no-go zone', mark: 'BELEGT', here: verified });
    expect(createCodeBook(here).meaning('regionType', 1).mark).toBe('BELEGT');
    expect(createCodeBook(here).meaning('regionType', 2).mark).toBe('HINWEIS');
  });

  it('puts a contradicted reading last, without influence on the mark', () => {
    const here = device(['vendor.overlays.point-types', { 9: 'standby', 11: 'delivery station' }]);
    expect(createCodeBook(here).meaning('type', 9)).toMatchObject({
      mark: 'OFFEN',
      readings: [{ meaning: 'charger', mark: 'HINWEIS', here: { verdict: 'contradicted', who: 'Ada' } }],
    });
    expect(createCodeBook(here).meaning('type', 11)).toMatchObject({
      mark: 'VORSICHT',
      readings: [
        { meaning: 'Delivery Point', here: null },
        { meaning: 'table number', here: { verdict: 'contradicted' } },
      ],
    });
  });

  it('puts a measured meaning before one that was only described', () => {
    const here = device(['overlays.point-type-11', 'Delivery Point']);
    expect(createCodeBook(here).meaning('type', 11)).toMatchObject({
      mark: 'BELEGT',
      readings: [
        { meaning: 'Delivery Point', mark: 'BELEGT', here: { verdict: 'verified' } },
        { meaning: 'table number' },
      ],
    });
  });

  it('gives an open number the measured meaning', () => {
    const here = device(
      ['overlays.lane-direction-3', 'both ways'],
      ['overlays.start-end-type-meaning', { 1: 'stops here' }],
      ['overlays.other-region-types', { 24: 'dynamic zone' }],
      ['overlays.point-kind-numbers', { 19: 'reception', 77: 'kiosk' }],
    );
    const fact = (id: string, meaning: string) => ({ meaning, mark: 'BELEGT', fact: id });
    expect(readings('direction', 3, here)).toEqual([fact('overlays.lane-direction-3', 'both ways')]);
    expect(readings('startType', 1, here)).toEqual([fact('overlays.start-end-type-meaning', 'stops here')]);
    expect(readings('regionType', 24, here)).toEqual([fact('overlays.other-region-types', 'dynamic zone')]);
    expect(readings('type', 77, here)).toEqual([fact('overlays.point-kind-numbers', 'kiosk')]);
    expect(createCodeBook(here).meaning('type', 19)).toMatchObject({
      mark: 'BELEGT',
      readings: [
        { meaning: 'reception', mark: 'BELEGT' },
        { meaning: 'reception', mark: 'HINWEIS' },
      ],
    });
    for (const [field, number] of Object.entries({ direction: 4, startType: 2, regionType: 25, type: 78 })) {
      expect(readings(field as CodeField, number, here)).toMatchObject([{ meaning: null, mark: 'OFFEN' }]);
    }
  });

  it('sets the number of a no-go zone, whichever was measured', () => {
    const other = createCodeBook(device(['overlays.no-go-region-type', 24]));
    expect(other.meaning('regionType', 24)).toMatchObject({
      mark: 'BELEGT',
      readings: [{ meaning: 'no-go zone', mark: 'BELEGT', fact: 'overlays.no-go-region-type' }],
    });
    expect(other.meaning('regionType', 1).mark).toBe('HINWEIS');
    const same = createCodeBook(device(['overlays.no-go-region-type', '1']));
    expect(same.meaning('regionType', 1)).toMatchObject({
      mark: 'BELEGT',
      readings: [
        { meaning: 'no-go zone', mark: 'BELEGT' },
        { meaning: 'no-go zone', mark: 'HINWEIS' },
      ],
    });
  });

  it('has no effect for another device, another software, or without a measured value', () => {
    const good = device(['vendor.overlays.region-types', true], ['overlays.lane-direction-3', 'both ways']);
    expect(createCodeBook(good).meaning('regionType', 5).mark).toBe('BELEGT');
    for (const strange of [
      { ...good, serial: 'SN2' },
      { ...good, software: '2.13.0' },
      { ...good, serial: null },
      device(['overlays.lane-direction-3', true]),
      device(['overlays.no-go-region-type', ' ']),
      device(['overlays.start-end-type-meaning', { toString: 'x' }]),
    ]) {
      const { meaning } = createCodeBook(strange);
      expect(meaning('regionType', 0).readings[0]?.meaning).toBe('none');
      const marks = [meaning('regionType', 5).mark, meaning('direction', 3).mark, meaning('startType', 1).mark];
      expect(marks).toEqual(['HINWEIS', 'OFFEN', 'OFFEN']);
    }
  });

  it('has a meaning of bounded length', () => {
    const here = device(['overlays.lane-direction-3', '🤖'.repeat(500)]);
    const [reading] = createCodeBook(here).meaning('direction', 3).readings;
    expect(reading?.meaning?.length).toBeLessThanOrEqual(60);
    expect(reading?.meaning?.isWellFormed()).toBe(true);
  });
});
