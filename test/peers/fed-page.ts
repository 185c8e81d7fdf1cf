import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import type { PageState, Posed } from '../../src/lib/pages/index.ts';
import { textsOf } from '../../src/lib/pages/texts/catalogue.ts';
import type { Language } from '../../src/lib/pages/viewer.ts';
import { type SetUp, startServer } from '../operator/server.ts';
import { HANG_MS, until } from '../waiting.ts';
import { sizes } from './browser.ts';

const assetsDir = fileURLToPath(new URL('../../dist/web', import.meta.url));
const locales = { de: 'de-DE', en: 'en-GB' } as const;

/** Everything that a person may hold: both languages on each size of screen. */
export const screens = (['de', 'en'] as const).flatMap((language) =>
  sizes.map((size) => [language, size.name, size] as const),
);

export interface FedOptions {
  readonly language?: Language;
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly server?: SetUp;
  readonly context?: BrowserContextOptions;
}

/**
 * A page whose states come from the test, each when it is wanted, and whose clock stands until the test advances it: no
 * verdict depends on the machine. Its orders go to a real operator server.
 */
export async function openFed(browser: Browser, options: FedOptions = {}) {
  const { language = 'de', viewport = sizes[0] } = options;
  const server = await startServer({
    ...options.server,
    more: { assetsDir, clock: systemClock, ...options.server?.more },
  });
  const { width, height } = viewport;
  const context = await browser.newContext({
    ...{ viewport: { width, height }, locale: locales[language], hasTouch: true },
    ...options.context,
  });
  context.setDefaultTimeout(HANG_MS);
  await context.addInitScript(
    'window.EventSource = class extends EventTarget { constructor() { super(); window.stream = this; } };',
  );
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  const orders: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') orders.push(`${new URL(request.url()).pathname} ${request.postData()}`);
  });
  await page.clock.install({ time: new Date('2026-11-22T19:12:00.000Z') });
  await page.clock.pauseAt(new Date('2026-11-22T19:13:00.000Z'));
  const base = `http://127.0.0.1:${server.full}`;
  let build = '';

  /** Time passes for the page; what it paints then is painted. */
  const advance = (ms: number) => page.clock.runFor(ms);

  async function open(path = '/'): Promise<void> {
    const html = await (await page.goto(`${base}${path}`))?.text();
    build = JSON.parse(/<script id="page-state"[^>]*>([\s\S]*?)<\/script>/.exec(html ?? '')?.[1] ?? '{}').state?.build;
    await page.waitForFunction('window.stream !== undefined');
    await advance(50);
  }

  async function send(name: 'state' | 'pose', data: object): Promise<void> {
    const text = JSON.stringify(JSON.stringify(data));
    await page.evaluate(`stream.dispatchEvent(new MessageEvent('${name}', { data: ${text} }))`);
    await advance(50);
  }

  return {
    ...{ page, server, problems, base, open, advance },
    ...textsOf(language, 'Europe/Berlin'),
    /** POST requests of the page, in order. */
    orders: () => orders as readonly string[],
    /** A state arrives, and is painted. */
    feed: (state: PageState) => send('state', { ...state, build }),
    /** A pose arrives alone, and is painted. */
    feedPose: (posed: Posed) => send('pose', posed),
    /** Time passes until it is visible: what the browser measures after a state may ask for one more frame. */
    async shows(locator: Locator): Promise<void> {
      await until(
        async () => {
          await advance(50);
          return await locator.isVisible();
        },
        (isVisible) => isVisible,
      );
    },
    /** The same state again, as the gateway sends one each second, for so long. */
    async hold(state: PageState, ms: number): Promise<void> {
      for (let left = ms; left > 0; left -= 1_000) {
        await advance(Math.min(1_000, left) - 50);
        await this.feed(state);
      }
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

export type FedPage = Awaited<ReturnType<typeof openFed>>;

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Where an element is on the screen; null: nowhere. */
export async function boxOf(page: Page, selector: string): Promise<Box | null> {
  return (await page.evaluate(`(() => {
    const found = document.querySelector(${JSON.stringify(selector)});
    if (found === null) return null;
    const { left, top, right, bottom } = found.getBoundingClientRect();
    return { left, top, right, bottom };
  })()`)) as Box | null;
}

/** Whether the whole element is within the screen, and nothing lies over its corners and its middle. */
export async function isInView(page: Page, selector: string): Promise<boolean> {
  return (await page.evaluate(`(() => {
    const found = document.querySelector(${JSON.stringify(selector)});
    if (found === null) return false;
    const { left, top, right, bottom } = found.getBoundingClientRect();
    if (left < -0.5 || top < -0.5 || right > innerWidth + 0.5 || bottom > innerHeight + 0.5 || right - left < 1) return false;
    const at = [[left + 3, top + 3], [right - 3, top + 3], [left + 3, bottom - 3], [right - 3, bottom - 3], [(left + right) / 2, (top + bottom) / 2]];
    return at.every(([x, y]) => {
      const hit = document.elementFromPoint(x, y);
      return hit !== null && (found.contains(hit) || hit.contains(found));
    });
  })()`)) as boolean;
}
