import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { renderDemo } from '../../src/cli/render/demo.ts';
import { demoSchema } from '../../src/lib/toolkit/demo/demo.result.ts';
import { wordsOf } from '../cli/printed-commands.ts';
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
  const began = performance.now();
  while (!demo.stderr().includes('ok  ')) {
    if (performance.now() - began > 20_000) throw new Error(`no step was done:\n${demo.stderr()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
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
  test('ends green on its own in under three minutes, writes the report, leaves nothing running, and runs again until Ctrl-C', async () => {
    const began = performance.now();
    const { code, stdout, stderr } = await runGw(['demo', '--dir', dir]);
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
    expect(performance.now() - began).toBeLessThan(180_000);

    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(
      /^ALL OK {2}A robot commissioned: (\d+) of \1 steps are ok\. Cloud rehearsed: 6 of 6 parts are ok\.$/,
    );
    expect(lines.length).toBeLessThan(40);
    expect(stdout).toContain('SIM-0001');
    expect(stdout).toContain('Try next');

    for (const file of ['demo.json', 'demo.junit.xml', 'demo.md', 'sim.log', 'serve.log', 'site.yaml']) {
      expect(readFileSync(join(dir, file), 'utf8').length, file).toBeGreaterThan(50);
    }
    expect(readFileSync(join(dir, 'demo.junit.xml'), 'utf8')).toMatch(/failures="0" errors="0" skipped="0"/);
    expect(leftOver(undefined)).toEqual([]);
    expect(await portIsFree('127.0.0.1', 5174)).toBe(true);

    // Every command that it prints can be typed, and does what the text beside it says.
    const [again, ...next] = printedBelow('Try next', stdout);
    expect(again).toBe('gw demo --keep');
    expect(next).toHaveLength(4);
    for (const line of next) expect(await typed(line)).toMatchObject({ line, code: 0 });
    expect(readFileSync(join(dir, 'acceptance.pdf')).subarray(0, 5).toString()).toBe('%PDF-');

    // Again in its own folder, with JSON output, and kept running.
    const kept = startGw(['demo', '--dir', dir, '--keep', '--json']);
    await using _ended = kept;
    await kept.untilOutput('\n}\n');
    const envelope = JSON.parse(kept.stdout());
    expect(envelope).toMatchObject({ schema: 'gw/demo/1', ok: true, error: null });
    const demo = demoSchema.parse(envelope.data);
    expect(demo.kept).toBe(true);
    expect(demo.checklist.counts).toMatchObject({ wrong: 0, skipped: 0, notChecked: 0 });
    expect(demo.checklist.written).toEqual(['demo.json', 'demo.junit.xml', 'demo.md'].map((file) => join(dir, file)));
    const reply = await fetch(demo.addresses.service);
    expect(reply.status).toBe(200);
    await reply.text();
    expect((await fetch('http://127.0.0.1:5174/api/medien')).status).toBe(403);
    expect(readdirSync(dir)).not.toContain('acceptance.pdf');

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
  });

  test('Ctrl-C in the middle ends everything with 130', async () => {
    const demo = startGw(['demo', '--dir', dir]);
    await using _ended = demo;
    await untilFirstStep(demo);
    const { code } = await demo.end('SIGINT');
    expect(code).toBe(130);
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
