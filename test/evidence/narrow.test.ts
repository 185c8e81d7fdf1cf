import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EvidenceRecord, type FactId, facts, relianceOn } from '../../src/lib/evidence/index.ts';
import { narrowRecords, revocations } from '../../src/lib/evidence/watch.ts';
import { recordOf } from './record-of.ts';

const ids = ['vendor.move.request', 'angles.target-ori', 'angles.tracked-pose-ori', 'vendor.boot-phase'] as const;
const anyRecords = fc.array(
  fc
    .record({
      fact: fc.constantFrom<string>(...ids, 'no.such-fact'),
      value: fc.constantFrom<EvidenceRecord['value']>(true, false, null, 'radians', 'degrees', 503),
      serial: fc.constantFrom('SN0001', 'SN2'),
      software: fc.constantFrom('2.12.3', '2'),
    })
    .map(({ fact, value, ...more }) => recordOf(fact, value, more)),
  { maxLength: 12 },
);
const devices = ['SN0001', 'SN2'].flatMap((serial) => ['2.12.3', '2'].map((software) => ({ serial, software })));
const usable = (id: FactId, records: readonly EvidenceRecord[], requireVerified: boolean) =>
  devices.map((device) => relianceOn(id, { ...device, records }, { requireVerified }).usable);

describe('evidence while a program runs', () => {
  it('never permits more than at the start, nor more than the current file', { tags: 'property' }, () => {
    fc.assert(
      fc.property(anyRecords, fc.array(anyRecords, { maxLength: 6 }), fc.boolean(), (start, later, requireVerified) => {
        let counting: readonly EvidenceRecord[] = start;
        const open = new Map(ids.map((id) => [id, usable(id, start, requireVerified)]));
        for (const read of later) {
          counting = narrowRecords(counting, read);
          for (const id of ids) {
            const now = usable(id, counting, requireVerified);
            const inFile = usable(id, read, requireVerified);
            const before = open.get(id) ?? [];
            now.forEach((is, at) => {
              expect(!is || (before[at] === true && inFile[at] === true), id).toBe(true);
            });
            open.set(id, now);
          }
        }
      }),
    );
  });

  it('revokes nothing while the file is unchanged, or only adds other facts, devices and confirmations', {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(anyRecords, fc.boolean(), (start, requireVerified) => {
        const grown = [
          ...start,
          recordOf('vendor.topics.error-reply', true),
          recordOf(ids[0], true, { serial: 'SN9' }),
        ];
        for (const read of [start, grown]) {
          const next = narrowRecords(start, read);
          for (const id of ids) expect(usable(id, next, requireVerified)).toEqual(usable(id, start, requireVerified));
          expect(revocations(start, next)).toEqual([]);
        }
      }),
    );
  });

  it('lists contradicted and removed facts', () => {
    const start = [recordOf('vendor.move.request', true), recordOf('vendor.move.cancel', true)];
    const next = narrowRecords(start, [...start.slice(0, 1), recordOf('vendor.move.request', false)]);
    const about = { serial: 'SN0001', software: '2.12.3' };
    expect(revocations(start, next)).toEqual([
      { fact: 'vendor.move.request', ...about, how: 'contradicted' },
      { fact: 'vendor.move.cancel', ...about, how: 'gone' },
    ]);
    expect(facts.some(({ id }) => id === 'vendor.move.cancel')).toBe(true);
  });
});
