import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSecret } from '../../src/lib/site/index.ts';
import { enrolDevice } from '../../src/lib/toolkit/enrol/enrol.ts';
import { openToolkit } from '../../src/lib/toolkit/toolkit.ts';
import type { Running } from './gw.ts';
import { runGw } from './gw.ts';
import { type Robot, startRobot, startServe, until } from './robot.ts';

/** `gw serve` and the simulated cloud, as two processes; what needs no process is in test/story/cloud.test.ts. */

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
