import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, runGw } from '../e2e/gw.ts';
import { chassisState, type Robot, startRobot, startServe, until } from '../e2e/robot.ts';
import { sizes } from './browser.ts';
import { chromiumFlags, hasProgram } from './peer.ts';

const paths = ['/', '/service', '/anmeldung'] as const;

describe.skipIf(!hasProgram('chromium'))('the pages in a real browser (Chromium)', () => {
  let browser: Browser;
  let robot: Robot;
  let serve: Running;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: chromiumFlags });
    robot = await startRobot({ with: 'password' });
    serve = await startServe(robot.site);
    await until(
      () => chassisState(robot.operatorPort),
      ({ link }) => link.kind === 'connected',
      8_000,
    );
  });

  afterAll(async () => {
    await browser?.close();
    await serve?.[Symbol.asyncDispose]();
    await robot?.[Symbol.asyncDispose]();
  });

  /** Opens a page and notes everything that went wrong in it. */
  async function open(path: string, size: { width: number; height: number }, javaScriptEnabled: boolean) {
    const context = await browser.newContext({ viewport: size, javaScriptEnabled });
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
    expect((await runGw(['sim', 'fault', 'cut', 'on', '--dir', robot.dir])).code).toBe(0);
    await page.getByText('not connected').first().waitFor({ timeout: 5_000 });
    expect((await runGw(['sim', 'fault', 'cut', 'off', '--dir', robot.dir])).code).toBe(0);
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
  });
});
