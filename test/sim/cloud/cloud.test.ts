import { createPublicKey, sign, verify } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { startListener } from '../../../src/lib/sim/cloud/listener.ts';
import { type Sim, startSim } from '../../../src/lib/sim/index.ts';
import { caOf as caIn, connectPacket, exchange, SERIAL, secure } from './device.ts';

// The ports of the cloud as seen by a client with hand-written TLS, MQTT and HTTP.

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-sim-cloud-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function placesOf(sim: Sim) {
  if (sim.cloud === null) throw new Error('no cloud');
  return sim.cloud.places;
}

const caOf = () => caIn(dir);

async function device(ca = caOf(), serial = SERIAL): Promise<ConnectionOptions> {
  const { keyPem, certificatePem } = await ca.issueClientPair(serial);
  return { ca: caOf().caPem, key: keyPem, cert: certificatePem };
}

const head = 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n';
const running = (about = {}) => startSim({ dir, with: ['cloud'], ...about });

describe('the cloud of a simulated robot', () => {
  it('is in the site file, with its CA file', async () => {
    await using sim = await running();
    const site = parseYaml(readFileSync(join(dir, 'site.yaml'), 'utf8'));
    expect(site.cloud).toEqual({
      mqtt: { ...placesOf(sim).mqtt, caFile: 'enrolment-ca.pem' },
      storageUrl: placesOf(sim).storageUrl,
      tunnel: { ...placesOf(sim).tunnel, services: ['web'] },
      telemetryS: 1,
      release: { keyFile: 'release-key.pem' },
      caFile: 'enrolment-ca.pem',
    });
    expect(site.cloud.mqtt.alpn).toMatch(/^x-[a-z]+-mqtt-ca$/);
    expect(readFileSync(join(dir, 'enrolment-ca.pem'), 'utf8')).toBe(caOf().caPem);
  });

  it('makes a key pair for releases, keeps it, and replaces no damaged one', async () => {
    const keys = () =>
      ['release-key.pem', 'secrets/release-signing-key.pem'].map((name) => readFileSync(join(dir, name), 'utf8'));
    await (await running())[Symbol.asyncDispose]();
    const [publicPem = '', privatePem = ''] = keys();
    const bytes = Buffer.from('manifest');
    expect(verify(null, bytes, publicPem, sign(null, bytes, privatePem))).toBe(true);
    expect(createPublicKey(publicPem).asymmetricKeyType).toBe('ed25519');
    expect(statSync(join(dir, 'secrets/release-signing-key.pem')).mode & 0o777).toBe(0o600);
    writeFileSync(join(dir, 'release-key.pem'), 'damaged');
    await (await running())[Symbol.asyncDispose]();
    expect(keys()).toEqual([publicPem, privatePem]);
    // Packages may be signed with it already.
    writeFileSync(join(dir, 'secrets/release-signing-key.pem'), 'damaged');
    await expect(running()).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: expect.stringContaining('release-signing-key.pem is not an unencrypted Ed25519 private key'),
    });
    expect(keys()).toEqual([publicPem, 'damaged']);
    rmSync(join(dir, 'secrets/release-signing-key.pem'));
    await (await running())[Symbol.asyncDispose]();
    const [otherPublic = '', otherPrivate = ''] = keys();
    expect(verify(null, bytes, otherPublic, sign(null, bytes, otherPrivate))).toBe(true);
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

  it('has a storage that returns 403 with a date, and a tunnel service that refuses what is no tunnel', async () => {
    await using sim = await running();
    const { storageUrl, tunnel } = placesOf(sim);
    const ca = caOf().caPem;
    const answer = await exchange(await secure(Number(new URL(storageUrl).port), { ca }), head);
    expect(answer?.toString('latin1')).toMatch(/^HTTP\/1\.1 403 [\s\S]*\r\nDate: \w{3}, /);
    const socket = await secure(tunnel.port, { ca });
    expect(socket.authorized).toBe(true);
    expect((await exchange(socket, head))?.toString('latin1')).toMatch(/^HTTP\/1\.1 400 /);
  });
});
