import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Inspection } from '../../src/lib/overlays/index.ts';
import { renderPage, renderSvg } from '../../src/lib/overlays/render/index.ts';
import { nameText } from '../../src/lib/overlays/render/lines.ts';
import { oddText } from '../overlays/arbitrary.ts';
import { collectionOf, lookAt, lookAtCollection, pageOptions, pointAt } from '../overlays/render/rendered.ts';
import { runs } from '../properties.ts';
import { hasBrowser, launchBrowser, openDocument, sizes } from './browser.ts';

/** Points of every mark one above the other, with a heading, a pair and both kinds of findings. */
const tall = () =>
  collectionOf(
    pointAt(1, 0, { type: 9, name: 'dock', yaw: 90, dockingPointId: 'd' }, 'c'),
    pointAt(1, 9, { type: 36, yaw: 'north' }, 'd'),
    pointAt(1, 18, { type: 11 }, 'a'),
    pointAt(1, 27, { type: 40 }, 'o'),
    pointAt(1, 36, {}, 'n'),
  );

describe.skipIf(!hasBrowser)('pictures of overlays in a real browser (Chromium)', () => {
  let browser: Browser;
  let dir: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gw-overlays-'));
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await rm(dir, { recursive: true, force: true });
  });

  const open = (name: string, text: string, viewport?: { width: number; height: number }) =>
    openDocument(browser, join(dir, name), text, viewport);

  const pageOf = ({ inspection, image }: { inspection: Inspection; image: Uint8Array }) =>
    renderPage(inspection, { ...pageOptions, image });

  it.each(sizes)('the page fits the $name, loads nothing and raises no error', async (size) => {
    const { page, problems, close } = await open('page.html', pageOf(lookAt('sheet')), size);
    expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
    expect(await page.evaluate('document.styleSheets.length')).toBe(1);
    const picture = await page.evaluate('document.querySelector("image").getBoundingClientRect().width');
    expect(picture).toBeGreaterThan(300);
    expect(problems).toEqual([]);
    await close();
  });

  it('the map zooms without a script, and a feature links to its row', async () => {
    const { page, problems, close } = await open('page.html', pageOf(lookAt('floor')));
    const width = () => page.evaluate('document.querySelector(".sheet svg").getBoundingClientRect().width');
    const readable = Number(await width());
    await page.click('label[for=zoom-twice]');
    expect(Number(await width())).toBeGreaterThan(1.4 * readable);
    await page.click('label[for=zoom-whole]');
    await page.click('#m5');
    expect(await page.evaluate('location.hash')).toBe('#d5');
    expect(await page.evaluate('document.querySelector(":target").textContent')).toContain('Rezeption');
    expect(problems).toEqual([]);
    await close();
  });

  it('the page prints: the map with its legend on the first sheet, then the tables', async () => {
    const { page, close } = await open('page.html', pageOf(lookAt('floor')));
    const pdf = await page.pdf({ preferCSSPageSize: true });
    const text = pdf.toString('latin1');
    // A4, the long side across, in points.
    expect(text).toMatch(/\/MediaBox \[0 0 84[12](\.\d+)? 59[456](\.\d+)?\]/);
    expect((text.match(/\/Type \/Page\b/g) ?? []).length).toBeGreaterThanOrEqual(4);
    await page.emulateMedia({ media: 'print' });
    const fits = 'document.querySelector(".key").scrollHeight - document.querySelector(".key").clientHeight';
    expect(await page.evaluate(fits)).toBeLessThanOrEqual(1);
    await close();
  });

  it('the picture opens as a separate document', async () => {
    const { inspection, image } = lookAt('sheet');
    const { page, problems, close } = await open('picture.svg', renderSvg(inspection, { title: 'Hall', image }));
    expect(await page.evaluate('document.documentElement.nodeName')).toBe('svg');
    expect(await page.evaluate('document.querySelectorAll("parsererror, script").length')).toBe(0);
    expect(problems).toEqual([]);
    await close();
  });

  it.each([
    ['a floor', () => lookAt('floor')],
    ['a tall sheet, the narrowest', () => ({ inspection: lookAtCollection(tall()), image: null })],
  ])('the legend of the picture of %s has no text over another, and none beyond the sheet', async (_, look) => {
    const { inspection, image } = look();
    const { page, close } = await open('legend.svg', renderSvg(inspection, { title: 'Hall', image }));
    const over = await page.evaluate(`(() => {
      const sheet = document.documentElement.getBoundingClientRect();
      const legend = document.documentElement.lastElementChild;
      const texts = [...legend.querySelectorAll('text')].map((it) => [it.textContent, it.getBoundingClientRect()]);
      const meet = (a, b) => a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
      const rows = [...legend.querySelectorAll(':scope > g')].map((it) => it.getBoundingClientRect());
      const beside = [...legend.querySelectorAll(':scope > text')].filter((it) =>
        rows.some((row) => meet(it.getBoundingClientRect(), row)));
      const pairs = texts.flatMap(([one, a], at) =>
        texts.slice(at + 1).filter(([, b]) => meet(a, b)).map(([other]) => one + ' / ' + other));
      return [texts.length > 5, pairs, beside.map((it) => it.textContent), texts.filter(([, { right }]) => right > sheet.right).map(([text]) => text)];
    })()`);
    expect(over).toEqual([true, [], [], []]);
    await close();
  });

  it('names are text to the browser too, in the picture and on the page, whatever they contain', {
    tags: 'property',
  }, async () => {
    const names = [
      ...fc.sample(oddText(), { seed: 7, numRuns: runs(120) }),
      '</title></svg><script>alert(1)</script>',
      '<style>*{display:none}</style>',
      '&lt;b&gt;&#60;i&#62;',
      ']]><!--',
    ].filter((name) => name !== '');
    const inspection = lookAtCollection(
      collectionOf(...names.map((name, at) => pointAt(at % 12, Math.floor(at / 12), { type: 11, name }, name))),
    );
    const { page, problems, close } = await open('names.html', renderPage(inspection, pageOptions));
    const shown = await page.evaluate(
      '[...document.querySelectorAll("tr[id^=d] strong")].filter((it) => it.parentElement.dataset.c === "Name").map((it) => it.textContent)',
    );
    expect(shown).toEqual(names.map((name) => nameText(name)));
    const elements = 'document.querySelectorAll("script, img, iframe, object, embed, form, base").length';
    expect(await page.evaluate(elements)).toBe(0);
    expect(await page.evaluate('document.querySelectorAll("style").length')).toBe(1);
    expect(problems).toEqual([]);
    await close();

    const picture = await open('names.svg', renderSvg(inspection, { title: '<b>', image: null }));
    const tips = (await picture.page.evaluate(
      '[...document.querySelectorAll("g[id^=m] > title")].map((it) => it.textContent)',
    )) as string[];
    expect(tips).toHaveLength(names.length);
    for (const [at, tip] of tips.entries()) expect(tip).toContain(nameText(names[at] ?? ''));
    expect(picture.problems).toEqual([]);
    await picture.close();
  });
});
