import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { type CertificateAuthority, createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { loadSite } from '../../src/lib/site/index.ts';
import { checkNetwork } from '../../src/lib/toolkit/network/check.ts';
import {
  closedPort,
  lineOf,
  machineOf,
  openPort,
  SERIAL,
  verdictsOf,
  writeIdentity,
} from '../toolkit/network/world.ts';
import { hasNginxStream, startAlpnFront, startMosquitto, startWeb } from './network-peers.ts';
import { hasProgram } from './peer.ts';
import { waitFor } from './sshd.ts';

const ALPN = 'x-test-mqtt-ca';
const hasAll = hasProgram('mosquitto') && hasProgram('nginx') && hasNginxStream();

describe.skipIf(!hasAll)('the network check against mosquitto, nginx with ssl_alpn and a TLS proxy', () => {
  const root = mkdtempSync(join(tmpdir(), 'gw-network-peers-'));
  let cloud: CertificateAuthority;
  let inspectionCa: CertificateAuthority;
  let dir: string;
  beforeAll(async () => {
    cloud = await createCa({ commonName: 'Cloud CA' });
    inspectionCa = await createCa({ commonName: 'House inspection CA' });
  });
  beforeEach(() => {
    dir = mkdtempSync(join(root, 'run-'));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  interface Places {
    readonly port: number;
    readonly fallbackPort: number;
    readonly alpn?: string;
    readonly storagePort: number;
    readonly owner?: CertificateAuthority;
  }

  async function check({ port, fallbackPort, alpn = ALPN, storagePort, owner = cloud }: Places) {
    await using chassis = await openPort();
    await writeIdentity(dir, owner);
    writeFileSync(join(dir, 'ca.pem'), cloud.caPem);
    const site = join(dir, 'site.yaml');
    writeFileSync(
      site,
      [
        'name: peers',
        `chassis: { host: 127.0.0.1, port: ${chassis.port}, serial: ${SERIAL} }`,
        `operator: { port: ${await closedPort()} }`,
        `enrolment: { url: 'https://127.0.0.1:${storagePort}', caFile: ca.pem }`,
        'cloud:',
        `  mqtt: { host: 127.0.0.1, port: ${port}, fallbackPort: ${fallbackPort}, alpn: ${alpn}, caFile: ca.pem }`,
        `  storageUrl: 'https://127.0.0.1:${storagePort}'`,
        `  tunnel: { host: 127.0.0.1, port: ${storagePort} }`,
        '  caFile: ca.pem',
        '',
      ].join('\n'),
    );
    return checkNetwork(
      { site: await loadSite(site), dialer: directDialer, clock: systemClock },
      { timeoutMs: 5_000, from: [], fromSegment: 'site', machine: machineOf({ dialled: [], resolved: [] }) },
      { signal: new AbortController().signal, onProgress: () => {} },
    );
  }

  it('is accepted on both ports with the device certificate, and disconnects cleanly', async () => {
    await using broker = await startMosquitto(dir, cloud);
    await using front = await startAlpnFront(dir, cloud, { alpn: ALPN, to: broker.plainPort });
    await using storage = await startWeb(dir, 'storage', cloud);
    const result = await check({ port: broker.port, fallbackPort: front.port, storagePort: storage.port });
    expect(verdictsOf(result)).toMatchObject({
      'mqtt-direct.tls': 'ok',
      'mqtt-direct.mqtt': 'ok',
      'mqtt-fallback.tls': 'ok',
      'mqtt-fallback.alpn': 'ok',
      'mqtt-fallback.mqtt': 'ok',
      'tls-inspection': 'ok',
    });
    const goodbyes = () => broker.output().match(new RegExp(`Received DISCONNECT from ${SERIAL}`, 'g'));
    await waitFor(() => goodbyes()?.length === 2, broker.output);
    const log = broker.output();
    expect(log).not.toContain('closed its connection');
    expect(log).not.toContain('already connected');
    // c0 and not c1: the session stored at the broker is kept.
    expect(log.match(new RegExp(`as ${SERIAL} \\(p2, c0, k30`, 'g'))).toHaveLength(2);
  });

  it('distinguishes a wrong ALPN identifier from a closed port', async () => {
    await using broker = await startMosquitto(dir, cloud);
    await using front = await startAlpnFront(dir, cloud, { alpn: ALPN, to: broker.plainPort });
    await using storage = await startWeb(dir, 'storage', cloud);
    const result = await check({
      port: await closedPort(),
      fallbackPort: front.port,
      alpn: 'x-other-mqtt-ca',
      storagePort: storage.port,
    });
    expect(lineOf(result, 'mqtt-fallback.alpn')).toMatchObject({
      verdict: 'wrong',
      detail: 'TLS alert no_application_protocol: the server rejects x-other-mqtt-ca',
    });
    expect(lineOf(result, 'mqtt-direct.tcp')).toMatchObject({ verdict: 'wrong', need: 'optional' });
    expect(lineOf(result, 'mqtt-direct.tcp').detail).toMatch(/^blocked: connection refused/);
  });

  it('detects that a broker without ALPN ignores it', async () => {
    await using broker = await startMosquitto(dir, cloud);
    await using storage = await startWeb(dir, 'storage', cloud);
    // Debian's mosquitto negotiates no ALPN.
    const result = await check({ port: await closedPort(), fallbackPort: broker.port, storagePort: storage.port });
    expect(lineOf(result, 'mqtt-fallback.alpn').detail).toMatch(/^the server ignored ALPN/);
  });

  it('reports a missing CONNACK where the TLS server is not a broker', async () => {
    await using silent = await openPort();
    await using front = await startAlpnFront(dir, cloud, { alpn: ALPN, to: silent.port });
    await using storage = await startWeb(dir, 'storage', cloud);
    const result = await check({ port: await closedPort(), fallbackPort: front.port, storagePort: storage.port });
    expect(verdictsOf(result)).toMatchObject({ 'mqtt-fallback.alpn': 'ok', 'mqtt-fallback.mqtt': 'wrong' });
    expect(lineOf(result, 'mqtt-fallback.mqtt').detail).toMatch(/^TLS established, no CONNACK received/);
  });

  it('reports that the device certificate is rejected', async () => {
    await using broker = await startMosquitto(dir, cloud);
    await using storage = await startWeb(dir, 'storage', cloud);
    const result = await check({
      port: broker.port,
      fallbackPort: await closedPort(),
      storagePort: storage.port,
      owner: inspectionCa,
    });
    expect(lineOf(result, 'mqtt-direct.tls')).toMatchObject({ verdict: 'ok' });
    expect(lineOf(result, 'mqtt-direct.mqtt')).toMatchObject({ verdict: 'wrong' });
    expect(lineOf(result, 'mqtt-direct.mqtt').detail).toMatch(/certificate of this device/);
  });

  it('detects and names a TLS-intercepting proxy', async () => {
    await using broker = await startMosquitto(dir, cloud);
    await using proxy = await startWeb(dir, 'proxy', inspectionCa, undefined, { sendsRoot: true });
    const result = await check({ port: broker.port, fallbackPort: proxy.port, storagePort: proxy.port });
    const line = lineOf(result, 'tls-inspection');
    expect(line.verdict).toBe('wrong');
    expect(line.detail).toContain("'CN=House inspection CA'");
    expect(lineOf(result, 'mqtt-fallback.mqtt').verdict).toBe('not-checked');
    expect(lineOf(result, 'mqtt-direct.mqtt').verdict).toBe('ok');
  });
});
