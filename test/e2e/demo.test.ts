import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { renderDemo } from '../../src/cli/render/demo.ts';
import { demoSchema } from '../../src/lib/toolkit/demo/demo.result.ts';
import { wordsOf } from '../cli/printed-commands.ts';
import { until } from '../waiting.ts';
import { type Running, runGw, startGw } from './gw.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-demo-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Processes, zombies among them, whose command line names this folder, or whose parent is `pid`. */
function leftOver(pid: number | undefined): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const parent = /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1];
        return line.includes(dir) || Number(parent) === pid ? [`${name} ${line}`] : [];
      } catch {
        return [];
      }
    });
}

async function portIsFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once('error', () => resolve(false));
  server.listen(port, host, () => server.close(() => resolve(true)));
  return promise;
}

/** Both programs are ready, and the checklist runs. */
async function untilFirstStep(demo: Running): Promise<void> {
  await until(
    () => demo.stderr() + (demo.child.exitCode ?? ''),
    (text) => / 1\/25 ok {4}/.test(text) || demo.child.exitCode !== null,
  );
  expect(demo.stderr()).toMatch(/ 1\/25 ok {4}/);
}

/** However long it takes: a whole demo on a slow machine. */
async function untilEnvelope(demo: Running): Promise<void> {
  const ended = once(demo.child, 'close');
  while (!demo.stdout().includes('\n}\n') && demo.child.exitCode === null) {
    await Promise.race([once(demo.child.stdout as Readable, 'data'), ended]);
  }
}

/** The commands below a heading of the screen, without their descriptions. */
function printedBelow(heading: string, screen: string): string[] {
  const [, below = ''] = screen.split(heading);
  const lines = below.split('\n').slice(1);
  const end = lines.findIndex((line) => !line.startsWith('  '));
  return lines.slice(0, end === -1 ? undefined : end).map((line) => line.trim().split(/ {2,}/)[0] ?? '');
}

/** Runs a command as printed. */
async function typed(line: string) {
  const { code, stdout, stderr } = await runGw(wordsOf(line).slice(1));
  return { line, code, stdout, stderr };
}

describe('gw demo', () => {
  test('ends green, writes report and record, runs until Ctrl-C with --keep, and leaves nothing running', {
    tags: 'large',
  }, async () => {
    // Made of the record of an earlier demo, which the new one replaces.
    for (const name of ['.gw-demo', 'acceptance.pdf']) writeFileSync(join(dir, name), 'of an earlier demo');
    const kept = startGw(['demo', '--dir', dir, '--keep', '--json']);
    await using _ended = kept;
    await untilEnvelope(kept);
    const envelope = JSON.parse(kept.stdout());
    expect(envelope).toMatchObject({ schema: 'gw/demo/1', ok: true, error: null });
    const demo = demoSchema.parse(envelope.data);
    expect(demo).toMatchObject({ end: 'complete', kept: true, standing: ['gw serve', 'gw sim'], lastRecord: null });
    expect(demo.checklist?.counts).toMatchObject({ wrong: 0, skipped: 0, notChecked: 0 });
    expect(demo.checklist?.written).toEqual(['demo.json', 'demo.junit.xml', 'demo.md'].map((file) => join(dir, file)));
    const screen = renderDemo({ ...demo, kept: false }, process.cwd());
    const lines = screen.split('\n');
    expect(lines[0]).toMatch(
      /^ALL OK {2}A robot commissioned: (\d+) of \1 steps are ok\. Cloud rehearsed: 6 of 6 parts are ok\.$/,
    );
    expect(lines.length).toBeLessThan(40);
    for (const file of ['demo.json', 'demo.junit.xml', 'demo.md', 'sim.log', 'serve.log', 'site.yaml']) {
      expect(readFileSync(join(dir, file), 'utf8').length, file).toBeGreaterThan(50);
    }
    expect(readFileSync(join(dir, 'demo.junit.xml'), 'utf8')).toMatch(/failures="0" errors="0" skipped="0"/);
    expect(readdirSync(dir)).not.toContain('acceptance.pdf');

    const reply = await fetch(demo.addresses?.service ?? '');
    expect(reply.status).toBe(200);
    await reply.text();
    expect((await fetch('http://127.0.0.1:5174/api/medien')).status).toBe(403);

    // The fault makes the probe fail, which is what the screen says of it.
    const [watch = '', ...faults] = printedBelow('Try in another terminal', renderDemo(demo, process.cwd()));
    expect(watch).toMatch(/^gw chassis watch --site /);
    await using watching = startGw(wordsOf(watch).slice(1));
    await watching.untilOutput('connected to');
    expect((await watching.end('SIGINT')).code).toBe(0);
    const codes = [];
    for (const line of faults) codes.push((await typed(line)).code);
    expect([faults, codes]).toEqual([
      [expect.any(String), expect.any(String), expect.any(String)],
      [0, 1, 0],
    ]);

    const ended = await kept.end('SIGINT');
    expect(ended.code).toBe(0);
    expect(leftOver(kept.child.pid)).toEqual([]);
    expect(JSON.parse(kept.stdout())).toEqual(envelope);
    expect(await portIsFree('127.0.0.1', 5174)).toBe(true);

    // Every command that it prints can be typed, and does what the text beside it says.
    const [again, ...next] = printedBelow('Try next', screen);
    expect(again).toBe('gw demo --keep');
    expect(next).toHaveLength(4);
    for (const line of next) expect(await typed(line)).toMatchObject({ line, code: 0 });
    expect(readFileSync(join(dir, 'acceptance.pdf')).subarray(0, 5).toString()).toBe('%PDF-');
  });

  test('Ctrl-C in the middle ends everything with 130, and shows what was done', async () => {
    const demo = startGw(['demo', '--dir', dir]);
    await using _ended = demo;
    await untilFirstStep(demo);
    const { code, stdout, stderr } = await demo.end('SIGINT');
    expect(code).toBe(130);
    expect(stdout).toMatch(/^NOT COMPLETE {2}Interrupted: \d+ ok, .*\d+ not checked of 25 steps and parts\.\n/);
    expect(stdout).toMatch(/^ok {4}The site file is valid/m);
    expect(stdout).toMatch(/^-- {4}The release is rolled back on site/m);
    expect(stderr).toContain('gw: Interrupted.');
    expect(leftOver(demo.child.pid)).toEqual([]);
  });

  test('ends when one of its programs exits, and prints which and its last lines', async () => {
    const demo = startGw(['demo', '--dir', dir]);
    await using _ended = demo;
    await untilFirstStep(demo);
    const sim = leftOver(demo.child.pid).find((line) => line.includes(' sim '));
    process.kill(Number(sim?.split(' ')[0]), 'SIGKILL');
    await once(demo.child, 'close');
    expect(demo.child.exitCode).toBe(1);
    expect(demo.stdout()).toMatch(/^NOT COMPLETE {2}Ended by an error: \d+ ok, /);
    expect(demo.stderr()).toContain('gw sim was ended by SIGKILL');
    expect(leftOver(demo.child.pid)).toEqual([]);
  });

  test('reports a read-only port in use', async () => {
    const occupied = createServer();
    occupied.listen(5174, '127.0.0.1');
    await once(occupied, 'listening');
    try {
      const { code, stderr } = await runGw(['demo', '--dir', dir]);
      expect(code).toBe(4);
      expect(stderr).toContain('127.0.0.1:5174 is in use by another program');
      expect(stderr).toContain('ss -ltnp');
    } finally {
      occupied.close();
    }
  });

  test('keeps a folder that no demo created', async () => {
    writeFileSync(join(dir, 'demo.md'), 'mine');
    const { code, stderr } = await runGw(['demo', '--dir', dir]);
    expect(code).toBe(2);
    expect(stderr).toContain('contains files that gw demo did not write');
    expect(readFileSync(join(dir, 'demo.md'), 'utf8')).toBe('mine');
  });
});
