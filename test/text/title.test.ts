import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isolated, searchText, titleMark, titleProblem } from '../../src/lib/text/index.ts';
import { runs } from '../properties.ts';
import { anyCharacter } from './units.ts';

const people = fc.constantFrom(...('aäßΣςكُأ٢٠۴éﬁÅ한ｆ²🛗👩‍🚀ıİ  -204'.match(/./gu) ?? []));
/** Titles as people write them, and any other that is allowed. */
const titles = fc
  .oneof(fc.string({ unit: people, maxLength: 20 }), fc.string({ unit: anyCharacter, maxLength: 20 }))
  .map((text) => text.trim())
  .filter((text) => titleProblem(text) === null);

describe('a title for people', () => {
  it.each([
    'Küche',
    'Zimmer 204',
    '204',
    'غرفة ٢٠٤',
    'مطبخ',
    '厨房',
    'Kök',
    'می‌روم',
    '👩‍🚀',
    'Ⅳ. Stock',
    'Café-Bar »Süd«',
  ])('may be %s', (text) => {
    expect(titleProblem(text)).toBeNull();
  });

  it.each([
    ['nothing', ''],
    ['spaces alone', ' \u3000'],
    ['a space at its end', 'Bar '],
    ['a line end', 'a\nb'],
    ['an escape', '\u001b[2J'],
    ['a C1 control', 'a\u0085b'],
    ['an override of direction', 'Zimmer \u202e402'],
    ['an isolate', '\u2067a\u2069'],
    ['a direction mark', 'a\u200fb'],
    ['a zero-width space', 'a\u200bb'],
    ['a byte order mark', '\ufeffa'],
    ['a soft hyphen', 'a\u00adb'],
    ['a tag', 'a\u{e0041}'],
    ['half a character', 'a\ud83d'],
    ['a private character', '\ue000'],
    ['a line separator', 'a\u2028b'],
    ['joiners alone', '\u200d\u200d'],
    ['punctuation-free emptiness', '\u0640'],
    ['piled marks', `a${'\u0301'.repeat(5)}`],
  ])('has not %s', (_what, text) => {
    expect(titleProblem(text)).not.toBeNull();
  });

  it.each([
    ['case', 'Zimmer 204', 'ZIMMER 204'],
    ['Unicode forms', 'K\u00fcche', 'Ku\u0308che'],
    ['full width', 'Ｂａｒ ２', 'Bar 2'],
    ['ligatures', 'Oﬃce', 'Office'],
    ['spaces', 'Zimmer\u00a0204', 'Zimmer  204'],
    ['digits of another script', 'غرفة ٢٠٤', 'غرفة 204'],
    ['ß in capitals', 'Straßencafé', 'STRASSENCAFÉ'],
    ['joiners between letters that do not join', 'Bar', 'B\u200dar'],
    ['a final sigma', 'ΟΔΟΣ', 'οδος'],
    ['a variation selector', '☎', '☎\ufe0f'],
  ])('is the same in other %s', (_what, one, other) => {
    expect(titleMark(one)).toBe(titleMark(other));
  });

  it.each([
    ['Zimmer 204', 'Zimmer 205'],
    ['Küche', 'Kuche'],
    ['Zimmer 20 4', 'Zimmer 204'],
    ['١٢', '٢١'],
  ])('is another: %s, %s', (one, other) => {
    expect(titleMark(one)).not.toBe(titleMark(other));
  });

  it.each([
    ['kuche', 'Küche'],
    ['KÜCHE', 'Küche'],
    ['strasse', 'Straße'],
    ['204', 'غرفة ٢٠٤'],
    ['۲۰۴', 'Zimmer 204'],
    ['مطبخ', 'مَطْبَخ'],
    ['smorrebrod', 'Smørrebrød'],
  ])('is found by %s: %s', (query, title) => {
    expect(searchText(title)).toContain(searchText(query));
  });

  it('is found by any part of it, in any spelling that is the same', { tags: 'property' }, () => {
    fc.assert(
      fc.property(titles, fc.nat(), fc.nat(), (title, from, length) => {
        const characters = [...new Intl.Segmenter('en').segment(title)].map(({ segment }) => segment);
        const part = characters.slice(from % characters.length).slice(0, 1 + (length % characters.length));
        const query = part.join('').trim();
        expect(searchText(title)).toContain(searchText(query));
        expect(searchText(searchText(title))).toBe(searchText(title));
        for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'] as const) {
          expect(titleMark(title.normalize(form))).toBe(titleMark(title));
          expect(searchText(title.normalize(form))).toBe(searchText(title));
        }
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('is isolated in a sentence where it runs from right to left, and otherwise as it is', { tags: 'property' }, () => {
    expect(isolated('غرفة ٢٠٤')).toBe('\u2068غرفة ٢٠٤\u2069');
    expect(isolated('Küche 204')).toBe('Küche 204');
    const strong = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
    fc.assert(
      fc.property(titles, (title) => {
        const [first, last] = [isolated(title).at(0), isolated(title).at(-1)];
        // Digits of these scripts run from left to right.
        if (strong.test(title.replace(/[\p{N}\p{P}\p{M}\p{S}]/gu, '')))
          expect([first, last]).toEqual(['\u2068', '\u2069']);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
