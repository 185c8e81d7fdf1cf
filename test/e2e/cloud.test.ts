import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readSecret } from '../../src/lib/site/index.ts';
import { enrolDevice } from '../../src/lib/toolkit/enrol/enrol.ts';
import { openToolkit } from '../../src/lib/toolkit/toolkit.ts';
import type { Running } from './gw.ts';
import { runGw } from './gw.ts';
import { chassisState, type Robot, startRobot, startServe, until } from './robot.ts';

/** `gw serve` and the simulated cloud, as two processes. */

interface View {
  readonly status: string;
  readonly detail: string;
  readonly remedy: string | null;
  readonly link: { readonly connects: number } | null;
  readonly received: { readonly stops: number; readonly discarded: Readonly<Record<string, number>> } | null;
}
interface Latch {
  readonly stop: { readonly latched: boolean; readonly by: string | null };
}

const context = { signal: new AbortController().signal, onProgress: () => {} };

async function json<T>({ operatorPort }: Robot, path: string): Promise<T> {
  return (await (await fetch(`http://127.0.0.1:${operatorPort}${path}`)).json()) as T;
}
const viewOf = (robot: Robot) => json<View>(robot, '/api/cloud');
const latchOf = (robot: Robot) => json<Latch>(robot, '/api/stopp');
const connected = (robot: Robot) =>
  until(
    () => viewOf(robot),
    ({ status }) => status === 'connected',
  );

describe('gw serve with a cloud', () => {
  let robot: Robot;
  let serve: Running;
  beforeAll(async () => {
    robot = await startRobot({ with: ['enrolment', 'cloud', 'password'] });
    const readCode = () => readSecret(robot.sim.enrolment?.codePath ?? '', 'the one-time code');
    await enrolDevice(await openToolkit(robot.site), { renew: false, readCode }, context);
    serve = await startServe(robot.site);
    await connected(robot);
  });
  afterAll(async () => {
    await serve?.[Symbol.asyncDispose]();
    await robot?.[Symbol.asyncDispose]();
  });
  const cloud = () => {
    if (robot.sim.cloud === null) throw new Error('there is no cloud');
    return robot.sim.cloud;
  };
  const clear = async () => {
    expect(await runGw(['motion', 'clear', '--site', robot.site])).toMatchObject({ code: 0 });
  };

  test('gw network check verifies both paths, the link stays connected, and a stop still arrives after it', async () => {
    const { link, received } = await viewOf(robot);
    const { stdout } = await runGw(['network', 'check', '--site', robot.site, '--json']);
    const { lines } = (JSON.parse(stdout) as { data: { lines: { id: string; verdict: string }[] } }).data;
    const of = (id: string) => lines.find((line) => line.id === id)?.verdict;
    expect([of('mqtt-direct.mqtt'), of('mqtt-fallback.mqtt')]).toEqual(['ok', 'ok']);
    const answer = await connected(robot);
    // By its own link, which moves from path to path; a second client would also have displaced it.
    expect(cloud().broker.connectedIds()).toEqual(['SIM-0001']);
    expect(answer.link?.connects).toBeGreaterThanOrEqual(link?.connects ?? 0);
    await cloud().stop({ by: 'control centre' });
    const latch = await until(
      () => latchOf(robot),
      ({ stop }) => stop.latched,
    );
    expect(latch.stop.by).toBe('cloud, control centre');
    expect((await viewOf(robot)).received?.stops).toBe((received?.stops ?? 0) + 1);
    await clear();
  });

  test('a retained stop does not stop the robot at the next connection', async () => {
    const before = await viewOf(robot);
    await robot.fault('cloud-cut', 'on');
    await until(
      () => viewOf(robot),
      ({ status }) => status !== 'connected',
    );
    // A subscription that is made anew delivers it as retained; a kept session would deliver it as a new message.
    await robot.fault('cloud-session-lost', 'on');
    await robot.fault('cloud-cut', 'off');
    await connected(robot);
    await robot.fault('cloud-session-lost', 'off');
    await cloud().send('gw/SIM-0001/stop', '{"id":"kept-1"}', { retain: true });
    await until(
      () => latchOf(robot),
      ({ stop }) => stop.latched,
    );
    await clear();
    await cloud().restart();
    const answer = await until(
      () => viewOf(robot),
      ({ status, received }) => status === 'connected' && (received?.discarded.retained ?? 0) > 0,
    );
    expect(answer.received?.stops).toBe((before.received?.stops ?? 0) + 1);
    expect((await latchOf(robot)).stop.latched).toBe(false);
    await cloud().send('gw/SIM-0001/stop', '', { retain: true });
  });

  test('gw enrol --renew replaces the certificate of the running link, over which a stop arrives', async () => {
    const certificate = async () => {
      const { link } = await json<{ link: { connection: { certificate: { fingerprintSha256: string } } | null } }>(
        robot,
        '/api/cloud',
      );
      return link.connection?.certificate.fingerprintSha256 ?? null;
    };
    const before = await certificate();
    const readCode = async () => robot.sim.enrolment?.newCode() ?? '';
    await enrolDevice(await openToolkit(robot.site), { renew: true, readCode }, context);
    await until(certificate, (now) => now !== null && now !== before);
    await connected(robot);
    await cloud().stop();
    await until(
      () => latchOf(robot),
      ({ stop }) => stop.latched,
    );
    await clear();
  });

  test('a stop while the chassis is not connected is latched at once, and cancels the move when the chassis is back', async () => {
    const { host, port } = robot.sim.chassis;
    const chassis = `http://${host}:${port}`;
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      expect((await fetch(`${chassis}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).ok).toBe(true);
    };
    // The way of 5.6 m then takes longer than all the limits below together.
    await post('/system/settings/user', { 'control.max_forward_velocity': 0.1 });
    await post('/chassis/moves', { type: 'standard', target_x: 4, target_y: 2, creator: 'test' });
    const drives = () =>
      until(
        async () => robot.sim.state().speedMS,
        (speedMS) => speedMS > 0,
      );
    // It turns first.
    await drives();
    await robot.fault('cut', 'on');
    await until(
      () => chassisState(robot.operatorPort),
      ({ link }) => link.kind === 'not-connected',
    );
    await cloud().stop();
    await until(
      () => latchOf(robot),
      ({ stop }) => stop.latched,
    );
    // The cancel has not reached it.
    await drives();
    await robot.fault('cut', 'off');
    const states = async () =>
      ((await (await fetch(`${chassis}/chassis/moves`)).json()) as { state: string }[]).map(({ state }) => state);
    await until(states, (all) => all.includes('cancelled'));
    await clear();
  });

  test('telemetry has no gap over kill -9 of gw serve', async () => {
    await robot.fault('cloud-cut', 'on');
    await until(
      () => json<{ outbox: { kept: { telemetry: number } | null } }>(robot, '/api/cloud'),
      ({ outbox }) => (outbox.kept?.telemetry ?? 0) >= 2,
    );
    await serve.end('SIGKILL');
    serve = await startServe(robot.site);
    await robot.fault('cloud-cut', 'off');
    await connected(robot);
    const numbers = () =>
      cloud()
        .received()
        .filter(({ topic }) => topic === 'gw/SIM-0001/telemetry')
        .map(({ payload }) => (JSON.parse(Buffer.from(payload).toString('utf8')) as { seq: number }).seq);
    const last = () => Math.max(...numbers());
    const from = last();
    await until(
      async () => last(),
      (seq) => seq > from + 2,
    );
    const seen = new Set(numbers());
    expect(Array.from({ length: last() }, (_, index) => index + 1).filter((seq) => !seen.has(seq))).toEqual([]);
  });
});

describe('gw serve without a link', () => {
  test.each([
    ['without `cloud` in the site file', 'not-configured', false],
    ['without an identity', 'not-enrolled', true],
  ] as const)('%s runs as before, and says why', async (_what, status, hasCloud) => {
    await using robot = await startRobot({ with: ['enrolment', 'cloud'] });
    if (!hasCloud) {
      const { cloud: _, ...site } = parse(await readFile(robot.site, 'utf8')) as Record<string, unknown>;
      await writeFile(robot.site, stringify(site));
    }
    await using _serve = await startServe(robot.site);
    const answer = await until(
      () => viewOf(robot),
      (view) => view.status === status,
    );
    expect(answer.detail).toMatch(hasCloud ? /no identity/ : /cloud/);
    expect(await latchOf(robot)).toMatchObject({ stop: { latched: false } });
    expect((await fetch(`http://127.0.0.1:${robot.operatorPort}/`)).status).toBe(200);
    expect(existsSync(join(robot.dir, 'state', 'cloud', 'outbox'))).toBe(false);
  });
});
