import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DocumentModel } from '../../src/lib/report/index.ts';
import {
  networkRequestFacts,
  networkRequestLetter,
  recordDocument,
  writeDocumentAs,
} from '../../src/lib/report/index.ts';
import { parseSite } from '../../src/lib/site/index.ts';
import { fontsDir } from '../report/pdf-reader.ts';
import {
  answeredStep,
  deviantStep,
  measuredStep,
  openStep,
  recordOf,
  robotOf,
  stepOf,
  verificationOf,
  wrongStep,
} from '../report/records.ts';
import { hasBrowser, launchBrowser, openDocument, sizes } from './browser.ts';
import { hasProgram } from './peer.ts';

const madeAt = new Date('2026-11-21T12:00:00Z');

const site = parseSite(
  `name: Küche, robot 7
chassis: { host: 192.0.2.3, serial: SN0007 }
network: { devices: [{ name: "Tür <b>A</b>", kind: door, host: 198.51.100.10, port: 8080 }] }
`,
  'site.yaml',
);
const robot = robotOf([stepOf(), answeredStep, measuredStep, openStep, deviantStep, wrongStep], {
  site: '<script>alert(1)</script> Šimůnek 厨房',
  redLines: [{ id: 'tablet', title: 'The tablet was left open', detail: 'it answers', remedy: 'lock it' }],
});
const record = recordOf([robot], { signature: null });

const documents: readonly (readonly [string, (lang: 'de' | 'en') => DocumentModel])[] = [
  ['letter', (lang) => networkRequestLetter(networkRequestFacts(site), { lang, madeAt, timeZone: 'Europe/Berlin' })],
  ['record', (lang) => recordDocument(record, verificationOf(record, 'not-checked'), { lang, madeAt })],
];
const cases = documents.flatMap(([name, make]) => (['de', 'en'] as const).map((lang) => [name, lang, make] as const));

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-documents-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

describe.skipIf(!hasBrowser)('documents as HTML in a real browser (Chromium)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  const open = (name: string, text: string, viewport?: { width: number; height: number }) =>
    openDocument(browser, join(dir, `${name}.html`), text, viewport);

  it.each(cases)('the %s in %s fits tablet and phone, loads nothing and raises no error', async (name, lang, make) => {
    const text = String((await writeDocumentAs(make(lang), 'html', fontsDir)).content);
    for (const size of sizes) {
      const { page, problems, close } = await open(`${name}-${lang}`, text, size);
      expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
      expect(await page.evaluate('document.styleSheets.length')).toBe(1);
      expect(await page.evaluate('document.documentElement.lang')).toBe(lang);
      expect(await page.evaluate('document.querySelectorAll("script, b script").length')).toBe(0);
      expect(problems).toEqual([]);
      await close();
    }
  });

  it.each(cases)('the %s in %s prints on A4, upright', async (name, lang, make) => {
    const text = String((await writeDocumentAs(make(lang), 'html', fontsDir)).content);
    const { page, close } = await open(`${name}-${lang}-print`, text, sizes[0]);
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
    expect(pdf).toMatch(/\/MediaBox \[0 0 59[456](\.\d+)? 84[12](\.\d+)?\]/);
    expect((pdf.match(/\/Type \/Page\b/g) ?? []).length).toBeGreaterThanOrEqual(2);
    await close();
  });
});

describe.skipIf(!hasProgram('pdftotext'))('documents as PDF in an independent reader (poppler)', () => {
  async function read(name: string, model: DocumentModel) {
    const path = join(dir, `${name}.pdf`);
    const { content, pages } = await writeDocumentAs(model, 'pdf', fontsDir);
    await writeFile(path, content);
    const run = (program: string, ...words: string[]) => {
      const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8' });
      // It prints warnings for an invalid file.
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      return stdout;
    };
    return {
      pages,
      info: run('pdfinfo', path),
      fonts: run('pdffonts', path),
      text: run('pdftotext', '-layout', path, '-').split('\f').slice(0, -1),
    };
  }

  it.each(cases)('the %s in %s is a valid A4 file without scripts', async (name, lang, make) => {
    const { info, fonts, text, pages } = await read(`${name}-${lang}`, make(lang));
    expect(info).toMatch(/JavaScript: +no/);
    expect(info).toMatch(/Page size: +595\.28 x 841\.89 pts \(A4\)/);
    expect(info).toMatch(new RegExp(`Pages: +${pages}\n`));
    expect(text).toHaveLength(pages ?? 0);
    // Embedded, a subset each, and with the text of each glyph.
    const embedded = fonts.trim().split('\n').slice(2);
    expect(embedded.length).toBeGreaterThan(1);
    for (const line of embedded)
      expect(line).toMatch(/^[A-Z]{6}\+Source(Sans3|CodePro)-(Regular|Bold) .* yes yes yes /);
  });

  it('reads umlauts, quotes and replaced characters as they were meant', async () => {
    const letter = await read(
      'letter',
      networkRequestLetter(networkRequestFacts(site), { lang: 'de', madeAt, timeZone: 'Europe/Berlin' }),
    );
    expect(letter.text.join(' ')).toContain('„Küche, robot 7“');
    expect(letter.text.join(' ')).toContain('Für die Anbindung an das Netzwerk');
    const report = await read(
      'report',
      recordDocument(record, verificationOf(record, 'not-checked'), { lang: 'de', madeAt }),
    );
    expect(report.text[0]).toContain('<script>alert(1)</script> Šimůnek [U+53A8 U+623F]');
    expect(report.text[0]).toContain('NICHT SIGNIERT');
    expect(report.text.at(-1)?.replace(/\s+/g, ' ')).toContain('U+53A8, U+623F');
  });

  it('reads names in Latin, Greek and Cyrillic letters as they are written', async () => {
    const parties = { customer: { company: null, name: 'Łukasz Żółć' }, operator: { company: null, name: 'Γιώργος' } };
    const named = recordOf([robotOf([], parties)], { technician: { name: 'Дмитрий', initials: null } });
    for (const lang of ['de', 'en'] as const) {
      const { text } = await read('names', recordDocument(named, verificationOf(named), { lang, madeAt }));
      for (const name of ['Łukasz Żółć', 'Γιώργος', 'Дмитрий']) expect(text[0]).toContain(name);
    }
  });
});
