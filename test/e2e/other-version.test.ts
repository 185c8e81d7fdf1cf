import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readSecret } from '../../src/lib/site/index.ts';
import { enrolDevice } from '../../src/lib/toolkit/enrol/enrol.ts';
import { openToolkit } from '../../src/lib/toolkit/toolkit.ts';
import { type Running, runGw } from './gw.ts';
import { type Robot, startRobot, startServe, until } from './robot.ts';

/**
 * State that another version of gw has left behind. `earlier-state` was written by the program of 24 November 2026 on its
 * own simulator: a support session, a confirmed release, a tablet, a stop from the cloud, then a cloud that is silent and
 * `kill -9`. It is never written anew by this version, or the test would compare this version with itself.
 */
const earlier = join(import.meta.dirname, 'earlier-state');
const context = { signal: new AbortController().signal, onProgress: () => {} };

/** A robot whose folder has the state of the earlier version, enrolled, not served yet. */
async function startEarlier(): Promise<Robot> {
  const robot = await startRobot({ with: ['enrolment', 'cloud', 'password', 'tablet'] });
  cpSync(join(earlier, 'state'), join(robot.dir, 'state'), { recursive: true });
  cpSync(join(earlier, 'releases'), join(robot.dir, 'releases'), { recursive: true });
  cpSync(join(earlier, 'evidence.jsonl'), join(robot.dir, 'evidence.jsonl'));
  const oldSite = parse(readFileSync(join(earlier, 'site.yaml'), 'utf8'));
  const newSite = parse(readFileSync(robot.site, 'utf8'));
  // The site file of that version, with the ports of this simulator.
  for (const [part, ports] of [
    [oldSite.chassis, { port: newSite.chassis.port }],
    [oldSite.operator, newSite.operator],
    [oldSite.enrolment, { url: newSite.enrolment.url }],
    [oldSite.cloud.mqtt, newSite.cloud.mqtt],
    [oldSite.cloud, { storageUrl: newSite.cloud.storageUrl }],
    [oldSite.cloud.tunnel, newSite.cloud.tunnel],
    [oldSite.tablet, { adbPort: newSite.tablet.adbPort }],
  ]) {
    Object.assign(part, ports);
  }
  writeFileSync(robot.site, stringify(oldSite));
  for (const path of ['', ...readdirSync(join(robot.dir, 'state'), { recursive: true, encoding: 'utf8' })]) {
    // Git keeps no modes.
    const full = join(robot.dir, 'state', path);
    chmodSync(full, readdirSyncOrNull(full) === null ? 0o600 : 0o700);
  }
  chmodSync(join(robot.dir, 'releases'), 0o700);
  const readCode = () => readSecret(robot.sim.enrolment?.codePath ?? '', 'the one-time code');
  await enrolDevice(await openToolkit(robot.site), { renew: false, readCode }, context);
  return robot;
}

function readdirSyncOrNull(path: string): readonly string[] | null {
  try {
    return readdirSync(path);
  } catch {
    return null;
  }
}

async function json<T>({ operatorPort }: Robot, path: string): Promise<T> {
  return (await (await fetch(`http://127.0.0.1:${operatorPort}${path}`)).json()) as T;
}

interface Cloud {
  readonly status: string;
  readonly received: { readonly stops: number; readonly discarded: Readonly<Record<string, number>> } | null;
}

interface Newer {
  readonly outbox: { readonly status: string; readonly detail: string };
  readonly seen: { readonly status: string; readonly detail: string };
  readonly release: { readonly status: string; readonly detail: string };
}

interface Data {
  readonly [key: string]: unknown;
}

/** Telemetry in the outbox of a state folder, the oldest first. */
function keptBy(folder: string): object[] {
  const copy = mkdtempSync(join(tmpdir(), 'gw-outbox-'));
  try {
    cpSync(join(folder, 'state/cloud/outbox'), copy, { recursive: true });
    using database = new DatabaseSync(join(copy, 'outbox.db'));
    const rows = database.prepare("SELECT payload FROM message WHERE topic LIKE '%/telemetry' ORDER BY key").all();
    return rows.map(({ payload }) => {
      const { id, seq } = JSON.parse(Buffer.from(payload as Uint8Array).toString('utf8'));
      return { id, seq };
    });
  } finally {
    rmSync(copy, { recursive: true });
  }
}

interface Stop {
  readonly stop: {
    readonly latched: boolean;
    readonly by: string | null;
    readonly reason: string;
    readonly since: string;
  };
}

describe('the state of an earlier version', () => {
  let robot: Robot;
  let serve: Running;
  beforeAll(async () => {
    robot = await startEarlier();
    serve = await startServe(robot.site);
  });
  afterAll(async () => {
    await serve?.[Symbol.asyncDispose]();
    await robot?.[Symbol.asyncDispose]();
  });
  const gw = (...words: string[]) => runGw([...words, '--site', robot.site]);

  test('its stop is still set, with its reason and time, and no order passes', async () => {
    expect((await json<Stop>(robot, '/api/stopp')).stop).toMatchObject({
      latched: true,
      by: 'cloud',
      reason: 'left behind',
      since: '2026-11-27T17:20:58.773Z',
    });
    const order = await gw('motion', 'go', 'A', '--robot-will-move');
    expect(order).toMatchObject({ code: 4, stderr: expect.stringContaining('left behind') });
  });

  test('every message that it kept arrives at the cloud, and the numbers go on', async () => {
    const kept = keptBy(earlier);
    expect(kept.length).toBeGreaterThan(5);
    const topic = 'gw/SIM-0001/telemetry';
    const received = async () =>
      (robot.sim.cloud?.received() ?? [])
        .filter((message) => message.topic === topic)
        .map(({ payload }) => JSON.parse(String(payload)) as { id: string; seq: number });
    const answer = await until(received, (messages) => messages.length >= kept.length + 2);
    expect(answer.slice(0, kept.length).map(({ id, seq }) => ({ id, seq }))).toEqual(kept);
    const first = answer[0]?.seq ?? 0;
    expect(answer.map(({ seq }) => seq)).toEqual(answer.map((_, index) => first + index));
  });

  test('the file of the stops that it has received is read, and a new one under an id of those stops', async () => {
    const { stops } = JSON.parse(readFileSync(join(earlier, 'state/cloud-seen.json'), 'utf8'));
    const { seen } = await until(
      () => json<Cloud & Pick<Newer, 'seen'>>(robot, '/api/cloud'),
      ({ status }) => status === 'connected',
    );
    expect(seen.status).toBe('saved');
    await robot.sim.cloud?.send('gw/SIM-0001/stop', JSON.stringify({ id: stops.at(-1) }));
    await until(
      () => json<Cloud>(robot, '/api/cloud'),
      ({ received }) => received?.stops === 1,
    );
  });

  test('its support sessions, its release, its evidence, its backup and its tablet are read', async () => {
    const read = async (...words: string[]) => {
      const { code, stdout } = await gw(...words, '--json');
      return { code, ...(JSON.parse(stdout) as { data: Data }) };
    };
    const audit = await read('tunnel', 'audit', '--accept-undecided');
    expect(audit).toMatchObject({ code: 0 });
    expect(audit.data.sessions).toBe(1);
    const release = await read('release', 'status', '--accept-undecided');
    expect(release).toMatchObject({ code: 0, data: { run: { phase: 'confirmed', toVersion: '0.1.1' } } });
    const evidence = await read('evidence', 'show', 'vendor.move.request', '--live');
    expect(evidence).toMatchObject({
      code: 0,
      data: { here: { verdict: 'verified' }, records: [{ when: '2026-11-27T17:20:10.225Z' }] },
    });
    const backup = join(robot.dir, 'state/map-backups/maps-SIM-0001-20261127T172017Z.tar.gz');
    expect((await runGw(['map', 'verify', backup, '--accept-undecided'])).code).toBe(0);
    const tablet = await read('kiosk', 'status', '--accept-undecided');
    expect(tablet.data).toMatchObject({ tablet: { serial: 'TABSIM0001' } });
  });
});

describe('the state of a newer version', () => {
  // What decides about movement, what the cloud must get, and what an audit reads; the rest is made anew.
  const kept = ['stop-latch.json', 'cloud-seen.json', 'cloud-shadow.json', 'tablet.json', 'cloud/outbox/outbox.db'];

  test('keeps the robot stopped, is not overwritten, and every part says which format it found', async () => {
    await using robot = await startEarlier();
    const state = join(robot.dir, 'state');
    const releases = join(robot.dir, 'releases/state.json');
    for (const path of [
      ...readdirSync(state, { recursive: true, encoding: 'utf8' }).map((name) => join(state, name)),
      releases,
    ]) {
      if (!/\.jsonl?$/.test(path)) continue;
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/"(gw\/[a-z-]+)\/\d+"/g, '"$1/9"'));
    }
    {
      using database = new DatabaseSync(join(state, 'cloud/outbox/outbox.db'));
      database.exec('PRAGMA user_version = 99');
    }
    const before = kept.map((path) => readFileSync(join(state, path)));
    const [records, release] = [readFileSync(join(state, 'support/sessions.jsonl')), readFileSync(releases)];
    await using serve = await startServe(robot.site);
    const answer = await until(
      () => json<Newer>(robot, '/api/cloud'),
      ({ outbox, release: { status } }) => outbox.status === 'failing' && status === 'failing',
    );
    expect(answer.outbox.detail).toMatch(/has format 99; this gw knows 1/);
    expect(answer.seen).toMatchObject({ status: 'failing', detail: expect.stringContaining('gw/cloud-seen/9') });
    expect(answer.release.detail).toContain('gw/release-state/9, and this one reads gw/release-state/1');
    const { stop } = await json<Stop>(robot, '/api/stopp');
    expect(stop).toMatchObject({ latched: true, reason: expect.stringContaining('gw/stop-latch/9') });
    expect((await json<{ status: string }>(robot, '/api/health')).status).toBe('degraded');
    const order = await runGw(['motion', 'go', 'A', '--robot-will-move', '--site', robot.site]);
    expect(order.code).toBe(4);
    await serve.end();
    for (const [index, path] of kept.entries()) {
      expect(readFileSync(join(state, path)).equals(before[index] ?? Buffer.alloc(0)), path).toBe(true);
    }
    expect(readFileSync(releases).equals(release)).toBe(true);
    // Moved aside, and a chain of this version begun beside them.
    const aside = readdirSync(join(state, 'support')).map((name) => readFileSync(join(state, 'support', name)));
    expect(aside.some((bytes) => bytes.equals(records))).toBe(true);
  });
});
