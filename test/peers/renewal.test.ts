import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { linkTiming } from '../../src/lib/cloud/link/timing.ts';
import { loadIdentity } from '../../src/lib/enrolment/index.ts';
import { requestRenewal } from '../../src/lib/enrolment/renew.ts';
import { createCertificateRenewal } from '../../src/lib/gateway/certificate-renewal.ts';
import { createIdentityReader } from '../../src/lib/gateway/cloud.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { type CertificateAuthority, createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { parseSite } from '../../src/lib/site/index.ts';
import { realClock, runLink, SERIAL } from '../cloud/link/world.ts';
import { startWorld } from '../enrolment/world.ts';
import { freePort } from '../free-port.ts';
import { until } from '../waiting.ts';
import { startMosquitto, startPeer, startWeb } from './network-peers.ts';
import { hasProgram } from './peer.ts';

const hasAll = ['mosquitto', 'nginx', 'openssl'].every(hasProgram);
const DAY_MS = 86_400_000;
/** In place of seconds. */
const timing = { ...linkTiming, pollMs: 100, retry: { firstMs: 200, maxMs: 1_000 } };

// nginx verifies the client certificate of the request, and mosquitto that of the connection.

describe.skipIf(!hasAll)('the renewal against nginx, OpenSSL and mosquitto', () => {
  const root = mkdtempSync(join(tmpdir(), 'gw-renewal-peers-'));
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(root, 'run-'));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  /** An enrolment endpoint behind nginx, which issues with this CA, and a gateway with a present certificate of another. */
  async function world(authority: CertificateAuthority, issuer: CertificateAuthority, present = authority) {
    await using undo = new AsyncDisposableStack();
    const requests: { readonly headers: IncomingMessage['headers']; readonly body: string }[] = [];
    const upstream = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      requests.push({ headers: request.headers, body });
      const certificate = await issuer.issueClient(JSON.parse(body).certificateRequest);
      const ca = issuer === authority ? authority.caPem : authority.caPem + issuer.caPem;
      const answer = JSON.stringify({ certificate, ca, endpoint: '127.0.0.1', region: 'eu-central-1' });
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(answer);
    });
    await new Promise<void>((listening) => upstream.listen(0, '127.0.0.1', listening));
    undo.defer(() => void upstream.close());
    const { port } = upstream.address() as AddressInfo;
    const front = undo.use(
      await startWeb(dir, 'front', authority, undefined, {
        server: ({ ca }) => `ssl_client_certificate ${ca};
    ssl_verify_client on;
    ssl_protocols TLSv1.2 TLSv1.3;
    location / {
      proxy_pass http://127.0.0.1:${port};
      proxy_set_header X-Client-Verify $ssl_client_verify;
      proxy_set_header X-Client-Subject $ssl_client_s_dn;
    }`,
      }),
    );
    const broker = undo.use(await startMosquitto(dir, authority));
    const identityDir = join(dir, 'identity');
    mkdirSync(identityDir, { mode: 0o700 });
    const notAfter = new Date(realClock.wall().getTime() + 20 * DAY_MS);
    const { keyPem, certificatePem } = await present.issueClientPair(SERIAL, { notAfter });
    const identity = {
      ...{ format: 'gw/identity/1', serial: SERIAL, endpoint: '127.0.0.1', region: 'eu-central-1' },
      ...{ enrolledAt: new Date(0).toISOString(), keyPem, certificatePem, caPem: present.caPem },
    };
    writeFileSync(join(identityDir, 'identity.json'), JSON.stringify(identity), { mode: 0o600 });
    const site = parseSite(
      `name: x\nchassis: { host: 127.0.0.1, serial: ${SERIAL} }\nenrolment: { url: 'https://127.0.0.1:${front.port}', identityDir: ${identityDir} }\n`,
      join(dir, 'site.yaml'),
    );
    const read = createIdentityReader(site);
    const before = (await read())?.fingerprintSha256 ?? '';
    const renewal = undo.use(
      createCertificateRenewal({
        ...{ beforeDays: 21, identityDir, read, hold: () => null, claim: async () => null },
        request: async () => ({
          ...{ url: `https://127.0.0.1:${front.port}`, trust: authority.caPem, serial: SERIAL },
          ...{ device: { model: null, software: null }, dialer: directDialer },
        }),
        ...{ clock: realClock, log: silentLog },
      }),
    );
    const link = () =>
      runLink({
        ...{ clock: realClock, timing, readIdentity: renewal.readIdentity, candidate: renewal.candidate },
        ...{ port: broker.port, fallbackPort: portOfNothing },
      });
    const portOfNothing = await freePort();
    const running = undo.move();
    const text = () => readFileSync(join(identityDir, 'identity.json'), 'utf8');
    return { before, broker, requests, renewal, read, link, text, [Symbol.asyncDispose]: () => running.disposeAsync() };
  }

  it('is let through by nginx with its present certificate alone, and connected by mosquitto with the new one', async () => {
    const authority = await createCa({ commonName: 'Cloud CA' });
    await using made = await world(authority, authority);
    await using running = made.link();
    await running.until(
      'the new certificate in use',
      ({ connection }) => connection !== null && connection.certificate.fingerprintSha256 !== made.before,
    );
    const installed = await until(
      async () => (await made.read())?.fingerprintSha256,
      (now) => now !== made.before,
    );
    expect(running.view().connection?.certificate.fingerprintSha256).toBe(installed);
    expect(made.requests).toHaveLength(1);
    expect(made.requests[0]?.headers).toMatchObject({
      'x-client-verify': 'SUCCESS',
      'x-client-subject': `CN=${SERIAL}`,
    });
    expect(JSON.parse(made.requests[0]?.body ?? '')).not.toHaveProperty('oneTimeCode');
    const view = await until(
      () => made.renewal.view(),
      ({ status }) => status === 'not-due',
    );
    expect(view.candidate).toBeNull();
  });

  it('keeps the present certificate where mosquitto does not know the CA of the new one', async () => {
    const authority = await createCa({ commonName: 'Cloud CA' });
    await using made = await world(authority, await createCa({ commonName: 'New CA' }));
    const text = made.text();
    await using running = made.link();
    const view = await until(
      () => made.renewal.view(),
      ({ candidate }) => (candidate?.failedProofs ?? 0) > 0,
    );
    expect(view).toMatchObject({ status: 'not-proved', detail: expect.stringContaining('TLS alert unknown CA') });
    const { connection } = await running.until('connected', ({ status }) => status === 'connected');
    expect(connection?.certificate.fingerprintSha256).toBe(made.before);
    expect(made.text()).toBe(text);
  });

  it('is named where nginx does not accept the present certificate', async () => {
    const authority = await createCa({ commonName: 'Cloud CA' });
    await using made = await world(authority, authority, await createCa({ commonName: 'Foreign CA' }));
    const view = await until(
      () => made.renewal.view(),
      ({ failed }) => failed > 0,
    );
    expect(view).toMatchObject({ status: 'failing', detail: expect.stringContaining('status 400') });
    expect(made.requests).toEqual([]);
  });

  it.each(['-tls1_2', '-tls1_3'])(
    'is refused with the alert of an OpenSSL server that does not accept the certificate (%s)',
    async (version) => {
      await using world = await startWorld();
      world.faults.add('enrolment-short-lived');
      const { identity } = await world.enrol();
      const { keyPem, certificatePem } = await world.authority.issueServer({ names: ['127.0.0.1'] });
      writeFileSync(join(dir, 'pair.pem'), keyPem + certificatePem);
      writeFileSync(join(dir, 'other.pem'), (await createCa()).caPem);
      const port = await freePort();
      const words = ['s_server', '-www', '-accept', `127.0.0.1:${port}`, '-cert', join(dir, 'pair.pem')] as const;
      const verify = ['-Verify', '1', '-verify_return_error', '-CAfile', join(dir, 'other.pem'), version] as const;
      await using _server = await startPeer(['openssl', ...words, ...verify], port);
      const { onStep: _, ...options } = world.options();
      const retryAt = () => new Date(0);
      const { last } = await requestRenewal({ ...options, url: `https://127.0.0.1:${port}`, beforeMs: 1, retryAt });
      expect([last?.code, last?.detail]).toEqual([
        'ENROLMENT_REFUSED',
        expect.stringMatching(/the certificate of this device, TLS alert (unknown CA|bad certificate)/),
      ]);
      expect((await loadIdentity(world.identityDir))?.certificate).toEqual(identity.certificate);
    },
  );
});
