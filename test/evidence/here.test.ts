import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type EvidenceRecord,
  type Fact,
  type FactId,
  facts,
  isDisagreement,
  markHere,
  relianceOn,
  scopeOf,
} from '../../src/lib/evidence/index.ts';
import { here, recordOf } from './record-of.ts';

const device = (...records: EvidenceRecord[]) => ({ ...here, records });
const regionTypes = 'vendor.overlays.region-types';
const all: readonly Fact[] = facts;

describe('the mark of a fact on this device', () => {
  it('is as the ledger has it without records, without a device, and with records of other facts', () => {
    for (const { id, mark, basis } of all) {
      const asMarked = { mark, basis, verdict: 'as-marked', record: null, expired: null };
      expect(markHere(id, null), id).toEqual(asMarked);
      expect(markHere(id, device()), id).toEqual(asMarked);
      const other = id === 'vendor.boot-phase' ? 'vendor.move.request' : 'vendor.boot-phase';
      expect(markHere(id, device(recordOf(other, true))), id).toEqual(asMarked);
    }
  });

  it('is BELEGT for a HINWEIS that a record confirms', () => {
    const held = recordOf('vendor.move.request', true);
    const verified = { mark: 'BELEGT', basis: 'here', verdict: 'verified', record: held, expired: null };
    expect(markHere('vendor.move.request', device(held))).toEqual(verified);
    expect(markHere('vendor.boot-phase', device(recordOf('vendor.boot-phase', 503))).mark).toBe('BELEGT');
  });

  it.each([false, null, 404, '503'])('is unchanged for a HINWEIS that a record contradicts with %j', (value) => {
    const contradicted = { mark: 'HINWEIS', verdict: 'contradicted', record: { value } };
    expect(markHere('vendor.boot-phase', device(recordOf('vendor.boot-phase', value)))).toMatchObject(contradicted);
  });

  it('is contradicted for a BELEGT fact too, and the newest record decides', () => {
    const radians = recordOf('angles.tracked-pose-ori', 'radians');
    const degrees = recordOf('angles.tracked-pose-ori', 'degrees');
    const contradicted = { mark: 'BELEGT', verdict: 'contradicted' };
    expect(markHere('angles.tracked-pose-ori', device(degrees, radians))).toMatchObject(contradicted);
    expect(markHere('angles.tracked-pose-ori', device(radians, degrees)).verdict).toBe('verified');
  });

  it.each([true, false, null])('is not raised for OFFEN by %j, which is no measured value', (value) => {
    expect(markHere('overlays.lane-direction-3', device(recordOf('overlays.lane-direction-3', value)))).toMatchObject({
      mark: 'OFFEN',
      verdict: 'as-marked',
      record: null,
    });
  });

  it('is raised for OFFEN by a measured value', () => {
    for (const value of ['driven both ways', 0, { forth: true }]) {
      expect(markHere('overlays.lane-direction-3', device(recordOf('overlays.lane-direction-3', value)))).toMatchObject(
        {
          mark: 'BELEGT',
          verdict: 'verified',
          record: { value },
        },
      );
    }
  });

  it('is raised for VORSICHT by the measured value only', () => {
    const verdictOf = (value: EvidenceRecord['value']) => {
      const { mark, verdict } = markHere('overlays.point-type-11', device(recordOf('overlays.point-type-11', value)));
      return [mark, verdict];
    };
    expect(verdictOf('Delivery Point')).toEqual(['BELEGT', 'verified']);
    expect(verdictOf(true)).toEqual(['VORSICHT', 'as-marked']);
    expect(verdictOf('table number')).toEqual(['VORSICHT', 'contradicted']);
    expect(verdictOf(false)).toEqual(['VORSICHT', 'contradicted']);
  });

  it('never follows from a record about a disagreement', () => {
    for (const { id, mark } of all.filter(isDisagreement)) {
      for (const value of [true, false, 'x', 1]) {
        expect(markHere(id, device(recordOf(id, value)))).toMatchObject({ mark, verdict: 'as-marked' });
      }
    }
  });

  it('returns to the ledger mark after the software changed, and names the expired record', () => {
    const older = recordOf('vendor.move.request', true, { software: '2.12.2' });
    const asMarked = { mark: 'HINWEIS', basis: 'vendor', verdict: 'as-marked', record: null, expired: older };
    expect(markHere('vendor.move.request', device(older))).toEqual(asMarked);
    const now = recordOf('vendor.move.request', true);
    expect(markHere('vendor.move.request', device(now, older))).toMatchObject({ record: now, expired: null });
  });

  it('never follows from a record of another serial number', () => {
    const foreign = recordOf('vendor.move.request', true, { serial: 'SN0002' });
    expect(markHere('vendor.move.request', device(foreign))).toMatchObject({ verdict: 'as-marked', expired: null });
  });

  it('never follows from a record while serial number or software are not known', () => {
    const records = [{}, { serial: '', software: '' }].map((more) => recordOf('vendor.move.request', true, more));
    for (const known of [
      { ...here, serial: null },
      { ...here, software: null },
      { serial: '', software: '' },
    ]) {
      expect(markHere('vendor.move.request', { ...known, records }).verdict).toBe('as-marked');
    }
  });

  it('rejects an id that is not in the ledger', () => {
    for (const id of ['vendor.nothing', '__proto__', '']) {
      expect(() => markHere(id, null)).toThrow(expect.objectContaining({ code: 'EVIDENCE_UNKNOWN' }));
    }
  });

  it('never permits a movement: the gate refuses VORSICHT and OFFEN that are shown as BELEGT', () => {
    for (const { id, mark } of all.filter((fact) => fact.mark === 'VORSICHT' || fact.mark === 'OFFEN')) {
      const here = device(recordOf(id, 'Delivery Point'));
      expect([mark, markHere(id, here).mark === 'BELEGT' && relianceOn(id as FactId, here).usable]).toEqual([
        mark,
        false,
      ]);
    }
  });
});

describe('one entry of a table', () => {
  const entry = (value: EvidenceRecord['value'], key: string | number = 1) => {
    const { mark, verdict } = markHere(regionTypes, device(recordOf(regionTypes, value)), key);
    return `${mark} ${verdict}`;
  };

  it('is raised by `true`, by the whole table, and by a table with that entry', () => {
    const whole = all.find(({ id }) => id === regionTypes)?.value as Record<string, string>;
    for (const value of [true, whole, { 1: 'no-go zone' }, { 1: 'no-go zone', 2: 'fast lane' }, { 1: true }]) {
      expect(entry(value), JSON.stringify(value)).toBe('BELEGT verified');
    }
    expect(entry({ 1: 'no-go zone' }, '1')).toBe('BELEGT verified');
  });

  it('is contradicted where the recorded entry differs, and by a recorded value that is not a table', () => {
    for (const value of [{ 1: 'slow zone' }, { 1: 1 }, { 1: false }, { 1: null }, false, null, 'something', 7, []]) {
      expect(entry(value), JSON.stringify(value)).toBe('HINWEIS contradicted');
    }
  });

  it('is unchanged by a partial table without it', () => {
    expect(entry({ 2: 'slow zone' })).toBe('HINWEIS as-marked');
    expect(entry({})).toBe('HINWEIS as-marked');
    const records = device(recordOf(regionTypes, { 1: 'no-go zone' }), recordOf(regionTypes, { 2: 'slow zone' }));
    expect(markHere(regionTypes, records, 1).verdict).toBe('verified');
    expect(markHere(regionTypes, records, 2).verdict).toBe('verified');
    expect(markHere(regionTypes, records, 3).verdict).toBe('as-marked');
  });

  it('has the ledger mark when the ledger has no such entry, also for property names of Object.prototype', () => {
    for (const key of [24, 'constructor', '__proto__', 'toString', '']) {
      expect(entry(true, key), String(key)).toBe('HINWEIS as-marked');
      expect(entry({ [key]: 'x' }, key), String(key)).toBe('HINWEIS as-marked');
    }
  });

  it('leaves the table as a whole at the ledger mark until all of it was recorded, and contradicted where one differs', () => {
    const whole = all.find(({ id }) => id === 'vendor.overlays.line-types')?.value as Record<string, string>;
    const verdict = (value: EvidenceRecord['value']) =>
      markHere('vendor.overlays.line-types', device(recordOf('vendor.overlays.line-types', value))).verdict;
    expect(verdict({ 2: 'virtual wall' })).toBe('as-marked');
    expect(verdict({ ...whole })).toBe('verified');
    expect(verdict({ ...whole, 2: 'rail' })).toBe('contradicted');
    expect(verdict({ 2: 'rail' })).toBe('contradicted');
  });

  it('of an open fact is raised by a table that has it, and by nothing else', () => {
    const id = 'overlays.other-region-types';
    const of = (value: EvidenceRecord['value'], key: number) => markHere(id, device(recordOf(id, value)), key).verdict;
    expect(of({ 18: 'depot' }, 18)).toBe('verified');
    expect(of({ 18: 'depot' }, 19)).toBe('as-marked');
    expect(of({ 18: true }, 18)).toBe('as-marked');
    expect(of(true, 18)).toBe('as-marked');
  });
});

describe('the device of a record', () => {
  it.each([
    [here, 'here'],
    [{ ...here, software: '2.12.4' }, 'expired'],
    [{ ...here, serial: 'SN0002' }, 'foreign'],
    [{ ...here, software: null }, 'not-checked'],
    [{ ...here, serial: null }, 'not-checked'],
  ] as const)('seen from %j it is %s', (device, scope) => {
    expect(scopeOf(here, device)).toBe(scope);
  });
});

describe('any records of any values', () => {
  it('raise a mark to BELEGT or leave it, throw nothing, and VORSICHT and OFFEN need a measured value', {
    tags: 'property',
  }, () => {
    const records = fc.array(
      fc.record({
        fact: fc.constantFrom(...all.map(({ id }) => id)),
        value: fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(true, false, null, { 1: true }, { 1: 'x' })),
        serial: fc.constantFrom('SN0001', 'SN0002'),
        software: fc.constantFrom('2.12.3', '2.12.2'),
        how: fc.constant('x'),
        who: fc.constant('x'),
        when: fc.constant('2026-01-31T12:00:00Z'),
      }) as fc.Arbitrary<EvidenceRecord>,
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(records, fc.option(fc.oneof(fc.string(), fc.nat(20)), { nil: undefined }), (list, entry) => {
        for (const { fact } of list) {
          const found = all.find(({ id }) => id === fact);
          const { mark, verdict, record: by, expired } = markHere(fact, device(...list), entry);
          expect(mark).toBe(verdict === 'verified' ? 'BELEGT' : found?.mark);
          expect(by === null).toBe(verdict === 'as-marked');
          if (by) expect([by.serial, by.software, expired]).toEqual(['SN0001', '2.12.3', null]);
          if (expired) expect([expired.serial, expired.software]).toEqual(['SN0001', '2.12.2']);
          const isWeak = found?.mark === 'VORSICHT' || found?.mark === 'OFFEN';
          if (isWeak && verdict === 'verified') expect([true, false, null]).not.toContain(by?.value);
        }
      }),
    );
  });
});
