import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { headlineCodes, type PageState } from '../../src/lib/pages/model.ts';
import { textsOf } from '../../src/lib/pages/texts/catalogue.ts';
import { startServer } from '../operator/server.ts';
import { ready } from '../pages/states.ts';
import { HANG_MS } from '../waiting.ts';
import { hasBrowser, launchBrowser, sizes } from './browser.ts';
import { openFed } from './fed-page.ts';

const assetsDir = fileURLToPath(new URL('../../dist/web', import.meta.url));
const devices = [...sizes, { name: 'desktop', width: 1920, height: 1080 }] as const;
/** Where a person wants to look at the pictures of all states. */
const pictures = process.env.GW_PICTURES;

type Code = PageState['headline']['code'];
const isBad: ReadonlySet<Code> = new Set([
  ...(['locked', 'stopped', 'does-not-stop', 'still-moves', 'standing-not-known'] as const),
  ...(['not-connected', 'connecting', 'booting'] as const),
]);
const run = {
  id: 'r-1',
  kind: 'tour',
  name: 'lunch',
  stations: ['A', 'B'],
  at: 1,
  forMs: 40_000,
  failReason: null,
  although: [],
  failure: null,
} as const;

/** A state of the pages with this headline. */
function stateOf(code: Code): PageState {
  const latched = ['stopped', 'does-not-stop', 'still-moves', 'standing-not-known'].includes(code);
  const away = ['not-connected', 'connecting', 'booting'].includes(code);
  const level = isBad.has(code) ? 'bad' : code === 'limited' || code === 'paused' ? 'attention' : 'good';
  return {
    ...ready,
    headline: {
      level,
      code,
      notes: code === 'locked' ? [{ code: 'facts', count: 3 }] : latched ? [{ code: 'stop-latched' }] : [],
    },
    link: { ...ready.link, kind: away ? (code as 'booting') : 'connected', progress: code === 'booting' ? 0.4 : null },
    gate: { ...ready.gate, isOpen: !latched && !away && code !== 'locked' },
    stop: {
      ...ready.stop,
      latched,
      state:
        code === 'stopped'
          ? 'stopped'
          : code === 'does-not-stop'
            ? 'drives-on'
            : code === 'still-moves'
              ? 'moves'
              : 'not-known',
      ...(latched && { origin: 'surface', by: '192.0.2.9', since: ready.time }),
    },
    run:
      code === 'drives' || code === 'paused'
        ? { ...run, stations: [...run.stations], although: [], state: code === 'paused' ? 'paused' : 'running' }
        : code === 'trial'
          ? { ...run, stations: [], although: [], kind: 'trial', name: null, state: 'running' }
          : null,
    site: {
      ...ready.site,
      stations: [
        { name: 'A', xM: 1, yM: 2 },
        { name: 'B', xM: 3, yM: -4 },
        { name: 'Küche im Untergeschoss links', xM: -2, yM: 1 },
      ],
    },
  };
}

describe.skipIf(!hasBrowser)('every state of the headline (Chromium)', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it.each((['de', 'en'] as const).flatMap((language) => devices.map((size) => [language, size.name, size] as const)))(
    'is said in words, in %s, on a %s, with STOPP in view and nothing cut off',
    async (language, name, viewport) => {
      await using server = await startServer({ more: { assetsDir, clock: systemClock } });
      const html = await (await fetch(`http://127.0.0.1:${server.full}/`)).text();
      const { build } = JSON.parse(/<script id="page-state"[^>]*>([\s\S]*?)<\/script>/.exec(html)?.[1] ?? '').state;
      const context = await browser.newContext({ viewport, locale: language === 'de' ? 'de-DE' : 'en-GB' });
      context.setDefaultTimeout(HANG_MS);
      // The states come from this test, each whenever it is wanted.
      await context.addInitScript(
        'window.EventSource = class extends EventTarget { constructor() { super(); window.stream = this; } };',
      );
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${server.full}/`);
      const { t, f } = textsOf(language, ready.timeZone);
      const faults: unknown[] = [];
      for (const code of headlineCodes) {
        const state = stateOf(code);
        await page.evaluate(
          `stream.dispatchEvent(new MessageEvent('state', { data: ${JSON.stringify(JSON.stringify({ ...state, build }))} }))`,
        );
        await page.locator('h1', { hasText: t.headline[code](state, f) }).waitFor();
        const seen = (await page.evaluate(`(() => {
          const stop = document.querySelector('.stop-button');
          const { top, bottom, width, height } = stop.getBoundingClientRect();
          const wide = [...document.querySelectorAll('h1, button, .target, .headline, .progress')]
            .filter((e) => e.offsetParent !== null && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline');
          return {
            level: document.querySelector('.headline').dataset.level,
            stop: !stop.disabled && top >= 0 && bottom <= innerHeight + 1 && width >= 120 && height >= 48,
            sideways: document.documentElement.scrollWidth > innerWidth,
            cut: wide.map((e) => e.textContent),
          };
        })()`)) as object;
        const expected = { level: state.headline.level, stop: true, sideways: false, cut: [] };
        if (JSON.stringify(seen) !== JSON.stringify(expected)) faults.push([code, seen]);
        if (pictures !== undefined) {
          mkdirSync(pictures, { recursive: true });
          await page.screenshot({ path: join(pictures, `${code}-${language}-${name}.png`) });
        }
      }
      await context.close();
      expect(faults).toEqual([]);
    },
  );

  it('changes with a pose that arrives alone, which says nothing of the rest', async () => {
    await using fed = await openFed(browser);
    const { page, t } = fed;
    await fed.open('/service');
    await fed.feed(ready);
    const heading = page.locator('[data-value="heading"]');
    const posed = (yawDeg: number) => ({
      pose: { ...ready.pose, value: { xM: 2, yM: 1 } },
      heading: { ...ready.heading, value: yawDeg },
    });
    await fed.feedPose(posed(123));
    expect(await heading.textContent()).toMatch(/123/);
    expect(await page.locator('.headline').getAttribute('data-level')).toBe('good');
    // Poses without a state for three seconds: whether the rest still holds is not known.
    for (let count = 0; count < 30; count += 1) {
      await fed.advance(50);
      await fed.feedPose(posed(count));
    }
    await page.getByRole('heading', { name: t.ui.noGateway }).waitFor();
    await fed.feedPose(posed(45));
    expect(await page.locator('.headline').getAttribute('data-level')).toBe('bad');
    await fed.feed(ready);
    expect(await page.locator('.headline').getAttribute('data-level')).toBe('good');
    expect(fed.problems).toEqual([]);
  });
});
