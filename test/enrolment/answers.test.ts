import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { EnrolOptions } from '../../src/lib/enrolment/enrol.ts';
import { readAnswer } from '../../src/lib/enrolment/exchange.ts';
import { loadIdentity } from '../../src/lib/enrolment/index.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { type FaultName, faultNames, faultTable } from '../../src/lib/sim/index.ts';
import { createSteppedClock, during } from '../cloud/stepped-clock.ts';
import { freePort } from '../free-port.ts';
import { http, startRawEndpoint } from './raw-endpoint.ts';
import { failureOf, it, serial, startWorld, type World } from './world.ts';

type Expected = readonly [FaultName, RegExp, RegExp, object?];

const operator = /operator of the cloud/;
/** Message and remedy of each fault of the endpoint, by code. */
const byCode: Readonly<Record<string, readonly Expected[]>> = {
  ENROLMENT_NOT_REACHABLE: [
    ['enrolment-silent', /^not connected: .*no answer to the ClientHello/, /HTTPS \(443\)/, { reason: 'silent' }],
    ['enrolment-no-answer', /request sent, no answer before the timeout/, /nothing is lost/],
    ['enrolment-answer-lost', /closed before the response was complete/, /nothing is lost/, { reason: 'cut' }],
  ],
  ENROLMENT_UNTRUSTED: [
    [
      'enrolment-untrusted',
      /issued by 'CN=Another CA', whose certificate .* nothing was sent/,
      /operator whether 'CN=Another CA' is theirs/,
    ],
    [
      'enrolment-server-expired',
      /by the clock of this gateway the certificate expired 20.*; it is 20.*; nothing was sent/,
      /timedatectl/,
    ],
    ['enrolment-other-name', /hostname mismatch: .*not for .*127\.0\.0\.1; nothing was sent/, /host in the site file/],
  ],
  ENROLMENT_BAD_ANSWER: [
    ['enrolment-no-tls', /the response is not TLS/, /enrolment\.url/],
    ['enrolment-html', /HTML instead of JSON/, /login page/],
    ['enrolment-redirect', /redirects to "https:\/\/localhost:9" \(status 302\)/, /enrolment\.url/, { status: 302 }],
    ['enrolment-huge', /longer than 65536 bytes/, /proxy/],
  ],
  ENROLMENT_UNAVAILABLE: [
    ['enrolment-error', /status 500: "Internal error/, /Try again later/],
    ['enrolment-busy', /status 503: "Try again later/, /Try again later/],
  ],
  ENROLMENT_REFUSED: [
    [
      'enrolment-refused',
      /not valid for .* \(status 403\)/,
      /new one-time code/,
      { status: 403, code: 'CODE_FOREIGN' },
    ],
  ],
  CERTIFICATE_UNUSABLE: [
    ['enrolment-wrong-serial', /"SN-0815-X", expected the .* SN-0815/, operator, { reason: 'wrong-serial' }],
    ['enrolment-wrong-key', /public key mismatch/, operator, { reason: 'wrong-key' }],
    ['enrolment-expired', /by the clock of the endpoint, 20.*expired at/, /not valid now/, { reason: 'expired' }],
    ['enrolment-other-ca', /does not end in a self-signed certificate/, operator, { reason: 'wrong-issuer' }],
    ['enrolment-server-purpose', /extended key usage/, operator, { reason: 'not-for-clients' }],
    ['enrolment-wrong-region', /xx-nowhere-1, expected eu-central-1/, /cloud\.region/, { reason: 'wrong-region' }],
  ],
};
const failures = Object.entries(byCode).flatMap(([code, rows]) =>
  rows.map(([name, message, remedy, details]) => [name, code, message, remedy, details] as const),
);

/** Only the clock ends a wait for an answer that never arrives. */
const waitedOut: ReadonlySet<string> = new Set(['enrolment-silent', 'enrolment-no-answer']);

/** An enrolment succeeds: what they break shows later, in the clock, at the broker, or in the next renewal. */
const enrolled: ReadonlySet<string> = new Set([
  ...['enrolment-clock', 'enrolment-slow', 'enrolment-short-lived', 'enrolment-unknown-ca'],
]);

/** The failure of an enrolment at an endpoint that answers with these bytes. */
async function failureAt(world: World, bytes: string, more: Partial<EnrolOptions> = {}) {
  await using raw = await startRawEndpoint(world.authority, (socket) => socket.end(bytes));
  return await failureOf(world.enrol({ url: raw.url, ...more }));
}

/** An endpoint that answers with a certificate that this makes for the request. */
const issuing = ({ authority }: World, issue: (request: string) => Promise<string>, status = 200) =>
  startRawEndpoint(authority, async (socket, request) => {
    const { certificateRequest } = JSON.parse(request.slice(request.indexOf('{'))) as { certificateRequest: string };
    const certificate = await issue(certificateRequest);
    const place = { endpoint: 'mqtt.example.com', region: 'eu-central-1' };
    socket.end(http(status, JSON.stringify({ certificate, ca: authority.caPem, ...place })));
  });

describe('failures of the endpoint', () => {
  it.each(failures)(
    '%s has its own message, remedy and address, and installs nothing',
    async (name, code, message, remedy, details) => {
      await using world = await startWorld();
      world.faults.add(name);
      const more = { expectedRegion: 'eu-central-1' };
      const clock = createSteppedClock();
      const work = waitedOut.has(name) ? during(clock, world.enrol({ ...more, clock })) : world.enrol(more);
      const failure = (await failureOf(work)) as GwError;
      expect(failure).toBeInstanceOf(GwError);
      expect(failure.message).toMatch(message);
      expect(failure.remedy).toMatch(remedy);
      expect(failure.toJSON()).toMatchObject({
        code,
        ...(details && { details }),
        ...(code !== 'CERTIFICATE_UNUSABLE' && {
          tried: { address: '127.0.0.1', port: Number(new URL(world.endpoint.url).port), action: 'POST /anmeldung' },
        }),
      });
      expect(await loadIdentity(world.identityDir)).toBeNull();
      // No request was sent to an endpoint without a verified certificate.
      if (code === 'ENROLMENT_UNTRUSTED') expect(world.endpoint.requests()).toEqual([]);
      // Without the fault the same key is enrolled afterwards.
      world.faults.clear();
      expect(await world.enrol(more)).toMatchObject({ resumed: true, identity: { serial } });
    },
  );

  it('are distinguished for every fault of the simulator', () => {
    const ofEnrolment = faultNames.filter((name) => faultTable[name].kind === 'enrolment' && !enrolled.has(name));
    expect(failures.map(([name]) => name).toSorted()).toEqual(ofEnrolment.toSorted());
    const texts = failures.map(([, code, message]) => `${code} ${message.source}`);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it.each([
    [400, 'ENROLMENT_REFUSED', /invalid request/],
    [401, 'ENROLMENT_REFUSED', /invalid one-time code/],
    [404, 'ENROLMENT_REFUSED', /no enrolment at this address/],
    [409, 'ENROLMENT_REFUSED', /another key/],
    [410, 'ENROLMENT_REFUSED', /expired/],
    [418, 'ENROLMENT_REFUSED', /unknown reason/],
    [429, 'ENROLMENT_REFUSED', /too many attempts/],
    [500, 'ENROLMENT_UNAVAILABLE', /status 500/],
    [503, 'ENROLMENT_UNAVAILABLE', /status 503/],
    [204, 'ENROLMENT_BAD_ANSWER', /status 204/],
    [304, 'ENROLMENT_BAD_ANSWER', /redirects/],
    [308, 'ENROLMENT_BAD_ANSWER', /redirects/],
  ])('status %i is %s', async (status, code, message) => {
    await using world = await startWorld();
    const failure = await failureAt(world, http(status, ''));
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('a captive portal with status 403 is not mistaken for the endpoint', async ({ world }) => {
    const failure = await failureAt(world, http(403, '<html>Blocked</html>'));
    expect(failure).toMatchObject({ code: 'ENROLMENT_BAD_ANSWER', message: expect.stringContaining('a web page') });
  });

  it('a truncated, compressed or endless answer is not accepted', async ({ world }) => {
    const cases: [string, string, RegExp][] = [
      ['HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"certificate"', 'ENROLMENT_NOT_REACHABLE', /truncated|closed/],
      [http(200, 'x', ['Content-Encoding: gzip']), 'ENROLMENT_BAD_ANSWER', /Content-Encoding: gzip/],
      [http(200, '{"certificate":1}'), 'ENROLMENT_BAD_ANSWER', /member "certificate"/],
      [http(200, '{"certificate":"a","certificate":"b"}'), 'ENROLMENT_BAD_ANSWER', /twice/],
      [http(200, '[]'), 'ENROLMENT_BAD_ANSWER', /invalid answer/],
      [http(200, ''), 'ENROLMENT_BAD_ANSWER', /empty/],
      ['SSH-2.0-OpenSSH_9.2\r\n', 'ENROLMENT_BAD_ANSWER', /not HTTP/],
    ];
    for (const [bytes, code, message] of cases) {
      const failure = await failureAt(world, bytes);
      expect([bytes, failure.code, failure.message]).toEqual([bytes, code, expect.stringMatching(message)]);
    }
    const begun = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n';
    await using raw = await startRawEndpoint(world.authority, (socket) => socket.write(begun));
    const clock = createSteppedClock();
    const failure = await failureOf(during(clock, world.enrol({ url: raw.url, clock })));
    expect(failure).toMatchObject({
      code: 'ENROLMENT_NOT_REACHABLE',
      message: expect.stringMatching(/no answer|closed/),
    });
  });

  it('an endless stream of small chunks is cut off at the limit', async ({ world }) => {
    await using raw = await startRawEndpoint(world.authority, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const more = () => {
        while (socket.write('400\r\n'.concat('x'.repeat(1024), '\r\n')));
      };
      socket.on('drain', more);
      more();
    });
    const failure = await failureOf(world.enrol({ url: raw.url }));
    expect(failure).toMatchObject({ code: 'ENROLMENT_BAD_ANSWER', message: expect.stringContaining('longer than') });
  });

  it('a certificate whose key usage forbids signing is not used', async ({ world }) => {
    const { authority } = world;
    let signs = false;
    await using raw = await issuing(world, (request) => authority.issueClient(request, { signs }));
    const failure = await failureOf(world.enrol({ url: raw.url }));
    expect(failure).toMatchObject({
      code: 'CERTIFICATE_UNUSABLE',
      message: expect.stringContaining('key usage does not include digitalSignature'),
      details: { reason: 'not-for-clients' },
    });
    signs = true;
    expect(await world.enrol({ url: raw.url })).toMatchObject({ resumed: true });
  });

  it('a CA certificate whose key usage forbids to issue is not used', async ({ world }) => {
    const { authority } = world;
    await using raw = await issuing(world, async (request) => {
      const certificate = await caWithoutCertSign(request, authority);
      // Node takes it for a device certificate.
      expect(new X509Certificate(certificate).ca).toBe(false);
      return certificate;
    });
    expect(await failureOf(world.enrol({ url: raw.url }))).toMatchObject({
      code: 'CERTIFICATE_UNUSABLE',
      message: expect.stringContaining('it is a CA certificate'),
      details: { reason: 'is-ca' },
    });
    expect(await loadIdentity(world.identityDir)).toBeNull();
  });

  it('a closed port and an unknown host name are reported with the address', async ({ world }) => {
    const port = await freePort();
    const failure = await failureOf(world.enrol({ url: `https://127.0.0.1:${port}/` }));
    expect(failure).toMatchObject({
      code: 'ENROLMENT_NOT_REACHABLE',
      message: 'not connected: the address answers, but nothing listens on this port.',
      tried: { address: '127.0.0.1', port, action: 'POST /anmeldung' },
    });
  });

  it('never repeat the one-time code, even where the endpoint does', async ({ world }) => {
    const errorBody = JSON.stringify({ error: { code: 'X', message: 'The code SECRET-CODE-77 is used.' } });
    const failure = await failureAt(world, http(401, errorBody), { readCode: async () => 'SECRET-CODE-77' });
    expect(JSON.stringify(failure)).not.toContain('SECRET-CODE-77');
    expect(failure.message).toContain('[redacted]');
    expect(await readdir(world.identityDir)).toEqual(['pending.json']);
  });

  it('never repeat the one-time code where an answer that is not JSON does', async ({ world }) => {
    const code = `C-${'7'.repeat(80)}`;
    for (const body of [code, `{"a":${code}`, `{"${code}":1,"${code}":2}`]) {
      const failure = await failureAt(world, http(200, body), { readCode: async () => code });
      expect(failure.code).toBe('ENROLMENT_BAD_ANSWER');
      expect(JSON.stringify(failure)).not.toContain('7777777');
    }
  });

  it('escape text of the endpoint', async ({ world }) => {
    const errorBody = JSON.stringify({ error: { message: '\u001b[2J\u202egone\n' } });
    const failure = await failureAt(world, http(403, errorBody));
    expect(failure.message).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  });

  it('trust no other issuer when the site file names a CA', async ({ world }) => {
    const { caPem } = await createCa();
    expect((await failureOf(world.enrol({ trust: caPem }))).code).toBe('ENROLMENT_UNTRUSTED');
    expect((await failureOf(world.enrol({ trust: undefined }))).code).toBe('ENROLMENT_UNTRUSTED');
    expect(world.endpoint.requests()).toEqual([]);
  });

  it('a clock of this device outside the validity of the endpoint certificate is named', async ({ world }) => {
    // The library uses the clock of the machine, so the certificate is moved instead.
    const future = { notBefore: new Date('2090-01-01'), notAfter: new Date('2091-01-01') };
    const { keyPem, certificatePem } = await world.authority.issueServer({ names: ['127.0.0.1'], ...future });
    const authority = { ...world.authority, issueServer: async () => ({ keyPem, certificatePem }) };
    await using raw = await startRawEndpoint(authority, (socket) => socket.end());
    const failure = await failureOf(world.enrol({ url: raw.url }));
    expect(failure).toMatchObject({
      code: 'ENROLMENT_UNTRUSTED',
      message: expect.stringMatching(
        /by the clock of this gateway the certificate is valid from 2090-01-01T00:00:00.000Z; it is /,
      ),
      details: { reason: 'CERT_NOT_YET_VALID', fault: 'not-yet-valid', addressee: 'cloud-operator' },
    });
    expect(raw.received().length).toBe(0);
  });
});

describe('the clock', () => {
  it('is compared with the time of the endpoint, and validity is judged by the latter', async ({ world }) => {
    const behind = { ...systemClock, wall: () => new Date('2001-01-01T00:00:00Z') };
    const { clock, identity } = await world.enrol({ clock: behind });
    expect(clock).toMatchObject({ verdict: 'wrong', deviceAt: '2001-01-01T00:00:00.000Z' });
    expect(clock.aheadMs).toBeLessThan(-20 * 365 * 86_400_000);
    // Records contain the time of the endpoint, not that of a clock that is known to be wrong.
    expect(identity.enrolledAt).toBe(clock.serverAt);
    expect(new Date(identity.enrolledAt).getFullYear()).toBeGreaterThan(2024);
  });

  it('is reported as right, or as not compared', async ({ world }) => {
    expect((await world.enrol()).clock.verdict).toBe('ok');
    world.faults.add('enrolment-clock');
    const ahead = await world.enrol({ renew: true });
    expect(ahead.clock.verdict).toBe('wrong');
    expect(ahead.clock.aheadMs).toBeLessThan(-23 * 3_600_000);
  });

  it('of this device alone judges when the answer has no date, and is named then', async ({ world }) => {
    const { authority } = world;
    await using raw = await issuing(world, (request) => authority.issueClient(request), 201);
    const past = { ...systemClock, wall: () => new Date('2001-01-01T00:00:00Z') };
    const failure = await failureOf(world.enrol({ url: raw.url, clock: past }));
    expect(failure).toMatchObject({
      code: 'CERTIFICATE_UNUSABLE',
      message: expect.stringContaining('by the clock of this device, 2001-01-01T00:00:00.000Z (no Date header'),
      remedy: expect.stringContaining('timedatectl'),
      details: { reason: 'not-yet-valid' },
    });
    const { clock, resumed } = await world.enrol({ url: raw.url });
    expect([clock.verdict, clock.serverAt, clock.aheadMs, resumed]).toEqual(['not-checked', null, null, true]);
  });
});

describe('parsing an answer', () => {
  const tried = { address: '127.0.0.1', port: 443 };

  it('fails on foreign bytes only with ENROLMENT_BAD_ANSWER', { tags: 'property' }, () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.json().map((text) => Buffer.from(text)),
      fc
        .record({ certificate: fc.anything(), ca: fc.anything(), endpoint: fc.anything(), region: fc.anything() })
        .map((value) => Buffer.from(JSON.stringify(value) ?? '')),
    );
    fc.assert(
      fc.property(bytes, (body) => {
        try {
          const answer = readAnswer(body, undefined, tried);
          expect(Object.keys(answer).toSorted()).toEqual(['ca', 'certificate', 'endpoint', 'region']);
        } catch (error) {
          expect(error).toMatchObject({ name: 'GwError', code: 'ENROLMENT_BAD_ANSWER', tried });
        }
      }),
    );
  });

  it('in JSON is read, whatever its Content-Encoding says', () => {
    const answer = { certificate: 'c', ca: 'a', endpoint: 'mqtt.example.com', region: 'eu-central-1' };
    const body = Buffer.from(JSON.stringify(answer));
    for (const coding of [undefined, '', 'identity', 'identity, identity', 'aws-chunked', 'gzip']) {
      expect(readAnswer(body, coding, tried)).toEqual(answer);
    }
    expect(() => readAnswer(gzipSync(body), 'gzip', tried)).toThrow(/packed \(Content-Encoding: gzip\)/);
  });

  it('accepts a host and a region and nothing ambiguous', () => {
    const read = (endpoint: string, region = 'eu-central-1') =>
      readAnswer(
        Buffer.from(JSON.stringify({ certificate: 'c', ca: 'a', endpoint, region, more: 1 })),
        undefined,
        tried,
      );
    expect(read('mqtt.example.com')).toMatchObject({ endpoint: 'mqtt.example.com' });
    expect(read('192.0.2.1').endpoint).toBe('192.0.2.1');
    expect(read('2001:db8::1').endpoint).toBe('2001:db8::1');
    for (const host of ['', 'a b', 'a/b', 'a:8883', 'https://a', '-a', '1.2.3', 'a\n', '[::1]', 'fe80::1%eth0']) {
      expect(() => read(host), host).toThrow(/member "endpoint"/);
    }
    for (const region of ['', 'a b', '-', '../x']) expect(() => read('a', region)).toThrow(/member "region"/);
  });
});

/** With `CA:TRUE`, and digitalSignature as its only key usage. */
async function caWithoutCertSign(
  requestPem: string,
  { caPem, keyPem }: { readonly caPem: string; readonly keyPem: string },
): Promise<string> {
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const pkcs8 = createPrivateKey(keyPem).export({ type: 'pkcs8', format: 'der' });
  const request = new x509.Pkcs10CertificateRequest(requestPem);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: '0b',
    subject: request.subject,
    issuer: new x509.X509Certificate(caPem).subject,
    notBefore: new Date('2020-01-01'),
    notAfter: new Date('2090-01-01'),
    publicKey: request.publicKey,
    signingKey: await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']),
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    ],
  });
  return certificate.toString('pem');
}
