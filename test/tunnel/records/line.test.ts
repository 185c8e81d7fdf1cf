import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeRecord, FIRST_PREV, parseLine } from '../../../src/lib/tunnel/records/line.ts';
import { endReasons, type RecordBody, refusalReasons } from '../../../src/lib/tunnel/records/schema.ts';
import { runs } from '../../properties.ts';
import { anyCharacter } from '../../text/units.ts';
import { endOf, linesOf, recordOf, refusedOf, startOf } from './bodies.ts';

const anyText = fc.string({ unit: anyCharacter, maxLength: 60 });
const count = fc.option(fc.nat(), { nil: null });
const bodies: fc.Arbitrary<RecordBody> = fc.oneof(
  fc
    .record({ session: anyText, region: anyText, services: fc.array(anyText, { maxLength: 3 }), maxS: fc.nat() })
    .map((more) => startOf(1, more)),
  fc
    .record({ reason: fc.constantFrom(...endReasons), detail: anyText, durationS: count, bytesIn: count })
    .map(({ reason, ...more }) => endOf(1, reason, more)),
  fc
    .record({ reason: fc.constantFrom(...refusalReasons), detail: anyText, clientMode: anyText })
    .map((more) => refusedOf(1, more)),
);
const head = { seq: 7, at: '2026-01-02T03:04:05.678Z', serial: 'SN-"1"', prev: 'ab'.repeat(32) };
const lineOf = (body: RecordBody) => encodeRecord(body, head).line.subarray(0, -1);

describe('a line of the records', () => {
  it('has the bytes that the description of the format gives', () => {
    for (const body of [startOf(1), endOf(1), refusedOf(1)]) {
      const { line } = encodeRecord(body, { seq: 1, at: '2026-01-02T03:04:05.000Z', serial: 'SN-1', prev: FIRST_PREV });
      expect(line.toString()).toBe(linesOf([body])[0]);
    }
  });

  it('is parsed to what was encoded, whatever the texts are', { tags: 'property' }, () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const { record, line } = encodeRecord(body, head);
        // A lone surrogate cannot be written in UTF-8 and comes back escaped, so as itself.
        expect(parseLine(line.subarray(0, -1))).toEqual(record);
        expect(line.indexOf('\n')).toBe(line.byteLength - 1);
      }),
    );
  });

  it('with any bit flipped is no record', { tags: 'property' }, () => {
    fc.assert(
      fc.property(bodies, fc.nat(), fc.integer({ min: 0, max: 7 }), (body, at, bit) => {
        const line = Buffer.from(lineOf(body));
        const index = at % line.byteLength;
        line[index] = (line[index] ?? 0) ^ (1 << bit);
        expect(parseLine(line)).toBeNull();
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('cut or lengthened is no record', { tags: 'property' }, () => {
    fc.assert(
      fc.property(bodies, fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 20 }), (body, at, more) => {
        const line = lineOf(body);
        expect(parseLine(line.subarray(0, at % line.byteLength))).toBeNull();
        expect(parseLine(Buffer.concat([line, more]))).toBeNull();
      }),
    );
  });

  it('with a right hash and a foreign field, or of another format, is invalid', () => {
    const [line = ''] = linesOf([{ ...startOf(1), token: 'x' } as unknown as RecordBody]);
    expect(parseLine(Buffer.from(line.trimEnd()))).toBeNull();
    const [known = ''] = linesOf([{ ...startOf(1), format: 'gw/support-session/2' } as unknown as RecordBody]);
    expect(parseLine(Buffer.from(known.trimEnd()))).toBeNull();
    expect(recordOf(linesOf([startOf(1)])[0] ?? '').seq).toBe(1);
  });
});
