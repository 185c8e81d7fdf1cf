import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cut } from '../../../src/cli/render/overlays/words.ts';
import { inspectOverlays } from '../../../src/lib/overlays/inspect/inspect.ts';
import { readOverlays } from '../../../src/lib/overlays/read/read.ts';
import { renderPage, renderSvg, toCsv, toGeojson } from '../../../src/lib/overlays/render/index.ts';
import { nameLines, nameText } from '../../../src/lib/overlays/render/lines.ts';
import { shorten } from '../../../src/lib/text/index.ts';
import { anyCharacter } from '../../text/units.ts';
import { elementsOf, readMarkup, textOf } from './markup-reader.ts';
import { collectionOf, lookAtCollection, pageOptions, pointAt } from './rendered.ts';

const lookAt = (name: unknown) => lookAtCollection(collectionOf(pointAt(1, 2, { type: 9, name })));

/** The name as each output holds it; of the picture both the label and the tooltip. */
function namesIn(name: unknown) {
  const inspection = lookAt(name);
  const picture = readMarkup(renderSvg(inspection, { title: 'Hall', image: null }));
  const of = (root: typeof picture, element: string) => [...elementsOf(root)].filter((one) => one.name === element);
  const page = readMarkup(renderPage(inspection, pageOptions));
  const [row] = of(page, 'strong').filter((one) => of(one, 'bdi').length > 0);
  const label = of(picture, 'tspan').filter(({ attributes }) => attributes.get('unicode-bidi') === 'plaintext');
  return {
    tip: textOf(of(picture, 'title').at(-1) as never),
    label: label.map(textOf).join(''),
    page: row === undefined ? null : textOf(row),
    csv: toCsv(inspection).split('\r\n')[1] ?? '',
    geojson: JSON.parse(toGeojson(inspection)).features[0].properties.name,
  };
}

describe('the text of a label', () => {
  it.each([
    ['a usual one', 'Zimmer 101'],
    ['blanks inside and at its ends', ' Zimmer  101 '],
    ['markup', '<b>"Küche" & \'Bad\'</b>'],
    ['longer than a line', 'Besprechungsraum im dritten Obergeschoss links, Fensterseite'],
    ['accents that stand by themselves', 'Ku\u0308che Ba\u0301r'],
    ['emoji of several parts', 'Lager 👩‍👩‍👧‍👦 🇩🇪'],
    ['Chinese', '客房 101 號'],
  ])('is whole in every output: %s', (_, name) => {
    const { tip, label, page, csv, geojson } = namesIn(name);
    expect(tip).toContain(`Point ${name} · `);
    expect(label).toBe(name);
    expect(page).toBe(name);
    const quoted = `"${name.replaceAll('"', '""')}"`;
    expect(csv).toContain(/[",]|^\s|\s$/.test(name) ? `,${quoted},` : `,${name},`);
    expect(geojson).toBe(name);
    expect(stripVTControlCharacters(cut(name, 400))).toBe(name);
  });

  it('is kept where the name is a number', () => {
    expect(lookAt(101).selected[0]?.name).toBe('101');
    expect(lookAt(0).selected[0]?.name).toBe('0');
    expect(lookAt(12.5).selected[0]?.name).toBe('12.5');
    expect(namesIn(101)).toMatchObject({ label: '101', page: '101', geojson: 101 });
    // An inexact number would be shown as another room number.
    const text = '{"type":"FeatureCollection","features":[{"properties":{"name":12345678901234567890}}]}';
    expect(readOverlays(text).features[0]?.name).toBeNull();
    for (const name of [true, null, {}, ['A']]) expect(lookAt(name).selected[0]?.name).toBeNull();
  });

  it('from right to left reorders no neighbouring text and keeps its own order', () => {
    for (const name of ['מטבח', 'غرفة 12', '\u202eabc']) {
      const { tip, label, page, geojson } = namesIn(name);
      expect(tip).toContain(`Point \u2068${name}\u2069 · `);
      expect([label, page, geojson]).toEqual([name, name, name]);
    }
  });

  it('shows a line break and a tab as a sign', () => {
    const { label, page, geojson } = namesIn('A\r\nB\nC\tD');
    expect([label, page]).toEqual(['A↵B↵C⇥D', 'A↵B↵C⇥D']);
    expect(geojson).toBe('A\r\nB\nC\tD');
  });

  it('is wrapped, and truncated between characters in the picture only', () => {
    const long = `${'Wort '.repeat(30)}Ende`;
    expect(nameLines(long, 26).length).toBe(3);
    expect(nameLines(long, 26).join('')).toMatch(/…$/);
    expect(namesIn(long)).toMatchObject({ page: long, tip: expect.stringContaining(`Point ${long} · `) });
    const family = '👩‍👩‍👧‍👦'.repeat(100);
    expect(nameLines(family, 26).every((line) => /^(👩‍👩‍👧‍👦)+…?$/u.test(line))).toBe(true);
    expect(nameText('x'.repeat(5000))).toBe(`${'x'.repeat(399)}…`);
  });

  it('loses nothing when wrapped, and no line is too long', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 3, max: 30 }), (name, most) => {
        const lines = nameLines(name, most);
        const whole = lines.join('');
        const shown = nameText(name, most * 3);
        expect(lines.length).toBeLessThanOrEqual(3);
        if (whole.endsWith('…') && !name.endsWith('…')) expect(shown.startsWith(whole.slice(0, -1))).toBe(true);
        else expect(whole).toBe(shown);
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 40 }), fc.integer({ min: 1, max: 30 }), (text, most) => {
        const short = shorten(text, most);
        expect(short === text || (short.endsWith('…') && text.startsWith(short.slice(0, -1)))).toBe(true);
        expect(
          [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(short)].length,
        ).toBeLessThanOrEqual(Math.max(most, 1));
      }),
    );
  });

  it('shows the number of a point that does not fit into its marker', () => {
    const labelled = (features: readonly object[]) => {
      const inspection = inspectOverlays(readOverlays(JSON.stringify(collectionOf(...features))), {
        frame: null,
        device: null,
      });
      const picture = readMarkup(renderSvg(inspection, { title: 'Hall', image: null }));
      return [...elementsOf(picture)].filter(({ name }) => name === 'tspan').map(textOf);
    };
    expect(labelled([pointAt(0, 0, { type: 123456, name: 'P' })])).toContain('123456 ');
    expect(labelled([pointAt(0, 0, { type: 11, name: 'P' })])).not.toContain('11 ');
    // Enough points that their markers are too small for a number.
    const many = Array.from({ length: 400 }, (_, nth) => pointAt(nth % 20, Math.floor(nth / 20) * 3, { type: 11 }));
    expect(labelled(many)).toContain('11 ');
  });
});
