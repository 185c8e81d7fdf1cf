import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clearStop } from '../../src/lib/toolkit/motion/clear.ts';
import { openToolkit } from '../../src/lib/toolkit/toolkit.ts';
import type { Running } from '../e2e/gw.ts';
import { chassisState, type FaultName, type Robot, startRobot, startServe, until } from '../e2e/robot.ts';
import { sizes } from './browser.ts';
import { chromiumFlags, hasProgram } from './peer.ts';

const paths = ['/', '/service', '/anmeldung'] as const;

let browser: Browser | undefined;
let robot: Robot;
let serve: Running;

/** One browser, robot and gateway for all of this file. */
async function startAll(): Promise<void> {
  if (browser !== undefined) return;
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: chromiumFlags });
  robot = await startRobot({ with: ['password'] });
  await serveAgain();
}

async function serveAgain(): Promise<void> {
  serve = await startServe(robot.site);
  await until(
    () => chassisState(robot.operatorPort),
    ({ link }) => link.kind === 'connected',
    8_000,
  );
}

async function endAll(): Promise<void> {
  await browser?.close();
  await serve?.[Symbol.asyncDispose]();
  await robot?.[Symbol.asyncDispose]();
}

afterAll(endAll);

const fault = (name: FaultName, state: 'on' | 'off') => robot.fault(name, state);

async function newContext(options: Parameters<Browser['newContext']>[0] = {}) {
  if (browser === undefined) throw new Error('the browser did not start');
  return browser.newContext(options);
}

const addressOf = (path: string) => `http://127.0.0.1:${robot.operatorPort}${path}`;

describe.skipIf(!hasProgram('chromium'))('the pages in a real browser (Chromium)', () => {
  beforeAll(startAll);

  /** Opens a page and records its errors. */
  async function open(path: string, size: { width: number; height: number }, javaScriptEnabled: boolean) {
    const context = await newContext({ viewport: size, javaScriptEnabled });
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('requestfailed', (request) => problems.push(`${request.url()} ${request.failure()?.errorText}`));
    page.on('request', (request) => {
      if (!request.url().startsWith(`http://127.0.0.1:${robot.operatorPort}/`))
        problems.push(`foreign: ${request.url()}`);
    });
    const reply = await page.goto(`http://127.0.0.1:${robot.operatorPort}${path}`);
    expect(reply?.status()).toBe(200);
    return { page, problems, close: () => context.close() };
  }

  const overflow = (page: Page) => page.evaluate('document.documentElement.scrollWidth - window.innerWidth');

  it.each(sizes.flatMap((size) => paths.map((path) => [size.name, path, size] as const)))(
    '%s: %s fits the screen, loads nothing foreign and raises no error',
    async (_name, path, size) => {
      const { page, problems, close } = await open(path, size, true);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      const [fontSize] = (await page.evaluate(
        '[...document.querySelectorAll("button, input, a.button")].map((e) => e.getBoundingClientRect().height).concat(48)',
      )) as number[];
      expect(fontSize).toBeGreaterThanOrEqual(40);
      expect(problems).toEqual([]);
      await close();
    },
  );

  it.each(sizes.flatMap((size) => paths.map((path) => [size.name, path, size] as const)))(
    '%s: %s keeps a large STOPP in view, however far it is scrolled',
    async (_name, path, size) => {
      const { page, close } = await open(path, size, true);
      // Many reasons above it, as after a day with many faults.
      await page.evaluate(
        '(document.querySelector("h1 ~ p") ?? document.querySelector("h1")).append("Grund ".repeat(400))',
      );
      for (const to of ['0', '300', 'document.body.scrollHeight']) {
        await page.evaluate(`window.scrollTo(0, ${to})`);
        const [box] = (await page.evaluate(
          '[...document.querySelectorAll(".stop-button")].map((e) => e.getBoundingClientRect().toJSON())',
        )) as { top: number; bottom: number; height: number; width: number }[];
        expect(box?.height).toBeGreaterThanOrEqual(80);
        expect(box?.width).toBeGreaterThanOrEqual(size.width / 4);
        expect(box?.top).toBeGreaterThanOrEqual(0);
        expect(box?.bottom).toBeLessThanOrEqual(size.height);
      }
      await close();
    },
  );

  it('are readable without script: state, address tried and age', async () => {
    const { page, close } = await open('/service', sizes[0], false);
    const text = ((await page.locator('body').textContent()) ?? '').toLowerCase();
    expect(text).toContain(`127.0.0.1:${robot.chassisPort}`);
    expect(text).toMatch(/vor|alter|age/);
    await close();
  });

  it('follow the live state in place, without a reload', async () => {
    const { page, close } = await open('/', sizes[0], true);
    await page.evaluate('window.stillTheSamePage = true');
    expect((await page.locator('body').textContent()) ?? '').not.toContain('not connected');
    await fault('cut', 'on');
    await page.getByText('not connected').first().waitFor({ timeout: 5_000 });
    await fault('cut', 'off');
    await page.getByText('not connected').first().waitFor({ state: 'hidden', timeout: 12_000 });
    expect(await page.evaluate('window.stillTheSamePage')).toBe(true);
    await close();
  });

  it('stop the robot by the button, also without script', async () => {
    const { page, close } = await open('/', sizes[1], false);
    await page.locator('form[action="/api/stopp"] button').first().click();
    const reply = await fetch(`http://127.0.0.1:${robot.operatorPort}/api/stopp`);
    expect(await reply.json()).toMatchObject({ stop: { latched: true } });
    await close();
    const callContext = { signal: new AbortController().signal, onProgress: () => {} };
    await clearStop(await openToolkit(robot.site), {}, callContext);
  });
});

/** The visible claim of the page, as rendered by the browser. */
async function glance(page: Page) {
  return (await page.evaluate(`(() => {
    const style = (selector) => getComputedStyle(document.querySelector(selector));
    const colour = (name) => {
      const probe = document.body.appendChild(document.createElement('i'));
      probe.style.color = 'var(' + name + ')';
      const { color } = getComputedStyle(probe);
      probe.remove();
      return color;
    };
    const struck = [...document.querySelectorAll('.value')].filter((e) =>
      getComputedStyle(e).textDecorationLine.includes('line-through'));
    const border = style('.state').borderLeftColor;
    return {
      headline: document.querySelector('h1').textContent,
      colour: ['--good', '--warn', '--bad'].find((name) => colour(name) === border) ?? border,
      struck: struck.map((e) => e.dataset.live),
      tours: [...new Set([...document.querySelectorAll('button[name=tour]')].map((e) => e.disabled))],
      stop: [...document.querySelectorAll('.stop-button')].map((e) => e.disabled),
      outdated: document.querySelector('.outdated').getBoundingClientRect().height > 10,
    };
  })()`)) as {
    headline: string;
    colour: string;
    struck: string[];
    tours: boolean[];
    stop: boolean[];
    outdated: boolean;
  };
}

const everyValue = ['battery', 'pose', 'heading', 'positioning', 'wheels', 'alerts'];

describe.skipIf(!hasProgram('chromium'))('the state shown by the operator page (Chromium)', () => {
  beforeAll(startAll);

  async function open(options: Parameters<Browser['newContext']>[0] = {}) {
    const context = await newContext(options);
    const page = await context.newPage();
    return { context, page, [Symbol.asyncDispose]: () => context.close() };
  }

  const untilShown = async (page: Page, text: string, timeout = 8_000) => {
    try {
      await page.locator('h1', { hasText: text }).waitFor({ timeout });
    } catch (cause) {
      const shown = await page.locator('h1').allTextContents();
      throw new Error(`the page shows '${shown}' after ${timeout} ms, not '${text}'`, { cause });
    }
  };

  it('is green for a robot in order, also without script', async () => {
    await using live = await open();
    await live.page.goto(addressOf('/'));
    await untilShown(live.page, 'fahrbereit');
    const calm = { colour: '--good', struck: [], tours: [false], stop: [false], outdated: false };
    expect(await glance(live.page)).toMatchObject(calm);
    await using still = await open({ javaScriptEnabled: false });
    await still.page.goto(addressOf('/'));
    expect(await still.page.locator('body').getAttribute('data-headline')).toBe('good');
  });

  it('shows when the gateway hangs, and when it answers again', async () => {
    await using live = await open();
    await live.page.goto(addressOf('/'));
    await untilShown(live.page, 'fahrbereit');
    serve.child.kill('SIGSTOP');
    try {
      await untilShown(live.page, 'Keine Verbindung zum Gateway');
      expect(await glance(live.page)).toMatchObject({
        colour: '--bad',
        struck: everyValue,
        tours: [true],
        stop: [false],
        outdated: true,
      });
      const text = (await live.page.locator('main').textContent()) ?? '';
      expect(text).toContain('veraltet, keine Verbindung zum Gateway: x ');
      expect(text).not.toMatch(/vor \d/);
    } finally {
      serve.child.kill('SIGCONT');
    }
    await untilShown(live.page, 'fahrbereit');
    expect(await glance(live.page)).toMatchObject({ colour: '--good', struck: [], tours: [false], outdated: false });
  });

  it('shows when the gateway ends, and follows the next one without a reload', async () => {
    await using live = await open();
    await live.page.goto(addressOf('/service'));
    await live.page.evaluate('window.stillTheSamePage = true');
    await untilShown(live.page, 'fahrbereit');
    await serve[Symbol.asyncDispose]();
    await untilShown(live.page, 'Keine Verbindung zum Gateway');
    const { colour, struck } = await glance(live.page);
    expect([colour, struck.includes('heading')]).toEqual(['--bad', true]);
    const overall = live.page.locator('[data-live="overall"]');
    expect(await overall.textContent()).toContain('Nicht bekannt');
    expect(await live.page.locator('[data-live="complaints"]').textContent()).not.toBe('keine');
    await serveAgain();
    await untilShown(live.page, 'fahrbereit', 15_000);
    expect(await overall.textContent()).toBe('in Ordnung');
    expect(await live.page.evaluate('window.stillTheSamePage')).toBe(true);
  });

  it('shows when its event stream is refused, and resumes it when it is accepted', async () => {
    await using live = await open();
    await live.page.route('**/api/events', (route) => route.fulfill({ status: 503, body: '{}' }));
    await live.page.goto(addressOf('/'));
    await untilShown(live.page, 'Keine Verbindung zum Gateway');
    await live.page.unroute('**/api/events');
    await untilShown(live.page, 'fahrbereit', 10_000);
  });

  it('turns red as outdated where its script does not load', async () => {
    await using live = await open();
    await live.page.route('**/assets/live.js', (route) => route.abort());
    await live.page.goto(addressOf('/'));
    expect(await glance(live.page)).toMatchObject({ colour: '--good', outdated: false });
    await live.page.evaluate('for (const animation of document.getAnimations()) animation.finish()');
    expect(await glance(live.page)).toMatchObject({ colour: '--bad', outdated: true });
  });

  it('shows the condition of the robot, and disables tours while the gate refuses', async () => {
    await using live = await open();
    await live.page.goto(addressOf('/'));
    await fault('emergency-stop', 'on');
    await untilShown(live.page, 'Fahrt gesperrt');
    expect(await glance(live.page)).toMatchObject({ colour: '--bad', tours: [true], stop: [false], struck: [] });
    const button = live.page.getByRole('button', { name: /demo/ });
    expect(await button.isDisabled()).toBe(true);
    const why = live.page.locator(`#${await button.getAttribute('aria-describedby')}`);
    expect(await why.textContent()).toBe('Der Not-Halt ist gedrückt.');
    await fault('emergency-stop', 'off');
    await fault('battery-low', 'on');
    await untilShown(live.page, 'mit Einschränkungen');
    expect(await glance(live.page)).toMatchObject({ colour: '--warn', tours: [false] });
    await fault('battery-low', 'off');
    await untilShown(live.page, 'fahrbereit');
  });

  it('strikes out every value under a cut cable', async () => {
    await using live = await open();
    await live.page.goto(addressOf('/'));
    await fault('cut', 'on');
    await untilShown(live.page, 'not connected');
    expect(await glance(live.page)).toMatchObject({
      colour: '--bad',
      struck: everyValue,
      tours: [true],
      stop: [false],
    });
    await using service = await open();
    await service.page.goto(addressOf('/service'));
    expect(await service.page.locator('[data-live="overall"]').textContent()).toContain('beeinträchtigt');
    expect(await service.page.locator('[data-live="complaints"]').textContent()).toContain('Nicht geprüft');
    await fault('cut', 'off');
    await untilShown(live.page, 'fahrbereit', 12_000);
  });

  // The last one: proven radians count until the gateway is restarted.
  it.each(sizes)(
    'under radians, on a $name: never green, the heading struck out, tours off, STOPP on',
    async (size) => {
      await using live = await open({ viewport: size });
      await live.page.goto(addressOf('/'));
      await fault('radians', 'on');
      await untilShown(live.page, 'Fahrt gesperrt', 20_000);
      // It is closed first because the robot turns, then because of the unit.
      const heading = live.page.locator('dd', { has: live.page.locator('[data-live="heading"]') });
      await heading.filter({ hasText: /zweifelhaft|ungültig/ }).waitFor({ timeout: 20_000 });
      expect(await glance(live.page)).toMatchObject({
        colour: '--bad',
        struck: ['heading'],
        tours: [true],
        stop: [false],
      });
      // The first turn is a doubt, the second the proof.
      await heading.filter({ hasText: 'ungültig, Bogenmaß statt Grad' }).waitFor({ timeout: 20_000 });
      expect(await heading.textContent()).toMatch(/^ungültig, Bogenmaß statt Grad: -?\d/);
      await live.page.reload();
      expect((await glance(live.page)).struck).toEqual(['heading']);
      await using still = await open({ viewport: size, javaScriptEnabled: false });
      await still.page.goto(addressOf('/service'));
      expect(await still.page.locator('body').getAttribute('data-headline')).toBe('bad');
      expect(await still.page.locator('[data-live="complaints"]').textContent()).toContain('Bogenmaß');
      expect(await still.page.locator('[data-live="overall"]').textContent()).toContain('beeinträchtigt');
    },
  );
});
