import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import type { PageState } from '../../src/lib/pages/index.ts';
import { createWorld } from '../delivery/world.ts';
import { startServer } from '../operator/server.ts';
import { driving, ready } from '../pages/states.ts';
import { HANG_MS, until } from '../waiting.ts';
import { hasBrowser, launchBrowser } from './browser.ts';
import { isInView, openFed, screens } from './fed-page.ts';

const ASSETS = fileURLToPath(new URL('../../dist/web', import.meta.url));
type Shown = NonNullable<PageState['delivery']>;
const nothing: Shown = {
  ...{ arrival: null, queue: [], isOpen: false, countdown: null, hold: null, waitsFor: null, isAfterRestart: false },
};
const queue = [
  { id: 'q1', station: 'B' },
  { id: 'q2', station: 'A' },
];
const showing = (delivery: Partial<Shown>, of: PageState = ready): PageState => ({
  ...of,
  delivery: { ...nothing, ...delivery },
});
const arrived = showing({ arrival: { id: 'd1', station: 'A', forMs: 4_000 }, queue, isOpen: true });
const countdown = { id: 'c7', kind: 'return', station: null, leftMs: 18_400 } as const;

describe.skipIf(!hasBrowser)('deliveries on each screen (Chromium)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it.each(screens)(
    'an arrival and its queue, in %s on a %s: two touches for what moves, one for what does not',
    async (language, _name, viewport) => {
      await using fed = await openFed(browser, { language, viewport });
      const { page, t } = fed;
      await fed.open();
      await fed.feed(arrived);
      expect(await page.locator('.arrived').textContent()).toBe(t.delivery.arrived('A'));
      expect(await page.locator('.queue li bdi').allTextContents()).toEqual([t.delivery.next('B'), 'A']);
      for (const part of ['.arrived', 'a.proceed', '.stop-button']) {
        expect([part, await isInView(page, part)]).toEqual([part, true]);
      }
      await page.locator('a.proceed').click();
      await fed.advance(600);
      expect(await page.locator('#sheet-title').textContent()).toBe(t.ask({ kind: 'station', name: 'B' }, 'B'));
      expect(fed.orders()).toEqual([]);
      await page.locator('.sheet .go').click();
      await until(fed.orders, (orders) => orders.length > 0);
      expect(fed.orders()).toEqual(['/api/lieferung/weiter {"arrival":"d1","next":"q1","seen":"p-1"}']);

      await fed.feed(showing({ arrival: { id: 'd2', station: 'B', forMs: 4_000 }, isOpen: true }));
      await page.locator('button.proceed').click();
      await until(fed.orders, (orders) => orders.length > 1);
      expect(fed.orders()[1]).toBe('/api/lieferung/weiter {"arrival":"d2","seen":"p-1"}');
      expect(fed.problems).toEqual([]);
    },
  );

  it.each(screens)(
    'with all that there is to say of deliveries, headline, STOPP and the way home stay in view, in %s on a %s',
    async (language, _name, viewport) => {
      await using fed = await openFed(browser, { language, viewport });
      const { page, t } = fed;
      await fed.open();
      const title = { de: 'Besprechungszimmer Südflügel 204', en: 'غرفة الاجتماعات ٢٠٤' };
      const many = Array.from({ length: 8 }, (_, at) => ({ id: `q${at}`, station: `s${at}`, title }));
      const all: Partial<Shown> = {
        arrival: { id: 'd1', station: 'A', title, forMs: 4_000 },
        ...{ queue: many, isOpen: true, waitsFor: 'a fact', isAfterRestart: true },
        hold: { cause: 'person', reason: 'ended' },
      };
      for (const more of [{}, { countdown: { ...countdown, kind: 'next', station: 's0', title } as const }]) {
        await fed.feed(showing({ ...all, ...more }));
        for (const part of ['.headline', '.home .target', '.stop-button', '.arrived']) {
          expect([part, await isInView(page, part)]).toEqual([part, true]);
        }
      }
      // What is longer than the screen is reached by scrolling, to its end.
      for (const button of [t.delivery.release, t.delivery.removeStation(fed.f.named('', title))]) {
        const last = page.getByRole('button', { name: button }).last();
        await last.scrollIntoViewIfNeeded();
        await last.click({ trial: true });
      }
      expect(await isInView(page, '.stop-button')).toBe(true);
    },
  );

  it('a question about what comes next closes when another one does', async () => {
    await using fed = await openFed(browser);
    await fed.open();
    await fed.feed(arrived);
    await fed.page.locator('a.proceed').click();
    await fed.advance(600);
    await fed.feed(showing({ ...arrived.delivery, queue: queue.slice(1) }));
    expect(await fed.page.locator('.sheet.closed').textContent()).toBe(fed.t.ui.questionClosed.changed);
    expect(fed.orders()).toEqual([]);
  });

  it('while the robot drives, a station is put in the queue, and removed', async () => {
    await using fed = await openFed(browser);
    const { page, t } = fed;
    await fed.open();
    await fed.feed(showing({ isOpen: true }, driving));
    await page.locator('.target', { hasText: 'B' }).first().click();
    await fed.advance(600);
    expect(await page.locator('.sheet .go').isDisabled()).toBe(true);
    await page.getByRole('button', { name: t.delivery.enqueue }).click();
    await until(fed.orders, (orders) => orders.length > 0);
    expect(fed.orders()).toEqual(['/api/lieferung/warteschlange {"station":"B","seen":"p-1"}']);
    await fed.feed(showing({ isOpen: true, queue }, driving));
    await page.getByRole('button', { name: t.delivery.removeStation('A') }).click();
    await until(fed.orders, (orders) => orders.length > 1);
    expect(fed.orders()[1]).toBe('/api/lieferung/warteschlange/entfernen {"id":"q2"}');
  });

  it.each(screens)(
    'a countdown is in view on both pages, says that it is shown, and ends by one touch, in %s on a %s',
    async (language, _name, viewport) => {
      for (const path of ['/', '/service']) {
        await using fed = await openFed(browser, { language, viewport });
        const { page, t } = fed;
        await fed.open(path);
        await fed.feed(showing({ countdown }));
        expect(await page.locator('.countdown').textContent()).toContain(t.delivery.begins.return(null));
        for (const part of ['.countdown strong', '.countdown .seconds', '.countdown button', '.stop-button']) {
          expect([path, part, await isInView(page, part)]).toEqual([path, part, true]);
        }
        await until(fed.orders, (orders) => orders.length > 0);
        await fed.hold(showing({ countdown }), 2_000);
        await until(fed.orders, (orders) => orders.length >= 3);
        expect(fed.orders()).toEqual(Array(3).fill('/api/lieferung/ansage {"id":"c7","seen":"p-1"}'));
        await page.locator('.countdown button').click();
        await until(fed.orders, (orders) => orders.length > 3);
        expect(fed.orders()[3]).toBe('/api/lieferung/ansage/ende {"id":"c7"}');
        expect(fed.problems).toEqual([]);
      }
    },
  );

  it('a page that has lost its gateway shows no countdown, and does not say that it does', async () => {
    await using fed = await openFed(browser);
    await fed.open();
    await fed.feed(showing({ countdown }));
    await until(fed.orders, (orders) => orders.length === 1);
    await fed.advance(10_000);
    expect(await fed.page.locator('.countdown').count()).toBe(0);
    expect(fed.orders().length).toBeLessThanOrEqual(3);
  });

  it('a page on which the countdown is scrolled away or covered does not say that it shows it', async () => {
    await using fed = await openFed(browser, { viewport: { width: 844, height: 390 } });
    const { page } = fed;
    await fed.open('/service');
    await fed.feed(showing({ countdown }));
    await until(fed.orders, (orders) => orders.length > 0);
    const said = fed.orders().length;
    const cover = "document.body.append(Object.assign(document.createElement('div'), { id: 'cover' }));";
    await page.evaluate(`${cover} document.getElementById('cover').style = 'position:fixed;inset:0;z-index:99'`);
    await fed.hold(showing({ countdown }), 4_000);
    expect(fed.orders()).toHaveLength(said);
    await page.evaluate("document.getElementById('cover').remove()");
    await page.evaluate("document.querySelector('.countdown').style.marginTop = '-2000px'");
    await fed.hold(showing({ countdown }), 4_000);
    expect(fed.orders()).toHaveLength(said);
    await page.evaluate("document.querySelector('.countdown').style.marginTop = ''");
    await fed.hold(showing({ countdown }), 1_000);
    await until(fed.orders, (orders) => orders.length > said);
  });

  it('a permission that is refused says so, until the next one is not', async () => {
    await using fed = await openFed(browser);
    const { page, t } = fed;
    await fed.open();
    const held = showing({ hold: { cause: 'gate', reason: 'A person moves it.' } });
    await fed.feed(held);
    const refused = { error: { code: 'MOTION_REFUSED', message: 'The gate is closed.' } };
    await page.route('**/api/lieferung/automatik', (route) => route.fulfill({ status: 409, json: refused }));
    await page.getByRole('button', { name: t.delivery.release }).click();
    await fed.shows(page.locator('.delivery .alarm'));
    expect(await page.locator('.delivery .alarm').textContent()).toBe(t.refusals.MOTION_REFUSED);
    await page.unroute('**/api/lieferung/automatik');
    await page.route('**/api/lieferung/automatik', (route) => route.fulfill({ json: { delivery: null } }));
    await page.getByRole('button', { name: t.delivery.release }).click();
    await until(
      async () => {
        await fed.advance(50);
        return await page.locator('.delivery .alarm').count();
      },
      (count) => count === 0,
    );
  });

  it('a touch that did not arrive is sent again, and the page no longer says that it shows the countdown', async () => {
    await using fed = await openFed(browser);
    const { page } = fed;
    await fed.open();
    await fed.feed(showing({ countdown }));
    await until(fed.orders, (orders) => orders.length === 1);
    await page.route('**/api/lieferung/ansage/ende', (route) => route.abort());
    await page.locator('.countdown button').click();
    await until(fed.orders, (orders) => orders.length === 2);
    // The next state may come before the page knows that its request has failed.
    const heldUntil = (state: PageState, isDone: () => boolean) =>
      until(
        async () => {
          await fed.hold(state, 1_000);
          return isDone();
        },
        (done) => done,
      );
    await heldUntil(showing({ countdown }), () => fed.orders().length >= 3);
    expect(new Set(fed.orders().slice(1))).toEqual(new Set(['/api/lieferung/ansage/ende {"id":"c7"}']));
    // Another page has shown it to its end.
    const before = fed.orders().length;
    await heldUntil(showing({}, driving), () => fed.orders().length > before);
    await page.unroute('**/api/lieferung/ansage/ende');
    let isAnswered = false;
    page.once('response', () => {
      isAnswered = true;
    });
    await heldUntil(showing({}, driving), () => isAnswered);
    await fed.advance(50);
    const sent = fed.orders().length;
    await fed.hold(showing({}), 3_000);
    expect(fed.orders()).toHaveLength(sent);
    expect(fed.orders().at(-1)).toBe('/api/lieferung/ansage/ende {"id":"c7"}');
    // Another one is another announcement.
    await fed.feed(showing({ countdown: { ...countdown, id: 'c8' } }));
    await until(fed.orders, (orders) => orders.at(-1) === '/api/lieferung/ansage {"id":"c8","seen":"p-1"}');
  });

  it('why nothing begins by itself stays until a person allows it', async () => {
    await using fed = await openFed(browser);
    const { page, t } = fed;
    await fed.open();
    await fed.feed(showing({ hold: { cause: 'stop', reason: 'A stop was latched.' }, isAfterRestart: true }));
    expect(await page.locator('.hold p').textContent()).toBe(t.delivery.held(t.delivery.causes.stop));
    expect(await page.locator('.delivery').textContent()).toContain(t.delivery.afterRestart);
    await page.getByRole('button', { name: t.delivery.release }).click();
    await until(fed.orders, (orders) => orders.length > 0);
    expect(fed.orders()).toEqual(['/api/lieferung/automatik {"seen":"p-1"}']);
  });

  it('of two tablets, a touch on the second ends what the first one shows too, and the robot stays', async () => {
    const world = createWorld({ nextAfterSeconds: 10, idle: { afterMinutes: 1 } });
    await world.restart();
    await using server = await startServer({
      more: { delivery: world.delivery(), clock: systemClock, assetsDir: ASSETS },
    });
    const context = await browser.newContext({ locale: 'de-DE' });
    context.setDefaultTimeout(HANG_MS);
    const open = async () => {
      const page: Page = await context.newPage();
      await page.goto(`http://127.0.0.1:${server.full}/`);
      await page.waitForSelector('body[data-follows]');
      return page;
    };
    const [first, second] = [await open(), await open()];
    await first.getByRole('button', { name: /wieder erlauben/ }).click();
    await until(
      () => world.delivery().view()?.hold ?? null,
      (hold) => hold === null,
    );
    // A minute without an order.
    for (let tick = 0; tick < 125; tick += 1) await world.tick();
    for (const page of [first, second]) await page.waitForSelector('.countdown');
    await second.locator('.countdown button').click();
    for (const page of [first, second]) await page.waitForSelector('.hold');
    expect(await first.locator('.countdown').count()).toBe(0);
    for (let tick = 0; tick < 500; tick += 1) await world.tick();
    expect([world.delivery().view()?.hold?.cause, world.robot.orders]).toEqual(['person', []]);
    await context.close();
  });
});
