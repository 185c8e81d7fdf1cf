import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeCertificateRequest } from '../../../src/lib/enrolment/enrol.ts';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { switchFault } from '../../../src/lib/sim/control/switch-fault.ts';
import { type FaultName, startSim } from '../../../src/lib/sim/index.ts';
import { loadSite } from '../../../src/lib/site/index.ts';
import { folderOfFile } from '../../lifecycle/folder.ts';
import { shared } from '../../lifecycle/shared.ts';
import { until } from '../raw-client.ts';

const dir = folderOfFile();
const sim = shared(await startSim({ with: ['enrolment'] }));

const newKey = () =>
  generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

/** The same request with another signature. */
function forgedOf(requestPem: string): string {
  const bytes = Buffer.from(requestPem.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64');
  const last = bytes.length - 3;
  bytes[last] = (bytes[last] ?? 0) ^ 1;
  return `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
}

interface Reply {
  readonly status: number;
  readonly type: string | undefined;
  readonly json: { readonly certificate?: string; readonly ca?: string; readonly error?: { readonly code: string } };
}

interface Client {
  readonly keyPem: string;
  readonly certificatePem: string;
}

/** Shares no code with the product's client. Status 0: the connection ended without an answer. */
function post(body: object | string, path = '/anmeldung', method = 'POST', to = sim, client?: Client): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  const sent = request(
    new URL(path, to.enrolment?.url),
    { method, ca: to.enrolment?.caPem, agent: false, key: client?.keyPem, cert: client?.certificatePem },
    (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        const type = response.headers['content-type'];
        resolve({ status: response.statusCode ?? 0, type, json: type === 'application/json' ? JSON.parse(text) : {} });
      });
    },
  );
  sent.on('error', () => resolve({ status: 0, type: undefined, json: {} }));
  sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  return promise;
}

async function asking(keyPem: string, more: object = {}, of = sim) {
  return {
    serial: of.chassis.serial,
    certificateRequest: await makeCertificateRequest(keyPem, of.chassis.serial),
    oneTimeCode: of.enrolment?.newCode(),
    // The device is enrolled after the first test.
    renewal: true,
    device: { model: null, software: null },
    ...more,
  };
}
const requests = () => sim.enrolment?.requests() ?? [];

describe('the enrolment endpoint of the simulator', () => {
  it('issues a client certificate of its CA for a code and a request', async () => {
    const { status, type, json } = await post(await asking(newKey(), { renewal: false }));
    expect([status, type]).toEqual([200, 'application/json']);
    expect(json).toMatchObject({ endpoint: '127.0.0.1', region: 'eu-central-1', ca: sim.enrolment?.caPem });
    const certificate = new X509Certificate(json.certificate ?? '');
    expect([certificate.subject, certificate.keyUsage]).toEqual(['CN=SIM-0001', ['1.3.6.1.5.5.7.3.2']]);
    expect(certificate.verify(new X509Certificate(json.ca ?? '').publicKey)).toBe(true);
    expect(requests().map(({ path, status: of }) => [path, of])).toEqual([['/anmeldung', 200]]);
  });

  it('accepts a code for one key, answers the same key again, and a second key only for a renewal', async () => {
    const [first, second] = [newKey(), newKey()];
    const body = await asking(first);
    const certificates = [await post(body), await post(body)].map(({ json }) => json.certificate);
    expect(certificates[0]).toBe(certificates[1]);
    const refusals = [
      [{ ...(await asking(second)), oneTimeCode: body.oneTimeCode }, 409, 'CODE_USED'],
      [await asking(second, { renewal: false }), 409, 'ENROLLED'],
      [await asking(second, { oneTimeCode: 'AAAA-AAAA-AAAA-AAAA' }), 401, 'CODE_INVALID'],
    ] as const;
    for (const [refused, status, code] of refusals) {
      expect(await post(refused)).toMatchObject({ status, json: { error: { code } } });
    }
    expect((await post(await asking(second))).status).toBe(200);
  });

  it('refuses an invalid request before it checks the code', async () => {
    const sound = await asking(newKey());
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey;
    for (const body of [
      '',
      '[]',
      '{"serial":"SIM-0001"}',
      { ...sound, certificateRequest: 'none' },
      { ...sound, certificateRequest: forgedOf(sound.certificateRequest) },
      { ...sound, serial: 'SIM-0002' },
      { ...sound, renewal: 'no' },
      { ...sound, certificateRequest: rsa.export({ type: 'spki', format: 'pem' }) },
    ]) {
      expect(await post(body), JSON.stringify(body)).toMatchObject({ status: 400 });
    }
    expect((await post('x'.repeat(100_000))).status).toBe(413);
    expect((await post(sound, '/')).status).toBe(404);
    expect((await post('', '/anmeldung', 'PUT')).status).toBe(405);
    expect((await post(sound)).status).toBe(200);
    // Each of them is recorded.
    expect(
      requests()
        .slice(-12)
        .map(({ status }) => status),
    ).toEqual([...Array(8).fill(400), 413, 404, 405, 200]);
  });

  it.each<[FaultName, number, string]>([
    ['enrolment-html', 200, '/anmeldung'],
    ['enrolment-redirect', 302, '/anmeldung?x=1'],
    ['enrolment-huge', 200, '/anmeldung'],
    ['enrolment-error', 500, '/anmeldung'],
    ['enrolment-answer-lost', 0, '/anmeldung'],
  ])('records a complete request under %s, with the status %d', async (fault, status, path) => {
    const sound = await asking(newKey());
    sim.setFault(fault, true);
    expect((await post(sound, path)).status).toBe(status);
    sim.setFault(fault, false);
    expect(requests().at(-1)).toEqual({
      byCertificate: null,
      method: 'POST',
      path,
      body: JSON.stringify(sound),
      status,
    });
  });

  it('refuses every valid request with enrolment-refused, whatever its code, and uses no code', async () => {
    const used = await asking(newKey());
    await post(used);
    const fresh = await asking(newKey());
    sim.setFault('enrolment-refused', true);
    for (const oneTimeCode of [fresh.oneTimeCode, used.oneTimeCode, 'AAAA-AAAA-AAAA-AAAA']) {
      const refused = { status: 403, json: { error: { code: 'CODE_FOREIGN' } } };
      expect(await post({ ...fresh, oneTimeCode })).toMatchObject(refused);
    }
    expect(await post(used)).toMatchObject({ status: 403 });
    // An invalid request is refused before its code is checked.
    expect([(await post('{')).status, (await post(fresh, '/other')).status]).toEqual([400, 404]);
    sim.setFault('enrolment-refused', false);
    expect((await post(fresh)).status).toBe(200);
  });

  it('renews without a code by a certificate of its CA for the same serial number, until it is revoked', async () => {
    const { oneTimeCode: _, ...body } = await asking(newKey());
    const refusedFor = async (changes: object, client?: Client) =>
      (await post({ ...body, ...changes }, '/anmeldung', 'POST', sim, client)).json.error?.code;
    expect(await refusedFor({})).toBe('NO_CERTIFICATE');
    expect(await refusedFor({ oneTimeCode: null })).toBe('REQUEST_INVALID');
    expect(await refusedFor({}, await (await createCa()).issueClientPair('SIM-0001'))).toBe('NO_CERTIFICATE');
    const enrolled = async (serial: string): Promise<Client> => {
      const keyPem = newKey();
      const request = { serial, certificateRequest: await makeCertificateRequest(keyPem, serial) };
      const oneTimeCode = sim.enrolment?.newCode(serial);
      const { json } = await post({ ...request, oneTimeCode, renewal: true, device: {} });
      return { keyPem, certificatePem: json.certificate ?? '' };
    };
    const own = await enrolled('SIM-0001');
    expect(await refusedFor({}, await enrolled('SIM-0002'))).toBe('CERTIFICATE_FOREIGN');
    expect(await refusedFor({ renewal: false }, own)).toBe('NO_CERTIFICATE');
    const renewed = await post(body, '/anmeldung', 'POST', sim, own);
    expect(renewed.status).toBe(200);
    expect(requests().at(-1)?.byCertificate).toBe(new X509Certificate(own.certificatePem).fingerprint256);
    // The same for the same key.
    expect((await post(body, '/anmeldung', 'POST', sim, own)).json.certificate).toBe(renewed.json.certificate);
    sim.setFault('enrolment-refused', true);
    expect(await refusedFor({}, own)).toBe('NOT_ALLOWED');
    sim.setFault('enrolment-refused', false);
    sim.enrolment?.revoke();
    expect(await refusedFor({}, own)).toBe('CERTIFICATE_REVOKED');
  });

  it('binds a code to one key, also with concurrent requests', async () => {
    const { oneTimeCode } = await asking(newKey());
    const bodies = await Promise.all(Array.from({ length: 6 }, () => asking(newKey(), { oneTimeCode })));
    const statuses = (await Promise.all(bodies.map((body) => post(body)))).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 409, 409, 409, 409, 409]);
  });

  it('writes the files for trying it, and keeps its CA for the next run', async () => {
    const start = () => startSim({ dir, with: ['enrolment'] });
    let caPem: string | undefined;
    {
      await using own = await start();
      const { enrolment } = await loadSite(own.sitePath ?? '');
      caPem = own.enrolment?.caPem;
      const caFile = join(dir, 'enrolment-ca.pem');
      expect(enrolment).toEqual({ url: own.enrolment?.url, caFile, identityDir: join(dir, 'identity') });
      expect(await readFile(caFile, 'utf8')).toBe(caPem);
      const codePath = own.enrolment?.codePath ?? '';
      for (const path of [codePath, join(dir, 'secrets', 'cloud-ca.json')]) {
        expect((await stat(path)).mode & 0o777, path).toBe(0o600);
      }
      const code = (await readFile(codePath, 'utf8')).trim();
      expect(code).toMatch(/^([A-Z2-9]{4}-){3}[A-Z2-9]{4}$/);
      const body = await asking(newKey(), { oneTimeCode: code, renewal: false }, own);
      expect((await post(body, undefined, undefined, own)).status).toBe(200);
      // The file contains the next valid code.
      expect((await readFile(codePath, 'utf8')).trim()).not.toBe(code);
    }
    {
      await using again = await start();
      expect(again.enrolment?.caPem).toBe(caPem);
    }
    const { keyPem } = await createCa();
    for (const damaged of [
      { caPem: 'x', keyPem: 'y' },
      { caPem, keyPem },
    ]) {
      await writeFile(join(dir, 'secrets', 'cloud-ca.json'), JSON.stringify(damaged));
      await using next = await start();
      expect(next.enrolment?.caPem).not.toBe(caPem);
    }
  });

  it('is absent unless selected, and its faults then report no effect', async () => {
    const own = join(dir, 'none');
    await using without = await startSim({ dir: own });
    expect(without.enrolment).toBeNull();
    expect((await loadSite(without.sitePath ?? '')).enrolment).toBeUndefined();
    const { note } = await switchFault({ name: 'enrolment-html', state: 'on', dir: own });
    expect(note).toContain('gw sim --with enrolment');
  });

  it('ends at once, also with a recorded request that gets no answer', async () => {
    const own = await startSim({ with: ['enrolment'] });
    own.setFault('enrolment-no-answer', true);
    const waiting = post(await asking(newKey(), {}, own), undefined, undefined, own);
    await until(() => own.enrolment?.requests().length === 1);
    await own[Symbol.asyncDispose]();
    expect((await waiting).status).toBe(0);
  });
});
