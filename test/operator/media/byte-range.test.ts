import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteRange } from '../../../src/lib/operator/media/byte-range.ts';
import { character } from '../../cli/characters.ts';

describe('byteRange', () => {
  it.each([
    ['bytes=0-', 10, { first: 0, last: 9 }],
    ['bytes=3-5', 10, { first: 3, last: 5 }],
    ['bytes=3-99', 10, { first: 3, last: 9 }],
    ['bytes=-4', 10, { first: 6, last: 9 }],
    ['bytes=-99', 10, { first: 0, last: 9 }],
    [undefined, 10, null],
    ['bytes=-', 10, null],
    ['bytes=-0', 10, null],
    ['bytes=10-', 10, null],
    ['bytes=5-3', 10, null],
    ['bytes=0-1,3-4', 10, null],
    ['lines=0-1', 10, null],
    ['bytes=0-', 0, null],
    ['bytes=9999999999999999-', 10, null],
  ])('%s of %i bytes', (header, bytes, range) => expect(byteRange(header, bytes)).toEqual(range));

  it('stays within the file, whatever it is asked for', { tags: 'property' }, () => {
    const header = fc.oneof(
      fc.string({ unit: character }),
      fc.tuple(fc.bigInt(-5n, 10n ** 20n), fc.bigInt(-5n, 10n ** 20n)).map(([a, b]) => `bytes=${a}-${b}`),
      fc.stringMatching(/^bytes=\d{0,20}-\d{0,20}$/),
    );
    fc.assert(
      fc.property(header, fc.nat(), (text, bytes) => {
        const range = byteRange(text, bytes);
        if (range === null) return;
        expect(range.first).toBeGreaterThanOrEqual(0);
        expect(range.last).toBeGreaterThanOrEqual(range.first);
        expect(range.last).toBeLessThan(bytes);
      }),
    );
  });
});
