import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLoosely } from '../../src/lib/document/index.ts';
import { runs } from '../properties.ts';

describe('a document that is read loosely', () => {
  it.each([
    ['# a\nname: "x # y" # c\nb: |\n  # in block\n', '\nname: "x # y" \nb: |\n  # in block\n', ['# a', '# c']],
    ['a: {x: 1, # c\n y: b#d}\r\n# e\r\n', 'a: {x: 1, \n y: b#d}\r\n\r\n', ['# c', '# e']],
    ['a: >- # c\n  t\n... # d\n', 'a: >- \n  t\n... \n', ['# c', '# d']],
    // Damaged: a quote is open, so that the rest would be one text.
    ['a: "open\n# c\nb: 1 # d\n', 'a: "open\n\nb: 1 \n', ['# c', '# d']],
    ['name: [\nb: x # c\n', 'name: [\nb: x \n', ['# c']],
  ])('%j loses its comments', (text, withoutComments, comments) => {
    expect(readLoosely(text)).toMatchObject({ withoutComments, comments });
  });

  it('has the values of all keys, also where it is damaged', () => {
    const values = [
      { names: ['a', 'b'], value: '1' },
      { names: ['a', 'c'], value: 'x y' },
      { names: ['a', 'c'], value: '2' },
    ];
    expect(readLoosely('a: { b: 1, c: ["x y", 2] }\n').values).toEqual(values);
    expect(readLoosely('a: { b: 1, c: ["x y", 2] }\nd: [\n').values).toEqual(values);
  });

  it('may be any text, and keeps all but the comments', { tags: 'property' }, () => {
    const piece = fc.constantFrom(
      ...[' ', '\n', '#', ': ', '- ', 'a', '"', "'", '|', '[', '}', '&b', '*b', '!!t', '\t', '\r\n', '---', '%'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        const { withoutComments, comments } = readLoosely(text);
        expect([...withoutComments, ...comments.join('')].sort().join('')).toBe([...text].sort().join(''));
      }),
      { numRuns: runs(1_000) },
    );
  });
});
