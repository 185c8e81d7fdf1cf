import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeSpan, escapeMarkdown, plural, pluralWord, shorten, tableCell } from '../../src/lib/text/index.ts';
import { anyCharacter } from './units.ts';

describe('plural', () => {
  it.each([
    [0, '0 maps'],
    [1, '1 map'],
    [2, '2 maps'],
  ])('of %s', (count, said) => expect(plural(count, 'map')).toBe(said));

  it('accepts an irregular plural, and returns the word without the number', () => {
    expect(plural(2, 'line was', 'lines were')).toBe('2 lines were');
    expect(pluralWord(1, 'its', 'their')).toBe('its');
  });
});

describe('shorten', () => {
  it('never exceeds the limit, and keeps a text that fits', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 30 }), (text, most) => {
        const short = shorten(text, most);
        const characters = [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(short)];
        expect(characters.length).toBeLessThanOrEqual(Math.max(most, 1));
        if (text.length <= most) expect(short).toBe(text);
      }),
    );
  });

  it('keeps emoji whole', () => {
    expect(shorten('👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦', 2)).toBe('👨‍👩‍👧‍👦…');
  });
});

describe('Markdown', () => {
  it('in a cell ends neither cell nor row, and creates no element', () => {
    expect(tableCell('a | `b`\n<script>')).toBe('a \\| `b` &lt;script>');
  });

  it('of foreign text has every special character escaped', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const bare = escapeMarkdown(text).replace(/\\[\\`*_{}[\]<>#|~!&]/g, '');
        expect(bare).not.toMatch(/[\\`*_{}[\]<>#|~!&]/);
        expect(codeSpan(text).slice(1, -1)).not.toMatch(/[`|]/);
      }),
    );
  });
});
