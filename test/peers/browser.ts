import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { HANG_MS } from '../waiting.ts';
import { hasProgram } from './peer.ts';

/** Chromium without a window: the same engine, in which a page opens with a fifth of the processor time. */
const PROGRAM = 'chromium-headless-shell';
export const hasBrowser = hasProgram(PROGRAM);

export const launchBrowser = () =>
  chromium.launch({
    executablePath: `/usr/bin/${PROGRAM}`,
    args: [
      // Without this rule it queries the name server for hosts of its vendor at every start.
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

/** Screen sizes of common devices. */
export const sizes = [
  { name: 'tablet', width: 1280, height: 800 },
  { name: 'phone', width: 390, height: 844 },
  { name: 'upright tablet', width: 800, height: 1280 },
] as const;

/** Opens a document as a file, with scripts allowed, and records requests and errors. */
export async function openDocument(
  browser: Browser,
  path: string,
  text: string,
  { width, height }: { readonly width: number; readonly height: number } = sizes[0],
) {
  await writeFile(path, text);
  const context = await browser.newContext({ viewport: { width, height } });
  context.setDefaultTimeout(HANG_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = request.url();
    if (url !== pathToFileURL(path).href && !url.startsWith('data:')) problems.push(`request: ${url}`);
  });
  await page.goto(pathToFileURL(path).href);
  return { page, problems, close: () => context.close() };
}
