import type { Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChassisClient } from '../../src/lib/chassis/index.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { DialError, type Dialer } from '../../src/lib/net/index.ts';
import { createPacedClock } from '../lifecycle/paced-clock.ts';
import { ofEach } from '../lifecycle/shared.ts';
import { isFull, runs } from '../properties.ts';
import {
  answeringPeer,
  clientOf as anyClientOf,
  closedPort,
  deviceInfo,
  failureOf,
  fakeChassis,
  httpAnswer,
  type Peer,
  rawPeer,
  until,
} from './peers.ts';

const time = createPacedClock();
const clientOf = (peer: Pick<Peer, 'endpoint'>, more: Parameters<typeof anyClientOf>[1] = {}) =>
  anyClientOf(peer, { clock: time, ...more });

/** The result of the client for one fixed answer to GET /device/info. */
async function errorFor(answer: string | Buffer): Promise<GwError> {
  await using peer = await answeringPeer(answer);
  await using client = clientOf(peer, { timeoutMs: 800 });
  const error = await failureOf(client.identity());
  expect(error.tried).toMatchObject({ address: '127.0.0.1', port: peer.endpoint.port, action: 'GET /device/info' });
  expect(error.tried?.forMs).toBeTypeOf('number');
  return error;
}

const stack = ofEach();
const open = (peer: Pick<Peer, 'endpoint'>, more?: Parameters<typeof clientOf>[1]) => stack.use(clientOf(peer, more));
/** A client of a peer that answers so. */
const clientOfAnswer = async (info: object, more?: Parameters<typeof clientOf>[1]) =>
  open(stack.use(await answeringPeer(httpAnswer(JSON.stringify(info)))), more);
const rawClient = async (onSocket: (socket: Socket) => void, more?: Parameters<typeof clientOf>[1]) => {
  const peer = stack.use(await rawPeer(onSocket));
  return { peer, client: open(peer, more) };
};
async function fake() {
  const chassis = stack.use(await fakeChassis());
  return { chassis, client: open(chassis, { expectedSerial: 'SN-1' }) };
}

describe('identity', () => {
  it('has serial, model, software and announced features; values of other types are dropped', async () => {
    const caps = { supportsWsV2: true, supportsJack: false, odd: 'yes', __proto__: { supportsBags: true } };
    const client = await clientOfAnswer(deviceInfo('SN-1', { caps, later: { a: 1 } }), { expectedSerial: 'SN-1' });
    expect(await client.identity()).toEqual({
      serial: 'SN-1',
      model: 'm1',
      software: '2.12.3',
      capabilities: { supportsWsV2: true, supportsJack: false },
    });
  });

  it('rejects another serial number and names it', async () => {
    const client = await clientOfAnswer(deviceInfo('SN-2'), { expectedSerial: 'SN-1' });
    const error = await failureOf(client.identity());
    expect(error).toMatchObject({
      ...{ code: 'CHASSIS_WRONG_DEVICE', details: { expectedSerial: 'SN-1', foundSerial: 'SN-2' } },
      message: expect.stringContaining('"SN-2", expected "SN-1"'),
    });
  });

  it('sends the secret header only when there is one', async () => {
    const heads: string[] = [];
    await using peer = await rawPeer((socket) => {
      socket.once('data', (data) => {
        heads.push(data.toString());
        socket.end(httpAnswer(JSON.stringify(deviceInfo())));
      });
    });
    await using open = clientOf(peer);
    await open.identity();
    await using secret = clientOf(peer, { secret: 's3cret' });
    await secret.identity();
    expect(heads[0]?.toLowerCase()).not.toContain('secret');
    expect(heads[1]?.toLowerCase()).toContain('secret: s3cret\r\n');
  });

  it('rejects a secret that no header can carry, without repeating it', () => {
    for (const secret of ['', 'two words', 'line\nbreak', 'schlüssel']) {
      const create = () => clientOf({ endpoint: { host: '127.0.0.1', port: 1 } }, { secret });
      expect(create).toThrow(GwError);
      expect(create).toThrow(/^((?!two words|line|schl).)*$/s);
    }
  });

  it('returns the device information unchanged, unknown fields kept', async () => {
    const info = deviceInfo('SN-1', { robot: { width: 0.5 }, neverSeen: [1, { a: null }] });
    const client = await clientOfAnswer(info);
    expect(await client.deviceInfo()).toEqual(info);
  });
});

describe('not connected', () => {
  it('reports refused when nothing listens on the port', async () => {
    await using client = clientOf({ endpoint: await closedPort() });
    const error = await failureOf(client.identity());
    expect(error).toBeInstanceOf(DialError);
    expect(error).toMatchObject({ code: 'CHASSIS_NOT_CONNECTED', failure: 'refused' });
    expect(error.tried).toMatchObject({ address: '127.0.0.1', action: 'GET /device/info' });
  });

  it('reports no answer when the peer accepts and stays silent', async () => {
    const { client } = await rawClient(() => {}, { timeoutMs: 300 });
    const error = await failureOf(client.identity());
    expect(error).toMatchObject({ code: 'CHASSIS_NOT_CONNECTED', failure: 'no-answer' });
    expect(error.tried?.forMs).toBeGreaterThanOrEqual(290);
    expect(error.tried?.forMs).toBeLessThan(1_500);
  });

  it('reports closed when the connection is ended without an answer, and cut when it is reset', async () => {
    const closing = await rawClient((socket) => socket.once('data', () => socket.end()));
    expect(await failureOf(closing.client.identity())).toMatchObject({
      code: 'CHASSIS_NOT_CONNECTED',
      failure: 'closed',
    });
    const { client } = await rawClient((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await failureOf(client.identity())).toMatchObject({ code: 'CHASSIS_NOT_CONNECTED', failure: 'cut' });
  });

  it('retries over a new connection when a kept-alive one was closed meanwhile', async () => {
    let requestCount = 0;
    await using peer = await rawPeer((socket) => {
      let first = true;
      socket.on('data', () => {
        requestCount += 1;
        if (first) socket.write(httpAnswer(JSON.stringify(deviceInfo())));
        else socket.destroy();
        first = false;
      });
    });
    await using client = clientOf(peer);
    await client.identity();
    // Until the client keeps the connection.
    await time.sleep(100);
    await client.identity();
    expect(requestCount).toBe(3);
    expect(peer.connections()).toBe(2);
  });

  it('is interrupted by the signal of the caller at once', async () => {
    const { peer, client } = await rawClient(() => {});
    const ending = new AbortController();
    const waiting = failureOf(client.identity(ending.signal));
    await until(() => peer.sockets.size === 1);
    ending.abort();
    expect((await waiting).code).toBe('INTERRUPTED');
    expect((await failureOf(client.identity(AbortSignal.abort()))).code).toBe('INTERRUPTED');
  });

  it('leaves no connection behind when it is disposed of', async () => {
    await using peer = await rawPeer(() => {});
    const client = clientOf(peer);
    const waiting = failureOf(client.identity());
    await until(() => peer.sockets.size === 1);
    await client[Symbol.asyncDispose]();
    await waiting;
    await until(() => peer.sockets.size === 0);
  });
});

describe('a bad answer is reported as such', () => {
  const json = (text: string) => httpAnswer(text, { 'content-type': 'application/json' });
  const good = JSON.stringify(deviceInfo());
  it.each<[string, string | Buffer, string]>([
    ['a page', httpAnswer('<!doctype html><p>hello', { 'content-type': 'text/html' }), 'HTML instead of JSON'],
    ['nothing', json(''), 'the answer is empty'],
    ['a truncated text', json(good.slice(0, 40)), 'the JSON is cut off in the middle'],
    ['a truncated string', json('{"device": {"sn": "SN'), 'the JSON is cut off in the middle'],
    ['NaN', json('{"device": {"sn": "SN-1"}, "x": NaN}'), 'the answer contains NaN, which is no JSON number'],
    ['minus infinity', json('{"x": -Infinity}'), 'the answer contains Infinity, which is no JSON number'],
    ['a duplicate key', json('{"device": {"sn": "SN-1", "sn": "SN-2"}}'), 'the JSON names the key "sn" twice'],
    ['an escaped duplicate key', json('{"device": {"sn": "SN-1", "s\\u006e": "SN-2"}}'), 'the key "sn" twice'],
    ['a wrong type', json('{"device": {"sn": 7}}'), 'device.sn: expected string, received number'],
    ['no serial number', json('{"device": {"model": "m1"}}'), 'device.sn: expected string, received undefined'],
    ['a list', json('[]'), 'unexpected response shape'],
    ['deep nesting', json(`{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`), 'nested deeper than 200 levels'],
    ['bytes', json(Buffer.from([0x22, 0xff, 0xfe, 0x22]).toString('latin1')), 'unexpected response shape'],
    ['bytes that are not text', httpAnswer(Buffer.from([0x7b, 0xff, 0xfe, 0x7d])), 'the answer is not text'],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'malformed HTTP response'],
    ['a status', httpAnswer('{}', {}, '404 Not Found'), 'status 404 for GET /device/info'],
    ['a compressed answer', httpAnswer(good, { 'content-encoding': 'gzip' }), 'unrequested content encoding "gzip"'],
    ['an announced flood', httpAnswer('{}', { 'content-length': 52_428_800 }), 'response larger than 1 MiB'],
    [
      'a truncated body',
      httpAnswer(good, { 'content-length': good.length + 10 }),
      'closed in the middle of the response',
    ],
  ])('%s', async (_, answer, what) => {
    const error = await errorFor(answer);
    expect(error.code).toBe('CHASSIS_BAD_ANSWER');
    expect(error.message).toContain(what);
  });

  it.each<[string, string, RegExp]>([
    ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n', /interim response 100 Continue, which gw did not ask for/],
    ['an upgrade', 'HTTP/1.1 101 X\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n', /interim response 101/],
    [
      'two lengths',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
      /malformed HTTP response: two Content-Length headers/,
    ],
    [
      'the same length twice',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}',
      /two Content-Length/,
    ],
    ['101 without Upgrade', 'HTTP/1.1 101 X\r\nConnection: Upgrade\r\n\r\n', /interim response 101/],
    [
      'a length beside chunks',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      /malformed HTTP response: Content-Length can't be present with Transfer-Encoding/,
    ],
    [
      'a length that is none',
      'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n{}',
      /malformed HTTP response: Invalid character in Content-Length/,
    ],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', /malformed HTTP response: Expected HTTP/],
  ])('%s, by its name and not as a reset', async (_, bytes, expected) => {
    const error = await errorFor(bytes);
    expect(error).toMatchObject({ code: 'CHASSIS_BAD_ANSWER', message: expect.stringMatching(expected) });
    expect(error.remedy).toMatch(/proxy/);
  });

  it('a redirect, without following it', async () => {
    await using elsewhere = await answeringPeer(httpAnswer(good));
    const location = `http://127.0.0.1:${elsewhere.endpoint.port}/device/info`;
    const error = await errorFor(httpAnswer('', { location }, '302 Found'));
    expect(error.code).toBe('CHASSIS_BAD_ANSWER');
    expect(error.message).toContain(`redirect to "${location}" refused`);
    expect(elsewhere.connections()).toBe(0);
  });

  it('an endless head', async () => {
    await using peer = await rawPeer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const pump = () => {
        while (!socket.destroyed && socket.write(`x-y: ${'y'.repeat(4_000)}\r\n`));
      };
      socket.on('drain', pump);
      pump();
    });
    await using client = clientOf(peer);
    expect((await failureOf(client.identity())).message).toContain('response head too large');
  });

  it.each<[string, (socket: Socket) => void]>([
    ['begins and then stalls', (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{')],
    [
      'trickles endlessly',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        const trickling = time.every(50, () => socket.write(' '));
        socket.on('close', () => trickling[Symbol.dispose]());
      },
    ],
  ])('an answer that %s', async (_, answer) => {
    const { client } = await rawClient(answer, { timeoutMs: 300 });
    expect((await failureOf(client.identity())).message).toContain('did not complete in time');
  });
});

describe('a flood', () => {
  /** Sends `total` bytes of an answer without a length, as fast as they are read; returns the number sent. */
  async function flood(total: number, head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n[') {
    let sent = 0;
    const peer = await rawPeer((socket) => {
      socket.once('data', () => {
        socket.write(head);
        const piece = Buffer.alloc(64 * 1024, 0x20);
        const pump = () => {
          while (sent < total && !socket.destroyed) {
            sent += piece.length;
            if (!socket.write(piece)) {
              socket.once('drain', pump);
              return;
            }
          }
          socket.end();
        };
        pump();
      });
    });
    return { peer, sent: () => sent };
  }

  it('without an end is cut off at the limit', async () => {
    const { peer, sent } = await flood(Number.POSITIVE_INFINITY);
    await using _peer = peer;
    await using client = clientOf(peer);
    const error = await failureOf(client.identity());
    expect(error.message).toContain('response larger than 1 MiB');
    await until(() => peer.sockets.size === 0);
    // The bytes read, plus those buffered by the two kernels.
    expect(sent()).toBeLessThan(16 * 1024 * 1024);
  });

  it('is cut off at the limit of the caller when it is forwarded', async () => {
    const { peer } = await flood(Number.POSITIVE_INFINITY);
    await using _peer = peer;
    await using client = clientOf(peer);
    const error = await failureOf(client.forward('/maps/1', { maxBytes: 300_000 }));
    expect(error.message).toContain('response larger than 300000 bytes');
  });

  it('in chunks of a chunked answer is cut off as well', async () => {
    const { peer } = await flood(1, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n200001\r\n');
    await using _peer = peer;
    await using client = clientOf(peer);
    expect((await failureOf(client.identity())).code).toBe('CHASSIS_BAD_ANSWER');
  });
});

describe('answers that expand to more than their bytes', () => {
  it('are rejected before they are parsed', async () => {
    const many = `{"device":{"sn":"SN-1"},"x":[${'{},'.repeat(300_000)}{}]}`;
    expect((await errorFor(httpAnswer(many))).message).toContain('the JSON holds more than 20000 values');
    const keys = Array.from({ length: 21_000 }, (_, i) => `"${i}":0`).join(',');
    expect((await errorFor(httpAnswer(`{"device":{"sn":"SN-1"},"x":{${keys}}}`))).message).toContain('more than 20000');
    const refused = await errorFor(httpAnswer(`{"detail":"${'x'.repeat(900_000)}"}`, {}, '409 Conflict'));
    expect(refused.message.length).toBeLessThan(1_000);
  });

  it('are assembled identically with and without a length', async () => {
    const map = { id: 1, grid_origin_x: 0, grid_origin_y: 0, grid_resolution: 1, overlays: 'ä'.repeat(200_000) };
    const body = Buffer.from(JSON.stringify(map));
    const chunked = Buffer.concat([
      Buffer.from(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`),
      body,
      Buffer.from('\r\n0\r\n\r\n'),
    ]);
    for (const answer of [httpAnswer(body), chunked]) {
      await using peer = await answeringPeer(answer);
      await using client = clientOf(peer);
      expect(Buffer.from(await client.mapBytes('1')).equals(body)).toBe(true);
    }
  });
});

describe('while the chassis starts', () => {
  it('reports its progress', async () => {
    const { chassis, client } = await fake();
    chassis.booting = 0.25;
    const error = await failureOf(client.identity());
    expect(error.code).toBe('CHASSIS_BOOTING');
    expect(error.message).toBe('The chassis is starting, 25 % done.');
    expect(error.details).toEqual({ progress: 0.25, step: 'lidar' });
    expect(error.tried?.action).toBe('GET /device/info');
    expect(await client.bootProgress()).toEqual({ progress: 0.25, step: 'lidar', startTimeS: 1 });
    expect((await failureOf(client.listMaps())).code).toBe('CHASSIS_BOOTING');
    expect((await failureOf(client.forward('/device/info', { maxBytes: 1000 }))).code).toBe('CHASSIS_BOOTING');
  });

  it('does not mistake a foreign 503 page for a chassis', async () => {
    const error = await errorFor(httpAnswer('<h1>busy</h1>', {}, '503 Service Unavailable'));
    expect(error.code).toBe('CHASSIS_BAD_ANSWER');
    expect(error.message).toContain('status 503 without boot progress');
  });
});

describe('maps', () => {
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
  const maps: Record<string, string | Buffer> = {
    '/maps/': JSON.stringify([
      { id: 1, uid: 'u1', map_name: 'ground', create_time: 1, map_version: 2, overlays_version: 3, url: 'http://x/' },
      { id: -1, map_name: 'from data' },
    ]),
    '/maps/1': JSON.stringify({
      ...{ id: 1, grid_origin_x: -1.5, grid_origin_y: 0, grid_resolution: 0.05 },
      ...{ overlays: '{"type":"FeatureCollection"}', unknown: true },
    }),
    '/maps/1.png': png,
    '/maps/2.png': '<html>',
  };

  async function withMaps(): Promise<ChassisClient> {
    const { chassis, client } = await fake();
    chassis.intercept = (request, response) => {
      const body = maps[request.url ?? ''];
      if (body === undefined) return false;
      response.end(body);
      return true;
    };
    return client;
  }

  it('are listed, read as data with unknown fields, and fetched as PNG', async () => {
    const client = await withMaps();
    expect((await client.listMaps()).maps).toEqual([
      { id: 1, uid: 'u1', name: 'ground', mapVersion: 2, overlaysVersion: 3 },
      { id: -1, uid: null, name: 'from data', mapVersion: null, overlaysVersion: null },
    ]);
    expect(await client.map('1')).toMatchObject({ grid_resolution: 0.05, unknown: true });
    expect(Buffer.from(await client.mapPng('1'))).toEqual(png);
  });

  it('are rejected for an invalid image, an unknown map, and an invalid id', async () => {
    const client = await withMaps();
    expect((await failureOf(client.mapPng('2'))).code).toBe('CHASSIS_BAD_ANSWER');
    const missing = await failureOf(client.map('9'));
    expect(missing).toMatchObject({ code: 'CHASSIS_REFUSED', details: { status: 404, answer: 'error: not found' } });
    for (const id of ['../device/info', '1?x', '', '1/2', '..', 'a b', '%2e']) {
      expect((await failureOf(client.map(id))).code).toBe('USAGE');
    }
  });
});

describe('forward', () => {
  it('turns fifty concurrent identical reads into one request', async () => {
    const { chassis, client } = await fake();
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => client.forward('/device/info', { maxBytes: 100_000 })),
    );
    expect(chassis.requests).toEqual(['GET /device/info']);
    expect(new Set(replies.map((reply) => Buffer.from(reply.body).toString())).size).toBe(1);
    expect(replies[0]).toMatchObject({ status: 200, content: 'json' });
    await client.forward('/device/info', { maxBytes: 100_000 });
    expect(chassis.requests).toHaveLength(2);
  });

  it('lets one caller abort without ending the read of the others', async () => {
    const { chassis, client } = await fake();
    let answer = () => {};
    let closed = false;
    chassis.intercept = (request, response) => {
      if (request.url !== '/device/info') return false;
      response.on('close', () => {
        closed = !response.writableEnded;
      });
      answer = () => response.end(JSON.stringify(deviceInfo()));
      return true;
    };
    const ending = new AbortController();
    const impatient = failureOf(client.forward('/device/info', { maxBytes: 10_000, signal: ending.signal }));
    const keptWaiting = client.forward('/device/info', { maxBytes: 10_000 });
    await until(() => chassis.requests.length === 1);
    ending.abort();
    expect((await impatient).code).toBe('INTERRUPTED');
    expect(closed).toBe(false);
    answer();
    expect((await keptWaiting).status).toBe(200);
    expect(chassis.requests).toHaveLength(1);
  });

  it('ends the read when the last caller has aborted, and the next one reads again', async () => {
    const { chassis, client } = await fake();
    let hang = true;
    let closed = 0;
    chassis.intercept = (_, response) => {
      response.on('close', () => {
        if (!response.writableEnded) closed += 1;
      });
      return hang;
    };
    const ending = new AbortController();
    const waiting = failureOf(client.forward('/device/info', { maxBytes: 10_000, signal: ending.signal }));
    await until(() => chassis.requests.length === 1);
    ending.abort();
    await waiting;
    hang = false;
    expect((await client.forward('/device/info', { maxBytes: 10_000 })).status).toBe(200);
    await until(() => closed === 1);
  });

  it('forwards an error answer unchanged, and nothing but JSON and PNG', async () => {
    const { chassis, client } = await fake();
    expect((await client.forward('/maps/77', { maxBytes: 10_000 })).status).toBe(404);
    chassis.intercept = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('<script>alert(1)</script>');
      return true;
    };
    expect((await failureOf(client.forward('/maps/1', { maxBytes: 10_000 }))).code).toBe('CHASSIS_BAD_ANSWER');
  });

  it('forwards without parsing, and rejects answers that expand to too much', { tags: 'property' }, async () => {
    const { chassis, client } = await fake();
    let body: string | Buffer = '';
    chassis.intercept = (request, response) => {
      if (!request.url?.startsWith('/maps/')) return false;
      response.end(body);
      return true;
    };
    const forward = () => client.forward('/maps/1', { maxBytes: 32 * 1024 * 1024 });
    // Unchanged: whitespace, a duplicate key, digits that a number would lose.
    body = `\n{"a": 0.1000000000000000055511151231257827, "a" : 12345678901234567890 , "b":"${'x'.repeat(300_000)}"}`;
    const reply = await forward();
    expect([reply.content, Buffer.from(reply.body).toString() === body]).toEqual(['json', true]);
    if (isFull) {
      body = `[${'{},'.repeat(4_100_000)}{}]`;
      expect((await failureOf(forward())).message).toContain('the JSON holds more than 4000000 values');
    }
    body = '['.repeat(100_000) + ']'.repeat(100_000);
    expect((await failureOf(forward())).message).toContain('the JSON is nested deeper than 200 levels');
    for (const wrong of ['{"a":1', '\ufeff{}', '{"a":01}', Buffer.from([0x22, 0xff, 0x22])]) {
      body = wrong;
      expect((await failureOf(forward())).code).toBe('CHASSIS_BAD_ANSWER');
    }
    body = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1]);
    expect((await forward()).content).toBe('png');
  });

  it('rejects paths outside the chassis interface', async () => {
    const { chassis, client } = await fake();
    const paths = ['//elsewhere/', 'http://127.0.0.1/', '/a/../b', '/maps/1?x=1', '/%2e%2e/', '/a b', '', '/.'];
    for (const path of paths) {
      expect((await failureOf(client.forward(path, { maxBytes: 10 }))).code).toBe('INTERNAL');
    }
    expect(chassis.requests).toEqual([]);
  });
});

describe('hostile keys in answers', () => {
  it('do not reach a prototype', async () => {
    const body =
      '{"device":{"sn":"SN-1","__proto__":{"x":1}},"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"caps":{"__proto__":true,"supportsWsV2":true}}';
    await using peer = await answeringPeer(httpAnswer(body));
    await using client = clientOf(peer);
    const info = await client.deviceInfo();
    expect(Object.hasOwn(info, '__proto__')).toBe(false);
    expect(Object.assign({}, info).polluted).toBeUndefined();
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('any answer', () => {
  it('yields an identity or a named failure, never an internal error', { tags: 'property' }, async () => {
    let answer: Buffer = Buffer.alloc(0);
    const { client } = await rawClient((socket) => socket.once('data', () => socket.end(answer)), {
      timeoutMs: 1_000,
    });
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((raw) => Buffer.from(raw)),
      fc.uint8Array({ maxLength: 200 }).map((raw) => httpAnswer(Buffer.from(raw))),
      fc.json().map((text) => httpAnswer(text)),
      fc.tuple(fc.json(), fc.nat(30)).map(([text, cut]) => httpAnswer(text.slice(0, cut))),
      fc.record({ device: fc.anything(), caps: fc.anything() }).map((info) => httpAnswer(safeJson(info))),
      fc.integer({ min: 100, max: 999 }).map((status) => httpAnswer('{}', { location: 'x' }, `${status} X`)),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (raw) => {
        answer = raw;
        const outcome = await client.identity().catch((error: unknown) => error);
        if (outcome instanceof GwError) {
          expect(['CHASSIS_BAD_ANSWER', 'CHASSIS_NOT_CONNECTED', 'CHASSIS_BOOTING']).toContain(outcome.code);
        } else {
          expect(outcome).not.toBeInstanceOf(Error);
          expect((outcome as { serial: string }).serial).toBeTypeOf('string');
        }
      }),
      { numRuns: runs(150) },
    );
  });
});

function safeJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    return '{}';
  }
}

it('a client closed while its first request is pending opens no connection', async () => {
  let dials = 0;
  const dialer: Dialer = {
    way: 'direct',
    dial() {
      dials += 1;
      return Promise.reject(new Error('unexpected connection'));
    },
  };
  const endpoint = { host: '127.0.0.1', port: 1 };
  const client = clientOf({ endpoint }, { dialer });
  const request = client.identity(new AbortController().signal).catch((error: unknown) => error);
  await client[Symbol.asyncDispose]();
  expect(await request).toMatchObject({ code: 'INTERRUPTED' });
  expect(dials).toBe(0);
});
