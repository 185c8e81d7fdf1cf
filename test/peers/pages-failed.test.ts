import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageState } from '../../src/lib/pages/index.ts';
import { driving, failed, ready } from '../pages/states.ts';
import { until } from '../waiting.ts';
import { hasBrowser, launchBrowser } from './browser.ts';
import { boxOf, isInView, openFed, screens } from './fed-page.ts';

const atRest: PageState = { ...ready, headline: { level: 'attention', code: 'failed', notes: [] }, failed };
const later: PageState = {
  ...driving,
  headline: { level: 'attention', code: 'drives', notes: [] },
  failed: { ...failed, earlier: 2 },
};
const neverReached: PageState = {
  ...ready,
  headline: { level: 'bad', code: 'not-connected', notes: [{ code: 'not-connected' }] },
  link: { ...ready.link, kind: 'not-connected' },
  map: { ...ready.map, value: null, stale: null },
  pose: { ...ready.pose, value: null },
};

describe.skipIf(!hasBrowser)('what a person has to know on each screen (Chromium)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it.each(screens)(
    'of a failed drive stays until it is marked as seen, in %s on a %s, also beside a later drive',
    async (language, _name, viewport) => {
      await using fed = await openFed(browser, { language, viewport });
      const { page, t, f } = fed;
      await fed.open();
      for (const state of [atRest, later, atRest]) {
        await fed.feed(state);
        const { failed: shown } = state;
        if (shown === null) throw new Error('it has failed');
        expect(await page.locator('.headline').getAttribute('data-level')).toBe('attention');
        expect(await page.locator('.headline h1').textContent()).toBe(t.headline[state.headline.code](state, f));
        const words = await page.locator('.failed').textContent();
        for (const part of [t.failed(shown, f), t.ui.failedNext]) expect(words).toContain(part);
        expect(words?.includes(t.failedEarlier(2))).toBe(state === later);
        for (const part of ['.headline h1', '.failed button', '.stop-button']) {
          expect([part, await isInView(page, part)]).toEqual([part, true]);
        }
      }
      await page.locator('.failed button').click();
      await until(fed.orders, (orders) => orders.length > 0);
      expect(fed.orders()).toEqual(['/api/fahrt/gesehen {"id":"r-0"}']);
      await fed.feed(ready);
      expect(await page.locator('.failed').count()).toBe(0);
      expect(fed.problems).toEqual([]);
    },
  );

  it.each(screens)(
    'of a robot that was not reached since the start of the gateway is said on its map, in %s on a %s',
    async (language, _name, viewport) => {
      await using fed = await openFed(browser, { language, viewport });
      await fed.open();
      await fed.feed(neverReached);
      const note = fed.page.locator('.map-note');
      // Once the gateway has answered that it has no last map.
      await fed.shows(note.filter({ hasText: `${fed.t.ui.robotAway} ${fed.t.ui.noMapYet}` }));
      expect(await boxOf(fed.page, '.map-note')).not.toBeNull();
      expect(await fed.page.locator('#map .pin').count()).toBe(3);
      await fed.feed(ready);
      expect(await note.textContent()).not.toContain(fed.t.ui.noMapYet);
      expect(fed.problems).toEqual([]);
    },
  );
});
