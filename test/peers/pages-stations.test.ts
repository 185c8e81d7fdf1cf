import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageState } from '../../src/lib/pages/index.ts';
import { overlaps } from '../../src/lib/pages/map/declutter.ts';
import { driving, ready } from '../pages/states.ts';
import { until } from '../waiting.ts';
import { hasBrowser, launchBrowser } from './browser.ts';
import { type Box, type FedPage, isInView, openFed, screens } from './fed-page.ts';

const kitchen = { de: 'Küche', en: 'Kitchen' };

/** A house of so many rooms on two floors; `r204` is one of them. */
const hotel = (rooms: number): PageState => ({
  ...ready,
  site: {
    ...ready.site,
    recent: ['kitchen', 'r203'],
    stations: [
      { name: 'kitchen', title: kitchen, xM: 0, yM: 0 },
      { name: 'arabic', title: 'غرفة الاستقبال', xM: 4, yM: 1 },
      { name: 'long', title: 'Seminarraum »Alte Weinkelterei« mit sehr langem Namen hinten', xM: 2, yM: 6 },
      ...Array.from({ length: rooms }, (_, at) => ({
        name: `r${200 + at}`,
        title: `Zimmer ${200 + at}`,
        group: at < rooms / 2 ? { de: '1. Stock', en: '1st floor' } : { de: '2. Stock', en: '2nd floor' },
        ...{ xM: (at * 7.3) % 31, yM: (at * 3.7) % 17 },
      })),
    ],
  },
});
const many = hotel(37);

const open = async (fed: FedPage, state: PageState = many) => {
  await fed.open();
  await fed.feed(state);
  await fed.shows(fed.page.locator('#map .label[data-shown]').first());
};
const asked = ({ page }: FedPage) => page.locator('.sheet h2').textContent();
const focus = ({ page }: FedPage) =>
  page.evaluate(`(() => {
    const { activeElement: e } = document;
    return e.getAttribute('data-pin') ?? (e.id || e.getAttribute('href') || e.className.baseVal || e.type || e.localName);
  })()`) as Promise<string>;
/** Until the focus is where it is wanted, or has gone round. */
async function tabTo(fed: FedPage, wanted: string): Promise<boolean> {
  for (let times = 0; times < 80; times += 1) {
    await fed.page.keyboard.press('Tab');
    if ((await focus(fed)) === wanted) return true;
  }
  return false;
}
const orderSent = (fed: FedPage) =>
  until(
    () => fed.advance(50).then(() => fed.orders()),
    ({ length }) => length > 0,
  );

describe.skipIf(!hasBrowser)('forty stations and more (Chromium)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it.each(screens)(
    'are found by the pad of digits, asked about by their title, and driven to by their key, in %s on a %s',
    async (language, _name, viewport) => {
      await using fed = await openFed(browser, { language, viewport });
      await open(fed);
      await fed.page.locator('.finder-line button').click();
      for (const digit of '204') {
        await fed.advance(50);
        await fed.page.locator('.pad button', { hasText: digit }).click();
      }
      await fed.advance(50);
      expect(await fed.page.locator('.found').textContent()).toBe(fed.t.found(1));
      expect(await fed.page.locator('.list a.target').allTextContents()).toEqual(['Zimmer 204']);
      expect([await isInView(fed.page, '.stop-button'), await isInView(fed.page, '.home a')]).toEqual([true, true]);
      expect(fed.orders()).toEqual([]);
      await fed.page.locator('.list a.target').click();
      await fed.advance(700);
      expect(await asked(fed)).toBe(fed.t.ask({ kind: 'station', name: 'r204' }, 'Zimmer 204'));
      await fed.page.locator('.sheet .go').click();
      await orderSent(fed);
      expect(fed.orders()).toEqual(['/api/fahrt {"station":"r204","seen":"p-1"}']);
      expect(fed.problems).toEqual([]);
    },
  );

  it('are driven to by the keyboard alone: search, Enter, the question, Go', async () => {
    await using fed = await openFed(browser, {});
    await open(fed);
    expect(await tabTo(fed, 'search')).toBe(true);
    await fed.page.keyboard.type('kuche');
    await fed.page.keyboard.press('Enter');
    await fed.advance(700);
    expect([await asked(fed), await focus(fed)]).toEqual(['Küche anfahren?', 'sheet-title']);
    expect(await fed.page.getByRole('alertdialog', { name: 'Küche anfahren?' }).count()).toBe(1);
    await fed.page.keyboard.press('Tab');
    await fed.page.keyboard.press('Enter');
    await orderSent(fed);
    expect(fed.orders()).toEqual(['/api/fahrt {"station":"kitchen","seen":"p-1"}']);
  });

  it('are not asked about by Enter where a search has found several, or none', async () => {
    await using fed = await openFed(browser, {});
    await open(fed);
    for (const query of ['', '2', 'nowhere']) {
      await fed.page.locator('input[type=search]').fill(query);
      await fed.advance(50);
      await fed.page.keyboard.press('Enter');
      await fed.advance(50);
      expect(await fed.page.locator('.sheet').count()).toBe(0);
    }
    expect(await fed.page.locator('.found').textContent()).toBe('Keine Station gefunden');
  });

  it('a question that Escape, a button or time has closed gives the focus back to what asked', async () => {
    await using fed = await openFed(browser, {});
    await open(fed);
    const link = fed.page.locator('.list a.target', { hasText: 'Zimmer 205' });
    for (const close of ['Escape', 'button', 'time']) {
      await link.focus();
      await fed.page.keyboard.press('Enter');
      await fed.advance(100);
      expect([close, await focus(fed)]).toEqual([close, 'sheet-title']);
      if (close === 'Escape') await fed.page.keyboard.press('Escape');
      else if (close === 'button') await fed.page.locator('.sheet button[type=button]').press('Enter');
      else await fed.hold(many, 21_000);
      await fed.advance(100);
      expect([close, await fed.page.locator('.sheet[role=alertdialog]').count(), await focus(fed)]).toEqual([
        close,
        0,
        '/?ziel=station%3Ar205',
      ]);
    }
    expect(fed.orders()).toEqual([]);
  });

  it('a search is over after a minute, with its drive, and with a question that nobody answers', async () => {
    await using fed = await openFed(browser, {});
    await open(fed);
    const query = () => fed.page.locator('input[type=search]').inputValue();
    await fed.page.locator('input[type=search]').fill('204');
    await fed.hold(many, 59_000);
    expect(await query()).toBe('204');
    await fed.hold(many, 2_000);
    expect(await query()).toBe('');
    await fed.page.locator('input[type=search]').fill('205');
    await fed.advance(50);
    await fed.page.keyboard.press('Enter');
    await fed.hold(many, 21_000);
    expect([await fed.page.locator('.sheet[role=alertdialog]').count(), await query()]).toEqual([0, '']);
    await fed.page.route('**/api/fahrt', (route) => route.fulfill({ status: 200, json: {} }));
    await fed.page.locator('input[type=search]').fill('206');
    await fed.advance(50);
    await fed.page.keyboard.press('Enter');
    await fed.advance(700);
    await fed.page.keyboard.press('Tab');
    await fed.page.keyboard.press('Enter');
    await until(
      () => fed.advance(50).then(query),
      (text) => text === '',
    );
    await orderSent(fed);
    expect(fed.orders()).toEqual(['/api/fahrt {"station":"r206","seen":"p-1"}']);
  });

  it('on the map they are one stop of the keyboard: arrows lead on, Enter asks, Escape leads back', async () => {
    await using fed = await openFed(browser, {});
    await open(fed, ready);
    expect(await tabTo(fed, 'dock')).toBe(true);
    const pin = (name: string) => fed.page.getByRole('button', { name, exact: true });
    expect(await pin('Zur Ladestation').count()).toBe(1);
    await fed.page.keyboard.press('ArrowRight');
    await fed.advance(50);
    const first = await focus(fed);
    expect(['station:A', 'station:B']).toContain(first);
    await fed.page.keyboard.press('Enter');
    await fed.advance(100);
    expect([await asked(fed), await focus(fed)]).toEqual([`${first.slice(-1)} anfahren?`, 'sheet-title']);
    await fed.page.keyboard.press('Escape');
    await fed.advance(100);
    expect([await fed.page.locator('.sheet').count(), await focus(fed)]).toEqual([0, first]);
    // Leaves the map by the next press.
    await fed.page.keyboard.press('Tab');
    expect(await focus(fed)).not.toMatch(/^station|^dock/);
    expect(fed.orders()).toEqual([]);
  });

  interface Shown extends Box {
    readonly id: string;
    readonly isHit: boolean;
  }
  const labelsOf = ({ page }: FedPage) =>
    page.evaluate(`(() => {
      const frame = document.querySelector('#map').getBoundingClientRect();
      return [...document.querySelectorAll('#map .label[data-shown]')].map((one) => {
        const { left, top, right, bottom } = one.querySelector('rect').getBoundingClientRect();
        const [x, y] = [(left + right) / 2, (top + bottom) / 2];
        const hit = document.elementFromPoint(x, y);
        const isIn = x > frame.left && x < frame.right && y > frame.top && y < frame.bottom;
        return { id: one.dataset.label, left, top, right, bottom, isHit: !isIn || hit?.closest('.map-tools, .map-note') != null || hit?.closest('.label') === one };
      });
    })()`) as Promise<Shown[]>;

  it.each(screens)(
    'their labels never overlap at any zoom, and each is its own touch, in %s on a %s',
    async (language, _name, viewport) => {
      await using fed = await openFed(browser, { language, viewport });
      const state: PageState = {
        ...hotel(197),
        run: driving.run && { ...driving.run, kind: 'drive', name: 'r250', title: 'Zimmer 250', stations: [] },
      };
      await open(fed, state);
      const counts: number[] = [];
      for (let zoom = 0; zoom < 7; zoom += 1) {
        const shown = await labelsOf(fed);
        counts.push(shown.length);
        for (const [at, one] of shown.entries()) {
          expect(
            shown
              .slice(at + 1)
              .filter((other) => overlaps(one, other))
              .map(({ id }) => [one.id, id]),
          ).toEqual([]);
        }
        expect(shown.filter(({ isHit }) => !isHit).map(({ id }) => id)).toEqual([]);
        expect(shown.map(({ id }) => id)).toContain('station:r250');
        await fed.page.evaluate(`document.querySelectorAll('.map-tools button')[0].click()`);
        await fed.advance(400);
      }
      expect(counts[0]).toBeGreaterThan(3);
      expect(fed.problems).toEqual([]);
    },
  );

  it('a touch of a label asks about the station whose name it has', async () => {
    await using fed = await openFed(browser, {});
    await open(fed, hotel(197));
    const shown = (await labelsOf(fed)).filter(({ isHit, id }) => isHit && id !== 'dock');
    let tapped = 0;
    for (const { id } of shown) {
      // The station that was asked about last keeps its label, and others make space for it.
      const now = (await labelsOf(fed)).find((one) => one.id === id);
      if (now === undefined || !now.isHit) continue;
      const { left, right, top, bottom } = now;
      tapped += 1;
      const name = await fed.page.locator(`[data-pin="${id}"]`).getAttribute('aria-label');
      await fed.page.touchscreen.tap((left + right) / 2, (top + bottom) / 2);
      await fed.advance(100);
      expect(await asked(fed)).toBe(fed.t.ask({ kind: 'station', name: '' }, fed.f.named('', name ?? '')));
      await fed.page.keyboard.press('Escape');
      // The map waits half a second for a second tap.
      await fed.advance(1_000);
      await fed.feed(hotel(197));
    }
    expect(tapped).toBeGreaterThan(8);
  });

  it.each(screens)(
    'leave STOPP, the headline and the way home in view, also with large text and the pad open, in %s on a %s',
    async (language, _name, viewport) => {
      await using fed = await openFed(browser, { language, viewport });
      await open(fed, hotel(197));
      await fed.page.locator('.finder-line button').click();
      await fed.advance(100);
      for (const size of ['18px', '36px']) {
        await fed.page.evaluate(`document.documentElement.style.fontSize = '${size}'`);
        await fed.advance(100);
        await fed.page.locator('.list a.target').last().scrollIntoViewIfNeeded();
        const seen = { stop: await isInView(fed.page, '.stop-button'), home: await isInView(fed.page, '.home a') };
        expect([size, seen]).toEqual([size, { stop: true, home: true }]);
        const isCut = await fed.page.evaluate(
          `[...document.querySelectorAll('.target, .pad button, .finder button')].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent)`,
        );
        expect([size, isCut]).toEqual([size, []]);
      }
    },
  );

  it.each(['/', '/service'])('every control of %s is named by the words that stand on it', async (path) => {
    await using fed = await openFed(browser, {});
    await fed.open(path);
    await fed.feed(many);
    const unlike =
      await fed.page.evaluate(`[...document.querySelectorAll('button, a, summary, [role=button]')].filter((e) => {
      const text = (e.innerText ?? '').replace(/\\s+/g, ' ').trim().toLowerCase();
      const name = e.getAttribute('aria-label')?.toLowerCase();
      return name !== undefined && /[\\p{L}\\p{N}]/u.test(text) && !name.includes(text);
    }).map((e) => e.outerHTML)`);
    expect(unlike).toEqual([]);
  });
});
