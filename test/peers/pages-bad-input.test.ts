import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { request as askHttp, createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GwError } from '../../src/lib/error/index.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import type { PageState } from '../../src/lib/pages/index.ts';
import { chassisState, type Robot, startRobot, startServe, until } from '../e2e/robot.ts';
import { type SetUp, startServer } from '../operator/server.ts';
import { jsonReply, tried } from '../operator/stand-ins.ts';
import { failed, ready } from '../pages/states.ts';
import { HANG_MS } from '../waiting.ts';
import { hasBrowser, launchBrowser, sizes } from './browser.ts';

const assetsDir = fileURLToPath(new URL('../../dist/web', import.meta.url));

let browser: Browser;
const launch = async () => {
  browser = await launchBrowser();
};
const close = async () => {
  await browser?.close();
};

/** The built pages on a gateway whose robot is whatever the test says. */
const serverOf = (setUp: SetUp = {}) =>
  startServer({ ...setUp, more: { ...setUp.more, assetsDir, clock: systemClock } });

async function open(port: number, path: string, prepare?: (context: BrowserContext) => Promise<unknown>) {
  const context = await browser.newContext({ viewport: sizes[0], locale: 'de-DE' });
  context.setDefaultTimeout(HANG_MS);
  await prepare?.(context);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(`http://127.0.0.1:${port}${path}`);
  return { page, problems, [Symbol.asyncDispose]: () => context.close() };
}

const alive = (page: Page) => page.locator('body[data-follows]').waitFor();

const EVIL = `<img src=x onerror="window.hacked=1"><svg onload="window.hacked=1"></svg><script>window.hacked=1</script>'"&amp;`;
/** No name of a file has a slash. */
const EVIL_NAME = `<img src=x onerror="window.hacked=1">'&amp;.png`;

/** Every text of another program or person in a state. */
const evilState = (build: string): PageState => ({
  ...ready,
  id: 'evil',
  build,
  site: {
    ...ready.site,
    name: EVIL,
    contact: { name: EVIL, phone: EVIL },
    stations: [{ name: EVIL, xM: 0, yM: 0 }],
    tours: [{ name: `t${EVIL}`, stations: [EVIL] }],
  },
  headline: {
    level: 'bad',
    code: 'stopped',
    notes: [
      { code: 'alerts', alerts: [EVIL], more: 1 },
      { code: 'unreadable', topic: EVIL },
      { code: 'control-mode', mode: EVIL },
    ],
  },
  identity: { serial: EVIL, model: EVIL, software: EVIL },
  stop: { ...ready.stop, latched: true, reason: EVIL, by: EVIL, origin: 'other', since: ready.time },
  link: { ...ready.link, tried: EVIL, foundSerial: EVIL },
  run: {
    ...{ id: 'r', kind: 'tour', name: EVIL, stations: [EVIL], at: 0, state: 'failed', forMs: 1, although: [] },
    ...{ failReason: 1, failure: { cause: 'given-up', offM: null, offDeg: null, technical: EVIL } },
  },
  failed: {
    ...failed,
    ...{ kind: 'tour', name: EVIL, stations: [EVIL], failure: { ...failed.failure, technical: EVIL } },
  },
  wheels: { ...ready.wheels, value: { emergencyStopPressed: true, controlMode: EVIL, wheelsReleased: true } },
  alerts: { ...ready.alerts, value: [{ code: 1, level: EVIL, message: EVIL }] },
  map: { ...ready.map, value: { name: EVIL, uid: 'u7', mapVersion: 1, overlaysVersion: 1 } },
  neighbours: [
    {
      ...{ serial: EVIL, presence: 'gone', ageMs: 1, pose: { xM: 1, yM: 1 } as never, address: EVIL },
      ...{ isOnThisMap: true, conflictWith: EVIL },
    },
  ],
  lamps: ready.lamps.map((lamp) => ({
    ...lamp,
    level: 'bad' as const,
    state: [{ text: EVIL }],
    rows: [{ label: 'ask' as const, cells: [{ technical: EVIL }, { at: EVIL }] }],
  })),
});

/** A stream of states that has this one, and does not end. */
async function streamOf(state: PageState) {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: state\ndata: ${JSON.stringify(state)}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What would have run, and what became an element. */
const harm = (page: Page) =>
  page.evaluate(`({
    hacked: window.hacked ?? null,
    elements: document.querySelectorAll('img[src=x], svg[onload], [onerror], body script:not([type="application/json"]):not([src="/assets/main.js"])').length,
  })`);

describe.skipIf(!hasBrowser)('texts of others in a browser (Chromium)', () => {
  beforeAll(launch);
  afterAll(close);

  it.each(['/', '/service'])('are shown literally by %s when a live state has them, and run nothing', async (path) => {
    await using server = await serverOf();
    server.link.answers.set('/maps/7', () =>
      jsonReply({
        id: 7,
        overlays: JSON.stringify({
          features: [{ geometry: { type: 'Point', coordinates: [0, 0] }, properties: { name: EVIL } }],
        }),
      }),
    );
    const first = await (await fetch(`http://127.0.0.1:${server.full}/`)).text();
    const { build } = JSON.parse(/<script id="page-state"[^>]*>([\s\S]*?)<\/script>/.exec(first)?.[1] ?? '').state;
    await using states = await streamOf(evilState(build));
    await using shown = await open(server.full, path, async (context) => {
      // One state for as long as the test needs it: on this clock the page never finds it old.
      await context.addInitScript('performance.now = () => 0; Date.now = () => 0;');
      await context.route('**/api/events', (route) => route.continue({ url: states.url }));
    });
    const { page } = shown;
    await alive(page);
    await page.getByText(EVIL).first().waitFor({ state: 'attached' });
    if (path === '/') {
      await page.locator('#map .point title').first().waitFor({ state: 'attached' });
      expect(await page.locator('#map .point title').textContent()).toBe(EVIL.slice(0, 60));
      await page.locator('a.target').first().click();
      await page.locator('.sheet', { hasText: EVIL }).waitFor();
    } else {
      await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    }
    expect(await page.getByText(EVIL).count()).toBeGreaterThan(3);
    expect([await harm(page), shown.problems]).toEqual([{ hacked: null, elements: 0 }, []]);
  });

  it('are shown literally where the gateway renders them, with and without script', async () => {
    await using server = await serverOf({
      site: {
        name: EVIL,
        stations: { [EVIL]: { xM: 0, yM: 0 } } as never,
        tours: { [`t${EVIL}`]: { stations: [EVIL] } } as never,
      },
    });
    await server.motion.stopRobot(EVIL, EVIL as never);
    for (const path of ['/', `/?ziel=${encodeURIComponent(`station:${EVIL}`)}`, '/service', '/anmeldung', '/medien']) {
      await using shown = await open(server.full, path);
      await shown.page.getByText(EVIL).first().waitFor({ state: 'attached' });
      expect([path, await harm(shown.page), shown.problems]).toEqual([path, { hacked: null, elements: 0 }, []]);
    }
  });

  it('are shown literally as names of media, also in the list that a deletion brings', async () => {
    await using server = await serverOf({ password: true });
    const folder = join(server.dir, 'media');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, EVIL_NAME), 'x');
    await writeFile(join(folder, 'a.png'), 'x');
    await using shown = await open(server.full, '/anmeldung');
    const { page } = shown;
    await page.locator('#password').fill('correct horse');
    await page.locator('.sign-in button').click();
    await page.waitForURL(`http://127.0.0.1:${server.full}/`);
    await page.goto(`http://127.0.0.1:${server.full}/medien`);
    // The library itself neither lists nor accepts such a name.
    expect(await page.locator('.file').count()).toBe(1);
    await page.route('**/api/medien', (route) =>
      route.fulfill({
        json: {
          files: [{ name: EVIL_NAME, bytes: 1, contentType: EVIL, modified: '2026-01-01T00:00:00.000Z' }],
          maxBytes: 1,
          leftBytes: 1,
        },
      }),
    );
    const entry = page.locator('.file', { hasText: 'a.png' });
    await entry.getByRole('link', { name: 'löschen' }).click();
    await entry.getByRole('button', { name: 'Löschen' }).click();
    await page.locator('main', { hasText: 'ist gelöscht' }).waitFor();
    await page.getByText(EVIL_NAME).first().waitFor();
    expect(await page.evaluate('window.hacked ?? null')).toBeNull();
    // The preview of the file is an image of this gateway; the name became no element.
    expect([await page.locator('img[src=x], [onerror]').count(), shown.problems]).toEqual([0, []]);
  });
});

/** A PNG that says of itself how large it is. */
function pngOf(width: number, height: number): Buffer {
  const bytes = Buffer.alloc(64);
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]).copy(bytes);
  bytes.write('IHDR', 12, 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

const place = { grid_origin_x: -5, grid_origin_y: -5, grid_resolution: 0.05 };
const points = (count: number) =>
  JSON.stringify({
    features: Array.from({ length: count }, (_, at) => ({
      geometry: { type: 'Point', coordinates: [(at % 100) / 10, at / 500] },
      properties: { name: `P${at}` },
    })),
  });
const tooLarge = () => {
  throw new GwError('CHASSIS_BAD_ANSWER', 'response larger than 32 MiB', { tried, details: { isTooLarge: true } });
};

describe.skipIf(!hasBrowser)('a map that is none (Chromium)', () => {
  beforeAll(launch);
  afterAll(close);

  it.each<[string, string, () => ReturnType<typeof jsonReply>, Buffer]>([
    ['of 0 pixels', 'Ohne Grundriss', () => jsonReply({ id: 7, ...place, overlays: '{}' }), pngOf(0, 0)],
    [
      'of more pixels than a tablet has memory',
      'Ohne Grundriss',
      () => jsonReply({ id: 7, ...place }),
      pngOf(2 ** 31, 9),
    ],
    ['without resolution', 'Ohne Grundriss', () => jsonReply({ id: 7, overlays: '{}' }), pngOf(9, 9)],
    ['of 5,000 drawings', 'Nur ein Teil', () => jsonReply({ id: 7, ...place, overlays: points(5_000) }), pngOf(0, 0)],
    ['that the gateway does not forward', 'zu groß', tooLarge, pngOf(9, 9)],
  ])('%s leaves the page usable, and it says so', async (_what, note, map, plan) => {
    await using server = await serverOf();
    server.link.answers.set('/maps/7', map);
    server.link.answers.set('/maps/7.png', () => ({ status: 200, body: plan }));
    await using shown = await open(server.full, '/');
    const { page } = shown;
    await page.locator('.map-note', { hasText: note }).waitFor();
    await page.locator('#map [data-pin="station:B"] path').click();
    await page.getByRole('heading', { name: 'B anfahren?' }).waitFor();
    await page.getByRole('button', { name: 'Fahren' }).click();
    await expect.poll(() => server.motion.calls).toContain('startDrive {"station":"B"}');
    expect(shown.problems).toEqual([]);
  });

  it('too large is not requested again and again', async () => {
    await using server = await serverOf();
    server.link.answers.set('/maps/7', tooLarge);
    await using shown = await open(server.full, '/');
    await shown.page.locator('.map-note', { hasText: 'zu groß' }).waitFor();
    await new Promise((resolve) => setTimeout(resolve, 6_500));
    expect(server.link.forwarded.filter((path) => path === '/maps/7')).toHaveLength(1);
  });

  it('ends where a station is far outside of it: the station can still be seen and chosen', async () => {
    await using server = await serverOf({
      site: { stations: { A: { xM: 0, yM: 0 }, Weit: { xM: 700, yM: -400 }, Falsch: { xM: 1e12, yM: 0 } } as never },
    });
    server.link.answers.set('/maps/7', () => jsonReply({ id: 7, ...place, overlays: points(3) }));
    await using shown = await open(server.full, '/');
    const { page } = shown;
    const pin = page.locator('#map [data-pin="station:Weit"] path');
    await pin.waitFor();
    const [at, all] = [await pin.boundingBox(), await page.locator('#map').boundingBox()];
    if (at === null || all === null) throw new Error('not shown');
    expect(at.x).toBeGreaterThanOrEqual(all.x);
    expect(at.x + at.width).toBeLessThanOrEqual(all.x + all.width);
    expect(at.y + at.height).toBeLessThanOrEqual(all.y + all.height);
    await pin.click();
    await page.getByRole('heading', { name: 'Weit anfahren?' }).waitFor();
    expect(shown.problems).toEqual([]);
  });

  // What is no pose (NaN, 1e999, text) is rejected where it is received.
  it('shows no robot where no pose could be read', async () => {
    await using server = await serverOf();
    await using shown = await open(server.full, '/');
    const { page } = shown;
    await page.locator('#robot').waitFor();
    const { values } = server.link.snapshot();
    server.link.override({ values: { ...values, pose: { status: 'not-received' } } });
    await page.locator('#robot').waitFor({ state: 'detached' });
    expect(shown.problems).toEqual([]);
  });
});

const YEAR_MS = 365 * 86_400_000;
/** The clock of the tablet, wrong from the first moment on; `window.shift` sets it while the page is open. */
const withClock = (offsetMs: number) => (context: BrowserContext) =>
  context.addInitScript(`{
    window.shift = ${offsetMs};
    const Real = Date;
    window.Date = class extends Real {
      constructor(...given) { super(...(given.length === 0 ? [Real.now() + window.shift] : given)); }
      static now() { return Real.now() + window.shift; }
    };
  }`);

describe.skipIf(!hasBrowser)('a tablet whose clock is wrong by a year (Chromium)', () => {
  beforeAll(launch);
  afterAll(close);

  it.each([-YEAR_MS, YEAR_MS])(
    'by %d ms shows the ages of the gateway, and its orders are accepted',
    async (offset) => {
      await using server = await serverOf();
      const texts: string[] = [];
      for (const wrongBy of [0, offset]) {
        await using shown = await open(server.full, '/service', withClock(wrongBy));
        await alive(shown.page);
        // Loaded by the script, whenever it is answered.
        await shown.page.locator('.chart').first().waitFor();
        const text = (await shown.page.locator('main').textContent()) ?? '';
        texts.push(text.replaceAll(/\d\d:\d\d:\d\d/g, 'time of the gateway'));
        expect(await shown.page.evaluate('Date.now()')).toBeCloseTo(Date.now() + wrongBy, -5);
        expect(shown.problems).toEqual([]);
      }
      expect(texts[1]).toBe(texts[0]);
      await using shown = await open(server.full, '/', withClock(offset));
      const { page } = shown;
      await alive(page);
      // Longer than a state may be old.
      await new Promise((resolve) => setTimeout(resolve, 3_500));
      expect(await page.locator('body[data-silent]').count()).toBe(0);
      await page.locator('a.target', { hasText: 'B' }).first().click();
      await page.getByRole('button', { name: 'Fahren' }).click();
      await expect.poll(() => server.motion.calls).toContain('startDrive {"station":"B"}');
    },
  );

  it.each([-YEAR_MS, YEAR_MS])(
    'set by %d ms while the page is open, it is not outdated for longer than a state',
    async (by) => {
      await using server = await serverOf();
      await using shown = await open(server.full, '/', withClock(0));
      const { page } = shown;
      await alive(page);
      await page.evaluate(`window.shift = ${by}`);
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      expect(await page.locator('body[data-silent]').count()).toBe(0);
      // Nor does a wrong clock hide that the gateway is silent.
      server.application.endStreams();
      await page.locator('body[data-silent]').waitFor();
    },
  );
});

/** Passes everything on to the chassis but its maps, each of which is this many bytes of a number. */
async function chassisWithHugeMaps(chassisPort: number, bytes: number) {
  let asked = 0;
  const upstream = { host: '127.0.0.1', port: chassisPort };
  const server = createServer((request, response) => {
    response.on('error', () => {});
    if (/^\/maps\/\d+$/.test(request.url ?? '')) {
      asked += 1;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('[1');
      const part = Buffer.alloc(1024 * 1024, '1');
      let left = bytes;
      const more = () => {
        while (left > 0) {
          left -= part.length;
          if (!response.write(part)) return void response.once('drain', more);
        }
        response.end(']');
      };
      more();
      return;
    }
    const passed = askHttp(
      { ...upstream, method: request.method, path: request.url, headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    passed.on('error', () => response.destroy());
    request.pipe(passed);
  });
  server.on('upgrade', (request: IncomingMessage, socket, head: Buffer) => {
    const chassis = connect(upstream);
    for (const [one, other] of [
      [chassis, socket],
      [socket, chassis],
    ]) {
      one?.on('error', () => other?.destroy());
      one?.on('close', () => other?.destroy());
    }
    const lines = [`${request.method} ${request.url} HTTP/1.1`];
    for (let at = 0; at < request.rawHeaders.length; at += 2) {
      lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`);
    }
    chassis.write(`${lines.join('\r\n')}\r\n\r\n`);
    chassis.write(head);
    chassis.pipe(socket).pipe(chassis);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked: () => asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const peakMb = (pid: number) =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_000;

describe.skipIf(!hasBrowser)('a real gateway and its pages (Chromium)', () => {
  let robot: Robot;
  beforeAll(async () => {
    await launch();
    robot = await startRobot();
  });
  afterAll(async () => {
    await close();
    await robot?.[Symbol.asyncDispose]();
  });

  it('keep within the memory of the gateway when a map has 100 MB, say so, and stay usable', async () => {
    await using chassis = await chassisWithHugeMaps(robot.chassisPort, 100 * 1024 * 1024);
    const site = join(robot.dir, 'huge.yaml');
    const text = await readFile(robot.site, 'utf8');
    await writeFile(site, text.replace(new RegExp(`port: ${robot.chassisPort}\\b`), `port: ${chassis.port}`));
    await using serve = await startServe(site);
    await until(
      () => chassisState(robot.operatorPort),
      ({ link }) => link.kind === 'connected',
    );
    const pages = await Promise.all([1, 2, 3].map(() => open(robot.operatorPort, '/')));
    for (const { page, problems } of pages) {
      await page.locator('.map-note', { hasText: 'zu groß' }).waitFor();
      await page.locator('#robot').waitFor();
      expect(problems).toEqual([]);
    }
    expect(chassis.asked()).toBeGreaterThan(0);
    // The bound of the unit is far above; the map alone would be 100 MB.
    expect(peakMb(serve.child.pid ?? 0)).toBeLessThan(210);
    await Promise.all(pages.map((one) => one[Symbol.asyncDispose]()));
  });

  it('execute exactly one of two orders that two tablets give at the same moment, and refuse the other in words', async () => {
    await using serve = await startServe(robot.site);
    expect(serve.child.pid).toBeGreaterThan(0);
    const moves = async () =>
      ((await (await fetch(`http://127.0.0.1:${robot.chassisPort}/chassis/moves`)).json()) as unknown[]).length;
    await until(
      () => chassisState(robot.operatorPort),
      ({ link }) => link.kind === 'connected',
    );
    for (let round = 0; round < 3; round += 1) {
      const before = await moves();
      const [one, other] = await Promise.all(
        ['B', 'C'].map(async (name) => {
          const shown = await open(robot.operatorPort, '/');
          await shown.page.locator('h1', { hasText: 'Bereit' }).waitFor();
          await shown.page.locator('a.target', { hasText: name }).first().click();
          await shown.page.getByRole('heading', { name: `${name} anfahren?` }).waitFor();
          return shown;
        }),
      );
      if (one === undefined || other === undefined) throw new Error('two pages expected');
      const pressed = '.sheet .go:not([aria-disabled])';
      for (const { page } of [one, other]) await page.locator(pressed).waitFor();
      // Where the other drive came first, the question has closed, and there is nothing to press.
      await Promise.all([one, other].map(({ page }) => page.evaluate(`document.querySelector('${pressed}')?.click()`)));
      for (const { page } of [one, other]) {
        await page.locator('h1', { hasText: 'Fahrt zu' }).waitFor();
      }
      // The answer to its order says so, or already the state that came before its touch.
      const refusals = async () =>
        (
          await Promise.all(
            [one, other].map(({ page }) => page.locator('.sheet [role=alert], .sheet.closed').allTextContents()),
          )
        ).filter((texts) => texts.length > 0);
      await expect.poll(refusals).toHaveLength(1);
      expect((await refusals())[0]?.join()).toMatch(/fährt schon|darf jetzt nicht fahren|Fahrt zu [BC]|etwas geändert/);
      expect(await moves()).toBe(before + 1);
      await fetch(`http://127.0.0.1:${robot.operatorPort}/api/fahrt`, { method: 'DELETE' });
      for (const { problems, [Symbol.asyncDispose]: end } of [one, other]) {
        expect(problems).toEqual([]);
        await end();
      }
    }
  });
});
