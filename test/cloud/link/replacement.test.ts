import { describe, expect, it } from 'vitest';
import { linkTiming } from '../../../src/lib/cloud/link/timing.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { directDialer } from '../../../src/lib/net/index.ts';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import {
  ALPN,
  atLastSuback,
  authority,
  type Client,
  type FakeBroker,
  fakeBroker,
  identity,
  identityOf,
  linked,
  runLink,
} from './world.ts';

/** As a broker does: an accepted CONNECT displaces the connection before. */
function displaceOthers(brokers: readonly (FakeBroker | undefined)[], client: Client): void {
  for (const other of brokers.flatMap((broker) => broker?.clients ?? [])) {
    if (other !== client && other.connect !== undefined) other.socket.destroy();
  }
}

/** In place of minutes and hours. */
const timing = {
  ...linkTiming,
  pollMs: 500,
  renewalRetry: { firstMs: 4_000, maxMs: 20_000 },
  directRetry: { firstMs: 4_000, maxMs: 60_000 },
};

describe('the fallback port', () => {
  it('is used when the direct path fails, remembered over a restart, and left when the direct path works', async () => {
    const brokers: FakeBroker[] = [];
    let canDirect = false;
    await using direct = await fakeBroker((packet, client) => {
      if (packet.cmd !== 'connect') return false;
      if (canDirect) displaceOthers(brokers, client);
      else client.socket.destroy();
      return !canDirect;
    });
    await using fallback = await fakeBroker(undefined, { ALPNProtocols: [ALPN] });
    brokers.push(direct, fallback);
    const ports = { port: direct.port, fallbackPort: fallback.port };
    await using running = runLink({ timing, ...ports });
    expect((await running.connected()).path).toBe('fallback');
    expect(running.view()).toMatchObject({
      connection: { alpn: ALPN, port: fallback.port },
      failures: { direct: { step: 'mqtt' }, fallback: null },
    });
    await running.stop();

    const [attemptsBefore] = [direct.clients.length];
    await using again = runLink({ timing, ...ports, dir: running.dir });
    expect((await again.connected()).path).toBe('fallback');
    expect(direct.clients).toHaveLength(attemptsBefore);

    canDirect = true;
    await again.until('direct', ({ connection }) => connection?.path === 'direct');
    expect(again.view()).toMatchObject({ connects: 2, losses: 0, failures: { direct: null, fallback: null } });
    // Subscribers receive null for the displaced connection, then the new one.
    expect(again.changes.at(-1)?.path).toBe('direct');
    expect(again.changes.filter((change) => change?.ended.aborted === false)).toHaveLength(1);
  });

  it('is kept while the direct path rejects the certificate, without a CONNECT there and ever more seldom', async () => {
    const other = await createCa();
    await using direct = await fakeBroker(undefined, { requestCert: true, rejectUnauthorized: true, ca: other.caPem });
    const handshakesAt: number[] = [];
    let now = () => 0;
    await using fallback = await fakeBroker(undefined, { ALPNProtocols: [ALPN] });
    await using running = runLink({
      timing,
      port: direct.port,
      fallbackPort: fallback.port,
      dialer: {
        way: 'direct',
        dial(endpoint, options) {
          if (endpoint.port === direct.port) handshakesAt.push(now());
          return directDialer.dial(endpoint, options);
        },
      },
    });
    now = running.clock.monotonicMs;
    await running.connected();
    // One at the start, then from the fallback.
    await running.clock.until('several attempts', () => handshakesAt.length >= 4);
    expect(direct.packets()).toEqual([]);
    const gaps = handshakesAt.slice(2).map((at, index) => at - (handshakesAt[index + 1] ?? 0));
    expect(gaps[1]).toBeGreaterThan(gaps[0] ?? 0);
    expect(running.view()).toMatchObject({ status: 'connected', connects: 1, losses: 0 });
    expect(running.view().failures.direct).toMatchObject({
      step: 'tls',
      outcome: { remedy: expect.stringContaining('does not accept the certificate') },
    });
  });

  it('is the only path when both ports are the same', async () => {
    await using fallback = await fakeBroker(undefined, { ALPNProtocols: [ALPN] });
    await using running = runLink({ timing, port: fallback.port, fallbackPort: fallback.port });
    expect((await running.connected()).path).toBe('fallback');
    expect(running.view().failures.direct).toBeNull();
  });
});

describe('a renewed certificate', () => {
  it('connects before the old connection is given up', async () => {
    const renewed = await identityOf(authority);
    let installed = identity;
    let openAtConnect = 0;
    await using running = await linked(
      (packet, client) => {
        if (packet.cmd !== 'connect') return false;
        openAtConnect = running.broker.clients.filter(({ socket }) => !socket.destroyed).length;
        displaceOthers([running.broker], client);
        return false;
      },
      { timing, readIdentity: async () => installed },
    );
    await running.connected();
    installed = renewed;
    const { connection } = await running.until(
      'the new certificate in use',
      (view) => view.connection?.certificate.fingerprintSha256 === renewed.fingerprintSha256,
    );
    expect(openAtConnect).toBe(2);
    expect(connection?.path).toBe('direct');
    expect(running.view()).toMatchObject({ status: 'connected', connects: 2, losses: 0, renewalFailure: null });
  });

  it('that the broker refuses leaves the old connection, says so, and is tried again later', async () => {
    const renewed = await identityOf(authority);
    let installed = identity;
    let isKnown = false;
    let refused = 0;
    await using running = await linked(
      (packet, client) => {
        if (packet.cmd !== 'connect') return false;
        const { fingerprint256 } = client.socket.getPeerCertificate();
        if (fingerprint256 === renewed.fingerprintSha256 && !isKnown) {
          refused += 1;
          client.send({ cmd: 'connack', returnCode: 5, sessionPresent: false });
          return true;
        }
        displaceOthers([running.broker], client);
        return false;
      },
      { timing, readIdentity: async () => installed },
      { requestCert: true, rejectUnauthorized: false, ca: authority.caPem },
    );
    const old = await running.connected();
    installed = renewed;
    const view = await running.until('refused', ({ renewalFailure }) => renewalFailure !== null);
    expect(view).toMatchObject({
      status: 'connected',
      connection: { certificate: { fingerprintSha256: identity.fingerprintSha256 } },
      installed: { fingerprintSha256: renewed.fingerprintSha256 },
      renewalFailure: { step: 'mqtt', outcome: { detail: 'CONNACK refused: return code 5, not authorized' } },
    });
    expect(view.detail).toContain('the certificate before the renewal is in use');
    expect(view.troubles).toMatchObject([
      { kind: 'renewal-failed', detail: expect.stringContaining('the new one failed') },
    ]);
    expect(old.ended.aborted).toBe(false);
    await old.publish('t', Buffer.from('still here'));

    // A lost connection falls back to the old certificate too.
    running.broker.clients[0]?.socket.destroy();
    await running.until('lost', ({ losses }) => losses === 1);
    await running.connected();
    expect(running.view().connection?.certificate.fingerprintSha256).toBe(identity.fingerprintSha256);
    expect(running.view().renewalFailure).not.toBeNull();

    const before = refused;
    isKnown = true;
    await running.until('accepted', ({ renewalFailure }) => renewalFailure === null);
    expect(refused).toBe(before);
    expect(running.view().connection?.certificate.fingerprintSha256).toBe(renewed.fingerprintSha256);
  });

  it('that replaces a refused one is tried at once, and a refusal is not shown for a certificate that is gone', async () => {
    const [refused, renewed] = [await identityOf(authority), await identityOf(authority)];
    let installed = identity;
    await using running = await linked(
      (packet, client) => {
        const isRefused = client.socket.getPeerCertificate().fingerprint256 === refused.fingerprintSha256;
        if (packet.cmd === 'connect' && isRefused)
          client.send({ cmd: 'connack', returnCode: 5, sessionPresent: false });
        return packet.cmd === 'connect' && isRefused;
      },
      {
        timing: { ...timing, renewalRetry: { firstMs: 600_000, maxMs: 600_000 } },
        readIdentity: async () => installed,
      },
      { requestCert: true, rejectUnauthorized: false, ca: authority.caPem },
    );
    await running.connected();
    installed = refused;
    await running.until('refused', ({ renewalFailure }) => renewalFailure !== null);
    installed = identity;
    const view = await running.until('no failure', ({ renewalFailure }) => renewalFailure === null);
    expect(view.connection?.certificate.fingerprintSha256).toBe(identity.fingerprintSha256);
    installed = refused;
    await running.clock.advance(2_000);
    installed = renewed;
    await running.until(
      'the second renewal',
      ({ connection }) => connection?.certificate.fingerprintSha256 === renewed.fingerprintSha256,
    );
  });

  it('that cannot be read leaves the connection and says so', async () => {
    let isBroken = false;
    await using running = await linked(undefined, {
      readIdentity: async () => {
        if (isBroken) throw new GwError('IDENTITY_BROKEN', 'identity.json is damaged.');
        return identity;
      },
    });
    await running.connected();
    isBroken = true;
    const view = await running.until('broken', ({ identity: kind }) => kind === 'broken');
    expect(view.status).toBe('connected');
    expect(view.detail).toContain('identity.json is damaged.');
  });
});

describe('a direct path that accepts and soon closes', () => {
  it('is left for the fallback, and tried ever more seldom', async () => {
    const connectsAt: number[] = [];
    let now = () => 0;
    const closing = atLastSuback((client, suback) => {
      client.send(suback);
      client.socket.end();
    });
    await using direct = await fakeBroker((packet, client) => {
      if (packet.cmd === 'connect') connectsAt.push(now());
      return closing(packet, client);
    });
    await using fallback = await fakeBroker(undefined, { ALPNProtocols: [ALPN] });
    await using running = runLink({ timing, port: direct.port, fallbackPort: fallback.port });
    now = running.clock.monotonicMs;
    await running.until('fallback', ({ connection }) => connection?.path === 'fallback');
    expect(connectsAt).toHaveLength(2);
    const beganMs = now();
    await running.clock.until('more attempts', () => connectsAt.length >= 6, 200_000);
    // From the fallback: at least 2, then 4, then 8 s, each time with one more round on the direct path.
    expect(now() - beganMs).toBeGreaterThan(2_000 + 4_000);
    await running.until('fallback again', ({ connection }) => connection?.path === 'fallback');
  });
});
