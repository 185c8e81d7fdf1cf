import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs } from '../../properties.ts';
import { get, sendRaw, startServer, type TestServer } from '../server.ts';

const signs = '/ // . .. %2e %2f %5c %00 ; ? # \\ * : @ %2Epng %41 %C3%A4 ~ % API A a http://localhost .png 7';
const names = 'api medien anmeldung touren lauf stopp freigabe chassis maps nachbarn assets style.css service chatbot';
const words = `${signs} ${names} config uiot status`.split(' ');

const target = fc.oneof(
  fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 8 }).map((parts) => parts.join('')),
  fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 8 }).map((parts) => `/${parts.join('/')}`),
  fc.webPath(),
);
const method = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('GET', 'HEAD') },
  fc.constantFrom('POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'CONNECT', 'TRACE', 'QUERY', 'X'),
);
const places = 'X-Forwarded-Host: localhost:5173|X-Original-URL: /api/medien|Forwarded: for=127.0.0.1;proto=https';
const kinds = 'X-HTTP-Method-Override: POST|Upgrade: websocket|Transfer-Encoding: chunked|Content-Length: 0';
const others = 'Cookie: gw_session=x|Expect: 100-continue|Range: bytes=0-1|Origin: http://evil.example';
const header = fc.constantFrom(...`${places}|${kinds}|${others}`.split('|'));

/** The allow list, independent of the route table: by path, decoded once, without query. */
const allowed =
  /^\/(service|assets\/(style\.css|live\.js)|api\/(nachbarn|health|events|chassis\/(device\/info|state|maps(\/[A-Za-z0-9_-]+)?)))?$/;

function mayBeRead(target: string): boolean {
  try {
    const path = decodeURIComponent(target.split(/[?#]/)[0] ?? '');
    return allowed.test(path);
  } catch {
    return false;
  }
}

describe('the read-only socket under any request', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('answers 2xx to GET and HEAD of the allow list only', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(method, target, fc.array(header, { maxLength: 3 }), async (verb, path, headers) => {
        // A stream stays open; its own test reads it.
        fc.pre(!path.includes('events'));
        const { statuses } = await get(server.readOnly, path, verb, headers);
        for (const status of statuses) {
          if (status >= 400 || status === 100) continue;
          expect([status, verb, path, mayBeRead(path)]).toEqual([200, verb === 'HEAD' ? 'HEAD' : 'GET', path, true]);
        }
      }),
      { numRuns: runs(600) },
    );
    expect(server.motion.calls).toEqual([]);
  });

  it('survives bytes that are not HTTP', { tags: 'property' }, async () => {
    const last = 'GET /last HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const { statuses } = await sendRaw(
          server.readOnly,
          Buffer.concat([Buffer.from(bytes), Buffer.from(`\r\n\r\n${last}`)]),
        );
        expect(statuses.every((status) => status >= 400)).toBe(true);
      }),
      { numRuns: runs(60) },
    );
    expect((await get(server.readOnly, '/api/nachbarn')).status).toBe(200);
  });
});
