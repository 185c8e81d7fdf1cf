import { writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type CertificateAuthority, createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { checkHttp, type HttpOptions } from '../../../src/lib/toolkit/own-check/http.ts';
import { until } from '../../waiting.ts';
import { closedPort, context, listening, tempDir, toolkit } from './peers.ts';

let authority: CertificateAuthority;
beforeAll(async () => {
  authority = await createCa();
});

const get = (url: string, more: Partial<HttpOptions> = {}, kit = toolkit()) =>
  checkHttp(kit, { url, method: 'GET', headers: {}, verifyTls: true, timeoutS: 2, ...more }, context);
const served = async (listener: RequestListener) => `http://127.0.0.1:${await listening(createServer(listener))}/a?b=c`;
const secure = async (names: readonly [string], validity = {}) => {
  const { keyPem: key, certificatePem: cert } = await authority.issueServer({ names, ...validity });
  const server = createTlsServer({ key, cert }, (_, answer) => {
    answer.setHeader('Date', toolkit().clock.wall().toUTCString());
    answer.end('safe');
  });
  return `https://127.0.0.1:${await listening(server)}/`;
};

test('status, headers and body of one request, with the headers of the list', async () => {
  const url = await served((request, answer) => {
    answer.setHeader('Set-Cookie', 'secret=1');
    answer.writeHead(201, { 'X-Seen': `${request.method} ${request.url} ${request.headers['x-key']}` }).end('hello');
  });
  const found = await get(url, { headers: { 'x-key': 'k' } });
  expect(found).toMatchObject({ answered: true, status: 201, body: 'hello', bytes: 5, tls: null });
  expect(found.headers).toMatchObject({ 'x-seen': 'GET /a?b=c k', 'set-cookie': '[not kept]' });
  expect(found.detail).toContain('status 201, from this machine');
});

test('a redirect is an answer and is not followed', async () => {
  let requests = 0;
  const url = await served((_, answer) => {
    requests += 1;
    answer.writeHead(302, { location: '/elsewhere' }).end();
  });
  expect(await get(url)).toMatchObject({ status: 302, headers: { location: '/elsewhere' } });
  expect(requests).toBe(1);
});

test('nothing listens: no answer and no status', async () => {
  const found = await get(`http://127.0.0.1:${await closedPort()}/`);
  expect(found).toMatchObject({ answered: false, failure: 'the address answers, but nothing listens on this port' });
  expect(found.status).toBeUndefined();
});

test('a server that accepts and stays silent is ended by the timeout, over TLS too', async () => {
  for (const scheme of ['http', 'https']) {
    let received = 0;
    const silent = createTcpServer((socket) => {
      socket.on('data', () => {
        received += 1;
      });
    });
    const kit = toolkit();
    const getting = get(`${scheme}://127.0.0.1:${await listening(silent)}/`, { timeoutS: 0.3 }, kit);
    await until(
      () => received,
      (chunks) => chunks > 0,
    );
    await kit.clock.advance(300);
    expect(await getting).toMatchObject({ answered: false, failure: expect.stringMatching(/no (whole )?answer/) });
  }
});

test('a body that stalls is no answer, whatever its status', async () => {
  let hasBegun = false;
  const url = await served((_, answer) => {
    answer.writeHead(200, { 'content-length': '100' }).write('begin', () => {
      hasBegun = true;
    });
  });
  const kit = toolkit();
  const getting = get(url, {}, kit);
  await until(() => hasBegun, Boolean);
  await kit.clock.advance(2_000);
  const found = await getting;
  expect(found).toMatchObject({ answered: false, failure: 'no whole answer within 2 s', tookMs: 2_000 });
  expect(found.status).toBeUndefined();
});

test('a connection that is cut in the body is no answer', async () => {
  const url = await served((_, answer) => {
    answer.writeHead(200, { 'content-length': '100' }).write('begin', () => answer.destroy());
  });
  expect(await get(url)).toMatchObject({ answered: false });
});

test('of a server that sends forever one MiB is read, and the body is not checked', async () => {
  const url = await served((_, answer) => {
    const send = () => {
      while (answer.write(Buffer.alloc(65_536, 'x')));
      answer.once('drain', send);
    };
    send();
  });
  expect(await get(url)).toMatchObject({ status: 200, body: 'not-checked', bytes: 'not-checked' });
});

test('headers without end, and what is no HTTP, are no answer', async () => {
  for (const text of ['SSH-2.0-x\r\n', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`]) {
    const port = await listening(createTcpServer((socket) => socket.write(text)));
    expect(await get(`http://127.0.0.1:${port}/`, { timeoutS: 1 })).toMatchObject({ answered: false });
  }
});

test('a body that is no UTF-8 is not checked', async () => {
  const url = await served((_, answer) => answer.end(Buffer.from([0xff, 0xfe])));
  expect(await get(url)).toMatchObject({ body: 'not-checked', bytes: 2 });
});

test('https is verified, and its certificate is reported', async () => {
  const caFile = join(await tempDir(), 'ca.pem');
  await writeFile(caFile, authority.caPem);
  const found = await get(await secure(['127.0.0.1']), { caFile });
  expect(found).toMatchObject({ answered: true, body: 'safe', tls: { verified: true } });
  expect(found.tls?.daysLeft).toBeGreaterThan(300);
});

test('the days that a certificate lasts are not checked over a clock that the server contradicts', async () => {
  const caFile = join(await tempDir(), 'ca.pem');
  await writeFile(caFile, authority.caPem);
  const url = await secure(['127.0.0.1']);
  const kit = toolkit();
  const behind = { ...kit, clock: { ...kit.clock, wall: () => new Date(kit.clock.wall().getTime() - 3 * 86_400_000) } };
  expect((await get(url, { caFile }, behind)).tls).toMatchObject({ verified: true, daysLeft: 'not-checked' });
});

test('an untrusted, an expired and a foreign certificate are no answer, and nothing is sent', async () => {
  const caFile = join(await tempDir(), 'ca.pem');
  await writeFile(caFile, authority.caPem);
  expect(await get(await secure(['127.0.0.1']))).toMatchObject({ answered: false, tls: { verified: false } });
  const old = { notBefore: new Date('2020-01-01'), notAfter: new Date('2021-01-01') };
  const expired = await get(await secure(['127.0.0.1'], old), { caFile });
  expect(expired.failure).toContain('CERT_HAS_EXPIRED');
  expect(expired.status).toBeUndefined();
  const foreign = await get(await secure(['other.example']), { caFile });
  expect(foreign.failure).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
});

test('with verifyTls: false it answers, and never says verified', async () => {
  const found = await get(await secure(['other.example']), { verifyTls: false });
  expect(found).toMatchObject({ answered: true, tls: { verified: 'not-checked' } });
  expect(found.detail).toContain('certificate not verified');
});

test('a CA file that cannot be read is an error, before anything is sent', async () => {
  await expect(get('https://127.0.0.1:1/', { caFile: '/none/ca.pem' })).rejects.toMatchObject({ code: 'CHECK_FAILED' });
});
