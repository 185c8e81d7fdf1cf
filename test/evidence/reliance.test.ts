import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type EvidenceRecord,
  type Fact,
  type FactId,
  facts,
  isDisagreement,
  known,
  relianceOn,
  stronger,
} from '../../src/lib/evidence/index.ts';
import { here, recordOf } from './record-of.ts';

const usable = (
  id: FactId,
  records: EvidenceRecord[],
  device: { serial: string | null; software: string | null } = here,
) => relianceOn(id, { ...device, records }).usable;

describe('whether a movement may rely on a fact', () => {
  it('a measured BELEGT fact permits it, also on an unidentified device', () => {
    expect(usable('angles.target-ori', [])).toBe(true);
    expect(usable('angles.target-ori', [], { serial: null, software: null })).toBe(true);
  });

  it('a BELEGT fact that was not measured on a device does not permit it', () => {
    const reliance = relianceOn('chassis.no-authentication', { ...here, records: [] });
    expect(reliance).toMatchObject({ mark: 'BELEGT', usable: false });
    expect(usable('operator.route-start-tour', [recordOf('operator.route-start-tour')])).toBe(false);
  });

  it('a HINWEIS permits it only with a record for exactly this serial and this software', () => {
    expect(usable('vendor.move.request', [])).toBe(false);
    expect(usable('vendor.move.request', [recordOf('vendor.move.request')])).toBe(true);
    expect(usable('vendor.move.request', [recordOf('vendor.move.request', true, { serial: 'SN0002' })])).toBe(false);
    expect(usable('vendor.move.request', [recordOf('vendor.move.request', true, { software: '2.12.4' })])).toBe(false);
    expect(usable('vendor.move.request', [recordOf('vendor.move.state')])).toBe(false);
  });

  it('a record never counts while serial or software of the device are not known', () => {
    const empty = recordOf('vendor.move.request', true, { serial: '', software: '' });
    for (const device of [
      { ...here, serial: null },
      { ...here, software: null },
      { serial: '', software: '' },
    ]) {
      expect(usable('vendor.move.request', [recordOf('vendor.move.request'), empty], device)).toBe(false);
    }
  });

  it('VORSICHT and OFFEN never permit it, whatever was recorded', () => {
    const weak = facts.filter(({ mark }) => mark === 'VORSICHT' || mark === 'OFFEN');
    expect(weak.length).toBeGreaterThan(40);
    for (const fact of weak) {
      const value = structuredClone('value' in fact ? fact.value : true) as EvidenceRecord['value'];
      expect(usable(fact.id, [recordOf(fact.id, value)]), fact.id).toBe(false);
    }
  });

  it('the losing side of a disagreement and the disagreement itself never permit it', () => {
    for (const fact of (facts as readonly Fact[]).filter(isDisagreement)) {
      const id = fact.id as FactId;
      expect(usable(id, [recordOf(id)]), id).toBe(false);
      const loser = fact.between.find((side) => side !== fact.wins) as FactId;
      const verdict = relianceOn(loser, { ...here, records: [recordOf(loser)] });
      expect(verdict.usable, loser).toBe(false);
    }
    const { why } = relianceOn('vendor.topic.tracked-pose-ori', { ...here, records: [] });
    expect(why).toContain('angles.tracked-pose-ori');
  });

  it('a contradicting record denies it, also for a BELEGT fact; the last record decides', () => {
    const radians = recordOf('angles.tracked-pose-ori', 'radians');
    const degrees = recordOf('angles.tracked-pose-ori', 'degrees');
    const contradicted = relianceOn('angles.tracked-pose-ori', { ...here, records: [radians] });
    expect(contradicted).toMatchObject({ usable: false, verifiedHere: false });
    expect(usable('angles.tracked-pose-ori', [radians, degrees])).toBe(true);
    expect(usable('angles.tracked-pose-ori', [degrees, radians])).toBe(false);
    for (const value of [false, null]) {
      expect(usable('vendor.move.request', [recordOf('vendor.move.request', value)])).toBe(false);
    }
  });

  it('with a value in the ledger the recorded one must be the same, or plain true', () => {
    expect(usable('vendor.boot-phase', [recordOf('vendor.boot-phase', 503)])).toBe(true);
    expect(usable('vendor.boot-phase', [recordOf('vendor.boot-phase', true)])).toBe(true);
    expect(usable('vendor.boot-phase', [recordOf('vendor.boot-phase', '503')])).toBe(false);
  });

  it('every verdict states its reason and names the fact', () => {
    for (const { id } of facts) {
      const { why, fact } = relianceOn(id, { ...here, records: [] });
      expect(fact).toBe(id);
      expect(why).toContain(id);
    }
  });

  it('records of other facts or devices change nothing', { tags: 'property' }, () => {
    const others = fc.array(
      fc.record({
        fact: fc.constantFrom(...facts.map(({ id }) => id)),
        value: fc.jsonValue({ maxDepth: 2 }),
        serial: fc.constantFrom('SN0001', 'SN0002', ''),
        software: fc.constantFrom('2.12.2', '', '2.12.3 '),
        how: fc.constant('x'),
        who: fc.constant('x'),
        when: fc.constant('2026-01-31T12:00:00Z'),
      }) as fc.Arbitrary<EvidenceRecord>,
    );
    fc.assert(
      fc.property(others, fc.constantFrom(...facts.map(({ id }) => id)), (records, id) => {
        expect(relianceOn(id, { ...here, records })).toEqual(relianceOn(id, { ...here, records: [] }));
      }),
    );
  });
});

describe('of two statements', () => {
  it('the one with the higher mark wins, or the first where they are equal', () => {
    const measured = known('degrees', 'BELEGT', 'measured', 'specification');
    const described = known('radians', 'HINWEIS', 'vendor', 'vendor');
    expect(stronger(measured, described)).toBe(measured);
    expect(stronger(described, measured)).toBe(measured);
    const twin = known('degrees', 'BELEGT', 'stated', 'another');
    expect(stronger(measured, twin)).toBe(measured);
  });
});
