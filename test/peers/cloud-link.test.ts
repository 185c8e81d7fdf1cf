import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate, type Packet, parser } from 'mqtt-packet';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LinkIdentity } from '../../src/lib/cloud/link/model.ts';
import { linkTiming } from '../../src/lib/cloud/link/timing.ts';
import { type CertificateAuthority, createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { ALPN, FILTERS, identityOf, realClock, runLink, SERIAL } from '../cloud/link/world.ts';
import { freePort } from '../free-port.ts';
import { tlsPeer } from '../net/probe/world.ts';
import { runProcess } from '../process.ts';
import { hasNginxStream, startAlpnFront, startMosquitto } from './network-peers.ts';
import { hasProgram } from './peer.ts';

const hasAll = hasProgram('mosquitto') && hasProgram('mosquitto_pub') && hasProgram('nginx') && hasNginxStream();

/** In place of minutes. */
const timing = {
  ...linkTiming,
  pollMs: 100,
  retry: { firstMs: 200, maxMs: 1_000 },
  renewalRetry: { firstMs: 1_000, maxMs: 5_000 },
  directRetry: { firstMs: 1_000, maxMs: 5_000 },
};

describe.skipIf(!hasAll)('the cloud link against mosquitto and nginx with ssl_alpn', () => {
  const root = mkdtempSync(join(tmpdir(), 'gw-link-peers-'));
  let authority: CertificateAuthority;
  let identity: LinkIdentity;
  let dir: string;
  const readIdentity = async () => identity;
  beforeAll(async () => {
    authority = await createCa({ commonName: 'Cloud CA' });
    identity = await identityOf(authority);
  });
  beforeEach(() => {
    dir = mkdtempSync(join(root, 'run-'));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  /** Publishes with mosquitto's own client over the plain port. */
  async function send(port: number, topic: string, payload: string, ...more: string[]) {
    const sent = await runProcess('mosquitto_pub', [
      ...['-h', '127.0.0.1', '-p', `${port}`, '-t', topic, '-q', '1', '-m', payload, ...more],
    ]);
    if (sent.code !== 0) throw new Error(`mosquitto_pub: ${sent.stderr}`);
  }

  it('connects with its certificate, subscribes, receives in order with the retain flag, and publishes', async () => {
    await using broker = await startMosquitto(dir, authority);
    await send(broker.plainPort, FILTERS[0] ?? '', 'old', '-r');
    await using running = runLink({
      clock: realClock,
      timing,
      readIdentity,
      port: broker.port,
      fallbackPort: await freePort(),
    });
    const connection = await running.connected();
    for (let index = 0; index < 5; index += 1) await send(broker.plainPort, FILTERS[1] ?? '', `${index}`);
    await send(broker.plainPort, `other/${SERIAL}`, 'not subscribed');
    await realClock.until('six messages', () => running.messages.length === 6, 20_000);
    const received = running.messages.map(({ topic, payload, retain }) => `${topic} ${payload} ${retain}`);
    expect(received).toEqual([
      `${FILTERS[0]} old true`,
      ...Array.from({ length: 5 }, (_, index) => `${FILTERS[1]} ${index} false`),
    ]);
    await connection.publish('gw/out', Buffer.from('{}'));
    expect(broker.output()).toContain(`Received PUBLISH from ${SERIAL} (d0, q1, r0`);
    // p2: MQTT 3.1.1; c0: the session is kept; k30: keep-alive.
    expect(broker.output()).toMatch(new RegExp(`as ${SERIAL} \\(p2, c0, k30, u'${SERIAL}'\\)`));
    await running.stop();
    await realClock.until('DISCONNECT', () => broker.output().includes(`Received DISCONNECT from ${SERIAL}`));
  });

  it('receives after a broker restart what was sent while it was away, and an oversized message once', async () => {
    const ports = [await freePort(), await freePort()] as const;
    const start = () =>
      startMosquitto(
        dir,
        authority,
        { host: '127.0.0.1', port: ports[0] },
        { plainPort: ports[1], isPersistent: true },
      );
    const options = { clock: realClock, timing, readIdentity, port: ports[0], fallbackPort: await freePort() };
    let first: ReturnType<typeof runLink>;
    {
      await using broker = await start();
      first = runLink(options);
      await first.connected();
      await first.stop();
      await send(broker.plainPort, FILTERS[0] ?? '', 'while away');
    }
    await using broker = await start();
    await using running = runLink({ ...options, dir: first.dir });
    await running.connected();
    expect(running.view().connection?.sessionPresent).toBe(true);
    await realClock.until('the message', () => running.messages.length === 1);
    expect(String(running.messages[0]?.payload)).toBe('while away');

    await runProcess('sh', [
      '-c',
      `head -c 400000 /dev/zero | tr '\\0' x | mosquitto_pub -h 127.0.0.1 -p ${broker.plainPort} -t ${FILTERS[2]} -q 1 -s`,
    ]);
    await realClock.until('the oversized message', () => running.messages.length === 2);
    expect(running.messages[1]).toMatchObject({ oversizedBytes: 400_000, topic: FILTERS[2] });
    expect(running.messages[1]?.payload).toHaveLength(0);
    expect(running.view()).toMatchObject({ status: 'connected', losses: 0 });
    // It was acknowledged, so a kept session does not deliver it again.
    await running.stop();
    await using again = runLink({ ...options, dir: first.dir });
    await again.connected();
    await realClock.sleep(300);
    expect(again.messages).toEqual([]);
    await first[Symbol.asyncDispose]();
  });

  it('reconnects when the broker comes back under a running link, and says what failed meanwhile', async () => {
    const ports = [await freePort(), await freePort()] as const;
    const start = () => startMosquitto(dir, authority, { host: '127.0.0.1', port: ports[0] }, { plainPort: ports[1] });
    const broker = await start();
    await using running = runLink({
      clock: realClock,
      timing,
      readIdentity,
      port: ports[0],
      fallbackPort: await freePort(),
    });
    await running.connected();
    await broker[Symbol.asyncDispose]();
    const away = await running.until('away', ({ failures }) => failures.direct?.step === 'tcp');
    expect(away).toMatchObject({ status: 'connecting', connection: null, losses: 1 });
    expect(away.failures.direct?.outcome.detail).toMatch(/^blocked: connection refused/);
    await using _back = await start();
    await running.connected();
    // The broker has lost the session, and all filters are subscribed again.
    expect(running.view()).toMatchObject({ connects: 2, connection: { sessionPresent: false } });
    await send(ports[1], FILTERS[10] ?? '', 'after');
    await realClock.until('the message', () => running.messages.length === 1);
  });

  it('uses the fallback port with ALPN, and returns when the direct port opens', async () => {
    const [port, plainPort] = [await freePort(), await freePort()];
    const hidden = await startMosquitto(dir, authority, undefined, { plainPort });
    await using front = await startAlpnFront(dir, authority, { alpn: ALPN, to: plainPort });
    const running = runLink({ clock: realClock, timing, readIdentity, port, fallbackPort: front.port });
    await using _running = running;
    expect((await running.connected()).path).toBe('fallback');
    expect(running.view()).toMatchObject({
      connection: { alpn: ALPN, port: front.port },
      failures: { direct: { step: 'tcp' } },
    });
    await hidden[Symbol.asyncDispose]();
    await using direct = await startMosquitto(dir, authority, { host: '127.0.0.1', port }, { plainPort });
    await running.until('direct', ({ connection }) => connection?.path === 'direct');
    expect(running.view().failures.direct).toBeNull();
    await send(direct.plainPort, FILTERS[0] ?? '', 'x');
    await realClock.until('the message', () => running.messages.length === 1);
  });

  it('returns from the fallback to the direct port of the same broker by displacing its own session', async () => {
    const front2 = await freePort();
    await using broker = await startMosquitto(dir, authority);
    await using front = await startAlpnFront(dir, authority, { alpn: ALPN, to: broker.plainPort });
    let isBlocked = true;
    const { directDialer } = await import('../../src/lib/net/index.ts');
    await using running = runLink({
      clock: realClock,
      timing,
      readIdentity,
      port: broker.port,
      fallbackPort: front.port,
      dialer: {
        way: 'direct',
        dial: (endpoint, options) =>
          directDialer.dial(
            isBlocked && endpoint.port === broker.port ? { ...endpoint, port: front2 } : endpoint,
            options,
          ),
      },
    });
    expect((await running.connected()).path).toBe('fallback');
    isBlocked = false;
    await running.until('direct', ({ connection }) => connection?.path === 'direct');
    expect(running.view()).toMatchObject({ connects: 2, losses: 0, connection: { sessionPresent: true } });
    expect(broker.output()).toContain(`Client ${SERIAL} already connected, closing old connection`);
    await realClock.sleep(500);
    expect(running.view()).toMatchObject({ status: 'connected', connects: 2 });
  });

  it('distinguishes a wrong ALPN identifier from a closed port, and a rejected certificate', async () => {
    await using broker = await startMosquitto(dir, authority);
    await using front = await startAlpnFront(dir, authority, { alpn: 'x-other-mqtt-ca', to: broker.plainPort });
    await using running = runLink({
      clock: realClock,
      timing,
      readIdentity,
      port: await freePort(),
      fallbackPort: front.port,
    });
    const { failures } = await running.until('both failed', (view) => view.failures.fallback !== null);
    expect(failures).toMatchObject({
      direct: { step: 'tcp', outcome: { detail: expect.stringMatching(/^blocked: connection refused/) } },
      fallback: {
        step: 'alpn',
        outcome: { detail: `TLS alert no_application_protocol: the server rejects ${ALPN}` },
      },
    });
    await running.stop();

    const other = await createCa({ commonName: 'Other CA' });
    const foreign = await identityOf(other, { trusts: authority });
    await using rejected = runLink({
      clock: realClock,
      timing,
      readIdentity: async () => foreign,
      port: broker.port,
      fallbackPort: await freePort(),
    });
    const view = await rejected.until('rejected', ({ failures: { direct } }) => direct !== null);
    expect(view.failures.direct?.outcome.detail).toBe(
      'the broker rejected the certificate of this device: TLS alert unknown CA',
    );
    expect(broker.output()).not.toContain(`as ${SERIAL}`);
  });

  it('takes up a renewed certificate before the old connection ends', async () => {
    const renewed = await identityOf(authority);
    let installed = identity;
    await using broker = await startMosquitto(dir, authority);
    await using running = runLink({
      clock: realClock,
      timing,
      readIdentity: async () => installed,
      port: broker.port,
      fallbackPort: await freePort(),
    });
    await running.connected();
    installed = renewed;
    await running.until(
      'renewed',
      ({ connection }) => connection?.certificate.fingerprintSha256 === renewed.fingerprintSha256,
    );
    expect(broker.output()).toContain(`Client ${SERIAL} already connected, closing old connection`);
    expect(running.view()).toMatchObject({ connects: 2, losses: 0, connection: { sessionPresent: true } });

    // A certificate of another CA is rejected; the connection in use stays.
    installed = await identityOf(await createCa(), { trusts: authority });
    const view = await running.until('refused', ({ renewalFailure }) => renewalFailure !== null);
    expect(view).toMatchObject({
      status: 'connected',
      connects: 2,
      connection: { certificate: { fingerprintSha256: renewed.fingerprintSha256 } },
    });
    expect(view.renewalFailure?.outcome.detail).toContain('TLS alert unknown CA');
  });

  it('ends a connection whose PUBACKs a proxy drops, and the message arrives with the next', async () => {
    let isDropping = true;
    await using broker = await startMosquitto(dir, authority);
    const upstreams = new Set<Socket>();
    await using proxy = await tlsPeer(authority, {}, (socket) => {
      const upstream = connect(broker.plainPort, '127.0.0.1');
      upstreams.add(upstream);
      upstream.on('error', () => socket.destroy());
      socket.on('data', (bytes: Buffer) => upstream.write(bytes));
      const reader = parser({ protocolVersion: 4 });
      reader.on('packet', (packet: Packet) => {
        if (!(isDropping && packet.cmd === 'puback') && socket.writable) socket.write(generate(packet));
      });
      upstream.on('data', (bytes: Buffer) => reader.parse(bytes));
      upstream.on('close', () => socket.destroy());
      socket.on('close', () => upstream.destroy());
    });
    await using running = runLink({
      clock: realClock,
      timing: { ...timing, pubackMs: 1_000 },
      readIdentity,
      port: proxy.port,
      fallbackPort: await freePort(),
    });
    const connection = await running.connected();
    const lost = connection.publish('gw/out', Buffer.from('one'));
    await expect(lost).rejects.toMatchObject({ code: 'CLOUD_NOT_CONNECTED' });
    expect(running.view().failures.direct?.outcome.detail).toContain('no PUBACK received for 1 s');
    isDropping = false;
    const again = await running.connected();
    await again.publish('gw/out', Buffer.from('one'));
    expect(broker.output().match(/Received PUBLISH from/g)).toHaveLength(2);
    for (const upstream of upstreams) upstream.destroy();
  });
});
