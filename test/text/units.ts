import fc from 'fast-check';

const SURROGATES = { from: 0xd800, count: 0x800 };

/**
 * Any code point except surrogates, as `unit` of fc.string. The library's own `binary` is the same, but builds a table of
 * a million characters once per process, which takes a second.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat(0x10ffff - SURROGATES.count).map(
  (nth) => String.fromCodePoint(nth < SURROGATES.from ? nth : nth + SURROGATES.count),
  (value) => {
    const point = typeof value === 'string' && [...value].length === 1 ? (value.codePointAt(0) ?? 0) : -1;
    if (point < 0 || !(value as string).isWellFormed()) throw new RangeError('no character');
    return point < SURROGATES.from ? point : point - SURROGATES.count;
  },
);
