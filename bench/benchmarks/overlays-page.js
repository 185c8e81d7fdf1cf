import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gw, median } from '../measure.js';
import { writeOverlays } from '../overlays.js';

const FEATURES = 2000;
const RUNS = 9;
const LIMIT_MS = 1000;
const chromiumPath = '/usr/bin/chromium';

export default {
  title: `HTML page of ${FEATURES.toLocaleString('en')} features opened in Chromium against the same size of plain text`,
  peers: [['chromium', chromiumPath]],
  async run() {
    const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
    try {
      const [features, page, plain] = ['features.json', 'page.html', 'plain.html'].map((name) => join(dir, name));
      await writeOverlays(features, FEATURES);
      const argv = [gw, 'overlays', 'inspect', '--file', features, '--format', 'html', '--out', page];
      const made = spawnSync(process.execPath, argv, { encoding: 'utf8' });
      // Exit code 1: the overlays have findings, irrelevant here.
      if (made.status !== 0 && made.status !== 1)
        throw new Error(`gw overlays inspect ended with ${made.status}: ${made.stderr}`);
      writeFileSync(plain, plainPage(statSync(page).size));
      const [ours, peer] = await openInTurn([page, plain]);
      const opened = median(ours.map(({ openedMs }) => openedMs));
      const ratio = opened / median(peer.map(({ openedMs }) => openedMs));
      const row = (name, runs, key) => ({
        name,
        median: median(runs.map((run) => run[key])),
        unit: 'ms',
        samples: runs.map((run) => run[key]),
      });
      return {
        rows: [
          row('page: first paint', ours, 'firstPaintMs'),
          row('page: load event and painted', ours, 'openedMs'),
          row('plain text: load event and painted', peer, 'openedMs'),
          { name: 'page, size', median: readFileSync(page).length / 1e6, unit: 'MB' },
        ],
        figures: [
          {
            name: 'page opened',
            value: `${opened.toFixed(0)} ms`,
            target: `under ${LIMIT_MS} ms`,
            holds: opened < LIMIT_MS,
          },
          { name: 'page / plain text', value: `${ratio.toFixed(2)} ×`, target: 'reported, no target', holds: true },
        ],
      };
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

/** Paragraphs of text until the file has this many bytes. */
function plainPage(bytes) {
  const head = '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>plain</title></head><body>';
  const paragraph = `<p>${'A line of plain text, as long as a row of a table. '.repeat(4)}</p>\n`;
  return head + paragraph.repeat(Math.ceil((bytes - head.length) / paragraph.length));
}

/** Opens the files in turn, each in a fresh context of one browser, after one warm-up each. */
async function openInTurn(files) {
  const { chromium } = await import('playwright-core');
  // Without the resolver rule it asks the name server for hosts of its maker at every start.
  const args = ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'];
  const browser = await chromium.launch({ executablePath: chromiumPath, args });
  try {
    const samples = files.map(() => []);
    for (let run = -1; run < RUNS; run += 1) {
      for (const [index, file] of files.entries()) {
        const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
        const tab = await context.newPage();
        await tab.goto(pathToFileURL(file).href, { waitUntil: 'load' });
        const times = await tab.evaluate(paintedAt);
        if (run >= 0) samples[index].push(times);
        await context.close();
      }
    }
    return samples;
  } finally {
    await browser.close();
  }
}

/** Runs in the page: milliseconds from the begin of its navigation. The later of load event and first paint counts. */
function paintedAt() {
  return new Promise((resolve) => {
    const look = () => {
      const [navigation] = performance.getEntriesByType('navigation');
      const paint = performance.getEntriesByName('first-paint')[0]?.startTime;
      if (paint === undefined || navigation.loadEventEnd === 0) requestAnimationFrame(look);
      else resolve({ firstPaintMs: paint, openedMs: Math.max(paint, navigation.loadEventEnd) });
    };
    look();
  });
}
