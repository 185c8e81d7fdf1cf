import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { readCredentials } from '../../src/lib/enrolment/index.ts';
import { codeProblem, encodeRequest } from '../../src/lib/enrolment/wire.ts';
import { readRequest } from '../../src/lib/sim/cloud/certificates.ts';
import { http, startRawEndpoint } from './raw-endpoint.ts';
import { device, failureOf, it, serial } from './world.ts';

/** Every encoding of the private key, 16 bytes long and more. */
function secretsOf(keyPem: string): Buffer[] {
  const key = createPrivateKey(keyPem);
  const d = Buffer.from(key.export({ format: 'jwk' }).d ?? '', 'base64url');
  expect(d.length).toBe(32);
  const forms = [
    d,
    Buffer.from(d).reverse(),
    ...(['hex', 'base64', 'base64url'] as const).map((encoding) => Buffer.from(d.toString(encoding))),
    Buffer.from(d.toString('hex').toUpperCase()),
    Buffer.from(BigInt(`0x${d.toString('hex')}`).toString()),
    key.export({ type: 'pkcs8', format: 'der' }).subarray(0, 68),
    key.export({ type: 'sec1', format: 'der' }).subarray(0, 39),
    // The lines of the PEM that contain the number, in each phase of base64.
    ...[0, 1, 2].map((phase) => Buffer.from(d.subarray(phase).toString('base64').slice(0, 36))),
    Buffer.from('PRIVATE KEY'),
  ];
  for (const form of forms) expect(form.length).toBeGreaterThan(10);
  return forms;
}

describe('the enrolment request', () => {
  it('has the documented form, byte for byte, and never contains a part of the key', async ({ world }) => {
    const sent: string[] = [];
    await using raw = await startRawEndpoint(world.authority, (socket, request) => {
      sent.push(request);
      socket.end(http(500, ''));
    });
    const code = 'ABCD-EFGH';
    const enrol = (renew: boolean) => failureOf(world.enrol({ url: raw.url, readCode: async () => code, renew }));
    await enrol(false);
    await enrol(false);
    const { keyPem, requestPem } = JSON.parse(readFileSync(join(world.identityDir, 'pending.json'), 'utf8'));

    const body = encodeRequest({ serial, certificateRequest: requestPem, oneTimeCode: code, renewal: false, device });
    const { host } = new URL(raw.url);
    const length = `Content-Length: ${Buffer.byteLength(body)}`;
    const expected = [
      ...['POST /anmeldung HTTP/1.1', `Host: ${host}`, 'Accept: application/json', 'Accept-Encoding: identity'],
      ...['Content-Type: application/json', length, 'Connection: close', '', body],
    ].join('\r\n');
    expect(sent).toEqual([expected, expected]);
    const escaped = JSON.stringify(requestPem);
    expect(body).toBe(
      `{"serial":"SN-0815","certificateRequest":${escaped},"oneTimeCode":"ABCD-EFGH","renewal":false,"device":{"model":"model-x","software":"2.12.3"}}`,
    );
    for (const secret of secretsOf(keyPem)) expect(raw.received().includes(secret), secret.toString('hex')).toBe(false);
  });

  it('never contains the key, in plaintext or as encoded, over a whole enrolment, its renewal and a resumed one', async ({
    world,
  }) => {
    // Every byte of every connection passes here, in both directions.
    const wire: Buffer[] = [];
    const target = Number(new URL(world.endpoint.url).port);
    const relay = createServer((socket) => {
      const onward = connect(target, '127.0.0.1');
      for (const [from, to] of [
        [socket, onward],
        [onward, socket],
      ] as const) {
        from.on('data', (chunk: Buffer) => {
          wire.push(chunk);
          to.write(chunk);
        });
        from.on('error', () => {});
        from.on('close', () => to.destroy());
      }
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    const { port } = relay.address() as { port: number };
    const url = `https://127.0.0.1:${port}`;
    const keys: string[] = [];
    try {
      world.faults.add('enrolment-answer-lost');
      await failureOf(world.enrol({ url }));
      world.faults.clear();
      for (const renew of [false, true, true]) {
        await world.enrol({ url, renew });
        keys.push((await readCredentials(world.identityDir)).keyPem);
      }
    } finally {
      relay.close();
    }
    expect(new Set(keys).size).toBe(3);
    const sent = Buffer.concat(wire);
    expect(sent.length).toBeGreaterThan(8_000);
    // The content of TLS: the bodies as received by the endpoint.
    const inside = Buffer.from(
      world.endpoint
        .requests()
        .map(({ body }) => body)
        .join('\n'),
    );
    expect(world.endpoint.requests().length).toBe(4);
    expect(inside.includes('CERTIFICATE REQUEST')).toBe(true);
    for (const key of keys) {
      for (const secret of secretsOf(key)) {
        expect(sent.includes(secret), secret.toString('hex')).toBe(false);
        expect(inside.includes(secret), secret.toString('hex')).toBe(false);
      }
    }
  });

  it('is a certificate signing request for the serial number, signed with its own key', async ({ world }) => {
    await world.enrol();
    const { keyPem } = await readCredentials(world.identityDir);
    const [{ body } = { body: '{}' }] = world.endpoint.requests();
    const read = await readRequest(JSON.parse(body).certificateRequest);
    expect(read).toMatchObject({ commonName: serial, curve: 'prime256v1' });
    expect(createPublicKey(read?.publicKeyPem ?? '').equals(createPublicKey(keyPem))).toBe(true);
  });

  it('is sent to the path below the address of the site file', async ({ world }) => {
    const lines: (string | undefined)[] = [];
    await using raw = await startRawEndpoint(world.authority, (socket, request) => {
      lines.push(request.split('\r\n')[0]);
      socket.end(http(500, ''));
    });
    for (const path of ['', '/', '/cloud', '/cloud/']) await failureOf(world.enrol({ url: `${raw.url}${path}` }));
    expect(lines).toEqual(['', '', '/cloud', '/cloud'].map((folder) => `POST ${folder}/anmeldung HTTP/1.1`));
  });
});

describe('a one-time code', () => {
  it('is 1 to 256 letters, digits and signs', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (code) => {
        expect(codeProblem(code) === undefined).toBe(/^[!-~]{1,256}$/.test(code));
      }),
    );
    expect(codeProblem('')).toBe('it is empty');
    expect(codeProblem('a b')).toContain('other than');
    expect(codeProblem('a'.repeat(257))).toContain('longer');
  });

  it('that is invalid is rejected before any key is made, and not repeated', async ({ world }) => {
    const failure = await failureOf(world.enrol({ readCode: async () => 'has a blank' }));
    expect(failure).toMatchObject({ code: 'USAGE' });
    expect(JSON.stringify(failure)).not.toContain('has a blank');
    expect(world.endpoint.requests()).toEqual([]);
  });
});
