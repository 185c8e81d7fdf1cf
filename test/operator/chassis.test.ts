import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer as createRelay } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { LinkState } from '../../src/lib/chassis/index.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { ask, get, postJson, sendRaw, signIn, startServer } from './server.ts';
import { sharedServer } from './shared-server.ts';
import { jsonReply, png, SERIAL, tried } from './stand-ins.ts';

const away: LinkState = { kind: 'not-connected', failure: 'no-answer', detail: 'nothing answered', tried };
const server = await sharedServer({ password: true });
const forwarded = ['/api/chassis/device/info', '/api/chassis/maps', '/api/chassis/maps/7', '/api/chassis/maps/7.png'];

describe('reads that are forwarded to the chassis', () => {
  it('pass its bytes on, with a content type set by gw', async () => {
    const info = await ask(server.full, '/api/chassis/device/info');
    const json = 'application/json; charset=utf-8';
    expect([info.headers.get('content-type'), info.data.device.sn]).toEqual([json, SERIAL]);
    expect((await ask(server.readOnly, '/api/chassis/maps')).data).toEqual([{ id: 7, uid: 'u7', map_name: 'EG' }]);
    expect((await ask(server.readOnly, '/api/chassis/maps/7')).data).toMatchObject({ id: 7, overlays: '{}' });
    const image = await fetch(`http://127.0.0.1:${server.full}/api/chassis/maps/7.png`);
    expect(image.headers.get('content-type')).toBe('image/png');
    expect([...new Uint8Array(await image.arrayBuffer()).slice(0, 4)]).toEqual([0x89, 0x50, 0x4e, 0x47]);
  });

  it('answer 503 with the tried address at once when the chassis is disconnected, without a request', async () => {
    server.link.setState(away);
    for (const path of forwarded) {
      const { status, data } = await ask(server.full, path);
      expect([path, status]).toEqual([path, 503]);
      expect(data.error).toMatchObject({
        code: 'CHASSIS_NOT_CONNECTED',
        message: 'not connected: nothing answered',
        tried: { address: '127.0.0.1', port: 8090 },
      });
    }
    expect(server.link.forwarded).toEqual([]);
    server.link.setState({ kind: 'connected', tried });
    expect((await ask(server.full, '/api/chassis/device/info')).status).toBe(200);
  });

  describe('of the last map', () => {
    const paths = forwarded.slice(1);
    const ofMap = (mapVersion: number) => {
      const { values } = server.link.snapshot();
      const value = { name: 'EG', uid: 'u7', mapVersion, overlaysVersion: 9 };
      const map = { ...values.map, status: 'received', value } as typeof values.map;
      server.link.override({ values: { ...values, map } });
    };
    const statuses = (query: string) =>
      Promise.all(paths.map(async (path) => (await fetch(`http://127.0.0.1:${server.full}${path}${query}`)).status));

    it('are answered from memory while the robot is away, only on request, and for the same map', async () => {
      ofMap(3);
      expect(await statuses('')).toEqual([200, 200, 200]);
      server.link.setState(away);
      server.link.forwarded.length = 0;
      ofMap(3);
      expect(await statuses('')).toEqual([503, 503, 503]);
      expect(await statuses('?orLast=true')).toEqual([200, 200, 200]);
      const image = await fetch(`http://127.0.0.1:${server.full}/api/chassis/maps/7.png?orLast=true`);
      expect(image.headers.get('content-type')).toBe('image/png');
      expect(Buffer.from(await image.arrayBuffer())).toEqual(png);
      expect((await ask(server.full, '/api/chassis/maps?orLast=true')).data).toMatchObject([{ uid: 'u7' }]);
      expect((await get(server.full, '/api/chassis/maps/8.png?orLast=true')).status).toBe(503);
      expect((await get(server.readOnly, '/api/chassis/maps/7.png?orLast=true')).status).toBe(403);
      expect(server.link.forwarded).toEqual([]);
      ofMap(4);
      expect(await statuses('?orLast=true')).toEqual([503, 503, 503]);
    });

    it('are of the current map: a read of another one replaces and adds nothing', async () => {
      ofMap(6);
      const list = [
        { id: 8, uid: 'u8' },
        { id: 7, uid: 'u7' },
      ];
      server.link.answers.set('/maps/', () => jsonReply(list));
      server.link.answers.set('/maps/8', () => jsonReply({ id: 8 }));
      server.link.answers.set('/maps/8.png', () => ({ status: 200, body: png }));
      // Which map this is, no list has said yet.
      expect(await ask(server.full, '/api/chassis/maps/8')).toMatchObject({ status: 200 });
      for (const path of paths) expect((await get(server.full, path)).status).toBe(200);
      for (const path of ['8', '8.png']) expect((await get(server.full, `/api/chassis/maps/${path}`)).status).toBe(200);
      server.link.setState(away);
      ofMap(6);
      expect(await statuses('?orLast=true')).toEqual([200, 200, 200]);
      expect((await get(server.full, '/api/chassis/maps/8?orLast=true')).status).toBe(503);
      expect((await get(server.full, '/api/chassis/maps/8.png?orLast=true')).status).toBe(503);
      server.link.setState({ kind: 'connected', tried });
      ofMap(6);
      server.link.answers.set('/maps/', () => jsonReply([{ id: 7, uid: 'u8' }]));
      expect((await get(server.full, '/api/chassis/maps')).status).toBe(200);
      server.link.setState(away);
      ofMap(6);
      expect(await statuses('?orLast=true')).toEqual([200, 503, 503]);
    });

    it('are no answers to refused reads, and are forwarded while the robot is connected', async () => {
      server.link.answers.set('/maps/7.png', () => jsonReply({}, 500));
      ofMap(5);
      expect(await statuses('?orLast=true')).toEqual([200, 200, 502]);
      expect(server.link.forwarded).toHaveLength(3);
      server.link.setState(away);
      ofMap(5);
      expect(await statuses('?orLast=true')).toEqual([200, 200, 503]);
    });
  });

  it('never show the data of another robot that answers at the address', async () => {
    server.link.setState({ ...away, failure: 'wrong-device', detail: 'another chassis answers', foundSerial: 'OTHER' });
    const { status, data } = await ask(server.full, '/api/chassis/device/info');
    expect([status, data.error.message]).toEqual([503, 'not connected: another chassis answers (found serial OTHER)']);
    expect(server.link.forwarded).toEqual([]);
  });

  it('detect another robot before the link does', async () => {
    server.link.answers.set('/device/info', () => jsonReply({ device: { sn: 'OTHER' } }));
    const { status, data } = await ask(server.full, '/api/chassis/device/info');
    expect([status, data.error.message]).toEqual([503, 'not connected: another chassis answers (found serial OTHER)']);
    server.link.answers.set('/maps/', async () => {
      server.link.setState({ ...away, failure: 'wrong-device', detail: 'another chassis answers' });
      return jsonReply([]);
    });
    expect((await ask(server.full, '/api/chassis/maps')).status).toBe(503);
  });

  it('reject device information that expands to too much, or has duplicate keys', async () => {
    const many = Object.fromEntries(Array.from({ length: 25_000 }, (_, i) => [`k${i}`, i]));
    const twice = `{"device":{"sn":"OTHER"},"device":{"sn":"${SERIAL}"}}`;
    for (const body of [JSON.stringify({ device: { sn: SERIAL }, many }), twice]) {
      server.link.answers.set('/device/info', () => ({ status: 200, body: Buffer.from(body) }));
      const { status, data } = await ask(server.full, '/api/chassis/device/info');
      expect([status, data.error.code]).toEqual([502, 'CHASSIS_BAD_ANSWER']);
    }
  });

  it('distinguish connecting and booting', async () => {
    server.link.setState({ kind: 'connecting', tried });
    const connecting = await ask(server.full, '/api/chassis/device/info');
    expect([connecting.status, connecting.data.error.code]).toEqual([503, 'CHASSIS_NOT_CONNECTED']);
    server.link.setState({ kind: 'booting', progress: 0.4, step: 'lidar', tried });
    const booting = await ask(server.full, '/api/chassis/device/info');
    expect([booting.status, booting.data.error.code]).toEqual([503, 'CHASSIS_BOOTING']);
  });

  it('answer 502 to any other kind of answer', async () => {
    const html = Buffer.from('<html><script>alert(1)</script></html>');
    for (const body of [html, Buffer.from('{"device":'), Buffer.from('{"a":NaN}'), Buffer.alloc(0)]) {
      for (const path of ['/device/info', '/maps/7', '/maps/7.png']) {
        server.link.answers.set(path, () => ({ status: 200, body }));
        const { status, data } = await ask(server.full, `/api/chassis${path}`);
        expect([status, data.error.code]).toEqual([502, 'CHASSIS_BAD_ANSWER']);
      }
    }
    server.link.answers.set('/device/info', () => jsonReply({}, 500));
    expect((await ask(server.full, '/api/chassis/device/info')).data.error.code).toBe('CHASSIS_REFUSED');
    server.link.answers.set('/device/info', () => jsonReply({}, 503));
    expect((await ask(server.full, '/api/chassis/device/info')).status).toBe(503);
    server.link.answers.set('/device/info', () => {
      throw new GwError('CHASSIS_NOT_CONNECTED', 'not connected: connection closed unexpectedly', { tried });
    });
    const cut = await ask(server.full, '/api/chassis/device/info');
    expect([cut.status, cut.data.error.tried]).toEqual([503, tried]);
    server.link.answers.set('/device/info', () => {
      throw new TypeError('a bug');
    });
    const bug = await ask(server.full, '/api/chassis/device/info');
    expect([bug.status, bug.data.error.message]).toEqual([500, 'Internal error.']);
  });

  it('reject a map id that could address another path', async () => {
    const ids = ['..', '%2e%2e', '7%2f..%2f..%2fdevice%2finfo', '7?x', '7/thumbnail', 'a b', 'ä', '7.pbstream', ''];
    for (const id of ids) {
      await get(server.full, `/api/chassis/maps/${id}`);
      await get(server.full, `/api/chassis/maps/${id}.png`);
    }
    expect(server.link.forwarded.every((path) => /^\/maps\/(7(\.png)?)?$/.test(path))).toBe(true);
    expect((await ask(server.full, '/api/chassis/maps/99')).status).toBe(404);
  });
});

describe('GET /api/chassis/state', () => {
  it('states first whether it is connected and where, with the age of every value', async () => {
    const { data } = await ask(server.readOnly, '/api/chassis/state');
    expect(data.summary).toBe('connected');
    expect(data.values.pose).toMatchObject({ status: 'received', mark: 'BELEGT', ageMs: 400, value: { yawDeg: 90 } });
    server.link.setState(away);
    const gone = await ask(server.full, '/api/chassis/state');
    expect([gone.status, gone.data.summary]).toEqual([200, 'not connected: nothing answered']);
    expect(gone.data.link).toMatchObject({ kind: 'not-connected', tried: { address: '127.0.0.1', port: 8090 } });
  });
});

describe('POST /api/touren/lauf', () => {
  const start = (port: number, body: unknown) => postJson(port, '/api/touren/lauf', body);

  it('starts a tour of the site file', async () => {
    const { status, data } = await start(server.full, { tour: 'breakfast' });
    expect([status, data.run]).toEqual([202, expect.objectContaining({ tour: 'breakfast', state: 'running' })]);
    expect((await ask(server.full, '/api/touren/lauf')).data.run.id).toBe('r1');
    expect((await ask(server.full, '/api/touren')).data.tours).toEqual([{ name: 'breakfast', stations: ['A', 'B'] }]);
  });

  it('rejects malformed requests, and passes on the refusal of motion', async () => {
    const refused = async (body: unknown) => {
      const { status, data } = await start(server.full, body);
      return [status, data.error.code];
    };
    for (const body of [{}, [], null, 1, { tour: 1 }, { tour: '' }, { tour: 'breakfast', speed: 9 }]) {
      expect(await refused(body)).toEqual([400, 'BAD_REQUEST']);
    }
    expect(server.motion.calls).toEqual([]);
    for (const [code, status] of [
      ['TOUR_UNKNOWN', 404],
      ['MOTION_STOPPED', 423],
      ['CHASSIS_NOT_CONNECTED', 503],
      ['TOUR_RUNNING', 409],
      ['MOTION_REFUSED', 409],
    ] as const) {
      server.motion.failNext = new GwError(code, 'as motion says');
      expect(await refused({ tour: 'breakfast' })).toEqual([status, code]);
    }
  });

  it('works as a form: the answer is a page, and a refusal is a page with the reason', async () => {
    const form = () =>
      ask(server.full, '/api/touren/lauf', { method: 'POST', body: new URLSearchParams({ tour: 'breakfast' }) });
    expect((await form()).status).toBe(303);
    server.motion.failNext = new GwError('TOUR_RUNNING', "Tour 'breakfast' is running.");
    const again = await form();
    expect([again.status, again.data]).toEqual([409, expect.stringContaining('Es fährt schon eine Tour, oder')]);
  });
});

describe('the stop', () => {
  it('is available to every client on site, in any form of request, also while the chassis is disconnected', async () => {
    server.link.setState(away);
    for (const [type, body] of [
      ['application/json', '{"reason":"a child on the floor"}'],
      ['application/json', '{"reason":17}'],
      ['application/x-www-form-urlencoded', ''],
    ] as const) {
      const init = { method: 'POST', headers: { 'content-type': type }, body };
      expect([200, 303]).toContain((await ask(server.full, '/api/stopp', init)).status);
    }
    expect((await get(server.full, '/api/stopp', 'POST', ['Content-Length: 0'])).status).toBe(200);
    expect((await get(server.full, '/api/stopp', 'POST')).status).toBe(200);
    for (const [type, body] of [
      ['application/json', '{"reason":'],
      ['text/plain', 'stop'],
      ['application/octet-stream', 'x'.repeat(100_000)],
      ['multipart/form-data; boundary=b', '--b--'],
      ['nonsense', '\u0000'],
    ]) {
      const headers = [`Content-Type: ${type}`, `Content-Length: ${body?.length}`];
      const lines = ['POST /api/stopp HTTP/1.1', 'Host: localhost', 'Connection: close', ...headers];
      expect((await sendRaw(server.full, `${lines.join('\r\n')}\r\n\r\n${body}`)).status, type).toBe(200);
    }
    expect(server.motion.calls).toHaveLength(10);
    expect(server.motion.calls[0]).toBe('stopRobot a child on the floor');
    expect((await ask(server.full, '/api/stopp')).data.stop.latched).toBe(true);
  });

  it.each([
    [true, 'Der Stopp ist gesetzt. „r“'],
    ['pending', 'wird noch gespeichert'],
    [false, 'NICHT GESPEICHERT: nach einem Neustart des Gateways wäre dieser Stopp vergessen'],
  ] as const)('reports saved: %s as the state of the disk, to programs and on the pages', async (saved, text) => {
    const last = { reason: 'x', by: 'tablet 2', at: '2026-01-01T00:00:01.000Z' };
    const repeated = { count: 2, by: ['tablet 2'], last };
    const unsavedBecause = saved === false ? 'not saved: a restart of gw would forget this stop. Why.' : null;
    const { stop } = server.motion.status();
    const latched = { ...stop, latched: true, reason: 'r', by: 'tablet 1' };
    server.motion.set({ stop: { ...latched, saved, unsavedBecause, repeated } });
    expect((await ask(server.full, '/api/stopp')).data.stop).toMatchObject({ saved, unsavedBecause, repeated });
    for (const page of ['/', '/service']) expect((await ask(server.full, page)).data).toContain(text);
    expect((await ask(server.full, '/service')).data).toMatch(/2 ×.*tablet 2/);
  });

  it('that could not be saved is shown as the reason for no movement, for people at the robot', async () => {
    server.motion.set({
      gate: { open: false, reasons: ['The stop latch cannot be saved in /state: it is full. Free disk space.'] },
      keepingTrouble: { reason: 'The stop latch cannot be saved in /state: it is full.', remedy: 'Free disk space.' },
    });
    const { data } = await ask(server.full, '/');
    expect(data).toContain('Ein Stopp kann zurzeit nicht gespeichert werden.');
    expect(data).toContain('class="headline" data-level="bad"');
  });

  it('is cleared by a signed-in person only', async () => {
    await postJson(server.full, '/api/stopp', {});
    expect((await ask(server.full, '/api/stopp', { method: 'DELETE' })).status).toBe(401);
    expect((await get(server.full, '/api/stopp/freigabe', 'POST', ['Content-Length: 0'])).status).toBe(401);
    expect(server.motion.status().stop.latched).toBe(true);
    const cookie = await signIn(server.full);
    const { status, data } = await ask(server.full, '/api/stopp', { method: 'DELETE', headers: { cookie } });
    expect([status, data.stop.latched]).toEqual([200, false]);
  });
});

describe('voice service and building module', () => {
  async function peer(listener: RequestListener) {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  it('are passed on when they are configured', async () => {
    const requests: string[] = [];
    await using device = await peer((request, response) => {
      requests.push(request.url ?? '');
      response.setHeader('content-type', 'text/html');
      response.end('{"language":"de"}');
    });
    await using server = await startServer({ voiceUrl: `${device.url}/`, buildingUrl: `${device.url}/iot` });
    const voice = await ask(server.full, '/api/chatbot/config');
    expect([voice.status, voice.data]).toEqual([200, { language: 'de' }]);
    expect(voice.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect((await ask(server.full, '/api/uiot/status')).status).toBe(200);
    expect(requests).toEqual(['/config', '/iot/status']);
    expect((await ask(server.readOnly, '/api/chatbot/config')).status).toBe(403);
  });

  it.each([
    [200, 'application/json', '{"doors":[1]}'],
    [200, 'text/html; charset=utf-8', '<script>alert(1)</script>'],
    [200, 'application/xml', '<a/>'],
    [404, 'text/plain', 'no such thing'],
    [401, 'application/json', '{"login":true}'],
    [302, 'text/plain', 'elsewhere'],
    [503, 'application/octet-stream', '\u0001\u0002'],
    [204, 'text/plain', ''],
  ])(
    'pass on of the building module status %i with %s as they came, and nothing of it runs',
    async (status, type, body) => {
      await using device = await peer((_request, response) => {
        response.writeHead(status, { 'content-type': type, location: 'http://127.0.0.1:1/', 'set-cookie': 'a=b' });
        response.end(body);
      });
      await using server = await startServer({ buildingUrl: device.url });
      const answer = await fetch(`http://127.0.0.1:${server.full}/api/uiot/status`, { redirect: 'manual' });
      expect([answer.status, await answer.text()]).toEqual([status, body]);
      if (status !== 204) expect(answer.headers.get('content-type')).toBe(type);
      expect(answer.headers.get('content-security-policy')).toContain('sandbox');
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect([answer.headers.get('set-cookie'), answer.headers.get('location')]).toEqual([null, null]);
    },
  );

  it.each([600, 999])('name a status of the building module that HTTP does not have: %i', async (status) => {
    await using device = await peer((request) => {
      request.socket.end(`HTTP/1.1 ${status} Odd\r\ncontent-length: 2\r\n\r\nhi`);
    });
    await using server = await startServer({ buildingUrl: device.url });
    const answer = await ask(server.full, '/api/uiot/status');
    expect([answer.status, answer.data.error.message]).toEqual([
      502,
      `The building module answered with status ${status}.`,
    ]);
  });

  it('pass on nothing of the building module beyond 1 MiB', async () => {
    await using device = await peer((_request, response) => response.end(Buffer.alloc(1024 * 1024 + 1)));
    await using server = await startServer({ buildingUrl: device.url });
    expect((await ask(server.full, '/api/uiot/status')).status).toBe(502);
  });

  it('pass on no answer that expands to too much', async () => {
    let body = '';
    await using device = await peer((_request, response) => response.end(body));
    await using server = await startServer({ voiceUrl: device.url });
    body = `[${'1,'.repeat(150_000)}1]`;
    expect((await ask(server.full, '/api/chatbot/config')).status).toBe(200);
    for (body of [`[${'1,'.repeat(210_000)}1]`, '['.repeat(300) + ']'.repeat(300)]) {
      const { status, data } = await ask(server.full, '/api/chatbot/config');
      expect([status, data.error.message]).toEqual([502, 'The voice service answered with more than the limit.']);
    }
  });

  it('are not requested in a loop when their name is this gateway itself', async () => {
    let back = 0;
    const relay = createRelay((socket) => {
      const onward = connect({ host: '127.0.0.1', port: back });
      for (const one of [socket, onward]) one.on('error', () => {});
      socket.pipe(onward).pipe(socket);
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    const { port } = relay.address() as AddressInfo;
    await using server = await startServer({ voiceUrl: `http://127.0.0.1:${port}/api/chatbot` });
    back = server.full;
    const { status, data } = await ask(server.full, '/api/chatbot/config');
    const { code, message } = data.error;
    expect([status, code]).toEqual([502, 'PEER_NOT_REACHABLE']);
    expect(message).toBe('The address of the voice service is this gateway itself.');
    // Requests forwarded by another gateway or proxy are served as usual.
    const via = { via: '1.1 gw-0123456789abcdef, 1.0 proxy' };
    expect((await ask(server.full, '/api/health', { headers: via })).status).toBe(200);
    relay.close();
  });

  it('are not waited for longer than three seconds', async () => {
    const asked = Promise.withResolvers<void>();
    await using silent = await peer(() => asked.resolve());
    await using server = await startServer({ voiceUrl: silent.url });
    const answer = ask(server.full, '/api/chatbot/config');
    await asked.promise;
    server.clock.advance(3_000);
    const { status, data } = await answer;
    expect([status, data.error.code]).toEqual([502, 'PEER_NOT_REACHABLE']);
  });

  it('answer 502 with the tried address when they are configured and do not work', async () => {
    await using closed = await peer(() => {});
    const port = Number(new URL(closed.url).port);
    await closed[Symbol.asyncDispose]();
    await using odd = await peer((request, response) => {
      if (request.url === '/redirect/config') response.writeHead(302, { location: 'http://127.0.0.1:1/' });
      response.end('<html>');
    });
    const refused = async (setUp: Parameters<typeof startServer>[0]) => {
      await using server = await startServer(setUp);
      const path = setUp?.voiceUrl ? '/api/chatbot/config' : '/api/uiot/status';
      const { status, data } = await ask(server.full, path);
      return [status, data.error.code, data.error.tried?.port];
    };
    expect(await refused({ voiceUrl: `http://127.0.0.1:${port}` })).toEqual([502, 'PEER_NOT_REACHABLE', port]);
    const oddPort = Number(new URL(odd.url).port);
    expect(await refused({ buildingUrl: `http://127.0.0.1:${port}` })).toEqual([502, 'PEER_NOT_REACHABLE', port]);
    expect(await refused({ voiceUrl: odd.url })).toEqual([502, 'PEER_NOT_REACHABLE', oddPort]);
    expect(await refused({ voiceUrl: `${odd.url}/redirect` })).toEqual([502, 'PEER_NOT_REACHABLE', oddPort]);
  });
});
