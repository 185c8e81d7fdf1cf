// `node scripts/screenshots.js`: docs/overlays.png and the pictures of the pages in docs/pages, on a simulated robot in a
// network of its own. With `overlays`: the first alone.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('..', import.meta.url));
const pictures = join(root, 'docs/pages');
const base = 'http://127.0.0.1:5173';
const sizes = { tablet: [1280, 800], phone: [390, 844], desktop: [1920, 1080] };

// The ports of the platform are fixed, so they are opened where nothing else has them.
if (!process.argv.includes('inside')) {
  const inside = ['--net', '--', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', process.execPath];
  const { status } = spawnSync(
    'unshare',
    [...inside, fileURLToPath(import.meta.url), 'inside', ...process.argv.slice(2)],
    { stdio: 'inherit' },
  );
  process.exit(status ?? 1);
}

const dir = mkdtempSync(join(tmpdir(), 'gw-screenshots-'));
const gw = (...args) => spawn(process.execPath, [join(root, 'bin/run.js'), ...args], { cwd: dir, stdio: 'ignore' });
const until = async (isThere) => {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await isThere()) return;
    await sleep(100);
  }
  throw new Error('not within 20 s');
};
const isReady = () =>
  fetch(`${base}/api/health`).then(
    async (reply) => (await reply.json()).services.every(({ status }) => status === 'running'),
    () => false,
  );

const sim = gw('sim');
await until(() => existsSync(join(dir, 'gw-sim/site.yaml')));
const siteFile = join(dir, 'gw-sim/site.yaml');
const programs = ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell'];
const executablePath = programs.find((path) => existsSync(path));
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });

/** The picture as `gw overlays inspect` writes it, in its own size. */
async function takeOverlays() {
  const svg = join(dir, 'overlays.svg');
  const words = ['overlays', 'inspect', '--site', siteFile, '--out', svg];
  spawnSync(process.execPath, [join(root, 'bin/run.js'), ...words], { cwd: dir, stdio: 'inherit' });
  const [, width, height] = /width="([\d.]+)" height="([\d.]+)"/.exec(readFileSync(svg, 'utf8'));
  const viewport = { width: Math.ceil(Number(width)), height: Math.ceil(Number(height)) };
  const page = await browser.newPage({ viewport });
  await page.goto(pathToFileURL(svg).href);
  await page.screenshot({ path: join(root, 'docs/overlays.png') });
  await page.close();
}

await takeOverlays();
if (process.argv.includes('overlays')) {
  await browser.close();
  sim.kill();
  await sleep(2_000);
  rmSync(dir, { recursive: true, force: true });
  process.exit(0);
}

const password = 'for these pictures';
writeFileSync(siteFile, readFileSync(siteFile, 'utf8').replace(/^operator:/m, 'operator:\n  passwordFile: password'));
writeFileSync(join(dir, 'given'), password);
spawnSync(
  process.execPath,
  [join(root, 'bin/run.js'), 'operator', 'password', '--password-file', join(dir, 'given'), '--site', siteFile],
  { cwd: dir, stdio: 'inherit' },
);
const serve = gw('serve', '--site', siteFile);
try {
  await until(isReady);
  mkdirSync(pictures, { recursive: true });
  for (const [size, [width, height]] of Object.entries(sizes)) {
    const context = await browser.newContext({ viewport: { width, height }, locale: 'en-GB', colorScheme: 'light' });
    const page = await context.newPage();
    const take = (name) => page.screenshot({ path: join(pictures, `${name}-${size}.png`) });
    await page.goto(base);
    await page.locator('#map image.plan').waitFor();
    await sleep(1_000);
    await take('ready');
    await page.locator('a.target', { hasText: 'demo' }).click();
    await page.locator('.sheet').waitFor();
    await take('question');
    await page.locator('.sheet .go').click();
    await sleep(3_000);
    await take('tour');
    await page.getByRole('button', { name: 'End the drive' }).click();
    await page.locator('h1', { hasText: 'Ready' }).waitFor();
    await page.goto(`${base}/service`);
    await sleep(1_000);
    await take('service');
    await context.close();
  }
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, locale: 'de-DE', colorScheme: 'dark' });
  await page.goto(base);
  await page.locator('#map image.plan').waitFor();
  await page.locator('.stop-button').click();
  await page.locator('h1', { hasText: 'Angehalten' }).waitFor();
  await page.screenshot({ path: join(pictures, 'stopped-dark.png') });
  // Until what followed the stop is kept.
  await sleep(12_000);
  for (const [size, [width, height]] of Object.entries(sizes)) {
    const context = await browser.newContext({ viewport: { width, height }, locale: 'en-GB', colorScheme: 'light' });
    const signedIn = await context.newPage();
    await signedIn.goto(`${base}/anmeldung`);
    await signedIn.locator('input[type=password]').fill(password);
    await signedIn.keyboard.press('Enter');
    await signedIn.waitForURL(`${base}/`);
    await signedIn.goto(`${base}/service`);
    await signedIn.locator('#incidents summary').first().click();
    await signedIn.locator('.incidents button').first().click();
    await signedIn.locator('.replay image.plan').waitFor();
    await signedIn.locator('.moment').nth(2).click();
    await signedIn.evaluate(() => document.querySelector('.replay').scrollIntoView());
    await signedIn.screenshot({ path: join(pictures, `incident-${size}.png`) });
    await context.close();
  }
} finally {
  await browser.close();
  serve.kill();
  sim.kill();
  await sleep(2_000);
  rmSync(dir, { recursive: true, force: true });
}
