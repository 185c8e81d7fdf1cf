import { createPublicKey, sign, verify } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { startSim } from '../../../src/lib/sim/index.ts';
import { shared } from '../../lifecycle/shared.ts';
import { certificateOf, connectPacket, exchange, SERIAL, secure, startCloudSim } from './device.ts';

// The ports of the cloud as seen by a client with hand-written TLS, MQTT and HTTP.

const head = 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n';

const world = shared(await startCloudSim());

describe('the cloud of a simulated robot', () => {
  it('is in the site file, with its CA file', () => {
    const { mqtt, storageUrl, tunnel } = world.cloud.places;
    const site = parseYaml(readFileSync(join(world.dir, 'site.yaml'), 'utf8'));
    expect(site.cloud).toEqual({
      mqtt: { ...mqtt, caFile: 'enrolment-ca.pem' },
      storageUrl,
      tunnel: { ...tunnel, services: ['web'] },
      telemetryS: 1,
      release: { keyFile: 'release-key.pem' },
      caFile: 'enrolment-ca.pem',
    });
    expect(mqtt.alpn).toMatch(/^x-[a-z]+-mqtt-ca$/);
    expect(readFileSync(join(world.dir, 'enrolment-ca.pem'), 'utf8')).toBe(world.ca().caPem);
  });

  it('accepts a device whose certificate has its serial number, on both ports', async () => {
    const { mqtt } = world.cloud.places;
    const options = await certificateOf(world.dir);
    const connected = Buffer.from([0x20, 2, 0, 0]);
    const first = await secure(mqtt.port, options);
    expect(await exchange(first, connectPacket(SERIAL))).toEqual(connected);
    const second = await secure(mqtt.fallbackPort, { ...options, ALPNProtocols: [mqtt.alpn] });
    expect(second.alpnProtocol).toBe(mqtt.alpn);
    expect(await exchange(second, connectPacket(SERIAL))).toEqual(connected);
    expect(world.cloud.broker.clients()).toMatchObject([
      { clientId: SERIAL, clean: false, byAlpn: false },
      { clientId: SERIAL, clean: false, byAlpn: true },
    ]);
  });

  it('rejects a client without a certificate, with one of another CA, with another serial number, or without ALPN', async () => {
    const { mqtt } = world.cloud.places;
    const accepted = async (port: number, options: ConnectionOptions, id = SERIAL) => {
      const socket = await secure(port, options).catch(() => null);
      return socket !== null && (await exchange(socket, connectPacket(id)))?.at(3) === 0;
    };
    const own = await certificateOf(world.dir);
    const foreign = await certificateOf(world.dir, SERIAL, await createCa());
    expect(await accepted(mqtt.port, own)).toBe(true);
    expect(await accepted(mqtt.port, { ca: world.ca().caPem })).toBe(false);
    expect(await accepted(mqtt.port, foreign)).toBe(false);
    expect(await accepted(mqtt.port, own, 'SIM-0002')).toBe(false);
    expect(await accepted(mqtt.fallbackPort, own)).toBe(false);
    expect(await accepted(mqtt.fallbackPort, { ...own, ALPNProtocols: ['x-other-mqtt-ca'] })).toBe(false);
  });

  it('has a storage that returns 403 with a date, and a tunnel service that refuses what is no tunnel', async () => {
    const { storageUrl, tunnel } = world.cloud.places;
    const ca = world.ca().caPem;
    const answer = await exchange(await secure(Number(new URL(storageUrl).port), { ca }), head);
    expect(answer?.toString('latin1')).toMatch(/^HTTP\/1\.1 403 [\s\S]*\r\nDate: \w{3}, /);
    const socket = await secure(tunnel.port, { ca });
    expect(socket.authorized).toBe(true);
    expect((await exchange(socket, head))?.toString('latin1')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('is absent unless selected', async () => {
    await using sim = await startSim();
    expect(sim.cloud).toBeNull();
  });

  it('makes a key pair for releases, keeps it, and replaces no damaged one', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gw-sim-cloud-'));
    const [publicFile, privateFile] = [join(dir, 'release-key.pem'), join(dir, 'secrets/release-signing-key.pem')];
    const keys = () => [publicFile, privateFile].map((file) => readFileSync(file, 'utf8'));
    const run = async () => (await startSim({ dir, with: ['cloud', 'enrolment'] }))[Symbol.asyncDispose]();
    const bytes = Buffer.from('manifest');
    const fits = ([publicPem = '', privatePem = '']: string[]) =>
      verify(null, bytes, publicPem, sign(null, bytes, privatePem));
    await run();
    const first = keys();
    expect([fits(first), createPublicKey(first[0] ?? '').asymmetricKeyType]).toEqual([true, 'ed25519']);
    expect(statSync(privateFile).mode & 0o777).toBe(0o600);
    // With an enrolment, that one gives the CA of the broker.
    const site = parseYaml(readFileSync(join(dir, 'site.yaml'), 'utf8'));
    expect([site.cloud.mqtt.caFile, site.enrolment.url]).toEqual([undefined, expect.stringMatching(/^https:/)]);
    writeFileSync(publicFile, 'damaged');
    await run();
    expect(keys()).toEqual(first);
    // Packages may be signed with it already.
    writeFileSync(privateFile, 'damaged');
    await expect(run()).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      message: expect.stringContaining(privateFile),
    });
    expect(keys()).toEqual([first[0], 'damaged']);
    rmSync(privateFile);
    await run();
    expect(fits(keys())).toBe(true);
    rmSync(dir, { recursive: true });
  });
});
