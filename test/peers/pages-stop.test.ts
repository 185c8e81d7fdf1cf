import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { clearStop } from '../../src/lib/toolkit/motion/clear.ts';
import { openToolkit } from '../../src/lib/toolkit/toolkit.ts';
import type { Running } from '../e2e/gw.ts';
import { chassisState, type Robot, startRobot, startServe, until } from '../e2e/robot.ts';
import { HANG_MS } from '../waiting.ts';
import { hasBrowser, launchBrowser } from './browser.ts';

const sizes = {
  tablet: { width: 1280, height: 800 },
  upright: { width: 800, height: 1280 },
  phone: { width: 390, height: 844 },
} as const;
const words = {
  'de-DE': {
    ready: 'Bereit',
    stopped: 'Angehalten',
    notStopped: 'Ihr STOPP wurde NICHT ausgeführt',
    giveUp: 'Nicht weiter senden',
    acknowledged: 'bestätigt',
  },
  'en-GB': {
    ready: 'Ready',
    stopped: 'Stopped',
    notStopped: 'Your STOP was NOT carried out',
    giveUp: 'Give up sending it',
    acknowledged: 'acknowledged',
  },
} as const;

let browser: Browser;
let robot: Robot;
let serve: Running;
let isRunning = false;

const addressOf = (path: string) => `http://127.0.0.1:${robot.operatorPort}${path}`;

async function startGateway(): Promise<void> {
  isRunning = true;
  serve = await startServe(robot.site);
  await until(
    () => chassisState(robot.operatorPort),
    ({ link }) => link.kind === 'connected',
  );
}

async function killGateway(): Promise<void> {
  isRunning = false;
  await serve.end('SIGKILL');
}

const isLatched = async () => {
  const { stop } = (await (await fetch(addressOf('/api/stopp'))).json()) as { readonly stop: { latched: boolean } };
  return stop.latched;
};

async function openPage(path: string, locale: keyof typeof words = 'de-DE', size: keyof typeof sizes = 'tablet') {
  const context = await browser.newContext({ viewport: sizes[size], locale });
  context.setDefaultTimeout(HANG_MS);
  const page = await context.newPage();
  await page.goto(addressOf(path));
  const view = { page, t: words[locale], name: `${path} ${locale} ${size}` };
  if (path === '/' || path === '/service') await headline(view, view.t.ready);
  return { ...view, [Symbol.asyncDispose]: () => context.close() };
}

const headline = ({ page }: { readonly page: Page }, text: string) => page.locator('h1', { hasText: text }).waitFor();
const cover = (page: Page) => page.locator('.not-stopped');
const press = (page: Page) => page.locator('.stop-button').click();

/** Notes each state of the page in which it is green or has orders after STOPP was pressed on it. */
const watchForGreen = (page: Page) =>
  page.evaluate(`(() => {
    window.greens = [];
    let isPressed = false;
    const isPainted = () => requestAnimationFrame(() => requestAnimationFrame(() => { isPressed = true; look(); }));
    document.querySelector('.stop').addEventListener('submit', isPainted);
    const look = () => {
      const isGreen = document.querySelector('.headline').dataset.level === 'good';
      const isOrderable = document.querySelector('.target:not(.waiting)') !== null;
      if (isPressed && (isGreen || isOrderable)) window.greens.push([isGreen, isOrderable]);
    };
    // Whatever it becomes is a change of its elements.
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
  })()`);

/** What a finger on STOPP would press, and whether the words of the cover can be read. */
const looks = (page: Page) =>
  page.evaluate(`(() => {
    const { left, right, top, bottom } = document.querySelector('.stop-button').getBoundingClientRect();
    const at = (x, y) => document.elementFromPoint(x, y)?.closest('.stop-button, .not-stopped')?.className ?? null;
    const words = document.querySelector('.not-stopped h2').getBoundingClientRect();
    const time = document.querySelector('.not-stopped > p').getBoundingClientRect();
    return {
      stop: at((left + right) / 2, (top + bottom) / 2),
      inView: top >= 0 && bottom <= innerHeight + 1,
      title: at((words.left + words.right) / 2, (words.top + words.bottom) / 2),
      beside: at(5, 5),
      readable: time.bottom <= top,
      sideways: document.documentElement.scrollWidth > innerWidth,
    };
  })()`);
const covered = {
  ...{
    stop: 'stop-button',
    inView: true,
    title: 'not-stopped',
    beside: 'not-stopped',
    readable: true,
    sideways: false,
  },
};

describe.skipIf(!hasBrowser)('STOPP while the gateway is away (Chromium)', () => {
  beforeAll(async () => {
    browser = await launchBrowser();
    robot = await startRobot({ with: ['password'] });
    await startGateway();
  });
  afterEach(async () => {
    if (!isRunning) await startGateway();
    if (!(await isLatched())) return;
    const context = { signal: new AbortController().signal, onProgress: () => {} };
    await clearStop(await openToolkit(robot.site), {}, context);
  });
  afterAll(async () => {
    await browser?.close();
    await serve?.[Symbol.asyncDispose]();
    await robot?.[Symbol.asyncDispose]();
  });

  it('is carried out by a gateway that comes back after 40 s, and no page is green before', async () => {
    await using stack = new AsyncDisposableStack();
    const views = [];
    for (const [path, locale, size] of [
      ['/', 'de-DE', 'tablet'],
      ['/', 'en-GB', 'phone'],
      ['/', 'en-GB', 'upright'],
      ['/service', 'de-DE', 'phone'],
      ['/service', 'en-GB', 'tablet'],
    ] as const) {
      views.push(stack.use(await openPage(path, locale, size)));
    }
    for (const { page } of views) await watchForGreen(page);
    await killGateway();
    for (const { page } of views) await press(page);
    for (const { page, t, name } of views) {
      await cover(page).getByRole('heading', { name: t.notStopped }).waitFor();
      await headline({ page }, t.notStopped);
      expect(await looks(page), name).toEqual(covered);
    }
    for (const { page } of views) {
      await until(
        async () => Number(/(\d+)\s*s/.exec((await cover(page).textContent()) ?? '')?.[1]),
        (seconds) => seconds >= 40,
      );
      expect(await looks(page)).toEqual(covered);
    }
    await startGateway();
    for (const { page, t, name } of views) {
      await headline({ page }, t.stopped);
      await cover(page).waitFor({ state: 'detached' });
      expect(await page.locator('.stop-path').textContent(), name).toContain(t.acknowledged);
      expect(await page.evaluate('window.greens'), name).toEqual([]);
    }
    expect(await isLatched()).toBe(true);
  });

  it('is carried out after a gateway that hangs goes on', async () => {
    await using view = await openPage('/');
    await watchForGreen(view.page);
    serve.child.kill('SIGSTOP');
    try {
      await press(view.page);
      await cover(view.page).waitFor();
      await headline(view, view.t.notStopped);
    } finally {
      serve.child.kill('SIGCONT');
    }
    await headline(view, view.t.stopped);
    await cover(view.page).waitFor({ state: 'detached' });
    expect(await view.page.evaluate('window.greens')).toEqual([]);
  });

  it.each(['/medien', '/anmeldung', '/gibt-es-nicht'])(
    'is tried from %s too, and leads to the surface',
    async (path) => {
      await using view = await openPage(path, 'en-GB', 'phone');
      await killGateway();
      await press(view.page);
      await cover(view.page).getByRole('heading', { name: view.t.notStopped }).waitFor();
      expect(await looks(view.page)).toEqual(covered);
      await startGateway();
      await view.page.waitForURL(addressOf('/'));
      await headline(view, view.t.stopped);
      expect(await isLatched()).toBe(true);
    },
  );

  it('outlives a reload, and is carried out by whichever page of this tab is opened next', async () => {
    await using view = await openPage('/');
    await killGateway();
    await press(view.page);
    await cover(view.page).waitFor();
    // The browser shows its own page: there is no gateway that could send another.
    await expect(view.page.reload()).rejects.toThrow('ERR_CONNECTION_REFUSED');
    await startGateway();
    expect(await isLatched()).toBe(false);
    await view.page.goto(addressOf('/anmeldung'));
    await view.page.waitForURL(addressOf('/'));
    await headline(view, view.t.stopped);
    expect(await isLatched()).toBe(true);
  });

  it('ends when a person gives up, which no touch beside it does, and then nothing is sent any more', async () => {
    await using view = await openPage('/', 'de-DE', 'phone');
    const { page, t } = view;
    await killGateway();
    await press(page);
    await cover(page).waitFor();
    expect(await cover(page).getByRole('button').count()).toBe(0);
    await page.evaluate(axe.source);
    await cover(page).getByRole('button', { name: t.giveUp }).waitFor();
    const found = (await page.evaluate(
      'axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map((n) => n.html).join()))',
    )) as string[];
    expect(found).toEqual([]);
    await page.mouse.click(20, 20);
    expect(await cover(page).count()).toBe(1);
    await cover(page).getByRole('button', { name: t.giveUp }).click();
    await cover(page).waitFor({ state: 'detached' });
    await startGateway();
    await headline(view, t.ready);
    await page.reload();
    await headline(view, t.ready);
    expect(await isLatched()).toBe(false);
  });

  it('without script is sent once: the browser says that it failed, and no page stays green', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false, viewport: sizes.tablet, locale: 'de-DE' });
    const page = await context.newPage();
    const debug = await context.newCDPSession(page);
    await page.goto(addressOf('/'));
    serve.child.kill('SIGSTOP');
    try {
      await page.locator('.stop-button').click({ noWaitAfter: true });
      // It waits for the answer, and its old state is covered meanwhile.
      await expect
        .poll(async () => {
          const { data } = await debug.send('Page.captureScreenshot');
          const png = PNG.sync.read(Buffer.from(data, 'base64'));
          // In the left border of the notice.
          return [...png.data.subarray(4 * (210 * png.width + 65)).subarray(0, 3)];
        })
        .toEqual([0xa8, 0x18, 0x0f]);
    } finally {
      serve.child.kill('SIGCONT');
    }
    await headline({ page }, words['de-DE'].stopped);
    await killGateway();
    await page.locator('.stop-button').click({ noWaitAfter: true });
    await expect.poll(() => page.url()).toMatch(/^chrome-error:/);
    await startGateway();
    await context.close();
  });
});
