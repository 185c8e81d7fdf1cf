import { describe, expect, it } from 'vitest';
import { get, sendRaw, signIn } from '../server.ts';
import { sharedServer } from '../shared-server.ts';

/** Paths that the read-only socket must not serve, in any spelling. */
const closed = ['/anmeldung', '/api/medien', '/api/chassis/maps/7.png', '/api/touren', '/api/stopp'];

/** Spellings of a path that some routers, proxies and filters normalise to the path itself. */
function spellings(path: string): string[] {
  const last = path.lastIndexOf('/');
  const parent = path.slice(0, last);
  const leaf = path.slice(last + 1);
  const encodedLeaf = `%${leaf.charCodeAt(0).toString(16)}${leaf.slice(1)}`;
  const behind = ' / // . ... %2e %00 %20 ;a=b ?x=/api/nachbarn #/api/nachbarn'.split(' ');
  const before = '/ /. /x/.. /api/nachbarn/.. /api/nachbarn/../.. /api/nachbarn/%2e%2e/%2e%2e /api/nachbarn/..%2f..';
  const more = '/service/..; /assets/.. /assets/%2e%2e \\ * http://127.0.0.1 http://127.0.0.1:5173 HTTP://localhost';
  return [
    ...behind.map((end) => path + end),
    ...`${before} ${more} //127.0.0.1:5173 /http://127.0.0.1:5173`.split(' ').map((start) => start + path),
    ...['//', '%2f', '\\'].map((slash) => path.replaceAll('/', slash)),
    `/assets/..%2f..${path.replaceAll('/', '%2f')}`,
    ...[encodedLeaf, `%25${encodedLeaf.slice(1)}`, leaf.charAt(0).toUpperCase() + leaf.slice(1)].map(
      (end) => `${parent}/${end}`,
    ),
    path.toUpperCase(),
  ];
}

const server = await sharedServer({ password: true });
const publicAnswers = await Promise.all(
  ['/', '/service', '/api/nachbarn', '/api/health'].map(async (path) => (await get(server.readOnly, path)).body),
);

describe('the read-only socket', () => {
  for (const path of closed) {
    it(`does not serve ${path} in any spelling`, async () => {
      const full = (await get(server.full, path)).body;
      expect(publicAnswers).not.toContain(full);
      for (const spelling of spellings(path)) {
        const { status, body } = await get(server.readOnly, spelling);
        expect([400, 403], spelling).toContain(status);
        expect(body, spelling).not.toBe(full);
      }
    });
  }

  it('rejects every method but GET and HEAD with 403', async () => {
    const methods = 'POST PUT PATCH DELETE OPTIONS TRACE PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK QUERY PURGE';
    for (const method of [...methods.split(' '), 'BREW', 'get', 'Get', 'GETS', 'CONNECT']) {
      for (const path of ['/', '/api/nachbarn', '/api/stopp', '/api/anmeldung', '/api/unknown']) {
        const { status, body } = await get(server.readOnly, path, method);
        expect([method, path, status]).toEqual([method, path, 403]);
        expect(JSON.parse(body).error.code).toBe('READ_ONLY');
      }
    }
    expect(server.motion.calls).toEqual([]);
  });

  it('opens no tunnel for CONNECT', async () => {
    const answer = await sendRaw(
      server.readOnly,
      `CONNECT 127.0.0.1:${server.full} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n` +
        'POST /api/stopp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n',
    );
    expect(answer.statuses).toEqual([403]);
    expect(server.motion.calls).toEqual([]);
  });

  it('ignores headers about method, path, scheme, peer or socket', async () => {
    const methods =
      'X-HTTP-Method-Override: POST|X-HTTP-Method: DELETE|X-Method-Override: POST|X-Original-Method: POST';
    const peers = 'X-Forwarded-For: 127.0.0.1|X-Real-IP: 127.0.0.1|True-Client-IP: 127.0.0.1|Via: 1.1 tablet';
    const places = 'X-Forwarded-Host: localhost:5173|X-Forwarded-Port: 5173|X-Forwarded-Proto: https';
    const paths = 'X-Original-URL: /api/medien|X-Rewrite-URL: /api/medien|Authorization: Basic YWRtaW46YWRtaW4=';
    const forwarded = 'Forwarded: for=127.0.0.1;host=localhost:5173;proto=http';
    const forgedHeaders = [methods, peers, places, paths, forwarded].join('|').split('|');
    for (const lie of forgedHeaders) {
      for (const path of closed) expect((await get(server.readOnly, path, 'GET', [lie])).status, lie).toBe(403);
      expect((await get(server.readOnly, '/api/stopp', 'POST', [lie, 'Content-Length: 0'])).status, lie).toBe(403);
      expect((await get(server.readOnly, '/api/einstellungen', 'GET', [lie])).status, lie).toBe(401);
      const neighbours = await get(server.readOnly, '/api/nachbarn', 'GET', [lie]);
      expect([neighbours.status, neighbours.body], lie).toEqual([200, publicAnswers[2]]);
    }
    expect(server.motion.calls).toEqual([]);
  });

  it('does not grant the full scope by the Host header', async () => {
    for (const host of ['localhost', `127.0.0.1:${server.full}`, 'robot-7:5173', '[::1]:5173', 'bot.example:5173']) {
      const answer = await sendRaw(
        server.readOnly,
        `GET /api/medien HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer.status, host).toBe(403);
    }
  });

  it('ignores Upgrade: the request is answered as the GET that it is', async () => {
    for (const upgrade of ['websocket', 'h2c', 'TLS/1.0']) {
      const headers = [
        `Upgrade: ${upgrade}`,
        'Connection: Upgrade, HTTP2-Settings, close',
        'HTTP2-Settings: AAMAAABkAAQAAP__',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Version: 13',
      ];
      const request = (path: string) =>
        sendRaw(server.readOnly, [`GET ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n'));
      expect((await request('/api/nachbarn')).statuses).toEqual([200]);
      expect((await request('/api/medien')).statuses).toEqual([403]);
      expect((await request('/ws/v2/topics')).statuses).toEqual([403]);
    }
    expect((await sendRaw(server.readOnly, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).status).toBeGreaterThanOrEqual(400);
  });

  it('judges each of several pipelined requests by itself', async () => {
    const one = (line: string, more = '') => `${line} HTTP/1.1\r\nHost: localhost\r\n${more}\r\n`;
    const answer = await sendRaw(
      server.readOnly,
      one('GET /api/nachbarn') +
        one('GET /api/medien') +
        one('GET /api/health') +
        one('GET /api/stopp', 'Connection: close\r\n'),
    );
    expect(answer.statuses).toEqual([200, 403, 200, 403]);
    const withBody = await sendRaw(
      server.readOnly,
      one('GET /api/nachbarn') +
        one('POST /api/stopp', 'Content-Length: 2\r\n') +
        '{}' +
        one('DELETE /api/anmeldung') +
        one('GET /api/medien'),
    );
    expect(withBody.statuses).toEqual([200, 403]);
    expect(server.motion.calls).toEqual([]);
  });

  it('parses no request hidden in the body of another', async () => {
    const hidden = 'POST /api/stopp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n';
    const cases: Record<string, string> = {
      'length and chunked': `GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${hidden.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
      'two lengths': `GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
      'odd coding': `GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
      'coding twice': `GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${hidden}`,
      'space before colon': `GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
      'folded header': `GET / HTTP/1.1\r\nHost: localhost\r\nX: y\r\n Transfer-Encoding: chunked\r\n\r\n${hidden}`,
      'bare line feeds': `GET / HTTP/1.1\nHost: localhost\n\n${hidden}`,
      'signed length': `GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: +0\r\n\r\n${hidden}`,
      'body of a GET': `GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
      'plain follow-up': `GET / HTTP/1.1\r\nHost: localhost\r\n\r\n${hidden}`,
    };
    for (const [name, bytes] of Object.entries(cases)) {
      const { statuses } = await sendRaw(server.readOnly, bytes);
      expect([200, 400, 403], name).toContain(statuses[0]);
      for (const status of statuses.slice(1)) expect([400, 403], name).toContain(status);
    }
    expect(server.motion.calls).toEqual([]);
  });

  it('does not send 100 Continue for a body that it will reject', async () => {
    const answer = await sendRaw(
      server.readOnly,
      'POST /api/medien HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n',
    );
    expect(answer.statuses).toEqual([403]);
  });

  it('answers malformed requests with 400 and closes', async () => {
    for (const bytes of [
      'GET / HTTP/1.1\r\nHost: localhost\r\nbroken\r\n\r\n',
      'GET /\u0000 HTTP/1.1\r\nHost: localhost\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: localhost\r\nX: \u0000\r\n\r\n',
      'GET / HTTP/3.9\r\nHost: localhost\r\n\r\n',
      'GET / HTTP/1.1\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n',
      'GET /%zz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
      'GET /%ff%fe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    ]) {
      expect([['400'], ['403']]).toContainEqual((await sendRaw(server.readOnly, bytes)).statuses.map(String));
    }
    const { status } = await sendRaw(server.readOnly, '\u0016\u0003\u0001\u0002\u0000\u0001\u0000');
    expect([400, 403]).toContain(status);
  });

  it('rejects very long targets and headers, and remains responsive', async () => {
    for (const size of [5_000, 20_000, 1_000_000]) {
      const a = 'a'.repeat(size);
      const answers = await Promise.all([
        get(server.readOnly, `/api/chassis/maps/${a}`),
        get(server.readOnly, `/api/medien?${a}`),
        get(server.readOnly, '/api/medien', 'GET', [`X: ${a}`]),
      ]);
      for (const { status } of answers) expect([403, 431, 0], String(size)).toContain(status);
    }
    expect((await get(server.readOnly, '/api/nachbarn')).status).toBe(200);
  });

  it('accepts no session, even with a cookie that is valid on the full socket', async () => {
    const cookie = await signIn(server.full);
    expect((await get(server.full, '/api/einstellungen', 'GET', [`Cookie: ${cookie}`])).status).toBe(200);
    expect((await get(server.readOnly, '/api/einstellungen', 'GET', [`Cookie: ${cookie}`])).status).toBe(401);
    expect((await get(server.readOnly, '/', 'GET', [`Cookie: ${cookie}`])).body).not.toContain('<form');
  });

  it('serves the same pages without controls that it would refuse', async () => {
    expect((await get(server.full, '/')).body).toContain('action="/api/stopp"');
    const page = (await get(server.readOnly, '/')).body;
    expect(page).not.toContain('<form');
    expect(page).not.toContain('/anmeldung');
    expect(page).toContain('Nur-Lese-Ansicht');
  });
});

describe('the full socket', () => {
  it('is not a proxy: other targets than plain paths are 400', async () => {
    for (const target of ['http://127.0.0.1/api/health', 'http://evil.example/', '*', 'api/health']) {
      expect((await get(server.full, target)).status, target).toBe(400);
    }
    expect((await get(server.full, '127.0.0.1:80', 'CONNECT')).status).toBe(400);
    expect((await get(server.full, '/', 'BREW')).status).toBe(400);
  });

  it('decides by the listener alone: the same forged headers on both sockets have two answers', async () => {
    const lie = ['X-Forwarded-Port: 5174', 'X-Read-Only: 1'];
    expect((await get(server.full, '/api/medien', 'GET', lie)).status).toBe(200);
    expect((await get(server.readOnly, '/api/medien', 'GET', lie)).status).toBe(403);
  });
});
