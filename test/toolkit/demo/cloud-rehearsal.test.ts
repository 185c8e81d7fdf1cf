import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { directDialer } from '../../../src/lib/net/index.ts';
import { localSocketPath, siteSchema } from '../../../src/lib/site/index.ts';
import { rehearseCloud } from '../../../src/lib/toolkit/demo/cloud-rehearsal.ts';
import type { SimulatedCloud } from '../../../src/lib/toolkit/demo/rehearsal-tools.ts';
import type { Toolkit } from '../../../src/lib/toolkit/toolkit.ts';
import { connectedView, lostView } from '../../cloud/views.ts';
import { createPacedClock } from '../../lifecycle/paced-clock.ts';

const NO_LATCH = {
  latched: false,
  by: null as string | null,
  reason: null,
  since: null,
  repeated: null as object | null,
};
const TELEMETRY_MS = 1_000;

/** A gateway and a cloud that a test makes lose, delay and mix up what a rehearsal measures. */
async function startWorld() {
  const dir = mkdtempSync(join(tmpdir(), 'gw-rehearsal-'));
  const clock = createPacedClock();
  const world = {
    latch: { ...NO_LATCH },
    isCut: false,
    accepted: 0,
    acknowledged: 0,
    thinned: 0,
    kept: [] as number[],
    telemetry: [] as number[],
    records: [] as string[],
    /** What is lost of the kept messages although they were acknowledged. */
    lose: (_kept: readonly number[]): readonly number[] => [],
    /** After the end of the outage no further telemetry is made. */
    isLast: false,
    onStop: async (by: string) => world.latchBy(`cloud, ${by}`),
    cleared: 0,
    latchBy(by: string) {
      world.latch = { ...NO_LATCH, latched: true, by };
    },
  };
  const deliver = () => {
    const lost = world.lose(world.kept);
    world.telemetry.push(...world.kept.filter((seq) => !lost.includes(seq)));
    world.acknowledged += world.kept.length;
    world.kept = [];
  };
  const make = () => {
    if (world.isLast) return;
    world.accepted += 1;
    world.kept.push(world.accepted);
    if (!world.isCut) deliver();
  };
  make();
  const made = clock.every(TELEMETRY_MS, make);
  const view = () => ({
    ...(world.isCut ? lostView : connectedView),
    outbox: {
      ...connectedView.outbox,
      kept: { record: 0, fault: 0, shadow: 0, telemetry: world.kept.length },
      accepted: world.accepted,
      acknowledged: world.acknowledged,
      thinned: world.thinned,
    },
  });
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const send = (data: object) =>
      response.writeHead(200, { 'content-type': 'application/json', 'gw-robot': 'SN0007' }).end(JSON.stringify(data));
    if (request.url === '/api/cloud') return send(view());
    if (request.url === '/api/touren') return send({ gate: { open: true, reasons: [] } });
    if (request.method === 'DELETE') {
      world.cleared += 1;
      world.latch = { ...NO_LATCH };
    }
    return send({ stop: world.latch });
  };
  const [server, local] = [createServer(answer), createServer(answer)];
  const stateDir = join(dir, 'state');
  const socket = localSocketPath({ stateDir });
  mkdirSync(dirname(socket), { recursive: true });
  server.listen(0, '127.0.0.1');
  local.listen(socket);
  await Promise.all([once(server, 'listening'), once(local, 'listening')]);
  const site = siteSchema.parse({
    name: 'Test',
    chassis: { host: '127.0.0.1', serial: 'SN0007' },
    operator: { port: (server.address() as { port: number }).port },
    cloud: { mqtt: { host: 'mqtt.example.test', alpn: 'x-example-mqtt-ca' } },
  });
  const cloud: SimulatedCloud = {
    async cut(on) {
      world.isCut = on;
      if (!on) deliver();
    },
    async stop(_reason, by) {
      await world.onStop(by);
      world.records.push('{"stopId":"stop-1"}');
      return { id: 'stop-1' };
    },
    release: () => Promise.reject(new Error('not rehearsed here')),
    job: async () => null,
    openTunnel: () => Promise.reject(new Error('not rehearsed here')),
    browse: async () => [],
    closeTunnel: async () => {},
    received: async (topic) =>
      topic.endsWith('telemetry')
        ? world.telemetry.map((seq) => JSON.stringify({ id: `t${seq}`, seq }))
        : world.records,
  };
  return Object.assign(world, {
    clock,
    /** The finding of one part. */
    async rehearse(id: string) {
      const toolkit = { site: { ...site, path: '/nowhere', dir: '/nowhere', stateDir }, dialer: directDialer, clock };
      const findings = await rehearseCloud(
        toolkit as unknown as Toolkit,
        { cloud, makePackage: () => Promise.reject(new Error('not rehearsed here')), onFinding: () => {} },
        { signal: new AbortController().signal, onProgress: () => {} },
      );
      return findings.find((finding) => finding.id === id);
    },
    async [Symbol.asyncDispose]() {
      made[Symbol.dispose]();
      for (const each of [server, local]) {
        each.closeAllConnections();
        each.close();
      }
      rmSync(dir, { recursive: true, force: true });
    },
  });
}

describe('the rehearsed outage', () => {
  it('is ok when every message arrives', async () => {
    await using world = await startWorld();
    expect(await world.rehearse('cloud-outage')).toMatchObject({
      verdict: 'ok',
      detail: expect.stringMatching(/telemetry 1 to \d+ without a gap/),
    });
  });

  it.each<[string, (kept: readonly number[]) => readonly number[]]>([
    ['the first', (kept) => kept.slice(0, 1)],
    ['a middle one', (kept) => kept.slice(1, 2)],
    ['the last', (kept) => kept.slice(-1)],
    ['every one', (kept) => kept],
  ])('is not ok when %s of the kept messages is lost', async (_what, lose) => {
    await using world = await startWorld();
    world.lose = (kept) => {
      if (kept.length < 2) return [];
      world.isLast = true;
      return lose(kept);
    };
    expect(await world.rehearse('cloud-outage')).toMatchObject({ verdict: 'wrong' });
  });

  it('is not ok when telemetry was thinned', async () => {
    await using world = await startWorld();
    world.lose = (kept) => {
      if (kept.length > 1) world.thinned += 1;
      return [];
    };
    expect(await world.rehearse('cloud-outage')).toMatchObject({ verdict: 'wrong' });
  });
});

describe('the rehearsed stop', () => {
  it('is measured from before it is sent', async () => {
    await using world = await startWorld();
    world.onStop = async (by) => {
      await world.clock.sleep(700);
      world.latchBy(`cloud, ${by}`);
    };
    const finding = await world.rehearse('cloud-stop');
    expect(finding).toMatchObject({ verdict: 'ok' });
    const [, tookMs] = /^latched (\d+) ms/.exec(finding?.detail ?? '') ?? [];
    expect(Number(tookMs)).toBeGreaterThanOrEqual(700);
    expect(world.cleared).toBe(1);
  });

  it.each(['operator surface', 'cloud, gw demo'])('is not sent while a stop is latched already (%s)', async (by) => {
    await using world = await startWorld();
    world.latchBy(by);
    const finding = await world.rehearse('cloud-stop');
    expect(finding).toMatchObject({ verdict: 'wrong', detail: expect.stringContaining(by) });
    expect(world.records).toEqual([]);
    expect(world.cleared).toBe(0);
  });

  it.each<[string, object]>([
    ['latched by another place', { latched: true, by: 'operator surface' }],
    ['repeated by another place', { latched: true, by: 'cloud, gw demo', repeated: { by: ['operator surface'] } }],
  ])('is not cleared when it was %s', async (_what, latch) => {
    await using world = await startWorld();
    world.onStop = async () => {
      world.latch = { ...NO_LATCH, ...latch };
    };
    const finding = await world.rehearse('cloud-stop');
    expect(finding).toMatchObject({ verdict: 'wrong', detail: expect.stringContaining('operator surface') });
    expect(world.cleared).toBe(0);
  });
});
