import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clearStop } from '../../src/lib/toolkit/motion/clear.ts';
import { openToolkit } from '../../src/lib/toolkit/toolkit.ts';
import type { Running } from '../e2e/gw.ts';
import { chassisState, type FaultName, type Robot, startRobot, startServe, until } from '../e2e/robot.ts';
import { HANG_MS } from '../waiting.ts';
import { sizes as devices, hasBrowser, launchBrowser } from './browser.ts';

const paths = ['/', '/service', '/anmeldung'] as const;
const sizes = [...devices, { name: 'desktop', width: 1920, height: 1080 }] as const;
const [tablet, phone] = devices;

let browser: Browser | undefined;
let robot: Robot;
let serve: Running;

/** One browser, robot and gateway for all of this file. */
async function startAll(): Promise<void> {
  if (browser !== undefined) return;
  browser = await launchBrowser();
  robot = await startRobot({ with: ['password'] });
  await serveAgain();
}

async function serveAgain(): Promise<void> {
  serve = await startServe(robot.site);
  await until(
    () => chassisState(robot.operatorPort),
    ({ link }) => link.kind === 'connected',
  );
}

async function endAll(): Promise<void> {
  await browser?.close();
  await serve?.[Symbol.asyncDispose]();
  await robot?.[Symbol.asyncDispose]();
}

afterAll(endAll);

const fault = (name: FaultName, state: 'on' | 'off') => robot.fault(name, state);

const addressOf = (path: string) => `http://127.0.0.1:${robot.operatorPort}${path}`;

/** A page of its own, with what went wrong on it. */
async function open(path: string, options: Parameters<Browser['newContext']>[0] = {}) {
  if (browser === undefined) throw new Error('the browser did not start');
  const context = await browser.newContext({ viewport: tablet, locale: 'de-DE', ...options });
  context.setDefaultTimeout(HANG_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('requestfailed', (request) => problems.push(`${request.url()} ${request.failure()?.errorText}`));
  page.on('request', (request) => {
    const { url } = { url: request.url() };
    if (!url.startsWith('http://127.0.0.1:') && !url.startsWith('blob:http://127.0.0.1:'))
      problems.push(`foreign: ${url}`);
  });
  await page.goto(addressOf(path));
  return { page, problems, [Symbol.asyncDispose]: () => context.close() };
}

const untilShown = async (page: Page, text: string | RegExp) => {
  try {
    await page.locator('h1', { hasText: text }).waitFor();
  } catch (cause) {
    const shown = await page.locator('h1').allTextContents();
    throw new Error(`the page shows '${shown}' and not '${text}'`, { cause });
  }
};

/** What a person sees at a glance, as the browser renders it. */
async function glance(page: Page) {
  return (await page.evaluate(`(() => {
    const colour = (name) => {
      const probe = document.body.appendChild(document.createElement('i'));
      probe.style.color = 'var(' + name + ')';
      const { color } = getComputedStyle(probe);
      probe.remove();
      return color;
    };
    const border = getComputedStyle(document.querySelector('.headline')).borderLeftColor;
    const struck = [...document.querySelectorAll('.struck')].filter((e) =>
      getComputedStyle(e).textDecorationLine.includes('line-through'));
    return {
      headline: document.querySelector('h1').textContent,
      said: document.querySelector('.headline').innerText,
      colour: ['--good', '--warn', '--bad'].find((name) => colour(name) === border) ?? border,
      struck: struck.map((e) => e.parentElement.dataset.value),
      waits: [...new Set([...document.querySelectorAll('.target')].map((e) => e.classList.contains('waiting')))],
      stop: [...document.querySelectorAll('.stop-button')].map((e) => e.disabled),
      outdated: getComputedStyle(document.querySelector('.outdated')).visibility,
    };
  })()`)) as {
    headline: string;
    colour: string;
    struck: string[];
    waits: boolean[];
    stop: boolean[];
    outdated: string;
  };
}

/** Green, with values that are reliable. An answer of the robot that was late on a busy machine keeps it from that for a while. */
const untilCalm = (page: Page) =>
  until(
    () => glance(page),
    ({ colour, struck, outdated }) => colour === '--good' && struck.length === 0 && outdated === 'hidden',
  );

const api = async (path: string, method = 'GET', body?: object) => {
  const reply = await fetch(addressOf(path), {
    method,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  return (await reply.json()) as Record<string, never>;
};

async function clear(): Promise<void> {
  const context = { signal: new AbortController().signal, onProgress: () => {} };
  await clearStop(await openToolkit(robot.site), {}, context);
}

describe.skipIf(!hasBrowser)('the pages in a real browser (Chromium)', () => {
  beforeAll(startAll);

  it.each(sizes.flatMap((size) => paths.map((path) => [size.name, path, size] as const)))(
    '%s: %s fits the screen, loads nothing foreign and raises no error',
    async (_name, path, viewport) => {
      await using shown = await open(path, { viewport });
      await shown.page.waitForTimeout(600);
      expect(await shown.page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(
        0,
      );
      const small = await shown.page.evaluate(
        '[...document.querySelectorAll("button, input:not([type=hidden]), a.button, .target, header nav a, summary, .lamp")].filter((e) => e.getBoundingClientRect().height < 48).map((e) => e.outerHTML)',
      );
      expect(small).toEqual([]);
      const rows = await shown.page.evaluate(
        'new Set([...document.querySelectorAll("header nav a")].map((e) => e.getBoundingClientRect().top)).size',
      );
      expect(rows).toBe(1);
      expect(shown.problems).toEqual([]);
    },
  );

  it('the start screen of the tablet needs no scrolling', async () => {
    await using shown = await open('/');
    await shown.page.locator('#map').waitFor();
    expect(await shown.page.evaluate('document.documentElement.scrollHeight - window.innerHeight')).toBeLessThanOrEqual(
      0,
    );
  });

  it.each(sizes.flatMap((size) => paths.map((path) => [size.name, path, size] as const)))(
    '%s: %s keeps a large STOPP in view, however far it is scrolled',
    async (_name, path, viewport) => {
      await using shown = await open(path, { viewport });
      // Many reasons above it, as after a day with many faults.
      await shown.page.evaluate('document.querySelector("h1").append(" Grund".repeat(400))');
      for (const to of ['0', '300', 'document.body.scrollHeight']) {
        await shown.page.evaluate(`window.scrollTo(0, ${to})`);
        const [box] = (await shown.page.evaluate(
          '[...document.querySelectorAll(".stop-button")].map((e) => e.getBoundingClientRect().toJSON())',
        )) as { top: number; bottom: number; height: number; width: number }[];
        expect(box?.height).toBeGreaterThanOrEqual(80);
        expect(box?.width).toBeGreaterThanOrEqual(viewport.width / 5);
        expect(box?.top).toBeGreaterThanOrEqual(0);
        expect(box?.bottom).toBeLessThanOrEqual(viewport.height);
      }
    },
  );

  it('are readable without script: state, address tried, values with their age', async () => {
    await using shown = await open('/service', { javaScriptEnabled: false });
    const text = (await shown.page.locator('body').textContent()) ?? '';
    expect(text).toContain(`127.0.0.1:${robot.chassisPort}`);
    expect(text).toMatch(/vor \d/);
  });

  it('stop the robot by the button, also without script', async () => {
    await using shown = await open('/', { javaScriptEnabled: false, viewport: phone });
    await shown.page.locator('form[action="/api/stopp"] button').click();
    expect(await api('/api/stopp')).toMatchObject({ stop: { latched: true } });
    await clear();
  });

  it.each([
    ['de-DE', 'Bereit', 'Wohin?'],
    ['en-GB', 'Ready', 'Where to?'],
    ['fr-FR', 'Bereit', 'Wohin?'],
  ])('speak the language of the browser (%s) until a person chooses another', async (locale, headline, title) => {
    await using shown = await open('/', { locale });
    await untilShown(shown.page, headline);
    expect(await shown.page.locator('h2').first().textContent()).toBe(title);
    const other = locale === 'en-GB' ? 'de' : 'en';
    await shown.page.locator(`header a[hreflang=${other}]`).click();
    await untilShown(shown.page, other === 'de' ? 'Bereit' : 'Ready');
    await shown.page.goto(addressOf('/service'));
    expect(await shown.page.locator('html').getAttribute('lang')).toBe(other);
  });

  it.each(paths.flatMap((path) => (['light', 'dark'] as const).map((scheme) => [path, scheme] as const)))(
    '%s has no barrier that axe finds, in the %s scheme',
    async (path, colorScheme) => {
      await using shown = await open(path, { colorScheme });
      if (path !== '/anmeldung') await untilShown(shown.page, 'Bereit');
      if (path === '/') await shown.page.locator('a.target').first().click();
      await shown.page.evaluate(axe.source);
      const found = (await shown.page.evaluate(
        'axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map((n) => n.html).join()))',
      )) as string[];
      expect(found).toEqual([]);
    },
  );
});

describe.skipIf(!hasBrowser)('the technician page (Chromium)', () => {
  beforeAll(startAll);

  async function signedIn(path: string, options: Parameters<typeof open>[1] = {}) {
    const shown = await open('/anmeldung', options);
    await shown.page
      .locator('#password')
      .fill(readFileSync(join(robot.dir, 'secrets/device-password.txt'), 'utf8').trim());
    await shown.page.getByRole('button', { name: 'Anmelden' }).click();
    await shown.page.waitForURL(addressOf('/'));
    // What it began to load is left.
    await shown.page.goto(addressOf('/anmeldung'));
    shown.problems.length = 0;
    await shown.page.goto(addressOf(path));
    return shown;
  }

  /** After a stop was cleared, and after a pose was set, the robot has to show that it stands. */
  const untilOpen = () =>
    until(
      () => api('/api/touren'),
      (answer) => (answer as never as { readonly gate: { readonly open: boolean } }).gate.open,
    );

  it.each(['full', 'read-only'])(
    'draws the last hour on the %s socket: battery, age of the pose, link',
    async (socket) => {
      await using shown = await open('/anmeldung');
      await shown.page.goto(socket === 'full' ? addressOf('/service') : 'http://127.0.0.1:5174/service');
      await shown.page.locator('.chart').nth(2).waitFor();
      const api = await shown.page.evaluate('fetch("/api/verlauf").then((reply) => reply.json())');
      const samples = (api as { batteryPercent: unknown[] }).batteryPercent.length;
      expect(samples).toBeGreaterThan(0);
      const name = (await shown.page.locator('[data-chart="battery"] title').textContent()) ?? '';
      expect(name).toMatch(/^Batterie, letzte Stunde: zuletzt (\d+\u00a0%|nicht bekannt); /);
      expect(await shown.page.locator('[data-chart="link"] small').allTextContents()).toEqual([
        'verbunden',
        'nicht verbunden',
        'vor 60 min',
        'jetzt',
      ]);
      expect(shown.problems).toEqual([]);
    },
  );

  it('leaves a gap in the battery for the time without a link, and shows the outage', async () => {
    await using shown = await open('/service');
    const now = {
      sampleMs: 10_000,
      ageMs: 0,
      batteryPercent: [80, null, null, 79, 78],
      poseAgeMs: [90, null, null, 80, 70],
      speedMS: [0, null, null, 0.4, 0],
      roundTripMs: [3, null, null, 5, 4],
    };
    await shown.page.route('**/api/verlauf', (route) =>
      route.fulfill({ json: { ...now, connected: [true, false, false, true, true] } }),
    );
    await shown.page.reload();
    await shown.page.locator('.chart').nth(2).waitFor();
    const path = (chart: string) => shown.page.locator(`[data-chart="${chart}"] .trend`).getAttribute('d');
    expect(((await path('battery')) ?? '').match(/M/g)).toHaveLength(2);
    expect(((await path('link')) ?? '').match(/M/g)).toHaveLength(1);
  });

  it('shows no old chart while the gateway is silent', async () => {
    await using shown = await open('/service');
    await shown.page.locator('.chart .trend').first().waitFor({ state: 'attached' });
    serve.child.kill('SIGSTOP');
    try {
      await untilShown(shown.page, 'Keine Verbindung zum Gateway');
      expect(await shown.page.locator('.chart').count()).toBe(0);
    } finally {
      serve.child.kill('SIGCONT');
    }
    await shown.page.locator('.chart .trend').first().waitFor({ state: 'attached' });
  });

  it('shows the log to a signed-in person when it is opened, the newest first, marked as English', async () => {
    await using stranger = await open('/service');
    await stranger.page.getByText('Das Protokoll sieht nur, wer angemeldet ist.').waitFor();
    await using shown = await signedIn('/service');
    expect(await shown.page.locator('.log li').count()).toBe(0);
    await shown.page.locator('#log summary').click();
    await shown.page.locator('.log li').first().waitFor();
    const times = (await shown.page.evaluate(
      '[...document.querySelectorAll(".log time")].map((e) => e.dateTime)',
    )) as string[];
    expect(times).toEqual(times.toSorted().reverse());
    const messages = await shown.page.locator('.log li p[lang="en"]').allTextContents();
    expect(messages).toContain('signed in');
    expect(messages).toHaveLength(times.length);
    expect(shown.problems).toEqual([]);
  });

  it('replays the stop on the map: the robot where it was then, what happened in words, by the keyboard too', async () => {
    await using live = await open('/');
    await untilShown(live.page, 'Bereit');
    await api('/api/touren/lauf', 'POST', { tour: 'demo' });
    await untilShown(live.page, 'Fahrt Tour demo');
    await live.page.waitForTimeout(3_000);
    await api('/api/stopp', 'POST', {});
    await untilShown(live.page, 'Angehalten');

    try {
      await using stranger = await open('/service');
      await stranger.page.locator('#incidents summary').first().click();
      await stranger.page.locator('.incidents li').first().waitFor();
      expect(await stranger.page.locator('#incidents button').count()).toBe(0);

      await using shown = await signedIn('/service');
      const { page } = shown;
      await page.locator('#incidents summary').first().click();
      const newest = page.locator('.incidents li').first();
      await newest.locator('p', { hasText: 'STOPP' }).waitFor();
      await expect.poll(() => newest.textContent()).not.toContain('aufgezeichnet');
      await newest.getByRole('button').click();
      await page.locator('.replay #map image.plan').waitFor();
      expect(await page.locator('#set-pose #map').count()).toBe(0);
      const place = () =>
        page
          .locator('.replay #robot')
          .evaluate((e: unknown) => (e as { style: { transform: string } }).style.transform);
      const atStop = await place();
      await page.locator('.moment', { hasText: 'Fahrt Tour demo' }).first().click();
      await expect.poll(place).not.toBe(atStop);
      const slider = page.getByRole('slider');
      const before = Number(await slider.inputValue());
      await slider.press('ArrowRight');
      await expect.poll(async () => Number(await slider.inputValue())).toBe(before + 100);
      await page.getByRole('button', { name: 'Abspielen' }).press('Enter');
      await expect.poll(async () => Number(await slider.inputValue())).toBeGreaterThan(before + 500);
      await page.locator('[data-kind=cause] .moment', { hasText: 'STOPP' }).first().click();
      await expect.poll(place).toBe(atStop);
      await page.evaluate(axe.source);
      const { violations } = (await page.evaluate('axe.run(document.querySelector("#incidents"))')) as {
        violations: { id: string }[];
      };
      expect(violations.map(({ id }) => id)).toEqual([]);
      await page.getByRole('button', { name: 'Schließen' }).click();
      await page.locator('.replay').waitFor({ state: 'detached' });
      expect(shown.problems).toEqual([]);
    } finally {
      // Later tests need a robot that may drive.
      await clear();
    }
    await untilShown(live.page, 'Bereit');
  });

  it.each(devices)('sets the pose on the map of a $name by touch, drag and a second touch', async (viewport) => {
    await using shown = await signedIn('/service', { viewport });
    const { page } = shown;
    const pose = async () =>
      ((await chassisState(robot.operatorPort)) as never as { values: { pose: { value: PoseValue } } }).values.pose
        .value;
    await untilOpen();
    const before = await pose();
    await page.locator('#set-pose summary').click();
    const map = page.locator('#set-pose #map');
    await map.locator('image.plan').waitFor();
    // Not below STOPP, which stays in view.
    await page.evaluate('document.querySelector("#set-pose .map").scrollIntoView({ block: "start" })');
    const send = page.locator('#set-pose button.go');
    const field = (name: string) => page.locator(`#set-pose input[name=${name}]`);
    expect(await send.isDisabled()).toBe(true);
    // From where the robot is shown, down to the left.
    const at = (await page.evaluate(
      '(() => { const { e, f } = document.querySelector("#robot").getScreenCTM(); return { x: e, y: f }; })()',
    )) as { x: number; y: number };
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    await expect.poll(() => field('xM').inputValue()).not.toBe('');
    expect(Math.abs(Number(await field('xM').inputValue()) - before.xM)).toBeLessThan(0.3);
    expect(await send.isDisabled()).toBe(true);
    await page.mouse.move(at.x - 60, at.y + 60, { steps: 4 });
    await page.mouse.up();
    expect(Math.abs(Number(await field('yM').inputValue()) - before.yM)).toBeLessThan(0.3);
    expect(Number(await field('yawDeg').inputValue())).toBeCloseTo(-135, 0);
    const points = (id: string) =>
      page.evaluate(
        `(() => { const { a, b } = document.querySelector('#${id} .arrow').getScreenCTM(); return Math.round(Math.atan2(b, a) * 180 / Math.PI); })()`,
      );
    expect(await points('draft')).toBe(135);
    expect(await page.locator('.sheet').count()).toBe(0);
    await field('yawDeg').fill('-120');
    expect(await pose()).toMatchObject({ yawDeg: expect.closeTo(before.yawDeg, 0) });
    await send.click();
    await page.getByText('Position gesetzt').waitFor();
    expect((await pose()).yawDeg).toBeCloseTo(-120, 0);
    await expect.poll(() => points('robot')).toBe(120);
    expect(shown.problems).toEqual([]);
    await api('/api/stopp', 'POST', {});
    await expect.poll(() => page.locator('#set-pose').textContent()).toContain('Der Stopp ist gesetzt');
    await clear();
  });

  it('sets the pose without script by its numbers, and says when the gate refuses', async () => {
    await using shown = await signedIn('/service', { javaScriptEnabled: false });
    const { page } = shown;
    const fill = async () => {
      await page.locator('#set-pose summary').click();
      await page.getByText('Mit Zahlen eingeben').click();
      for (const [name, value] of [
        ['xM', '0.2'],
        ['yM', '0'],
        ['yawDeg', '0'],
      ] as const)
        await page.locator(`input[name=${name}]`).fill(value);
      await page.getByRole('button', { name: 'Setzen' }).click();
    };
    await untilOpen();
    await fill();
    await page.getByText('Position gesetzt').waitFor();
    await api('/api/stopp', 'POST', {});
    await page.goto(addressOf('/service'));
    await fill();
    await page.getByText('Der Stopp ist gesetzt').waitFor();
    expect(await page.locator('body').textContent()).not.toContain('Position gesetzt');
    await clear();
  });
});

interface PoseValue {
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg: number;
}

describe.skipIf(!hasBrowser)('the operator surface (Chromium)', () => {
  beforeAll(startAll);

  it('is green for a robot in order, also without script', async () => {
    await using live = await open('/');
    await untilShown(live.page, 'Bereit');
    const { waits, stop } = await untilCalm(live.page);
    expect({ waits, stop }).toEqual({ waits: [false], stop: [false] });
    await using still = await open('/', { javaScriptEnabled: false });
    expect(await still.page.locator('.headline').getAttribute('data-level')).toBe('good');
  });

  it('shows where the robot is: floor plan, stations by name, the heading', async () => {
    await using live = await open('/');
    await live.page.locator('#map image.plan').waitFor();
    expect(await live.page.locator('#map .label text').allTextContents()).toEqual(
      expect.arrayContaining(['A', 'B', 'C']),
    );
    const { values } = (await chassisState(robot.operatorPort)) as never as {
      values: { pose: { value: { yawDeg: number } } };
    };
    const turned = await live.page.locator('#robot .arrow').getAttribute('transform');
    expect(Number(/rotate\((-?[\d.e-]+)\)/.exec(turned ?? '')?.[1])).toBeCloseTo(-values.pose.value.yawDeg, 0);
    const before = await live.page.locator('#map-layer').getAttribute('transform');
    await live.page.locator('.map-tools button').first().click();
    await expect.poll(() => live.page.locator('#map-layer').getAttribute('transform')).not.toBe(before);
  });

  it('drives to a station by two touches and never by one, and ends the drive without a latched stop', async () => {
    await using live = await open('/');
    await untilShown(live.page, 'Bereit');
    await live.page.locator('a.target', { hasText: 'B' }).first().click();
    await live.page.getByRole('heading', { name: 'B anfahren?' }).waitFor();
    expect(await api('/api/fahrt')).toEqual({ run: null });
    await live.page.getByRole('button', { name: 'Fahren' }).click();
    await untilShown(live.page, 'Fahrt zu B');
    expect((await glance(live.page)).waits).toEqual([true]);
    await live.page.getByRole('button', { name: 'Fahrt beenden' }).click();
    await untilShown(live.page, 'Bereit');
    expect(await live.page.locator('.progress').textContent()).toContain('Fahrt zu B abgebrochen');
    expect(await api('/api/stopp')).toMatchObject({ stop: { latched: false } });
  });

  it('drives to the charging station by two touches', async () => {
    await using live = await open('/', { locale: 'en-GB' });
    await untilShown(live.page, 'Ready');
    await live.page.locator('a.target', { hasText: 'To the charging station' }).click();
    await live.page.getByRole('heading', { name: 'Drive to the charging station?' }).waitFor();
    await live.page.locator('.sheet').getByRole('button', { name: 'Drive' }).click();
    await untilShown(live.page, 'Driving to the charging station');
    expect(await api('/api/fahrt')).toMatchObject({ run: { kind: 'dock', station: null, state: 'running' } });
    await live.page.getByRole('button', { name: 'End the drive' }).click();
    await untilShown(live.page, 'Ready');
  });

  it('moves the map with one finger and zooms it with two', async () => {
    await using live = await open('/', { hasTouch: true });
    const { page } = live;
    await page.locator('#map image.plan').waitFor();
    const box = await page.locator('#map').boundingBox();
    if (box === null) throw new Error('the map is not visible');
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const session = await page.context().newCDPSession(page);
    const touch = (type: string, ...fingers: readonly (readonly [number, number])[]) =>
      session.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: fingers.map(([fx, fy], id) => ({ x: fx, y: fy, id })),
      } as never);
    const scaleOf = async () => {
      const transform = (await page.locator('#map-layer').getAttribute('transform')) ?? '';
      return { transform, scale: Number(/scale\(([\d.]+)\)/.exec(transform)?.[1] ?? 1) };
    };
    const before = await scaleOf();
    await touch('touchStart', [x, y]);
    await touch('touchMove', [x + 60, y]);
    await touch('touchEnd');
    await expect.poll(async () => (await scaleOf()).transform).not.toBe(before.transform);
    expect((await scaleOf()).scale).toBeCloseTo(before.scale, 5);
    await touch('touchStart', [x - 40, y], [x + 40, y]);
    await touch('touchMove', [x - 80, y], [x + 80, y]);
    await touch('touchEnd');
    await expect.poll(async () => (await scaleOf()).scale).toBeGreaterThan(before.scale * 1.5);
    expect(await page.locator('.sheet').count()).toBe(0);
  });

  it('pauses a tour by one touch, and continues it to the same station by two', async () => {
    await using live = await open('/');
    await untilShown(live.page, 'Bereit');
    await live.page.locator('a.target', { hasText: 'demo' }).first().click();
    await live.page.getByRole('button', { name: 'Fahren' }).click();
    await untilShown(live.page, 'Fahrt Tour demo');
    await live.page.getByRole('button', { name: 'Pause' }).click();
    await untilShown(live.page, 'Pause: Tour demo');
    expect(await live.page.locator('.progress').textContent()).toContain('Pause vor Station 1 von 3 (A), seit');
    expect(await glance(live.page)).toMatchObject({ colour: '--warn', waits: [true] });
    await live.page.getByRole('link', { name: 'Weiter' }).click();
    await live.page.getByRole('heading', { name: 'Tour demo fortsetzen?' }).waitFor();
    expect(await api('/api/touren/lauf')).toMatchObject({ run: { state: 'paused', at: 0 } });
    await live.page.locator('.sheet').getByRole('button', { name: 'Weiter' }).click();
    await untilShown(live.page, 'Fahrt Tour demo');
    expect(await live.page.locator('.sheet').count()).toBe(0);
    expect(await live.page.locator('.progress').textContent()).toContain('Station 1 von 3 (A) · seit');
    await live.page.getByRole('button', { name: 'Pause' }).click();
    await untilShown(live.page, 'Pause: Tour demo');
    await live.page.getByRole('button', { name: 'Fahrt beenden' }).click();
    await untilShown(live.page, 'Bereit');
    expect(await api('/api/stopp')).toMatchObject({ stop: { latched: false } });
  });

  it('dims the tablet; a touch only wakes it, except on STOPP, and a robot that moves is never in the dark', async () => {
    await using live = await open('/anmeldung');
    // As a site file would say it, with less patience.
    await live.page.addInitScript(`const parse = JSON.parse;
      JSON.parse = (text) => {
        const found = parse(text);
        const state = found.state ?? found;
        if (state.screen) state.screen = { dimAfterMs: 1500, shifts: true };
        return found;
      };`);
    await live.page.goto(addressOf('/'));
    await untilShown(live.page, 'Bereit');
    const dims = () => live.page.locator('html[data-dimmed]').waitFor();
    const isDimmed = () => live.page.evaluate('document.documentElement.hasAttribute("data-dimmed")');
    await live.page.locator('a.target', { hasText: 'A' }).first().click();
    await live.page.locator('.sheet').waitFor();
    await dims();
    expect(await live.page.locator('.sheet').count()).toBe(0);
    expect(await live.page.evaluate('getComputedStyle(document.querySelector(".stop")).opacity')).toBe('1');
    expect(await live.page.evaluate('document.documentElement.scrollHeight - window.innerHeight')).toBeLessThanOrEqual(
      0,
    );
    await live.page.locator('a.target', { hasText: 'A' }).first().click();
    expect([await isDimmed(), await live.page.locator('.sheet').count()]).toEqual([false, 0]);
    await dims();
    await live.page.keyboard.press('Tab');
    expect(await isDimmed()).toBe(false);
    await api('/api/touren/lauf', 'POST', { tour: 'demo' });
    await untilShown(live.page, 'Fahrt Tour demo');
    await live.page.waitForTimeout(2_500);
    expect(await isDimmed()).toBe(false);
    await api('/api/touren/lauf', 'DELETE', {});
    await untilShown(live.page, 'Bereit');
    await dims();
    await live.page.locator('.stop-button').click();
    await untilShown(live.page, 'Angehalten');
    expect(await isDimmed()).toBe(false);
    await clear();
  });

  it('drives by a pin on the map, and by the keyboard alone', async () => {
    await using live = await open('/');
    await untilShown(live.page, 'Bereit');
    await live.page.locator('#map [data-pin="station:A"] path').click();
    await live.page.getByRole('heading', { name: 'A anfahren?' }).waitFor();
    await live.page.getByRole('button', { name: 'Abbrechen' }).click();
    await live.page.locator('a.target', { hasText: 'C' }).first().focus();
    await live.page.keyboard.press('Enter');
    await live.page.getByRole('heading', { name: 'C anfahren?' }).waitFor();
    for (let tabs = 0; tabs < 30; tabs += 1) {
      if (await live.page.evaluate('document.activeElement.classList.contains("go")')) break;
      await live.page.keyboard.press('Tab');
    }
    // A key that is pressed too soon answers nothing.
    await live.page.locator('.go:not([aria-disabled])').waitFor();
    await live.page.keyboard.press('Enter');
    await untilShown(live.page, 'Fahrt zu C');
    await live.page.locator('.stop-button').focus();
    await live.page.keyboard.press('Enter');
    await untilShown(live.page, 'Angehalten');
    await clear();
  });

  it('proves a stop: acknowledged, and standing only when the poses show it; staff cannot clear it', async () => {
    await using live = await open('/');
    await untilShown(live.page, 'Bereit');
    expect(await live.page.locator('.stop-path').textContent()).toMatch(/Gateway.*Roboter.*Abbruch.*Weg bereit/);
    await api('/api/touren/lauf', 'POST', { tour: 'demo' });
    await untilShown(live.page, 'Fahrt Tour demo');
    expect(await live.page.locator('.progress').textContent()).toContain('Tour demo · Station 1 von 3 (A) · seit');
    await live.page.locator('.stop-button').click();
    await live.page.locator('.stop-path', { hasText: /gesendet · bestätigt \d/ }).waitFor();
    expect((await glance(live.page)).headline).not.toBe('Angehalten');
    await live.page.locator('.stop-path', { hasText: /steht \d/ }).waitFor();
    expect((await chassisState(robot.operatorPort)) as never).toMatchObject({ standing: { verdict: 'stands' } });
    expect(await live.page.locator('form[action="/api/stopp/freigabe"]').count()).toBe(0);
    await live.page.getByText('Aufheben: Techniker anmelden').waitFor();
    await clear();
    await untilShown(live.page, 'Bereit');
  });

  it('asks no question and orders nothing while the gateway does not answer', async () => {
    await using live = await open('/');
    await untilShown(live.page, 'Bereit');
    await live.page.locator('a.target', { hasText: 'A' }).first().click();
    serve.child.kill('SIGSTOP');
    try {
      await untilShown(live.page, 'Keine Verbindung zum Gateway');
      expect(await live.page.locator('.sheet').count()).toBe(0);
      expect(await glance(live.page)).toMatchObject({ colour: '--bad', waits: [true], stop: [false] });
      await expect.poll(async () => (await glance(live.page)).outdated).toBe('visible');
      expect(await live.page.locator('.stop-path').textContent()).toContain('roten Knopf am Roboter');
      expect(await live.page.locator('main').textContent()).not.toMatch(/vor \d/);
    } finally {
      serve.child.kill('SIGCONT');
    }
    await untilShown(live.page, 'Bereit');
    // Its first state after the pause has values that became old in it.
    await untilCalm(live.page);
  });

  it('shows when the gateway ends, and follows the next one without a reload', async () => {
    await using live = await open('/service');
    await live.page.evaluate('window.stillTheSamePage = true');
    await untilShown(live.page, 'Bereit');
    await serve[Symbol.asyncDispose]();
    await untilShown(live.page, 'Keine Verbindung zum Gateway');
    const { colour, struck } = await glance(live.page);
    expect([colour, struck.includes('heading')]).toEqual(['--bad', true]);
    expect(await live.page.locator('.lamp[data-level="good"]').count()).toBe(0);
    await serveAgain();
    await untilShown(live.page, 'Bereit');
    expect(await live.page.locator('.lamp[data-level="good"]').count()).toBeGreaterThan(3);
    expect(await live.page.evaluate('window.stillTheSamePage')).toBe(true);
  });

  it('shows when its event stream is refused, and resumes it when it is accepted', async () => {
    await using live = await open('/anmeldung');
    await live.page.route('**/api/events', (route) => route.fulfill({ status: 503, body: '{}' }));
    await live.page.goto(addressOf('/'));
    await untilShown(live.page, 'Keine Verbindung zum Gateway');
    await live.page.unroute('**/api/events');
    await untilShown(live.page, 'Bereit');
  });

  it('turns red as outdated where its script does not load', async () => {
    await using live = await open('/anmeldung');
    await live.page.route('**/assets/main.js', (route) => route.abort());
    await live.page.goto(addressOf('/'));
    expect(await glance(live.page)).toMatchObject({ colour: '--good', outdated: 'hidden' });
    await live.page.evaluate('for (const animation of document.getAnimations()) animation.finish()');
    expect(await glance(live.page)).toMatchObject({ colour: '--bad', outdated: 'visible' });
  });

  it('shows the condition of the robot, and says in the question why it cannot drive', async () => {
    await using live = await open('/');
    await untilShown(live.page, 'Bereit');
    await fault('emergency-stop', 'on');
    await untilShown(live.page, 'Fahrt gesperrt');
    expect(await glance(live.page)).toMatchObject({ colour: '--bad', waits: [true], stop: [false], struck: [] });
    await live.page.locator('a.target', { hasText: 'A' }).first().click();
    expect(await live.page.locator('.sheet .go').isDisabled()).toBe(true);
    expect(await live.page.locator('.sheet .why').textContent()).toBe('Der Not-Halt ist gedrückt.');
    await fault('emergency-stop', 'off');
    await fault('battery-low', 'on');
    await untilShown(live.page, 'mit Einschränkungen');
    expect(await glance(live.page)).toMatchObject({ colour: '--warn', waits: [false] });
    await fault('battery-low', 'off');
    await untilShown(live.page, 'Bereit');
  });

  it('shows a lost robot within two seconds, strikes out every value, and names the address on /service only', async () => {
    await using live = await open('/');
    await untilShown(live.page, 'Bereit');
    await fault('cut', 'on');
    await untilShown(live.page, 'Nicht verbunden');
    await expect
      .poll(() => glance(live.page))
      .toMatchObject({ colour: '--bad', struck: ['positioning', 'wheels', 'alerts'], waits: [true], stop: [false] });
    expect(await live.page.locator('main').textContent()).not.toContain(`${robot.chassisPort}`);
    await using service = await open('/service');
    const chassis = service.page.locator('#chassis');
    expect(await chassis.locator('summary').getAttribute('data-level')).toBe('bad');
    expect(await chassis.textContent()).toContain(`127.0.0.1:${robot.chassisPort}`);
    await fault('cut', 'off');
    await untilShown(live.page, 'Bereit');
  });

  it('loaded while the robot is away, shows the last map with its floor plan, and says so', async () => {
    await using before = await open('/');
    await before.page.locator('image.plan').waitFor({ state: 'attached' });
    await fault('cut', 'on');
    await untilShown(before.page, 'Nicht verbunden');
    await using after = await open('/');
    await after.page.locator('image.plan').waitFor({ state: 'attached' });
    expect(await after.page.locator('#map .pin').count()).toBeGreaterThan(1);
    expect(await after.page.locator('.map-note').textContent()).toContain('Letzte Karte, nicht die jetzige Position.');
    expect(await after.page.locator('#robot:not(.old)').count()).toBe(0);
    expect(after.problems).toEqual([]);
    await fault('cut', 'off');
    await untilShown(after.page, 'Bereit');
    await after.page.locator('.map-note .away').waitFor({ state: 'detached' });
  });

  it('through the tunnel is a view without any order, and draws its map from data', async () => {
    await using far = await open('/anmeldung');
    await far.page.goto('http://127.0.0.1:5174/');
    await untilShown(far.page, 'Bereit');
    await far.page.locator('#map .features .zone').first().waitFor({ state: 'attached' });
    expect(await far.page.locator('form, .target, .stop-button').count()).toBe(0);
    expect(await far.page.locator('image.plan').count()).toBe(0);
    expect(await far.page.locator('.notice').textContent()).toContain('Nur-Lese-Ansicht');
    await far.page.locator('#map [data-pin="station:A"] path').click();
    expect(await far.page.locator('.sheet').count()).toBe(0);
    expect(far.problems).toEqual([]);
  });

  // The last one: proven radians count until the gateway is restarted.
  it.each(devices)(
    'under radians, on a $name: never green, the heading struck out, no drive, STOPP on',
    async (viewport) => {
      await using live = await open('/service', { viewport });
      await fault('radians', 'on');
      await untilShown(live.page, 'Fahrt gesperrt');
      // It is closed first because the robot turns, then because of the unit.
      const heading = live.page.locator('[data-value="heading"]');
      // The first turn is a doubt, the second the proof.
      await heading.filter({ hasText: 'ungültig, Bogenmaß statt Grad' }).waitFor();
      expect(await heading.textContent()).toMatch(/^ungültig, Bogenmaß statt Grad: -?\d/);
      expect(await glance(live.page)).toMatchObject({ colour: '--bad', struck: ['heading'], stop: [false] });
      await using still = await open('/service', { viewport, javaScriptEnabled: false });
      expect(await still.page.locator('.headline').getAttribute('data-level')).toBe('bad');
      expect(await still.page.locator('#chassis').textContent()).toContain('Bogenmaß: WIDERSPRUCH');
      await using surface = await open('/', { viewport });
      await untilShown(surface.page, 'Fahrt gesperrt');
      expect((await glance(surface.page)).waits).toEqual([true]);
      // The map is loaded after the page.
      await surface.page.locator('#robot.doubtful').waitFor();
    },
  );
});
