import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeState } from '../../../src/lib/cloud/release/state.ts';
import { unpackPackage } from '../../../src/lib/cloud/release/unpack.ts';
import { directDialer } from '../../../src/lib/net/index.ts';
import { localSocketPath, siteSchema } from '../../../src/lib/site/index.ts';
import { rehearseCloud, type SimulatedCloud } from '../../../src/lib/toolkit/demo/cloud-rehearsal.ts';
import type { Toolkit } from '../../../src/lib/toolkit/toolkit.ts';
import { makeKeys, makePackage } from '../../cloud/release/packages.ts';
import { connectedView, lostView } from '../../cloud/views.ts';
import { createPacedClock } from '../../lifecycle/paced-clock.ts';

const TELEMETRY_MS = 1_000;

/** A gateway and a cloud that a test makes lose, delay and mix up what a rehearsal measures. */
async function startWorld() {
  const dir = mkdtempSync(join(tmpdir(), 'gw-rehearsal-'));
  const clock = createPacedClock();
  const world = {
    isCut: false,
    accepted: 0,
    acknowledged: 0,
    thinned: 0,
    kept: [] as number[],
    telemetry: [] as number[],
    /** What is lost of the kept messages although they were acknowledged. */
    lose: (_kept: readonly number[]): readonly number[] => [],
    /** After the end of the outage no further telemetry is made. */
    isLast: false,
    /** What the gateway says that it runs, and what a restart does. */
    running: '1.0.1',
    restart: async () => {},
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
    release: { ...connectedView.release, runningVersion: world.running },
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
    return response.writeHead(404).end();
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
    cloud: {
      mqtt: { host: 'mqtt.example.test', alpn: 'x-example-mqtt-ca' },
      release: { dir: join(dir, 'releases'), keyFile: join(dir, 'release-key.pem') },
    },
  });
  const cloud: SimulatedCloud = {
    async cut(on) {
      world.isCut = on;
      if (!on) deliver();
    },
    stop: () => Promise.reject(new Error('not rehearsed here')),
    release: () => Promise.reject(new Error('not rehearsed here')),
    openTunnel: () => Promise.reject(new Error('not rehearsed here')),
    browse: async () => [],
    closeTunnel: async () => {},
    received: async () => world.telemetry.map((seq) => JSON.stringify({ id: `t${seq}`, seq })),
  };
  return Object.assign(world, {
    clock,
    dir,
    /** The finding of one part. */
    async rehearse(id: string) {
      const toolkit = { site: { ...site, path: '/nowhere', dir: '/nowhere', stateDir }, dialer: directDialer, clock };
      const findings = await rehearseCloud(
        toolkit as unknown as Toolkit,
        {
          cloud,
          password: '',
          makePackage: () => Promise.reject(new Error('not rehearsed here')),
          restartGateway: () => world.restart(),
          gwVersion: '1.0.0',
          timeoutMs: 15_000,
          onPart: () => {},
          onFinding: () => {},
        },
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

describe('the rehearsed rollback', () => {
  /** The base installation 1.0.0, and the release 1.0.1 as the current version. */
  async function release(dir: string) {
    const keys = makeKeys();
    writeFileSync(join(dir, 'release-key.pem'), keys.publicPem);
    const releases = join(dir, 'releases');
    mkdirSync(releases, { mode: 0o700 });
    const { path } = await makePackage(dir, keys.privateKey, { version: '1.0.1' });
    const { signal } = new AbortController();
    await unpackPackage(path, { keys: [keys.publicKey], dir: releases, folder: '1.0.1', signal });
    symlinkSync('1.0.1', join(releases, 'current'));
    const previous = { folder: null, version: '1.0.0' };
    await writeState(releases, { schema: 'gw/release-state/1', previous, run: null, onSite: null });
  }

  it.each<[string, string, string, object]>([
    ['is ok when the version before runs again', '1.0.1', '1.0.0', { verdict: 'ok' }],
    [
      'is not ok when the release still runs after the restart',
      '1.0.1',
      '1.0.1',
      { verdict: 'wrong', detail: expect.stringContaining('and 1.0.1 runs') },
    ],
    [
      'is not ok when another version ran than the folder says',
      '1.0.0',
      '1.0.0',
      { verdict: 'wrong', detail: expect.stringContaining('1.0.0 ran, and 1.0.1 was left') },
    ],
  ])('%s', async (_what, before, after, finding) => {
    await using world = await startWorld();
    await release(world.dir);
    world.running = before;
    world.restart = async () => {
      world.running = after;
    };
    expect(await world.rehearse('cloud-rollback')).toMatchObject(finding);
  });

  it('is not ok when there is no release to leave', async () => {
    await using world = await startWorld();
    await release(world.dir);
    rmSync(join(world.dir, 'releases/current'));
    expect(await world.rehearse('cloud-rollback')).toMatchObject({ verdict: 'wrong' });
  });
});

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
