import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageState } from '../../src/lib/pages/index.ts';
import { headlineCodes, type Note } from '../../src/lib/pages/model.ts';
import { driving, latched, ready } from '../pages/states.ts';
import { hasBrowser, launchBrowser } from './browser.ts';
import { boxOf, type FedPage, isInView, openFed, screens } from './fed-page.ts';

/** Where a person wants to look at the pictures. */
const pictures = process.env.GW_PICTURES;

const stations = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `Zimmer ${at + 100}`, xM: at % 8, yM: Math.floor(at / 8) }));
const withStations = (state: PageState, count: number): PageState => ({
  ...state,
  site: { ...state.site, stations: stations(count) },
});
const reasons: Note[] = [
  { code: 'alerts', alerts: ['7005: position lost', '3001: wheel slip left', '1008: no progress'], more: 4 },
  { code: 'unreadable', topic: '/wheel_state' },
  { code: 'emergency-stop' },
  { code: 'wheels-released' },
  { code: 'positioning', state: 'lost' },
  { code: 'battery', isCritical: true, percent: 4 },
  { code: 'unit-radians' },
  { code: 'service-down' },
  { code: 'cloud-away' },
];
const says = (state: PageState, headline: Partial<PageState['headline']>): PageState => ({
  ...state,
  headline: { ...state.headline, ...headline },
});
const doesNotStop = says(
  { ...latched, standing: 'drives-on', stop: { ...latched.stop, state: 'drives-on' } },
  { level: 'bad', code: 'does-not-stop', notes: [{ code: 'does-not-stop' }, ...reasons] },
);

/** Everything that can be scrolled is scrolled to its end, as by a finger that wants to see the last station. */
const scrollAll = async ({ page, advance }: FedPage) => {
  await page.evaluate(`{
    for (const one of document.querySelectorAll('*')) one.scrollTop = one.scrollHeight;
    window.scrollTo(0, document.body.scrollHeight);
  }`);
  await advance(50);
};
const touch = async (fed: FedPage, name: string) => {
  await fed.page.evaluate(
    `[...document.querySelectorAll('a.target')].find((e) => e.textContent === '${name}').click()`,
  );
  await fed.advance(600);
};

describe.skipIf(!hasBrowser)('what never scrolls away (Chromium)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it.each(screens)(
    'is the headline, the set stop, what to press and STOPP, in %s on a %s',
    async (language, name, viewport) => {
      await using fed = await openFed(browser, { language, viewport });
      const { page } = fed;
      let taken = 0;
      const take = async (of: string) => {
        taken += 1;
        if (pictures === undefined) return;
        mkdirSync(pictures, { recursive: true });
        await page.screenshot({
          path: join(pictures, `frame-${taken}-${of}-${language}-${name.replace(' ', '-')}.png`),
        });
      };
      const inView = async (...selectors: readonly string[]) => {
        const found: [string, boolean][] = [];
        for (const selector of selectors) found.push([selector, await isInView(page, selector)]);
        return found.filter(([, is]) => !is).map(([selector]) => selector);
      };
      for (const path of ['/', '/service']) {
        await fed.open(path);
        for (const state of [latched, doesNotStop, says(latched, { notes: [...latched.headline.notes, ...reasons] })]) {
          await fed.feed(withStations(state, 40));
          await scrollAll(fed);
          const isAlarm = state === doesNotStop;
          const expected = ['h1', '.latched', '.stop-button', '.stop-path', ...(isAlarm ? ['.press'] : [])];
          await take(`scrolled${path.replace('/', '-')}`);
          expect([path, state.headline.code, await inView(...expected)]).toEqual([path, state.headline.code, []]);
        }
        await fed.feed(says(withStations(ready, 40), { level: 'attention', code: 'limited', notes: reasons }));
        await scrollAll(fed);
        expect([path, await inView('h1', '.stop-button')]).toEqual([path, []]);
      }
      await fed.open('/');
      // What is asked, and how it is answered, lies over none of it.
      for (const state of [ready, says(ready, { level: 'attention', code: 'limited', notes: reasons }), latched]) {
        await fed.feed(withStations(state, 3));
        await touch(fed, 'Zimmer 101');
        await take('asked');
        expect(await inView('h1', '.stop-button', '.stop-path', '.sheet h2', '.sheet .choices')).toEqual([]);
        await fed.page.keyboard.press('Escape');
        await fed.advance(50);
      }
      await fed.feed(withStations(ready, 40));
      await scrollAll(fed);
      await touch(fed, 'Zimmer 139');
      await take('asked');
      expect(await inView('h1', '.stop-button', '.sheet h2', '.sheet .choices')).toEqual([]);
      expect(fed.problems).toEqual([]);
    },
  );

  it.each(screens)('and STOPP has one place on all pages and in every state, in %s on a %s', async (...screen) => {
    const [language, , viewport] = screen;
    await using fed = await openFed(browser, { language, viewport, server: { password: true } });
    await fed.open('/');
    const place = await boxOf(fed.page, '.stop-button');
    const faults: unknown[] = [];
    const check = async (of: string) => {
      const now = await boxOf(fed.page, '.stop-button');
      if (JSON.stringify(now) !== JSON.stringify(place)) faults.push([of, now, place]);
    };
    for (const path of ['/', '/service']) {
      await fed.open(path);
      for (const code of headlineCodes) {
        await fed.feed(says(withStations(latched, 40), { code, notes: reasons }));
        await check(`${path} ${code}`);
      }
      await fed.feed(driving);
      await check(`${path} drives`);
      await fed.feed({ ...ready, stopPath: { ...ready.stopPath, chassis: 'away', cancel: 'away' } });
      await check(`${path} away`);
      await fed.page.route('**/api/stopp', (route) => route.abort());
      await fed.page.evaluate('document.querySelector(".stop-button").click()');
      await fed.advance(9_000);
      await check(`${path} not answered`);
      await fed.page.unroute('**/api/stopp');
    }
    for (const path of ['/medien', '/anmeldung', '/nicht-da', '/?ziel=dock']) {
      await fed.page.goto(`${fed.base}${path}`);
      await check(path);
    }
    expect(faults).toEqual([]);
  });
});
