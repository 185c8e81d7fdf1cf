import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { Agent, get, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeCertificateRequest } from '../../../src/lib/enrolment/enrol.ts';
import { createCa, readRequest } from '../../../src/lib/sim/cloud/certificates.ts';
import { switchFault } from '../../../src/lib/sim/control/switch-fault.ts';
import { type FaultName, faultNames, faultTable, type Sim, startSim } from '../../../src/lib/sim/index.ts';
import { loadSite } from '../../../src/lib/site/index.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-sim-enrolment-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

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

/** Shares no code with the product's client. */
function post(sim: Sim, body: object | string, path = '/anmeldung', method = 'POST'): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const url = new URL(path, sim.enrolment?.url);
    const sent = request(url, { method, ca: sim.enrolment?.caPem, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        const type = response.headers['content-type'];
        const parsed = type === 'application/json' ? JSON.parse(text) : {};
        resolve({ status: response.statusCode ?? 0, type, json: parsed });
      });
    });
    sent.on('error', reject);
    sent.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

/** Reused connections, for many requests. */
function connections(sim: Sim) {
  const agent = new Agent({ keepAlive: true, maxSockets: 10, ca: sim.enrolment?.caPem });
  return {
    get: (path: string) =>
      new Promise<void>((resolve, reject) => {
        get(new URL(path, sim.enrolment?.url), { agent }, (response) => response.resume().on('end', resolve)).on(
          'error',
          reject,
        );
      }),
    [Symbol.dispose]: () => agent.destroy(),
  };
}

async function asking(sim: Sim, keyPem: string, more: object = {}) {
  return {
    serial: sim.chassis.serial,
    certificateRequest: await makeCertificateRequest(keyPem, sim.chassis.serial),
    oneTimeCode: sim.enrolment?.newCode(),
    renewal: false,
    device: { model: null, software: null },
    ...more,
  };
}

describe('the enrolment endpoint of the simulator', () => {
  it('issues a client certificate of its CA for a code and a request', async () => {
    await using sim = await startSim({ with: ['enrolment'] });
    const { status, type, json } = await post(sim, await asking(sim, newKey()));
    expect([status, type]).toEqual([200, 'application/json']);
    expect(json).toMatchObject({ endpoint: '127.0.0.1', region: 'eu-central-1', ca: sim.enrolment?.caPem });
    const certificate = new X509Certificate(json.certificate ?? '');
    expect(certificate.subject).toBe('CN=SIM-0001');
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(certificate.verify(new X509Certificate(json.ca ?? '').publicKey)).toBe(true);
    expect(sim.enrolment?.requests().map(({ path, status: of }) => [path, of])).toEqual([['/anmeldung', 200]]);
  });

  it('accepts a code for one key, answers the same key again, and a second key only for a renewal', async () => {
    await using sim = await startSim({ with: ['enrolment'] });
    const [first, second] = [newKey(), newKey()];
    const body = await asking(sim, first);
    const answer = await post(sim, body);
    const certificate = (reply: Reply) => new X509Certificate(reply.json.certificate ?? '').fingerprint256;
    expect(certificate(await post(sim, body))).toBe(certificate(answer));
    const refusals = [
      [{ ...(await asking(sim, second)), oneTimeCode: body.oneTimeCode, renewal: true }, 409, 'CODE_USED'],
      [await asking(sim, second), 409, 'ENROLLED'],
      [await asking(sim, second, { oneTimeCode: 'AAAA-AAAA-AAAA-AAAA' }), 401, 'CODE_INVALID'],
    ] as const;
    for (const [body, status, code] of refusals) {
      expect(await post(sim, body)).toMatchObject({ status, json: { error: { code } } });
    }
    expect((await post(sim, await asking(sim, second, { renewal: true }))).status).toBe(200);
  });

  it('refuses an invalid request before it checks the code', async () => {
    await using sim = await startSim({ with: ['enrolment'] });
    const sound = await asking(sim, newKey());
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const forged = forgedOf(sound.certificateRequest);
    for (const body of [
      '',
      '[]',
      '{"serial":"SIM-0001"}',
      { ...sound, certificateRequest: 'none' },
      { ...sound, certificateRequest: forged },
      { ...sound, serial: 'SIM-0002' },
      { ...sound, renewal: 'no' },
      { ...sound, certificateRequest: rsa.publicKey.export({ type: 'spki', format: 'pem' }) },
    ]) {
      expect(await post(sim, body), JSON.stringify(body)).toMatchObject({ status: 400 });
    }
    expect((await post(sim, 'x'.repeat(100_000))).status).toBe(413);
    expect((await post(sim, sound, '/')).status).toBe(404);
    expect((await post(sim, '', '/anmeldung', 'PUT')).status).toBe(405);
    expect((await post(sim, sound)).status).toBe(200);
  });

  it('records every complete request, whatever its result', async () => {
    await using sim = await startSim({ with: ['enrolment'] });
    const sound = await asking(sim, newKey());
    const answered = async (fault: FaultName, status: number, path = '/anmeldung') => {
      sim.setFault(fault, true);
      const reply = await post(sim, sound, path).catch(() => undefined);
      expect(reply?.status ?? 0, fault).toBe(status);
      sim.setFault(fault, false);
      expect(sim.enrolment?.requests().at(-1), fault).toEqual({
        method: 'POST',
        path,
        body: JSON.stringify(sound),
        status,
      });
    };
    await answered('enrolment-html', 200);
    await answered('enrolment-redirect', 302, '/anmeldung?x=1');
    await answered('enrolment-huge', 200);
    await answered('enrolment-error', 500);
    await answered('enrolment-answer-lost', 0);
    sim.setFault('enrolment-no-answer', true);
    void post(sim, sound).catch(() => {});
    await expect.poll(() => sim.enrolment?.requests().length).toBe(6);
    sim.setFault('enrolment-no-answer', false);
    await post(sim, 'x'.repeat(100_000));
    await post(sim, sound, '/');
    await post(sim, '', '/anmeldung', 'PUT');
    await post(sim, '{');
    expect(sim.enrolment?.requests().map(({ status }) => status)).toEqual([
      200, 302, 200, 500, 0, 0, 413, 404, 405, 400,
    ]);
  });

  it('keeps the last 1000 requests', { timeout: 60_000 }, async () => {
    await using sim = await startSim({ with: ['enrolment'] });
    using agent = connections(sim);
    for (let count = 0; count < 1003; count += 10) {
      await Promise.all(Array.from({ length: 10 }, (_, index) => agent.get(`/${count + index}`)));
    }
    const paths = sim.enrolment?.requests().map(({ path }) => Number(path.slice(1))) ?? [];
    expect(paths).toHaveLength(1000);
    expect(Math.max(...paths)).toBe(1009);
    expect(paths).not.toContain(0);
  });

  it('refuses every valid request with enrolment-refused, whatever its code, and uses no code', async () => {
    await using sim = await startSim({ with: ['enrolment'] });
    const [first, second] = [newKey(), newKey()];
    const used = await asking(sim, first);
    await post(sim, used);
    const fresh = await asking(sim, second, { renewal: true });
    sim.setFault('enrolment-refused', true);
    for (const body of [
      fresh,
      used,
      { ...fresh, oneTimeCode: used.oneTimeCode },
      { ...fresh, oneTimeCode: 'AAAA-AAAA-AAAA-AAAA' },
    ]) {
      expect(await post(sim, body)).toMatchObject({ status: 403, json: { error: { code: 'CODE_FOREIGN' } } });
    }
    // An invalid request is refused before its code is checked.
    expect(await post(sim, '{')).toMatchObject({ status: 400 });
    expect(await post(sim, fresh, '/other')).toMatchObject({ status: 404 });
    sim.setFault('enrolment-refused', false);
    expect((await post(sim, fresh)).status).toBe(200);
  });

  it('binds a code to one key, also with concurrent requests', async () => {
    await using sim = await startSim({ with: ['enrolment'] });
    const first = await asking(sim, newKey());
    const others = await Promise.all(
      Array.from({ length: 5 }, async () => ({
        ...(await asking(sim, newKey(), { renewal: true })),
        oneTimeCode: first.oneTimeCode,
      })),
    );
    const replies = await Promise.all([first, ...others].map((body) => post(sim, body)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 409)).toHaveLength(5);
  });

  it('writes the files for trying it, and keeps its CA for the next run', async () => {
    let caPem: string | undefined;
    {
      await using sim = await startSim({ dir, with: ['enrolment'] });
      const site = await loadSite(sim.sitePath ?? '');
      caPem = sim.enrolment?.caPem;
      expect(site.enrolment).toEqual({
        url: sim.enrolment?.url,
        caFile: join(dir, 'enrolment-ca.pem'),
        identityDir: join(dir, 'identity'),
      });
      expect(await readFile(site.enrolment?.caFile ?? '', 'utf8')).toBe(caPem);
      const codePath = sim.enrolment?.codePath ?? '';
      expect((await stat(codePath)).mode & 0o777).toBe(0o600);
      expect((await stat(join(dir, 'secrets', 'cloud-ca.json'))).mode & 0o777).toBe(0o600);
      const code = (await readFile(codePath, 'utf8')).trim();
      expect(code).toMatch(/^([A-Z2-9]{4}-){3}[A-Z2-9]{4}$/);
      expect((await post(sim, await asking(sim, newKey(), { oneTimeCode: code }))).status).toBe(200);
      // The file contains the next valid code.
      expect((await readFile(codePath, 'utf8')).trim()).not.toBe(code);
    }
    {
      await using again = await startSim({ dir, with: ['enrolment'] });
      expect(again.enrolment?.caPem).toBe(caPem);
    }
    const { keyPem } = await createCa();
    for (const damaged of [
      { caPem: 'x', keyPem: 'y' },
      { caPem, keyPem: 'y' },
      { caPem, keyPem },
    ]) {
      await writeFile(join(dir, 'secrets', 'cloud-ca.json'), JSON.stringify(damaged));
      await using nextRun = await startSim({ dir, with: ['enrolment'] });
      expect(nextRun.enrolment?.caPem).not.toBe(caPem);
      expect((await post(nextRun, await asking(nextRun, newKey()))).status).toBe(200);
    }
  });

  it('is absent unless selected, and its faults then report no effect', async () => {
    const pointerFile = join(dir, 'pointer.json');
    await using sim = await startSim({ dir, pointerFile });
    expect(sim.enrolment).toBeNull();
    expect((await loadSite(sim.sitePath ?? '')).enrolment).toBeUndefined();
    const result = await switchFault({ name: 'enrolment-html', state: 'on', dir, pointerFile });
    expect(result.note).toContain('gw sim --with enrolment');
  });

  it('ends at once, also with open connections', async () => {
    const sim = await startSim({ with: ['enrolment'] });
    sim.setFault('enrolment-no-answer', true);
    const waiting = post(sim, await asking(sim, newKey())).catch((error: Error) => error);
    await expect.poll(() => sim.enrolment?.requests().length).toBe(1);
    await sim[Symbol.asyncDispose]();
    expect(await waiting).toBeInstanceOf(Error);
  });
});

describe('the certificates of the simulator', () => {
  it('are for the requested names and addresses', async () => {
    const ca = await createCa();
    const { certificatePem } = await ca.issueServer({ names: ['localhost', '127.0.0.1', '::1'] });
    const certificate = new X509Certificate(certificatePem);
    for (const name of ['localhost']) expect(certificate.checkHost(name)).toBe(name);
    for (const address of ['127.0.0.1', '::1']) expect(certificate.checkIP(address)).toBeDefined();
    expect(certificate.checkHost('example.com')).toBeUndefined();
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  });

  it('are not issued for a request whose signature does not match its key', async () => {
    const ca = await createCa();
    const requestPem = await makeCertificateRequest(newKey(), 'SN1');
    const forged = forgedOf(requestPem);
    expect(await readRequest(forged)).toBeUndefined();
    await expect(ca.issueClient(forged)).rejects.toThrow(RangeError);
    expect(await readRequest('')).toBeUndefined();
  });
});

it('has a description for every fault of the enrolment', () => {
  const ofEnrolment = faultNames.filter((name) => faultTable[name].kind === 'enrolment');
  expect(ofEnrolment.every((name) => name.startsWith('enrolment-') && faultTable[name].effect.length > 20)).toBe(true);
  expect(ofEnrolment.length).toBe(19);
});
