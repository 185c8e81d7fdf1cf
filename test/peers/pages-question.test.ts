import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageState } from '../../src/lib/pages/index.ts';
import { driving, latched, ready } from '../pages/states.ts';
import { until } from '../waiting.ts';
import { hasBrowser, launchBrowser } from './browser.ts';
import { type FedPage, openFed, screens } from './fed-page.ts';

/** Stations on every part of the screen. */
const many: PageState = {
  ...ready,
  site: {
    ...ready.site,
    stations: Array.from({ length: 12 }, (_, at) => ({ name: `Zimmer ${at + 1}`, xM: at % 4, yM: Math.floor(at / 4) })),
  },
};

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Where a finger can touch them now: stations, tours and the charging station, in the list and on the map. */
const targetsOf = ({ page }: FedPage) =>
  page.evaluate(`[...document.querySelectorAll('a.target, #map .pin path')].flatMap((one) => {
    const { left, top, width, height } = one.getBoundingClientRect();
    const y = top + height / 2;
    return [0.2, 0.5, 0.8].map((part) => left + part * width).filter((x) => {
      const hit = document.elementFromPoint(x, y)?.closest('a.target, .pin') ?? null;
      return hit !== null && hit === one.closest('a.target, .pin');
    }).map((x) => ({ x, y }));
  })`) as Promise<Point[]>;
/** Parts of the list that are out of view at first. */
const scrollTo = ({ page }: FedPage, at: number) =>
  page.evaluate(`{
    const targets = [...document.querySelectorAll('a.target')];
    targets[Math.round(${at} * (targets.length - 1))].scrollIntoView({ block: 'center' });
  }`);

const tap = ({ page }: FedPage, { x, y }: Point) => page.touchscreen.tap(x, y);
/** Not by the finger: where the button is does not matter here. */
const goBack = ({ page }: FedPage) => page.evaluate('document.querySelector(".sheet button[type=button]")?.click()');

describe.skipIf(!hasBrowser)('the question before a drive (Chromium)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  /** Milliseconds between two taps, and how far the page is scrolled. */
  const pairsOfTaps = [
    [30, 0],
    [120, 0.4],
    [300, 0.7],
    [480, 1],
  ] as const;
  it.each(screens)(
    'is answered by no double tap, in %s on a %s, wherever it is, and its answer never lies under the finger',
    async (language, _name, viewport) => {
      await using fed = await openFed(browser, { language, viewport });
      await fed.open();
      await fed.feed(many);
      await fed.shows(fed.page.locator('#map .pin').first());
      const under: Point[] = [];
      let count = 0;
      // Texts of another length move what lies around the targets, and no time between two taps.
      for (const [apartMs, scrolled] of language === 'de' ? pairsOfTaps : pairsOfTaps.slice(1, 2)) {
        for (let at = 0; ; at += 1) {
          await scrollTo(fed, scrolled);
          // Anew each time: a double tap on the map zooms it.
          const point = (await targetsOf(fed))[at];
          if (point === undefined) break;
          count += 1;
          const { x, y } = point;
          await tap(fed, point);
          await fed.advance(apartMs);
          expect([apartMs, point, await fed.page.locator('.sheet').count()]).toEqual([apartMs, point, 1]);
          const isUnder = await fed.page.evaluate(`document.elementFromPoint(${x}, ${y}).closest('.go') !== null`);
          if (isUnder) under.push(point);
          await tap(fed, point);
          await fed.advance(50);
          expect([apartMs, point, fed.orders()]).toEqual([apartMs, point, []]);
          await goBack(fed);
          // The map waits half a second for a second tap.
          await fed.advance(1_000);
          await fed.feed(many);
        }
      }
      expect(count).toBeGreaterThan(language === 'de' ? 40 : 9);
      expect(under).toEqual([]);
      expect(fed.problems).toEqual([]);
    },
  );

  const sheets = ({ page }: FedPage) => page.locator('.sheet:not(.closed)').count();
  const ask = async (fed: FedPage, name = 'A') => {
    await fed.page.evaluate(
      `[...document.querySelectorAll('a.target')].find((e) => e.textContent === '${name}').click()`,
    );
    await fed.advance(600);
  };

  it.each(screens)('closes by itself after 20 s, in words, in %s on a %s', async (language, _name, viewport) => {
    await using fed = await openFed(browser, { language, viewport });
    await fed.open();
    await fed.feed(ready);
    await ask(fed);
    await fed.hold(ready, 19_000);
    expect(await sheets(fed)).toBe(1);
    await fed.hold(ready, 1_000);
    expect(await sheets(fed)).toBe(0);
    expect(await fed.page.locator('.sheet.closed').textContent()).toBe(fed.t.ui.questionClosed.late);
    await fed.hold(ready, 21_000);
    expect(await fed.page.locator('.sheet').count()).toBe(0);
    expect(fed.orders()).toEqual([]);
  });

  const gate = { ...ready.gate, isOpen: false, notes: [{ code: 'emergency-stop' as const }] };
  const locked: PageState = { ...ready, gate, headline: { level: 'bad', code: 'locked', notes: gate.notes } };
  const [a, ...others] = ready.site.stations;
  it.each<[string, PageState, PageState]>([
    ['the end of the tour that was in its way', driving, ready],
    ['the next station of that tour', driving, { ...driving, run: driving.run && { ...driving.run, at: 0 } }],
    ['a drive of somebody else', ready, driving],
    ['a stop', ready, latched],
    ['a stop that is cleared', latched, ready],
    ['a gate that closes', ready, locked],
    ['a gate that opens', locked, ready],
    ['another reason of a closed gate', locked, { ...locked, gate: { ...gate, notes: [{ code: 'no-pose' }] } }],
    ['a robot that is lost', ready, { ...ready, link: { ...ready.link, kind: 'not-connected' } }],
    [
      'another map',
      ready,
      { ...ready, map: { ...ready.map, value: ready.map.value && { ...ready.map.value, uid: 'v' } } },
    ],
    [
      'a station that moved',
      ready,
      { ...ready, site: { ...ready.site, stations: [{ name: 'A', xM: 1, yM: 9 }, ...others] } },
    ],
    ['a station that is gone', ready, { ...ready, site: { ...ready.site, stations: others } }],
    [
      'a condition of the robot',
      ready,
      {
        ...ready,
        headline: { level: 'attention', code: 'limited', notes: [{ code: 'battery', isCritical: false, percent: 12 }] },
      },
    ],
  ])('closes with %s', async (_what, before, after) => {
    expect(a?.name).toBe('A');
    await using fed = await openFed(browser, {});
    await fed.open();
    await fed.feed(before);
    await ask(fed);
    await fed.hold(before, 3_000);
    expect(await sheets(fed)).toBe(1);
    await fed.feed(after);
    expect(await sheets(fed)).toBe(0);
    expect(await fed.page.locator('.sheet.closed').textContent()).toBe(fed.t.ui.questionClosed.changed);
    expect(fed.orders()).toEqual([]);
  });

  it('stays open while only time passes, the robot turns, its charge falls, and a person types', async () => {
    const passable: PageState = { ...locked, gate: { ...gate, passable: [{ code: 7005, text: '7005: x' }] } };
    await using fed = await openFed(browser, { server: { password: true } });
    await fed.page.goto(`${fed.base}/anmeldung`);
    await fed.page.locator('#password').fill('correct horse');
    await fed.page.keyboard.press('Enter');
    await fed.page.waitForURL(`${fed.base}/`);
    await fed.open();
    await fed.feed(passable);
    await ask(fed);
    for (let more = 0; more < 3; more += 1) {
      await fed.hold(
        {
          ...passable,
          clock: `20:1${more}`,
          heading: { ...ready.heading, value: more },
          battery: { ...ready.battery, value: { percent: 86 - more, orPercent: null, status: 'discharging' } },
        },
        15_000,
      );
      await fed.page.keyboard.type('1');
      await fed.page.locator('input[name=although]').pressSequentially('7');
    }
    expect(await sheets(fed)).toBe(1);
  });

  it.each(screens)(
    'is answered once, in %s on a %s: a refusal stays in view and is not sent again',
    async (...screen) => {
      const [language, , viewport] = screen;
      await using fed = await openFed(browser, { language, viewport });
      await fed.open();
      await fed.feed(ready);
      const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<void>();
      await fed.page.route('**/api/fahrt', async (route) => {
        await mayAnswer;
        await route.fulfill({ status: 409, json: { error: { code: 'MOTION_REFUSED', message: '' } } });
      });
      await ask(fed);
      await fed.page.evaluate(`{
      const go = document.querySelector('.sheet .go');
      for (let times = 0; times < 5; times += 1) go.click();
      document.querySelector('.sheet form').requestSubmit();
    }`);
      await fed.advance(100);
      await fed.page.evaluate('document.querySelector(".sheet form").requestSubmit()');
      // What changes while it is under way is the answer to it.
      await fed.feed(locked);
      await ask(fed, 'B');
      expect(await fed.page.locator('.sheet h2').textContent()).toBe(fed.t.ask({ kind: 'station', name: 'A' }, 'A'));
      await until(fed.orders, (orders) => orders.length > 0);
      expect(fed.orders()).toEqual(['/api/fahrt {"station":"A","seen":"p-1"}']);
      answer();
      const refusal = fed.page.locator('.sheet [role=alert]');
      await until(
        () => fed.advance(50).then(() => refusal.count()),
        (count) => count === 1,
      );
      expect(await refusal.textContent()).toBe(fed.t.refusals.MOTION_REFUSED);
      await fed.feed(ready);
      expect([await sheets(fed), await fed.page.locator('.sheet .go').count()]).toEqual([1, 0]);
      await fed.page.evaluate('document.querySelector(".sheet form").requestSubmit()');
      await fed.hold(ready, 21_000);
      expect([await sheets(fed), fed.orders().length]).toEqual([0, 1]);
    },
  );

  it('is not answered by a press that began before it could be', async () => {
    await using fed = await openFed(browser, {});
    await fed.open();
    await fed.feed(ready);
    await fed.page.evaluate('document.querySelector("a.target").click()');
    await fed.advance(400);
    const go = await fed.page.locator('.sheet .go').boundingBox();
    if (go === null) throw new Error('not asked');
    await fed.page.mouse.move(go.x + go.width / 2, go.y + go.height / 2);
    await fed.page.mouse.down();
    await fed.advance(300);
    await fed.page.mouse.up();
    await fed.advance(50);
    expect(fed.orders()).toEqual([]);
    await fed.page.mouse.down();
    await fed.page.mouse.up();
    await fed.advance(50);
    await until(fed.orders, (orders) => orders.length > 0);
    expect(fed.orders()).toHaveLength(1);
  });

  it('takes the focus, but no answer of the key that asked; Escape closes it', async () => {
    await using fed = await openFed(browser, {});
    await fed.open();
    await fed.feed(ready);
    await fed.page.locator('a.target').first().focus();
    await fed.page.keyboard.press('Enter');
    await fed.advance(100);
    await fed.page.keyboard.press('Enter');
    await fed.advance(1_000);
    await fed.page.keyboard.press('Enter');
    await fed.advance(50);
    expect(await fed.page.evaluate('document.activeElement.id')).toBe('sheet-title');
    expect(fed.orders()).toEqual([]);
    await fed.page.keyboard.press('Escape');
    await fed.advance(50);
    expect(await fed.page.locator('.sheet').count()).toBe(0);
  });

  it('of a page without script is gone after ten seconds, and its button is dead at first', async () => {
    await using fed = await openFed(browser, { context: { javaScriptEnabled: false } });
    const answer = await fed.page.goto(`${fed.base}/?ziel=station:A`);
    expect(await answer?.text()).toContain('<meta http-equiv="refresh" content="10; url=/"/>');
    const events = (atMs: number) =>
      fed.page.evaluate(`(() => {
        for (const one of document.getAnimations()) { one.pause(); one.currentTime = ${atMs}; }
        return getComputedStyle(document.querySelector('.sheet .go')).pointerEvents;
      })()`);
    expect([await events(0), await events(450), await events(510)]).toEqual(['none', 'none', 'auto']);
  });
});
