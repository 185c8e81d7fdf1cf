import { appendFile, mkdir, open as openFile, readdir, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Running } from '../e2e/gw.ts';
import { type Robot, startRobot, startServe } from '../e2e/robot.ts';
import { HANG_MS } from '../waiting.ts';
import { hasBrowser, launchBrowser, sizes } from './browser.ts';

let browser: Browser | undefined;
let robot: Robot;
let serve: Running;
let folder: string;
let password: string;

const QUOTA_MB = 3;
const addressOf = (path: string) => `http://127.0.0.1:${robot.operatorPort}${path}`;
const filesIn = () => readdir(folder);

/** The beginning of a file of 8-bit samples, 8,000 a second. */
function wavHeader(samples: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + samples, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  for (const [at, value] of [1, 1].entries()) header.writeUInt16LE(value, 20 + 2 * at);
  for (const [at, value] of [8_000, 8_000].entries()) header.writeUInt32LE(value, 24 + 4 * at);
  for (const [at, value] of [1, 8].entries()) header.writeUInt16LE(value, 32 + 2 * at);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(samples, 40);
  return header;
}

const wav = (samples: number) => Buffer.concat([wavHeader(samples), Buffer.alloc(samples, 128)]);
const sound = (name: string, samples = 2_400) => ({ name, mimeType: 'audio/wav', buffer: wav(samples) });

async function open(path: string, options: Parameters<Browser['newContext']>[0] = {}) {
  if (browser === undefined) throw new Error('the browser did not start');
  const context = await browser.newContext({ viewport: sizes[0], locale: 'de-DE', ...options });
  context.setDefaultTimeout(HANG_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(addressOf(path));
  return { page, problems, [Symbol.asyncDispose]: () => context.close() };
}

async function openSignedIn(options: Parameters<Browser['newContext']>[0] = {}) {
  const shown = await open('/anmeldung', options);
  await shown.page.locator('#password').fill(password);
  await shown.page.locator('.sign-in button').click();
  await shown.page.waitForURL(addressOf('/'));
  await shown.page.goto(addressOf('/medien'));
  return shown;
}

const entryOf = (page: Page, name: string) => page.locator('.file', { has: page.getByRole('heading', { name }) });
const told = (page: Page, text: string | RegExp) => page.locator('main', { hasText: text }).waitFor();

/** Sends no more than this, so that a person sees the progress. */
async function slowUploads(page: Page, bytesPerS: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: bytesPerS,
  });
}

describe.skipIf(!hasBrowser)('the media page (Chromium)', () => {
  beforeAll(async () => {
    browser = await launchBrowser();
    robot = await startRobot({ with: ['password'] });
    await appendFile(robot.site, `disk:\n  mediaMb: ${QUOTA_MB}\n`);
    folder = join(robot.dir, 'media');
    password = (await readFile(robot.sim.passwordPath ?? '', 'utf8')).trim();
    serve = await startServe(robot.site);
  });
  afterAll(async () => {
    await browser?.close();
    await serve?.[Symbol.asyncDispose]();
    await robot?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
  });

  it('uploads with progress, plays, and deletes by two touches and never by one', async () => {
    await using shown = await openSignedIn();
    const { page } = shown;
    await told(page, 'Hier liegt noch keine Datei.');
    await slowUploads(page, 500_000);
    await page.locator('input[type=file]').setInputFiles(sound('ton.wav', 1_000_000));
    await page.getByRole('button', { name: 'Hochladen' }).click();
    await told(page, /„ton\.wav“ wird hochgeladen: [1-9]\d?\s%/);
    expect(Number(await page.locator('.upload progress').getAttribute('value'))).toBeGreaterThan(0);
    await told(page, '„ton.wav“ ist gespeichert.');
    expect(await filesIn()).toEqual(['ton.wav']);
    const entry = entryOf(page, 'ton.wav');
    expect(await entry.textContent()).toContain('Ton, 1,0\u00a0MB');
    await entry.locator('audio').focus();
    await page.keyboard.press('Space');
    await expect.poll(() => page.evaluate('document.querySelector("audio").currentTime')).toBeGreaterThan(0);
    await entry.getByRole('link', { name: 'löschen' }).click();
    await told(page, '„ton.wav“ endgültig löschen?');
    await entry.getByRole('button', { name: 'Abbrechen' }).click();
    expect(await filesIn()).toEqual(['ton.wav']);
    await entry.getByRole('link', { name: 'löschen' }).click();
    await entry.getByRole('button', { name: 'Löschen' }).click();
    await told(page, '„ton.wav“ ist gelöscht.');
    expect([await filesIn(), await page.locator('.file').count()]).toEqual([[], 0]);
    expect(shown.problems).toEqual([]);
  });

  it('uploads and deletes without script', async () => {
    await using shown = await openSignedIn({ javaScriptEnabled: false });
    const { page } = shown;
    await page.locator('input[type=file]').setInputFiles(sound('a b.wav'));
    await page.getByRole('button', { name: 'Hochladen' }).click();
    await entryOf(page, 'a b.wav').locator('audio').waitFor();
    expect(await filesIn()).toEqual(['a b.wav']);
    await page.getByRole('link', { name: 'löschen' }).click();
    await told(page, '„a b.wav“ endgültig löschen?');
    expect(await filesIn()).toEqual(['a b.wav']);
    await page.getByRole('button', { name: 'Löschen' }).click();
    await told(page, 'Hier liegt noch keine Datei.');
    expect(await filesIn()).toEqual([]);
    await page.locator('input[type=file]').setInputFiles({ ...sound('x'), name: '#1.wav' });
    await page.getByRole('button', { name: 'Hochladen' }).click();
    await told(page, 'Die Datei wurde nicht angenommen.');
    await page.getByRole('link', { name: 'Zurück zu den Medien' }).click();
    await told(page, 'Hier liegt noch keine Datei.');
  });

  it('leaves nothing of an upload that is cancelled, or whose page is left', async () => {
    await using shown = await openSignedIn();
    const { page } = shown;
    await slowUploads(page, 200_000);
    const begin = async () => {
      await page.locator('input[type=file]').setInputFiles(sound('lang.wav', 2_000_000));
      await page.getByRole('button', { name: 'Hochladen' }).click();
      await told(page, /wird hochgeladen: [1-9]/);
      await expect.poll(filesIn).toEqual([expect.stringMatching(/^\.upload-/)]);
    };
    await begin();
    await page.getByRole('button', { name: 'Hochladen abbrechen' }).click();
    await told(page, 'Abgebrochen. Von „lang.wav“ wurde nichts gespeichert.');
    await expect.poll(filesIn).toEqual([]);
    await begin();
    await page.goto(addressOf('/'));
    await expect.poll(filesIn).toEqual([]);
  });

  it('leaves nothing of an upload that is cut at any byte', async () => {
    const reply = await fetch(addressOf('/api/anmeldung'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ password }),
    });
    const cookie = reply.headers.get('set-cookie')?.split(';')[0];
    const body = Buffer.concat([
      Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="cut.wav"\r\n\r\n'),
      wav(20),
      Buffer.from('\r\n--b--\r\n'),
    ]);
    const head = [
      'POST /api/medien HTTP/1.1',
      `Host: 127.0.0.1:${robot.operatorPort}`,
      `Cookie: ${cookie}`,
      'Content-Type: multipart/form-data; boundary=b',
      `Content-Length: ${body.length}`,
      'Connection: close',
    ];
    const whole = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
    const send = async (bytes: number) => {
      const socket = connect({ host: '127.0.0.1', port: robot.operatorPort });
      const { promise, resolve } = Promise.withResolvers<void>();
      let answer = '';
      socket.once('close', () => resolve());
      socket.on('error', () => {});
      socket.setEncoding('latin1').on('data', (text) => {
        answer += text;
      });
      if (bytes < whole.length) socket.end(whole.subarray(0, bytes));
      else socket.write(whole);
      await promise;
      return answer;
    };
    for (let bytes = 0; bytes < whole.length; bytes += 1) {
      await send(bytes);
      if ((await filesIn()).length > 0) await expect.poll(filesIn, { message: `cut at byte ${bytes}` }).toEqual([]);
    }
    // The gateway takes two at a time, and may still remove what the last cuts left.
    await expect.poll(() => send(whole.length)).toMatch(/^HTTP\/1\.1 201 /);
    await expect.poll(filesIn).toEqual(['cut.wav']);
  });

  it('says in words what is refused: too large, no space, signed out', async () => {
    await using shown = await openSignedIn();
    const { page } = shown;
    const upload = async (name: string, bytes: number) => {
      const path = join(robot.dir, name);
      await using file = await openFile(path, 'w');
      await file.truncate(bytes);
      await page.locator('input[type=file]').setInputFiles(path);
      await page.getByRole('button', { name: 'Hochladen' }).click();
    };
    await upload('voll.bin', 3_500_000);
    await told(page, 'Für diese Datei ist kein Platz.');
    // The refusal of the gateway itself, where the page does not know the space.
    const pretend = (library: object) =>
      page.evaluate(`window.fetch = async () => new Response(JSON.stringify(${JSON.stringify(library)}))`);
    await pretend({ files: [], maxBytes: 2e8, leftBytes: null });
    await upload('voll 2.bin', 40_000_000);
    await told(page, 'Für diese Datei ist kein Platz.');
    await pretend({ files: [], maxBytes: 1_000_000, leftBytes: 2e6 });
    await upload('groß.bin', 1_000_001);
    await told(page, 'Die Datei ist zu groß.');
    await page.context().clearCookies();
    await upload('klein.bin', 1_000);
    await told(page, 'Dafür ist eine Anmeldung erforderlich.');
    expect(await filesIn()).toEqual([]);
  });

  it('plays one file at a time, and STOPP waits for no player', async () => {
    const bytes = 150_000_000;
    for (let at = 1; at <= 8; at += 1) {
      await using file = await openFile(join(folder, `lang ${at}.wav`), 'w');
      await file.write(wavHeader(bytes - 44));
      await file.truncate(bytes);
    }
    await using shown = await open('/medien');
    const { page } = shown;
    const players = page.locator('audio');
    for (let at = 0; at < 8; at += 1) {
      await players.nth(at).focus();
      await page.keyboard.press('Space');
      await expect
        .poll(() => page.evaluate(`document.querySelectorAll("audio")[${at}].currentTime`))
        .toBeGreaterThan(0);
    }
    const playing = await page.evaluate('[...document.querySelectorAll("audio")].map((e) => !e.paused)');
    expect(playing).toEqual([...Array(7).fill(false), true]);
    await page.locator('.stop-button').click();
    await expect
      .poll(async () => (await (await fetch(addressOf('/api/stopp'))).json()) as object)
      .toMatchObject({ stop: { latched: true } });
  });

  it.each(sizes.flatMap((size) => (['light', 'dark'] as const).map((scheme) => [size.name, scheme, size] as const)))(
    'on a %s, in the %s scheme: fits, has no barrier that axe finds, large targets and STOPP in view',
    async (_name, colorScheme, viewport) => {
      for (const name of ['Begrüßung am Empfang mit einem sehr langen Namen (2).wav', 'b.bin', 'c.mp4']) {
        await using file = await openFile(join(folder, name), 'w');
        await file.write(wav(100));
      }
      await using shown = await openSignedIn({ viewport, colorScheme });
      const { page } = shown;
      await entryOf(page, 'b.bin').getByRole('link', { name: 'löschen' }).click();
      await told(page, 'endgültig löschen?');
      expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth')).toBeLessThanOrEqual(0);
      const small = await page.evaluate(
        '[...document.querySelectorAll("button, input:not([type=hidden]), a.button, header nav a, audio")].filter((e) => e.getBoundingClientRect().height < 48).map((e) => e.outerHTML)',
      );
      expect(small).toEqual([]);
      await page.evaluate(axe.source);
      const found = await page.evaluate(
        'axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map((n) => n.html).join()))',
      );
      expect(found).toEqual([]);
      for (const to of ['0', 'document.body.scrollHeight']) {
        await page.evaluate(`window.scrollTo(0, ${to})`);
        const box = await page.locator('.stop-button').boundingBox();
        expect(box?.height).toBeGreaterThanOrEqual(80);
        expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(viewport.height);
      }
      expect(shown.problems).toEqual([]);
    },
  );
});
