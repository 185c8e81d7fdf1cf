import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { DriveRun } from '../../../src/lib/motion/index.ts';
import { ask, postJson, startServer, type TestServer } from '../server.ts';
import { SERIAL } from '../stand-ins.ts';

const SEEN = '/api/fahrt/gesehen';
const failed: DriveRun = { id: 'd1', kind: 'move', station: 'B', state: 'failed', outcome: null, reason: 'x' };

let dir: string;
let stateDir: string;
let server: TestServer;
const file = () => join(stateDir, 'failed-drive.json');
const start = async () => {
  server = await startServer({ site: { stateDir } });
};
const restart = async () => {
  await server[Symbol.asyncDispose]();
  await start();
};
const html = async (path = '/') => (await ask(server.full, path)).data as string;
const headline = async (path?: string) =>
  /class="headline" data-level="([^"]+)".*?<h1[^>]*>([^<]*)/.exec(await html(path))?.slice(1);
const seen = (id: string) => postJson(server.full, SEEN, { id });

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'gw-failed-'));
  stateDir = join(dir, 'state');
  await start();
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true, force: true });
});

it('a failed drive is the headline after a restart of the gateway too, until a person has seen it', async () => {
  server.motion.set({ drive: failed });
  await restart();
  expect(await headline()).toEqual(['attention', 'Fahrt zu B gescheitert']);
  expect(await headline('/service')).toEqual(['attention', 'Fahrt zu B gescheitert']);
  expect((await seen('d1')).data).toEqual({ seen: true, saved: true });
  expect(await headline()).toEqual(['good', 'Bereit']);
  await restart();
  expect(await headline()).toEqual(['good', 'Bereit']);
});

it('a later run replaces no failed drive: neither one that ends well, nor a tour, nor one by the page', async () => {
  server.motion.set({ drive: failed });
  server.motion.set({ drive: { ...failed, id: 'd2', station: 'A', state: 'running', reason: null } });
  const [level, text] = (await headline()) ?? [];
  expect([level, text]).toEqual(['attention', 'Fahrt zu A']);
  expect(await html()).toContain('Fahrt zu B gescheitert');
  server.motion.set({ drive: { ...failed, id: 'd2', station: 'A', state: 'succeeded', reason: null } });
  expect(await headline()).toEqual(['attention', 'Fahrt zu B gescheitert']);
  const state = /"state":\{"id":"([^"]+)"/.exec(await html())?.[1];
  await postJson(server.full, '/api/touren/lauf', { tour: 'breakfast', seen: state });
  server.motion.set({
    tour: { id: 'r1', tour: 'breakfast', stations: [], state: 'succeeded', at: 1, outcomes: [], reason: null },
  });
  expect(await headline()).toEqual(['attention', 'Fahrt zu B gescheitert']);
});

it('of several the last is the headline with the number of the others, and seen with them', async () => {
  server.motion.set({ drive: failed });
  server.motion.set({ drive: { ...failed, id: 'd2', station: 'A' } });
  await restart();
  server.motion.set({ drive: { ...failed, id: 'd3', kind: 'dock', station: null } });
  expect(await headline()).toEqual(['attention', 'Fahrt zur Ladestation gescheitert']);
  expect(await html()).toContain('2 weitere Fahrten');
  // Seen of a headline that another one has replaced meanwhile.
  expect((await seen('d2')).status).toBe(404);
  expect(await headline()).toEqual(['attention', 'Fahrt zur Ladestation gescheitert']);
  expect([(await seen('d3')).status, (await seen('d3')).status]).toEqual([200, 200]);
  expect(await headline()).toEqual(['good', 'Bereit']);
});

it('a drive in which the gateway ended has failed', async () => {
  server.motion.set({ drive: { ...failed, state: 'running', reason: null } });
  await restart();
  expect(await headline()).toEqual(['attention', 'Fahrt zu B gescheitert']);
  expect(await html()).toContain('neu gestartet');
  await restart();
  expect((await headline())?.[0]).toBe('attention');
});

it('a drive that a person ended, or that arrived, leaves nothing behind', async () => {
  server.motion.set({ drive: { ...failed, state: 'running', reason: null } });
  await ask(server.full, '/api/fahrt', { method: 'DELETE' });
  server.motion.set({ drive: { ...failed, state: 'stopped' } });
  server.motion.set({ drive: { ...failed, id: 'd2', state: 'running', reason: null } });
  server.motion.set({ drive: { ...failed, id: 'd2', state: 'succeeded', reason: null } });
  await restart();
  expect(await headline()).toEqual(['good', 'Bereit']);
});

it.each([
  ['empty', ''],
  ['damaged', '{"format":"gw/failed-drive/1"'],
  ['foreign', '[1]'],
  ['of another version', '{"format":"gw/failed-drive/9"}'],
  ['of another robot', `{"format":"gw/failed-drive/1","serial":"OTHER","failed":null,"open":null}`],
])(
  'an %s file is never green: whether a drive failed is not known, until a person has seen that',
  async (_what, text) => {
    mkdirSync(stateDir, { recursive: true });
    writeFileSync(file(), text);
    await restart();
    expect(await headline()).toEqual(['attention', 'Ob eine Fahrt gescheitert ist, ist nicht bekannt']);
    expect(await html('/service')).toContain('failed-drive.json');
    await restart();
    expect((await headline())?.[0]).toBe('attention');
    const { id } = JSON.parse(/"failed":(\{"id":"[^"]+")/.exec(await html())?.[1]?.concat('}') ?? '{}');
    expect((await seen(id)).data).toEqual({ seen: true, saved: true });
    expect(await headline()).toEqual(['good', 'Bereit']);
    await restart();
    expect(await headline()).toEqual(['good', 'Bereit']);
  },
);

it('where the disk fails it holds in memory, and is saved as soon as the disk works', async () => {
  mkdirSync(stateDir, { recursive: true });
  chmodSync(stateDir, 0o777);
  server.motion.set({ drive: failed });
  expect(await headline()).toEqual(['attention', 'Fahrt zu B gescheitert']);
  chmodSync(stateDir, 0o700);
  await expect
    .poll(() => {
      server.clock.advance(2_000);
      return existsSync(file()) && readFileSync(file(), 'utf8').includes('"d1"');
    })
    .toBe(true);
  chmodSync(stateDir, 0o777);
  // What a person has seen is not asked again, and not called saved.
  expect((await seen('d1')).data).toEqual({ seen: true, saved: false });
  expect(await headline()).toEqual(['good', 'Bereit']);
  chmodSync(stateDir, 0o700);
  await expect
    .poll(() => {
      server.clock.advance(2_000);
      return readFileSync(file(), 'utf8').includes('"d1"');
    })
    .toBe(false);
});

it('a file that cannot be read yet is read again', async () => {
  server.motion.set({ drive: failed });
  await server[Symbol.asyncDispose]();
  chmodSync(stateDir, 0o777);
  await start();
  expect(await headline()).toEqual(['attention', 'Ob eine Fahrt gescheitert ist, ist nicht bekannt']);
  chmodSync(stateDir, 0o700);
  await expect
    .poll(async () => {
      server.clock.advance(2_000);
      return await headline();
    })
    .toEqual(['attention', 'Fahrt zu B gescheitert']);
  expect(readFileSync(file(), 'utf8')).toContain(SERIAL);
});
