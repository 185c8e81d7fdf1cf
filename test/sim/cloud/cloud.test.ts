import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { type CertificateAuthority, createCa, restoreCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { startListener } from '../../../src/lib/sim/cloud/listener.ts';
import { type FaultName, faultNames, faultTable, type Sim, startSim } from '../../../src/lib/sim/index.ts';

// The cloud as seen by a client with hand-written TLS, MQTT and HTTP. A fault without a test fails the last one.

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-sim-cloud-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const SERIAL = 'SIM-0001';
const seen = new Set<FaultName>();

function placesOf(sim: Sim) {
  if (sim.cloud === null) throw new Error('no cloud');
  return sim.cloud.places;
}

function caOf(): CertificateAuthority {
  return restoreCa(JSON.parse(readFileSync(join(dir, 'secrets/cloud-ca.json'), 'utf8')));
}

/** Completes the handshake; rejects with node's error. */
function secure(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const socket = connect({ host: '127.0.0.1', port, ...options });
  socket.once('error', reject);
  socket.once('close', () => reject(new Error('closed')));
  socket.once('secureConnect', () => resolve(socket));
  return promise;
}

/** Sends bytes and returns the first answer; null without one within `timeoutMs` or when the peer closes. */
async function exchange(socket: TLSSocket, bytes: Uint8Array | string, timeoutMs = 10_000): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  socket.once('data', resolve);
  for (const event of ['end', 'close']) socket.once(event, () => resolve(null));
  socket.on('error', () => resolve(null));
  const timer = setTimeout(() => resolve(null), timeoutMs);
  socket.write(bytes);
  const answer = await promise;
  clearTimeout(timer);
  socket.destroy();
  return answer;
}

/** CONNECT of MQTT 3.1.1 without clean session. */
function connectPacket(clientId: string): Buffer {
  const id = Buffer.from(clientId);
  const body = Buffer.concat([Buffer.from([0, 4]), Buffer.from('MQTT'), Buffer.from([4, 0, 0, 30, 0, id.length]), id]);
  return Buffer.concat([Buffer.from([0x10, body.length]), body]);
}

async function device(ca = caOf(), serial = SERIAL): Promise<ConnectionOptions> {
  const { keyPem, certificatePem } = await ca.issueClientPair(serial);
  return { ca: caOf().caPem, key: keyPem, cert: certificatePem };
}

const head = 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n';
const running = (about = {}) => startSim({ dir, with: ['cloud'], ...about });

async function withFault(name: FaultName, check: (sim: Sim) => Promise<void>) {
  seen.add(name);
  await using sim = await running();
  sim.setFault(name, true);
  await sim.settled();
  await check(sim);
  sim.setFault(name, false);
  await sim.settled();
  const { mqtt } = placesOf(sim);
  const answer = await exchange(await secure(mqtt.port, await device()), connectPacket(SERIAL));
  expect(answer).toEqual(Buffer.from([0x20, 2, 0, 0]));
}

describe('the cloud of a simulated robot', () => {
  it('is in the site file, with its CA file', async () => {
    await using sim = await running();
    const site = parseYaml(readFileSync(join(dir, 'site.yaml'), 'utf8'));
    expect(site.cloud).toEqual({
      mqtt: { ...placesOf(sim).mqtt, caFile: 'enrolment-ca.pem' },
      storageUrl: placesOf(sim).storageUrl,
      tunnel: placesOf(sim).tunnel,
      caFile: 'enrolment-ca.pem',
    });
    expect(site.cloud.mqtt.alpn).toMatch(/^x-[a-z]+-mqtt-ca$/);
    expect(readFileSync(join(dir, 'enrolment-ca.pem'), 'utf8')).toBe(caOf().caPem);
  });

  it('leaves the CA of the broker to the enrolment if there is one', async () => {
    await using _sim = await running({ with: ['cloud', 'enrolment'] });
    const site = parseYaml(readFileSync(join(dir, 'site.yaml'), 'utf8'));
    expect(site.cloud.mqtt.caFile).toBeUndefined();
    expect(site.enrolment.url).toMatch(/^https:/);
  });

  it('does not reopen a port after its end', async () => {
    const listener = await startListener(() => undefined);
    const closing = listener.setOpen(false);
    const opening = listener.setOpen(true);
    await Promise.all([closing, opening, listener[Symbol.asyncDispose]()]);
    await listener.setOpen(true);
    await expect(secure(listener.port, {})).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('is absent unless selected', async () => {
    await using sim = await startSim();
    expect(sim.cloud).toBeNull();
  });

  it('accepts a device whose certificate has its serial number, on both ports', async () => {
    await using sim = await running();
    const { mqtt } = placesOf(sim);
    const options = await device();
    expect(await exchange(await secure(mqtt.port, options), connectPacket(SERIAL))).toEqual(
      Buffer.from([0x20, 2, 0, 0]),
    );
    const second = await secure(mqtt.fallbackPort, { ...options, ALPNProtocols: [mqtt.alpn] });
    expect(second.alpnProtocol).toBe(mqtt.alpn);
    expect(await exchange(second, connectPacket(SERIAL))).toEqual(Buffer.from([0x20, 2, 0, 0]));
    expect(sim.cloud?.broker.clients()).toEqual([
      { clientId: SERIAL, clean: false, byAlpn: false },
      { clientId: SERIAL, clean: false, byAlpn: true },
    ]);
  });

  it('rejects a client without a certificate, with one of another CA, with another serial number, or without ALPN', async () => {
    await using sim = await running();
    const { mqtt } = placesOf(sim);
    const accepted = async (port: number, options: ConnectionOptions, id = SERIAL) => {
      const socket = await secure(port, options).catch(() => null);
      const answer = socket === null ? null : await exchange(socket, connectPacket(id), 300);
      return answer?.at(3) === 0;
    };
    const { ca, ...own } = await device();
    expect(await accepted(mqtt.port, { ...own, ...(ca && { ca }) })).toBe(true);
    expect(await accepted(mqtt.port, { ...(ca && { ca }) })).toBe(false);
    expect(await accepted(mqtt.port, await device(await createCa()))).toBe(false);
    expect(await accepted(mqtt.port, await device(), 'SIM-0002')).toBe(false);
    expect(await accepted(mqtt.fallbackPort, await device())).toBe(false);
    expect(await accepted(mqtt.fallbackPort, { ...(await device()), ALPNProtocols: ['x-other-mqtt-ca'] })).toBe(false);
  });

  it('has a storage that returns 403 with a date, and a tunnel that completes the handshake', async () => {
    await using sim = await running();
    const { storageUrl, tunnel } = placesOf(sim);
    const ca = caOf().caPem;
    const answer = await exchange(await secure(Number(new URL(storageUrl).port), { ca }), head);
    expect(answer?.toString('latin1')).toMatch(/^HTTP\/1\.1 403 [\s\S]*\r\nDate: \w{3}, /);
    const socket = await secure(tunnel.port, { ca });
    expect(socket.authorized).toBe(true);
    socket.destroy();
  });
});

describe('faults of the cloud', () => {
  it('cloud-direct-closed: the first port refuses, and the second does not', () =>
    withFault('cloud-direct-closed', async (sim) => {
      const { mqtt } = placesOf(sim);
      await expect(secure(mqtt.port, await device())).rejects.toMatchObject({ code: 'ECONNREFUSED' });
      const second = await secure(mqtt.fallbackPort, { ...(await device()), ALPNProtocols: [mqtt.alpn] });
      expect(await exchange(second, connectPacket(SERIAL))).toEqual(Buffer.from([0x20, 2, 0, 0]));
    }));

  it('cloud-silent: the ClientHello gets no answer', () =>
    withFault('cloud-silent', async (sim) => {
      const { mqtt, storageUrl, tunnel } = placesOf(sim);
      for (const port of [mqtt.port, mqtt.fallbackPort, Number(new URL(storageUrl).port), tunnel.port]) {
        const answer = await Promise.race([
          secure(port, { rejectUnauthorized: false }).then(() => 'answered'),
          new Promise((resolve) => setTimeout(() => resolve('silent'), 150)),
        ]);
        expect(answer).toBe('silent');
      }
    }));

  it('cloud-inspected: every port presents a certificate of another issuer', () =>
    withFault('cloud-inspected', async (sim) => {
      const { mqtt, storageUrl, tunnel } = placesOf(sim);
      for (const port of [mqtt.port, mqtt.fallbackPort, Number(new URL(storageUrl).port), tunnel.port]) {
        const socket = await secure(port, { ca: caOf().caPem, rejectUnauthorized: false });
        expect(socket.authorized).toBe(false);
        expect(socket.getPeerCertificate().issuer.CN).toBe('Simulated TLS inspection CA');
        socket.destroy();
      }
    }));

  it('cloud-alpn-refused: the identifier of the site file is refused', () =>
    withFault('cloud-alpn-refused', async (sim) => {
      const { mqtt } = placesOf(sim);
      const options = { ...(await device()), ALPNProtocols: [mqtt.alpn] };
      await expect(secure(mqtt.fallbackPort, options)).rejects.toThrow(/alert number 120/);
    }));

  it('cloud-no-connack: CONNECT gets no CONNACK', () =>
    withFault('cloud-no-connack', async (sim) => {
      expect(
        await exchange(await secure(placesOf(sim).mqtt.port, await device()), connectPacket(SERIAL), 300),
      ).toBeNull();
    }));

  it('cloud-not-allowed: CONNECT is rejected with return code 5', () =>
    withFault('cloud-not-allowed', async (sim) => {
      const answer = await exchange(await secure(placesOf(sim).mqtt.port, await device()), connectPacket(SERIAL));
      expect(answer).toEqual(Buffer.from([0x20, 2, 0, 5]));
    }));

  it('cloud-clock-off: the date of the storage is a day ahead', () =>
    withFault('cloud-clock-off', async (sim) => {
      const socket = await secure(Number(new URL(placesOf(sim).storageUrl).port), { ca: caOf().caPem });
      const date = /\r\nDate: (.*)\r\n/.exec((await exchange(socket, head))?.toString('latin1') ?? '')?.[1] ?? '';
      expect(Math.round((Date.parse(date) - Date.now()) / 3_600_000)).toBe(24);
    }));

  it('are all in the table, and all tested here', () => {
    expect([...seen].toSorted()).toEqual(faultNames.filter((name) => faultTable[name].kind === 'cloud').toSorted());
  });
});
