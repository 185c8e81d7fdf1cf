import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Block, DocumentModel, Words } from '../../src/lib/report/document.ts';
import { loadFonts } from '../../src/lib/report/pdf/fonts.ts';
import { createCharacterSet } from '../../src/lib/report/pdf/write.ts';
import { shown } from '../../src/lib/report/text.ts';
import { type DocumentFormat, writeDocumentAs } from '../../src/lib/report/write.ts';
import { oddText } from '../overlays/arbitrary.ts';
import { elementsOf, readMarkup, textOf } from '../overlays/render/markup-reader.ts';
import { runs } from '../properties.ts';
import { fontsDir, readPdf } from './pdf-reader.ts';

const madeAt = new Date('2026-11-21T12:00:00Z');

function modelOf(blocks: readonly Block[], change: Partial<DocumentModel> = {}): DocumentModel {
  return { lang: 'en', title: 'Title', footer: 'Footer', madeAt, blocks, ...change };
}

async function textForm(model: DocumentModel, format: DocumentFormat): Promise<string> {
  return String((await writeDocumentAs(model, format, fontsDir)).content);
}

async function pdfOf(model: DocumentModel) {
  const { content, ...about } = await writeDocumentAs(model, 'pdf', fontsDir);
  if (typeof content === 'string') throw new Error('expected PDF bytes');
  return { ...readPdf(content), about };
}

/** Texts of people and devices: also very long ones, and ones without a space. */
const anyText = fc.oneof(
  { weight: 6, arbitrary: oddText() },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['</style><script>alert(1)</script>', '*/ } body { background: url(https://example.invalid)'],
      ...['") } @import "https://example.invalid', 'endstream endobj ) Tj ET Q (\\', '漢'.repeat(400)],
      ...['Šimůnek Łukasz Đorđe', `${'wort '.repeat(900)}Ende`, 'x'.repeat(3_000), 'a\nb\n\n\nc'],
    ),
  },
);
const tone = fc.constantFrom('good', 'bad', 'open' as const);
const anyWords: fc.Arbitrary<Words> = fc.oneof(
  anyText,
  fc.array(
    fc.oneof(anyText, fc.record({ text: anyText, tone, bold: fc.boolean(), code: fc.boolean(), quiet: fc.boolean() })),
    { maxLength: 3 },
  ),
);
const rowsOf = fc.array(fc.tuple(anyText, anyWords), { maxLength: 3 });
const anyBlock: fc.Arbitrary<Block> = fc.oneof(
  fc.record({ kind: fc.constant('title'), text: anyText, above: anyText }),
  fc.record({ kind: fc.constant('heading'), text: anyText, level: fc.constantFrom(2, 3 as const), tone }),
  fc.record({ kind: fc.constant('paragraph'), text: anyWords, quiet: fc.boolean() }),
  fc.record({ kind: fc.constant('list'), items: fc.array(anyWords, { maxLength: 4 }), ordered: fc.boolean() }),
  fc.record({
    kind: fc.constant('table'),
    columns: fc.array(fc.record({ title: anyText, width: fc.integer({ min: 1, max: 12 }) }), {
      minLength: 1,
      maxLength: 5,
    }),
    rows: fc.array(fc.record({ cells: fc.array(anyWords, { maxLength: 6 }), tone }), { maxLength: 6 }),
  }),
  fc.record({ kind: fc.constant('facts'), rows: rowsOf }),
  fc.record({ kind: fc.constant('banner'), tone, title: anyText, lines: fc.array(anyWords, { maxLength: 3 }) }),
  fc.record({
    kind: fc.constant('figures'),
    cells: fc.array(fc.record({ value: anyText, label: anyText, tone: fc.option(tone) }), { maxLength: 5 }),
  }),
  fc.record({
    kind: fc.constant('letterhead'),
    from: fc.array(anyWords, { maxLength: 4 }),
    to: fc.array(anyWords, { maxLength: 4 }),
    place: anyText,
  }),
  fc.record({ kind: fc.constant('card'), tone, title: anyText, mark: anyText, rows: rowsOf }),
  fc.record({
    kind: fc.constant('signatures'),
    places: fc.array(fc.record({ role: anyText, lines: fc.array(anyText, { maxLength: 3 }) }), { maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant('page-break') }),
) as fc.Arbitrary<Block>;

const anyDocument = fc.record({
  lang: fc.constantFrom('de', 'en' as const),
  title: anyText,
  footer: anyText,
  madeAt: fc.constant(madeAt),
  blocks: fc.array(anyBlock, { maxLength: 6 }),
});

const squeeze = (text: string) => text.replace(/\s+/g, '');

describe('HTML', () => {
  it('is well-formed whatever the texts contain, and has no script, no form and no address', {
    tags: 'property',
  }, async () => {
    await fc.assert(
      fc.asyncProperty(anyDocument, async (model) => {
        const page = await textForm(model, 'html');
        const root = readMarkup(page);
        const names = new Set([...elementsOf(root)].map(({ name }) => name));
        const known = 'html head meta title link style body main header footer p h1 h2 h3 ul ol li b span div dl dt dd';
        for (const name of names) {
          expect(`${known} section code br table colgroup col thead tbody tr th td`.split(' ')).toContain(name);
        }
        for (const { attributes } of elementsOf(root)) {
          for (const name of attributes.keys()) expect(name).not.toMatch(/^on|^src$|^style$|^action$/);
        }
        const links = [...elementsOf(root)].flatMap(({ attributes }) => attributes.get('href') ?? []);
        expect(links).toEqual(['data:,']);
        const style = textOf([...elementsOf(root)].find(({ name }) => name === 'style') ?? root);
        expect(style).not.toMatch(/url\(|@import|expression/);
        expect((style.match(/\{/g) ?? []).length).toBe((style.match(/\}/g) ?? []).length);
      }),
      { numRuns: runs(250) },
    );
  });

  it('contains every text unchanged, except invisible characters', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyText, { minLength: 1, maxLength: 6 }), async (texts) => {
        const page = readMarkup(await textForm(modelOf([{ kind: 'list', items: texts }]), 'html'));
        const items = [...elementsOf(page)].filter(({ name }) => name === 'li').map(textOf);
        expect(items).toEqual(texts.map((text) => shown(text).replaceAll('\n', '')));
      }),
    );
  });
});

describe('PDF', () => {
  it('is valid whatever the texts contain, carries no action, and every piece of text is on the page', {
    tags: 'property',
  }, async () => {
    await fc.assert(
      fc.asyncProperty(anyDocument, async (model) => {
        const { pieces, active, pages, about, metadata } = await pdfOf(model);
        expect(active).toEqual([]);
        expect(pages.length).toBe(about.pages);
        for (const { x, y } of pieces) {
          expect(x).toBeGreaterThanOrEqual(50);
          expect(x).toBeLessThan(560);
          expect(y).toBeGreaterThan(15);
          expect(y).toBeLessThan(800);
        }
        const title = /<dc:title>[\s\S]*<\/dc:title>/.exec(metadata)?.[0] ?? '';
        expect(title.replace(/<\/?(dc:title|rdf:Alt|rdf:li)( xml:lang="x-default")?>/g, '')).not.toMatch(/[<>&]/);
      }),
      { numRuns: runs(20, 3) },
    );
  });

  it('loses no character of a paragraph, a table or a card, however long', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(anyText, anyText, anyText, async (one, two, three) => {
        const { pages } = await pdfOf(
          modelOf([
            { kind: 'paragraph', text: one },
            { kind: 'table', columns: [{ title: 'A', width: 1 }], rows: [{ cells: [two] }] },
            { kind: 'card', tone: 'bad', title: 'C', mark: 'M', rows: [['L', three]] },
          ]),
        );
        const { fit: showable } = createCharacterSet((await loadFonts(fontsDir)).hasInSans);
        // A page break may occur anywhere in a text: footer, and in a table its head, are in between.
        const body = pages.map((page) => squeeze(page).replace(/Page\d+of\d+Footer.*$/, '')).join('');
        const read = body.replaceAll('A', '');
        for (const text of [one, two, three]) {
          const expected = squeeze(showable(text)).replaceAll('A', '');
          expect(read).toContain(expected);
        }
      }),
      { numRuns: runs(15, 2) },
    );
  });

  it('prints names in Latin, Greek and Cyrillic letters, with their marks, as they are written', async () => {
    const names = 'Łukasz Żółć, Γιώργος, Дмитрий, Šimůnek, Nguyễn, π, 3 → 4';
    const code: Block = { kind: 'paragraph', text: [{ text: names, code: true }] };
    const { pages, about } = await pdfOf(modelOf([{ kind: 'title', text: names }, code]));
    expect(squeeze(pages[0] ?? '').split(squeeze(names)).length - 1).toBe(2);
    expect(about.replacedCharacters).toBe(0);
  });

  it('writes characters that its fonts lack as code points, in their order, with a note on every page and at the end', async () => {
    const [first, second]: Block[] = ['Łukasz, 厨房, שלום, 😀', 'x'].map((text) => ({ kind: 'paragraph', text }));
    const { pages, about } = await pdfOf(modelOf([first as Block, { kind: 'page-break' }, second as Block]));
    expect(about.replacedCharacters).toBe(7);
    const replaced = 'Łukasz, [U+53A8 U+623F], [U+05E9 U+05DC U+05D5 U+05DD], [U+1F600]';
    expect(squeeze(pages[0] ?? '')).toContain(squeeze(replaced));
    for (const page of pages) expect(page).toContain('some characters are replaced, see the end');
    expect(squeeze(pages.at(-1) ?? '')).toContain(squeeze('U+53A8, U+623F, U+05E9'));
  });

  it('has no note on replaced characters where there are none, and joins a mark that no letter has to its letter', async () => {
    const text = 'Grüße aus „Köln“ für 5 €';
    const { pages } = await pdfOf(modelOf([{ kind: 'paragraph', text: `${text} x\u0302 and u\u0308` }]));
    expect(pages[0]).toContain(text);
    expect(squeeze(pages[0] ?? '')).toContain('x\u0302andü');
    expect(pages[0]).not.toContain('characters are replaced');
  });

  it('numbers its pages, and repeats the head of a table on each', async () => {
    const rows = Array.from({ length: 120 }, (_, at) => ({ cells: [`row ${at}`, 'value'] }));
    const columns = ['Head', 'B'].map((title) => ({ title, width: 1 }));
    const { pages } = await pdfOf(modelOf([{ kind: 'table', columns, rows }], { lang: 'de' }));
    expect(pages.length).toBeGreaterThan(2);
    for (const [at, page] of pages.entries()) {
      expect(page).toContain(`Seite ${at + 1} von ${pages.length}`);
      expect(page).toContain('Head');
    }
  });

  it('is identical when it is generated twice for the same time', async () => {
    const model = modelOf([{ kind: 'paragraph', text: 'same' }]);
    const [one, two] = [await writeDocumentAs(model, 'pdf', fontsDir), await writeDocumentAs(model, 'pdf', fontsDir)];
    expect(one.content).toEqual(two.content);
  });
});

describe('Markdown', () => {
  it('has one line per row, and no text becomes HTML, a cell or a heading', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(anyText, anyWords, async (title, words) => {
        const columns = ['A', 'B'].map((title) => ({ title, width: 1 }));
        const table: Block = { kind: 'table', columns, rows: [{ cells: [words, title] }] };
        const blocks: Block[] = [{ kind: 'heading', text: title }, table, { kind: 'paragraph', text: words }];
        const text = await textForm(modelOf(blocks), 'md');
        // From left to right: in code a backslash escapes nothing.
        expect(text.replace(/`[^`\n]*`|\\./g, '')).not.toMatch(/<|&[a-z#]/i);
        const cells = text
          .split('\n')
          .filter((line) => line.startsWith('| '))
          .map((line) => line.replace(/\\./g, '').split('|').length);
        expect(cells).toEqual([4, 4, 4]);
        expect(text.split('\n').filter((line) => /^#/.test(line))).toHaveLength(1);
      }),
      { numRuns: runs(300) },
    );
  });
});
