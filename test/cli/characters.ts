import fc from 'fast-check';

const isSurrogate = (code: number) => code >= 0xd800 && code <= 0xdfff;

/** Any character, and those of one byte often. The unit 'binary' of fast-check takes a second for a table of them all. */
export const character = fc
  .oneof(fc.nat(0xff), fc.nat(0x10ffff))
  .filter((code) => !isSurrogate(code))
  .map((code) => String.fromCodePoint(code));
