import { describe, expect, it } from 'vitest';
import { ask, get, PASSWORD, postJson, sendRaw, signIn } from '../server.ts';
import { sharedServer } from '../shared-server.ts';
import { runningSupport, standInSupport } from '../support-stand-in.ts';

const support = standInSupport(runningSupport);
const server = await sharedServer({ password: true, hostName: 'Robot-7', more: { support } });

describe('the Host header of a request', () => {
  it('must be an address, localhost, the host name or a configured name; everything else is 421', async () => {
    const ofRobot =
      'localhost LOCALHOST:5173 127.0.0.1 127.0.0.1:5173 192.0.2.7:80 [::1] [::1]:5173 [2001:db8::7]:5173';
    const goodHosts = `${ofRobot} robot-7 ROBOT-7:5173 bot.example bot.example:1`.split(' ');
    const names = 'evil.example localhost.evil.example evil-localhost 127.0.0.1.evil.example robot-7.evil.example';
    const odd =
      'localhost. 127.1 0x7f000001 2130706433 ::1 bot.example@evil.example localhost:http localhost:5173:5173';
    const bad = `${names} ${odd} [::1 [evil] null .`.split(' ');
    const badHosts = [...bad, '', 'localhost evil', '127.0.0.1, evil.example'];
    const withHost = async (port: number, host: string) =>
      (await sendRaw(port, `GET /api/nachbarn HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).status;
    for (const port of [server.full, server.readOnly]) {
      for (const good of goodHosts) expect([good, await withHost(port, good)]).toEqual([good, 200]);
      for (const bad of badHosts) expect([bad, await withHost(port, bad)]).toEqual([bad, 421]);
    }
  });

  it('is required with HTTP/1.0 too', async () => {
    expect((await sendRaw(server.full, 'GET /api/nachbarn HTTP/1.0\r\n\r\n')).status).toBe(421);
    expect((await sendRaw(server.full, 'GET /api/nachbarn HTTP/1.0\r\nHost: localhost\r\n\r\n')).status).toBe(200);
  });
});

describe('requests of pages of other sites', () => {
  const acts = [
    ['POST', '/api/stopp'],
    ['POST', '/api/touren/lauf'],
    ['POST', '/api/anmeldung'],
    ['DELETE', '/api/anmeldung'],
    ['POST', '/api/medien'],
    ['DELETE', '/api/wartung/sitzung'],
    ['POST', '/api/wartung/sitzung/ende'],
  ] as const;

  it('are refused when they would change something', async () => {
    const own = `http://127.0.0.1:${server.full}`;
    const foreign: Record<string, string>[] = [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: `https://127.0.0.1:${server.full}` },
      { origin: 'http://127.0.0.1' },
      { origin: `http://127.0.0.1:${server.readOnly}` },
      { origin: `${own}.evil.example` },
      { origin: `http://evil.example#${own}` },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'cross-site', origin: own },
    ];
    for (const [method, path] of acts) {
      for (const headers of foreign) {
        const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
        const { status, body } = await get(server.full, path, method, [...lines, 'Content-Length: 0']);
        expect([path, headers, status]).toEqual([path, headers, 403]);
        expect(JSON.parse(body).error.code).toBe('CROSS_SITE');
      }
    }
    expect([server.motion.calls, support.calls]).toEqual([[], []]);
  });

  it("are distinguished from those of the gateway's own pages and of programs", async () => {
    const own = `http://127.0.0.1:${server.full}`;
    for (const headers of [[], [`Origin: ${own}`], [`Origin: ${own}`, 'Sec-Fetch-Site: same-origin']]) {
      expect((await get(server.full, '/api/stopp', 'POST', [...headers, 'Content-Length: 0'])).status).toBe(200);
    }
    expect(server.motion.calls).toHaveLength(3);
  });

  it('may not read the API either, but may link to the pages', async () => {
    for (const port of [server.full, server.readOnly]) {
      for (const header of ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Site: same-site', 'Origin: http://evil.example']) {
        expect((await get(port, '/api/health', 'GET', [header])).status).toBe(403);
        expect((await get(port, '/', 'GET', [header])).status).toBe(200);
      }
      expect((await get(port, '/api/health', 'GET', ['Sec-Fetch-Site: none'])).status).toBe(200);
    }
  });

  it('receive no CORS permission', async () => {
    const { headers } = await ask(server.full, '/api/health');
    expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    const preflight = await get(server.full, '/api/touren/lauf', 'OPTIONS', [
      'Origin: http://evil.example',
      'Access-Control-Request-Method: POST',
    ]);
    expect([preflight.status, /access-control/i.test(preflight.head)]).toEqual([404, false]);
  });

  it('cannot post text where JSON is expected', async () => {
    const { status } = await ask(server.full, '/api/touren/lauf', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: '{"tour":"breakfast"}',
    });
    expect(status).toBe(415);
  });
});

describe('bodies', () => {
  it('are bounded and well-formed, or rejected', async () => {
    const post = (body: string, type = 'application/json') =>
      ask(server.full, '/api/anmeldung', { method: 'POST', headers: { 'content-type': type }, body });
    const objects = ['{"password":"x","more":1}', '{"password":{"$ne":1}}', '{"__proto__":{"password":"x"}}'];
    for (const bad of ['{"password":', '[]', '"x"', ...objects]) expect((await post(bad)).status).toBe(400);
    expect((await post(JSON.stringify({ password: 'x'.repeat(100_000) }))).status).toBe(413);
    expect((await post('<password/>', 'application/xml')).status).toBe(415);
    expect((await postJson(server.full, '/api/anmeldung', { password: PASSWORD })).status).toBe(200);
  });
});

describe('the output of the gateway', () => {
  it('contains no secret: not the hash, not its path, not a password in an address', async () => {
    const cookie = await signIn(server.full);
    for (const path of ['/api/einstellungen', '/api/protokolle', '/api/wartung/sitzungen']) {
      const { status, data } = await ask(server.full, path, { headers: { cookie } });
      expect(status).toBe(200);
      for (const secret of ['scrypt', server.dir, PASSWORD]) expect(JSON.stringify(data)).not.toContain(secret);
    }
  });
});
