import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createClockReader } from '../../../src/lib/gateway/clock-reader.ts';
import { compareClocks, directDialer } from '../../../src/lib/net/index.ts';
import type { ClockAnswer } from '../../../src/lib/net/path/index.ts';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { parseSite } from '../../../src/lib/site/index.ts';
import { freePort } from '../../free-port.ts';
import { createFakeClock, type FakeClock, passTime } from '../../lifecycle/fake-clock.ts';
import { listening } from '../../listening.ts';

const authority = await createCa();
const foreign = await createCa();
const dir = mkdtempSync(join(tmpdir(), 'gw-clock-'));
const caFile = join(dir, 'ca.pem');
writeFileSync(caFile, authority.caPem);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let open = new AsyncDisposableStack();
afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});

interface About {
  readonly ca?: typeof authority;
  readonly validity?: { readonly notBefore: Date; readonly notAfter: Date };
  /** The lines of the answer behind its status; null: none. */
  readonly headers: string | null;
}

/** An https server on an address of its own; `received` is what it was sent. */
async function serve(host: string, { ca = authority, validity = {} as never, headers }: About) {
  const pair = await ca.issueServer({ names: [host], ...validity });
  const received: string[] = [];
  const server = createTlsServer({ key: pair.keyPem, cert: pair.certificatePem }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      received.push(bytes.toString('latin1'));
      if (headers !== null) socket.write(`HTTP/1.1 403 Forbidden\r\n${headers}\r\n`);
    });
  });
  server.on('tlsClientError', () => {});
  const { port } = open.use(await listening(server, 0, host));
  return { url: `https://${host}:${port}`, received };
}

function readerOf(urls: readonly string[], clock: FakeClock) {
  const yaml = `name: T\nchassis: { host: 127.0.0.1, serial: S }\ntime: { caFile: ca.pem, urls: [${urls.map((url) => `"${url}"`).join(', ')}] }\n`;
  const read = createClockReader(parseSite(yaml, join(dir, 'site.yaml')), { clock, dialer: directDialer });
  if (read === null) throw new Error('no endpoint');
  return read(new AbortController().signal);
}

const clock = createFakeClock();
const date = (offMs: number) => `Date: ${new Date(clock.wall().getTime() + offMs).toUTCString()}\r\n`;
const details = (answers: readonly ClockAnswer[]) =>
  answers.map((answer) => (answer.kind === 'read' ? answer.reading.behindMs : `${answer.why}: ${answer.detail}`));

describe('the time of https endpoints', () => {
  it('is read of each that the site file names, by one small request, and agreed on', async () => {
    const one = await serve('127.0.0.1', { headers: date(0) });
    const other = await serve('127.0.0.2', { headers: date(1_000) });
    const answers = await readerOf([one.url, other.url], clock);
    // A date stands for its whole second.
    expect(details(answers)).toEqual([500, 1_500]);
    const readings = answers.flatMap((answer) => (answer.kind === 'read' ? [answer.reading] : []));
    expect(compareClocks(readings)).toMatchObject({ kind: 'agreed', behindMs: 1_000, uncertainMs: 1_000 });
    for (const { received } of [one, other]) {
      expect(received.join('')).toMatch(/^HEAD \/ HTTP\/1\.1\r\nHost: [\d.:]+\r\n/);
      expect(received.join('').length).toBeLessThan(200);
    }
  });

  it('of one machine with two ports is that of one endpoint', async () => {
    const urls = [
      (await serve('127.0.0.1', { headers: date(0) })).url,
      (await serve('127.0.0.1', { headers: date(0) })).url,
    ];
    const site = `name: T\nchassis: { host: 127.0.0.1, serial: S }\ntime: { urls: ["${urls[0]}", "${urls[1]}"] }\n`;
    expect(() => parseSite(site, join(dir, 'site.yaml'))).toThrow('at least two hosts');
  });

  it('that differs is not agreed on', async () => {
    const urls = [
      (await serve('127.0.0.1', { headers: date(0) })).url,
      (await serve('127.0.0.2', { headers: date(-3_600_000) })).url,
    ];
    const answers = await readerOf(urls, clock);
    const readings = answers.flatMap((answer) => (answer.kind === 'read' ? [answer.reading] : []));
    expect(compareClocks(readings)).toMatchObject({ kind: 'disagree', readings: [{ host: '127.0.0.2' }, {}] });
  });

  it.each([
    ['has expired', { notBefore: new Date('2020-01-01'), notAfter: new Date('2021-01-01') }],
    ['is not yet valid', { notBefore: new Date('2039-01-01'), notAfter: new Date('2040-01-01') }],
  ])(
    'is not read over a certificate that %s, to which nothing is sent, and which names the clock',
    async (_, validity) => {
      const bad = await serve('127.0.0.1', { headers: date(0), validity });
      const good = await serve('127.0.0.2', { headers: date(0) });
      const [found] = details(await readerOf([bad.url, good.url], clock));
      expect(found).toMatch(
        /^certificate-time: 127\.0\.0\.1:\d+: .*or the clock of this machine is wrong, now 2026-01-31T12/,
      );
      expect(bad.received).toEqual([]);
    },
  );

  it('is not read of an untrusted server, and nothing is sent to it', async () => {
    const bad = await serve('127.0.0.1', { headers: date(0), ca: foreign });
    const good = await serve('127.0.0.2', { headers: date(0) });
    const [found] = details(await readerOf([bad.url, good.url], clock));
    expect(found).toMatch(/^other: 127\.0\.0\.1:\d+: not verified/);
    expect(bad.received).toEqual([]);
  });

  it.each([
    ['without a date', ''],
    ['with a date that is none', 'Date: today\r\n'],
    ['of a cache', `Age: 300\r\n${date(0)}`],
    ['of a cache with an age that is no number', `Age: x\r\n${date(0)}`],
  ])('is not read from an answer %s', async (_, headers) => {
    const urls = [(await serve('127.0.0.1', { headers })).url, (await serve('127.0.0.2', { headers: date(0) })).url];
    expect(details(await readerOf(urls, clock))).toEqual([expect.stringContaining('no Date in the answer'), 500]);
  });

  it('is not read where nothing listens, and each wait ends', async () => {
    const own = createFakeClock();
    const silent = await serve('127.0.0.2', { headers: null });
    const urls = [`https://127.0.0.1:${await freePort()}`, silent.url];
    const answers = await passTime(own, 500, readerOf(urls, own));
    expect(details(answers)).toEqual([expect.stringMatching(/^other: /), expect.stringContaining('no answer')]);
  });

  it('is read of none without `time` in the site file, whatever else it names', () => {
    const yaml = 'name: T\nchassis: { host: 127.0.0.1, serial: S }\nenrolment: { url: https://127.0.0.1:1 }\n';
    expect(createClockReader(parseSite(yaml, 'site.yaml'), { clock, dialer: directDialer })).toBeNull();
  });
});
