import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { proxyLimits } from '../../../src/lib/tunnel/link/index.ts';
import { freePort } from '../../free-port.ts';
import { passTime } from '../../lifecycle/fake-clock.ts';
import { ofEach } from '../../lifecycle/shared.ts';
import { plainPeer } from '../../net/probe/world.ts';
import {
  ACCESS,
  CLIENT,
  type Client,
  dataOf,
  type FakeServiceOptions,
  fakeService,
  neverConnects,
  type RunningProxy,
  rounds,
  type Sent,
  SUBPROTOCOL,
  startProxy,
  target,
  until,
  untilFull,
  waitMs,
} from './world.ts';

const START: Sent = { type: 'stream-start', streamId: 1, serviceId: 'web', connectionId: 1 };
const DATA: Sent = { ...START, type: 'data', payload: new TextEncoder().encode('hello') };

const sameTokens = { 'access-token': ACCESS, 'client-token': CLIENT };

/** Answers a request for a WebSocket with this status. */
const status =
  (line: string, body = '', headers = '') =>
  (_request: unknown, socket: { end(text: string): void }) => {
    socket.end(`HTTP/1.1 ${line}\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`);
    return true;
  };

const drop: FakeServiceOptions['answer'] = (_request, socket) => {
  socket.destroy();
  return true;
};
const smtp: FakeServiceOptions['answer'] = (_request, socket) => {
  socket.end('220 smtp\r\n');
  return true;
};

const stack = ofEach();
async function started(about: FakeServiceOptions = {}, options: Parameters<typeof startProxy>[1] = {}) {
  const service = stack.use(await fakeService(about));
  return { service, proxy: stack.use(startProxy(service, options)) };
}
async function withEcho(about: FakeServiceOptions = {}) {
  const echo = stack.use(await target());
  return { echo, ...(await started(about, { connect: echo.connect })) };
}

/** Each wait between two attempts passes when the loss before it is reported; resolves with the end. */
async function attemptsOf(proxy: RunningProxy, longestMs = 22_500) {
  for (let n = 1; ; n += 1) {
    await until('a loss or the end', () => proxy.lost().length >= n || proxy.hasEnded());
    if (proxy.hasEnded()) return await proxy.result;
    await proxy.clock.advance(Math.min(longestMs, waitMs(n)));
  }
}

/** Ends the proxy, and expects that it takes so little of its own time. */
async function quickStop({ clock, result, stop }: RunningProxy) {
  const beganMs = clock.monotonicMs();
  stop();
  expect((await passTime(clock, 50, result)).exit).toBe('terminated');
  expect(clock.monotonicMs() - beganMs).toBeLessThan(1_500);
}

describe('a session', () => {
  test('handshake, services, bytes both ways, close', async () => {
    const { service, echo, proxy } = await withEcho();
    const client = await service.client();
    const { headers, url } = client.request;
    expect(url).toBe('/tunnel?local-proxy-mode=destination');
    expect(headers).toMatchObject(sameTokens);
    expect(headers['sec-websocket-protocol']).toBe(SUBPROTOCOL);
    expect(headers['sec-websocket-extensions']).toBeUndefined();
    client.send(START, DATA);
    await until('echo', () => dataOf(client.received).toString() === 'hello');
    await until('ping', () => client.pings.length === 1);
    expect(client.pings[0]).toBe(`${proxy.clock.wall().getTime()}`);
    client.ws.close(4001, 'lifetime over');
    const detail = "the service closed the tunnel (code 4001, 'lifetime over')";
    expect(await proxy.result).toEqual({ exit: 'closed', detail });
    expect(proxy.events).toEqual([
      { event: 'connected', channelId: 'channel-1', localAddress: '127.0.0.1' },
      { event: 'services', services: ['web'] },
      { event: 'counts', open: 0, connections: 1, bytesIn: 5, bytesOut: 5 },
      { event: 'ended', exit: 'closed', detail },
    ]);
    await until('target closed', () => echo.sockets[0]?.closed === true);
  });

  test('reports its counts every second, also when nothing changes: only so a frozen proxy is noticed', async () => {
    const { service, proxy } = await started();
    await service.client();
    await proxy.clock.advance(3_000);
    const reports = proxy.events.filter(({ event }) => event === 'counts');
    expect(reports).toHaveLength(3);
    expect(reports[2]).toEqual({ event: 'counts', open: 0, connections: 0, bytesIn: 0, bytesOut: 0 });
  });

  test('a stop resets open streams, closes with 1000, and local connections at once', async () => {
    const { service, echo, proxy } = await withEcho();
    const client = await service.client();
    client.send(START, DATA);
    await until('echo', () => client.received.length === 1);
    proxy.stop();
    expect(await proxy.result).toEqual({ exit: 'terminated', detail: 'ended by the gateway' });
    expect(client.received.at(-1)).toMatchObject({ type: 'stream-reset', streamId: 1, serviceId: 'web' });
    await until('close frame', () => client.closeCode === 1000);
    await until('target closed', () => echo.sockets[0]?.closed === true);
  });

  test('a stop is not held up by a service that neither reads nor closes', async () => {
    await using service = await fakeService();
    await using source = await target((socket) => socket.write(Buffer.alloc(30_000_000)));
    await using proxy = startProxy(service, { connect: source.connect });
    const client = await service.client();
    client.ws.pause();
    client.send(START);
    await untilFull('stalled', () => source.sockets[0]?.writableLength ?? 0);
    await quickStop(proxy);
  });

  test('a stop is not held up by a local connection that does not close', async () => {
    await using service = await fakeService();
    const socket = neverConnects();
    const destroy = socket.destroy.bind(socket);
    socket.destroy = () => socket;
    await using proxy = startProxy(service, { connect: () => socket });
    const client = await service.client();
    client.send(START);
    await until('the connection', () => socket.listenerCount('close') > 0);
    await quickStop(proxy);
    destroy();
  });

  test('the own deadline ends it, while the service does nothing', async () => {
    const { service, proxy } = await started({}, { settings: { maxS: 20 } });
    const client = await service.client();
    await proxy.clock.advance(20_000);
    expect(await proxy.result).toEqual({ exit: 'own-clock', detail: '20 s are over' });
    await until('close frame', () => client.closeCode === 1000);
  });

  test.each<[string, FakeServiceOptions, string]>([
    ['waits for the next attempt', { answer: status('503 Busy') }, 'answered HTTP 503'],
    ['is sent nonsense each time', { onClient: ({ ws }) => ws.send(Buffer.from('00020800', 'hex')) }, 'type 0'],
  ])('the own deadline ends it also while it %s: exponential waits, no hurry', async (_, about, why) => {
    const { service, proxy } = await started(about, { settings: { maxS: 40 } });
    expect((await attemptsOf(proxy)).exit).toBe('own-clock');
    expect(service.requests).toHaveLength(7);
    expect(proxy.lost()[0]).toContain(why);
  });

  test('an error of the process is an end of its own', async () => {
    const { service, proxy } = await started();
    await service.client();
    proxy.stop(new GwError('INTERNAL', 'internal error (TypeError)'));
    expect((await proxy.result).exit).toBe('internal');
    expect(proxy.events.at(-1)).toMatchObject({ event: 'ended', exit: 'internal' });
  });

  test('stopped before it began', async () => {
    const proxy = startProxy(
      { port: 1, caFile: '/nonexistent' },
      { signal: AbortSignal.abort(), settings: { caFile: null } },
    );
    expect((await proxy.result).exit).toBe('terminated');
  });
});

describe('what the service answers', () => {
  test.each([
    ['400 Bad Request', 'Token was previously used'],
    ['403 Forbidden', ''],
    ['404 Not Found', 'nothing here'],
    ['429 Too Many Requests', 'slow down'],
    ['302 Found', ''],
  ])('%s ends it without a second attempt', async (line, body) => {
    const { service, proxy } = await started({ answer: status(line, body, 'Location: https://127.0.0.1:1/\r\n') });
    const { exit, detail } = await proxy.result;
    expect(exit).toBe('refused');
    expect(detail).toBe(`127.0.0.1:${service.port} answered HTTP ${line.slice(0, 3)}${body === '' ? '' : `: ${body}`}`);
    expect(service.requests).toHaveLength(1);
  });

  test('the body of a refusal is bounded, printable and without the tokens in any form', async () => {
    const encoded = Buffer.from(ACCESS).toString('base64');
    const body = `bad token ${ACCESS}, ${encoded} or ${CLIENT.slice(3, 20)}\r\n\x1b[31mred\x07 ${'word '.repeat(100_000)}`;
    const { proxy } = await started({ answer: status('400 Bad', body) });
    const { detail } = await proxy.result;
    expect(detail.length).toBeLessThan(400);
    expect(detail).toMatch(/^[\x20-\x7e]*$/);
    expect(detail).toMatch(/bad token \[removed\], \[removed\] or \[removed\] \[31mred word/);
    expect(JSON.stringify(proxy.events)).not.toContain(ACCESS.slice(0, 10));
  });

  test('a token that is cut off by the bound of the body leaves no part', async () => {
    const { proxy } = await started({ answer: status('400 Bad', `${'x '.repeat(500)}${ACCESS}`) });
    expect((await proxy.result).detail).not.toContain(ACCESS.slice(0, 8));
  });

  test('a body that never ends', async () => {
    const { service, proxy } = await started({
      answer: (_request, socket) => {
        socket.write('HTTP/1.1 400 Bad\r\nContent-Length: 1000\r\n\r\nspent');
        return true;
      },
    });
    const detail = `127.0.0.1:${service.port} answered HTTP 400: spent`;
    expect(await passTime(proxy.clock, 100, proxy.result)).toEqual({ exit: 'refused', detail });
  });

  test.each([
    ['5xx', { answer: status('500 Oops', 'later') }, /answered HTTP 500: later/],
    ['200', { answer: status('200 OK', '<html>') }, /answered HTTP 200: <html>/],
    ['101 without a subprotocol', { subprotocol: null }, /handshake failed: Server sent no subprotocol/],
    [
      '101 with another subprotocol',
      { subprotocol: null, headers: ['Sec-WebSocket-Protocol: x-1.0'] },
      /invalid subprotocol/,
    ],
    ['giant headers', { headers: [`x: ${'y'.repeat(70_000)}`] }, /handshake failed: HPE_HEADER_OVERFLOW/],
    ['the end of the connection', { answer: drop }, /handshake/],
    ['no HTTP', { answer: smtp }, /HPE_/],
  ])('%s: tried again', async (_, about, expected) => {
    const { service, proxy } = await started(about);
    for (const n of [1, 2]) await proxy.retry(n);
    await until('three attempts', () => service.requests.length === 3);
    expect(proxy.lost()[0]).toMatch(expected);
  });

  test('a header that never ends does not hold it up', async () => {
    const { service, proxy } = await started({
      answer: (_request, socket) => socket.write('HTTP/1.1 101 Switching\r\nX: y') || true,
    });
    await until('request', () => service.requests.length === 1);
    await proxy.clock.advance(12_000);
    await proxy.retry();
    await until('second attempt', () => service.requests.length === 2);
    expect(proxy.lost()[0]).toMatch(/no WebSocket within/);
  });

  test('a channel id with the token in it is not passed on', async () => {
    const { proxy } = await started({ channelId: `id-${ACCESS.slice(4)}` });
    await until('connected', () => proxy.events.length > 0);
    expect(proxy.events[0]).toMatchObject({ event: 'connected', channelId: null });
  });

  test('other services than ours end it', async () => {
    const { proxy } = await started({ services: ['web', 'ssh'] });
    const detail = expect.stringContaining('other services');
    expect(await proxy.result).toMatchObject({ exit: 'configuration', detail });
  });
});

describe('what the service does afterwards', () => {
  test('a connection that is cut without a close frame is opened again with the same tokens, and its streams are gone', async () => {
    const { service, echo, proxy } = await withEcho();
    const first = await service.client();
    first.send(START, DATA);
    await until('echo', () => first.received.length === 1);
    first.socket.destroy();
    await proxy.retry();
    const second = await service.client(1);
    expect(second.request.headers).toMatchObject(sameTokens);
    await until('target closed', () => echo.sockets[0]?.closed === true);
    second.send({ ...DATA }, { ...START, connectionId: 2 }, { ...DATA, connectionId: 2 });
    await until('echo', () => dataOf(second.received, 2).toString() === 'hello');
    expect(dataOf(second.received, 1)).toHaveLength(0);
    expect(proxy.lost()[0]).toMatch(/^connection lost/);
  });

  test.each([1001, 1012, 1013])('close code %d says that the service itself stops: opened again', async (code) => {
    const { service, proxy } = await started();
    (await service.client()).ws.close(code);
    await proxy.retry();
    const second = await service.client(1);
    expect(second.request.headers).toMatchObject(sameTokens);
    expect(proxy.lost()).toEqual([`the service closed the tunnel (code ${code})`]);
    second.ws.close(1000);
    expect(await proxy.result).toMatchObject({ exit: 'closed' });
  });

  test.each([1000, 1005, 1008, 1011, 4000])('close code %d is the end of the tunnel', async (code) => {
    const { service, proxy } = await started();
    const { ws } = await service.client();
    await until('services', () => proxy.events.some(({ event }) => event === 'services'));
    if (code === 1005) ws.close();
    else ws.close(code);
    expect(await proxy.result).toMatchObject({ exit: 'closed' });
    expect(service.requests).toHaveLength(1);
  });

  test('a close frame is the end of the tunnel also when TCP stays open', async () => {
    const { service, echo, proxy } = await withEcho();
    const { ws, send } = await service.client();
    send(START);
    await until('a connection', () => echo.sockets.length === 1);
    // The answer is not read, so that the service never ends TCP.
    ws.pause();
    ws.close(1000);
    expect(await proxy.result).toMatchObject({ exit: 'closed' });
    await until('target closed', () => echo.sockets[0]?.closed === true);
  });

  test('the address of a lost connection may be gone while the service answers: the network stands', async () => {
    let hasAddress = true;
    await using service = await fakeService({
      answer: (request, socket, count) => count > 1 && count < 7 && status('503 Busy')(request, socket),
      onClient: () => {
        hasAddress = true;
      },
    });
    const network = {
      interfaces: () => (hasAddress ? { eth0: [{ address: '127.0.0.1' }] } : { eth0: [{ address: '198.51.100.7' }] }),
      operState: async () => 'up',
    };
    await using proxy = startProxy(service, { network });
    const { socket } = await service.client();
    hasAddress = false;
    socket.destroy();
    // More than 20 s in all.
    for (const n of [1, 2, 3, 4, 5, 6]) await proxy.retry(n);
    (await service.client(1)).ws.close(1000);
    expect(await proxy.result).toMatchObject({ exit: 'closed' });
  });

  test('a spent token after a loss ends it', async () => {
    const { service, proxy } = await started({
      answer: (request, socket, count) => count > 1 && status('400 Bad', 'previously used')(request, socket),
    });
    (await service.client()).socket.destroy();
    await proxy.retry();
    expect((await proxy.result).exit).toBe('refused');
  });

  test('a close frame before SERVICE_IDS is tried again, and is an end the third time', async () => {
    const { service, proxy } = await started({ services: null, onClient: ({ ws }) => ws.close(1008) });
    const detail = 'the service closed the tunnel (code 1008), 3 times before SERVICE_IDS';
    expect(await attemptsOf(proxy)).toEqual({ exit: 'closed', detail });
    expect(service.requests).toHaveLength(3);
  });

  test('no SERVICE_IDS at all', async () => {
    const { service, proxy } = await started({ services: null });
    await until('connected', () => proxy.events.length > 0);
    await proxy.clock.advance(20_000);
    await proxy.retry();
    await service.client(1);
    expect(proxy.lost()[0]).toBe('no SERVICE_IDS received within 20 s');
  });

  const tooLong = /WS_ERR_UNSUPPORTED_MESSAGE_LENGTH/;
  const sendFragments = (ws: Client['ws'], count: number) => {
    for (let left = count; left > 0; left -= 1) ws.send(Buffer.alloc(10_000), { fin: false });
  };
  const faults: [string, (client: Client) => void, number, RegExp][] = [
    ['type 0', ({ ws }) => ws.send(Buffer.from('0002 0800'.replace(' ', ''), 'hex')), 1002, /type 0/],
    ['bytes that are no message', ({ ws }) => ws.send(Buffer.from('0003ffffff', 'hex')), 1002, /cannot be decoded/],
    ['a text frame', ({ ws }) => ws.send('hello'), 1003, /text frame/],
    ['a text frame that is not UTF-8', ({ ws }) => ws.send(Buffer.of(0xff), { binary: false }), 1007, /INVALID_UTF8/],
    ['a message above the limit', ({ ws }) => ws.send(Buffer.alloc(131_077)), 1009, tooLong],
    ['fragments above the limit', ({ ws }) => sendFragments(ws, 20), 1009, tooLong],
    ['a reserved opcode', ({ socket }) => void socket.write(Buffer.from('8300', 'hex')), 1002, /WS_ERR_INVALID_OPCODE/],
  ];
  test.each(faults)('%s closes the WebSocket, and it is opened again', async (_, fault, code, expected) => {
    const { service, proxy } = await withEcho({ onClient: (client, count) => count === 1 && fault(client) });
    const first = await service.client();
    await proxy.retry();
    const second = await service.client(1);
    expect(proxy.lost()[0]).toMatch(expected);
    expect(first.closeCode).toBe(code);
    second.send(START, DATA);
    await until('echo', () => dataOf(second.received).toString() === 'hello');
  });

  test('silence for three ping intervals', async () => {
    const { service, proxy } = await started({ autoPong: false });
    const client = await service.client();
    await until('services', () => proxy.events.at(-1)?.event === 'services');
    await proxy.clock.advance(55_000);
    expect(proxy.lost()).toEqual([]);
    await proxy.clock.advance(10_000);
    await proxy.retry();
    await service.client(1);
    expect(proxy.lost()[0]).toMatch(/^nothing received for 6\d s$/);
    expect(client.pings.length).toBeGreaterThanOrEqual(3);
  });

  test('pongs alone keep it', async () => {
    const { service, proxy } = await started({}, { settings: { maxS: 85 } });
    const client = await service.client();
    for (let pings = 1; pings <= 5; pings += 1) {
      await until('ping', () => client.pings.length === pings);
      await rounds();
      await proxy.clock.advance(20_000);
    }
    expect((await proxy.result).exit).toBe('own-clock');
    expect(service.clients).toHaveLength(1);
  });

  test('a service that makes it answer and reads nothing is given up', { tags: 'large' }, async () => {
    const { service, proxy } = await started({}, { limits: { ...proxyLimits, unsentMaxBytes: 600_000 } });
    const client = await service.client();
    client.ws.pause();
    const starts = Array.from(
      { length: 2_000 },
      (_, index): Sent => ({ ...START, serviceId: 'none', streamId: index + 1 }),
    );
    for (let count = 0; count < 200 && proxy.lost().length === 0; count += 1) {
      client.send(...starts);
      await rounds(5);
    }
    await passTime(
      proxy.clock,
      100,
      until('given up', () => proxy.lost().length > 0),
    );
    expect(proxy.lost()[0]).toBe('the service reads nothing');
  });
});

describe('while the WebSocket is not read, because a target does not read', () => {
  /** A proxy that holds: one connection of which half the limit waits, and an echo. */
  async function held(holdMs: number, about: Parameters<typeof startProxy>[1] = {}) {
    const service = await fakeService();
    const mixed = await target((socket) => {
      if (mixed.sockets.length === 1) socket.pause();
      else socket.pipe(socket);
    });
    const proxy = startProxy(service, { connect: mixed.connect, limits: { ...proxyLimits, holdMs }, ...about });
    const client = await service.client();
    client.send(START);
    await until('stalled target', () => mixed.sockets.length === 1);
    client.send({ ...START, type: 'connection-start', connectionId: 2 });
    client.send({ ...DATA, connectionId: 2 });
    await until('both are connected', () => dataOf(client.received, 2).toString() === 'hello');
    const timers = proxy.clock.pending;
    // More than half of the limit and all buffers of the kernel: what is not read stays in the service.
    const payload = Buffer.alloc(60_000);
    for (let count = 0; count < 350; count += 1) client.send({ ...DATA, payload });
    await until('the limit of the hold runs', () => proxy.clock.pending > timers);
    await untilFull('held', () => client.ws.bufferedAmount, 2_000_000);
    return {
      client,
      proxy,
      async [Symbol.asyncDispose]() {
        await proxy[Symbol.asyncDispose]();
        await service[Symbol.asyncDispose]();
        await mixed[Symbol.asyncDispose]();
      },
    };
  }

  test('a stop is as quick as ever, with STREAM_RESET and the close frame', async () => {
    await using world = await held(600_000);
    await quickStop(world.proxy);
    await until('reset', () => world.client.received.at(-1)?.type === 'stream-reset');
  });

  test('the own deadline ends it', { tags: 'large' }, async () => {
    await using world = await held(600_000, { settings: { maxS: 2 } });
    expect((await passTime(world.proxy.clock, 100, world.proxy.result)).exit).toBe('own-clock');
  });

  test('afterwards that connection is reset, a ping is answered, another connection goes on, and a close frame ends it', async () => {
    await using world = await held(1_000);
    const { client, proxy } = world;
    await proxy.clock.advance(1_000);
    let pongs = 0;
    client.ws.on('pong', () => {
      pongs += 1;
    });
    client.ws.ping();
    client.send({ ...DATA, connectionId: 2 });
    await until('echo', () => dataOf(client.received, 2).toString() === 'hellohello');
    expect(pongs).toBe(1);
    expect(client.received.filter(({ type }) => type !== 'data')).toEqual([
      expect.objectContaining({ type: 'connection-reset', connectionId: 1 }),
    ]);
    await proxy.clock.advance(20_000);
    await until('the next ping', () => client.pings.length === 2);
    expect(proxy.lost()).toEqual([]);
    client.ws.close(1000);
    expect((await proxy.result).exit).toBe('closed');
  });
});

describe('name, TCP and TLS', () => {
  test('nothing listens: given up after 10 s, with what was tried', async () => {
    const port = await freePort();
    await using proxy = startProxy({ port, caFile: '' }, { settings: { caFile: null } });
    const { clock } = proxy;
    const beganMs = clock.monotonicMs();
    const { exit, detail } = await attemptsOf(proxy, 2_000);
    expect(exit).toBe('network-lost');
    expect(detail).toMatch(`no connection for 10 s: 127.0.0.1:${port}: blocked: connection refused`);
    expect(clock.monotonicMs() - beganMs).toBeLessThan(12_000);
    expect(proxy.lost().length).toBeGreaterThan(3);
  });

  test('a service that comes back within 10 s', async () => {
    const authority = await createCa();
    await using other = await fakeService({ authority });
    const port = await freePort();
    await using proxy = startProxy({ port, caFile: other.caFile });
    await proxy.retry();
    await until('two attempts', () => proxy.lost().length === 2);
    await using service = await fakeService({ authority, port });
    await proxy.retry(2);
    await service.client();
    await until('services', () => proxy.events.at(-1)?.event === 'services');
  });

  test('an interruption of some seconds is not called lost, however long the waits were before', async () => {
    const busy = await fakeService({ answer: status('503 Busy') });
    const { port } = busy;
    // Its CA file stays.
    await using other = await fakeService();
    await using proxy = startProxy({ port, caFile: other.caFile }, { settings: { maxS: 86_400 } });
    for (const n of [1, 2, 3, 4, 5, 6, 7]) await proxy.retry(n);
    await until('waits of 22.5 s', () => proxy.lost().length === 8);
    await busy[Symbol.asyncDispose]();
    await proxy.clock.advance(22_500);
    await until('refused', () => /refused/.test(proxy.lost().at(-1) ?? ''));
    await using service = await fakeService({ port });
    await proxy.clock.advance(2_000);
    await service.client();
    expect(proxy.hasEnded()).toBe(false);
  });

  test('a certificate of another CA: no token is sent, and the network is not called lost', async () => {
    await using service = await fakeService();
    await using other = await fakeService({ authority: await createCa() });
    await using proxy = startProxy({ port: service.port, caFile: other.caFile }, { settings: { maxS: 20 } });
    expect((await attemptsOf(proxy)).exit).toBe('own-clock');
    expect(service.requests).toHaveLength(0);
    expect(proxy.lost()[0]).toMatch(/the chain leads to .* a CA of that name with another key/);
  });

  test('a certificate for another name, and an expired one', async () => {
    await using named = await fakeService({ names: ['localhost'] });
    await using expired = await fakeService({ notAfter: new Date('2020-01-02') });
    await using one = startProxy(named);
    await using two = startProxy(expired);
    await until('both', () => one.lost().length > 0 && two.lost().length > 0);
    expect(one.lost()[0]).toMatch(/hostname mismatch/);
    expect(two.lost()[0]).toMatch(/the certificate expired/);
    expect(named.requests.length + expired.requests.length).toBe(0);
  });

  test('a TLS handshake without an answer is tried again, and the network is not called lost', async () => {
    await using peer = await plainPeer(() => {});
    await using proxy = startProxy({ port: peer.port, caFile: '' }, { settings: { caFile: null, maxS: 30 } });
    expect((await passTime(proxy.clock, 100, proxy.result)).exit).toBe('own-clock');
    expect(proxy.lost()[0]).toMatch(/no answer to the ClientHello/);
  });

  test('an unknown host name', async () => {
    const settings = { caFile: null, host: 'tunnel.invalid' };
    await using proxy = startProxy({ port: 443, caFile: '' }, { settings });
    const detail = expect.stringContaining('no address for tunnel.invalid');
    expect(await attemptsOf(proxy, 2_000)).toMatchObject({ exit: 'network-lost', detail });
  });

  test('the interface of the tunnel is down or gone for 10 s: given up, though the connection stands', async () => {
    await using service = await fakeService();
    let state: string | null = 'unknown';
    let isThere = true;
    const network = {
      interfaces: () => (isThere ? { lo: [{ address: '127.0.0.1' }] } : {}),
      operState: async () => state,
    };
    await using proxy = startProxy(service, { network });
    const { clock } = proxy;
    await service.client();
    await until('services', () => proxy.events.at(-1)?.event === 'services');
    await clock.advance(15_000);
    state = 'down';
    await clock.advance(7_000);
    state = 'up';
    await clock.advance(7_000);
    isThere = false;
    await clock.advance(9_900);
    expect(proxy.hasEnded()).toBe(false);
    await clock.advance(1_100);
    const detail = 'no interface has the address 127.0.0.1 of the tunnel any more, for 10 s';
    expect(await proxy.result).toEqual({ exit: 'network-lost', detail });
  });

  test('a CA file that is missing or no certificate', async () => {
    const missing = startProxy({ port: 1, caFile: '/nonexistent/ca.pem' });
    const named = expect.stringContaining('/nonexistent/ca.pem');
    expect(await missing.result).toMatchObject({ exit: 'configuration', detail: named });
    await using service = await fakeService();
    writeFileSync(service.caFile, 'no certificate');
    const invalid = startProxy(service);
    const why = expect.stringContaining('holds no certificate');
    expect(await invalid.result).toMatchObject({ exit: 'configuration', detail: why });
    expect(invalid.events.map(({ event }) => event)).toEqual(['counts', 'ended']);
  });
});

test.each([
  ['no service', { services: [] }, {}],
  ['four services', { services: ['a', 'b', 'c', 'd'] }, {}],
  ['a service twice', { services: ['a', 'a'] }, {}],
  ['an empty token', {}, { access: '', client: CLIENT }],
  ['a token with a line break', {}, { access: `${ACCESS}\r\nx: y`, client: CLIENT }],
  ['a token of 5,000 characters', {}, { access: 'x'.repeat(5_000), client: CLIENT }],
  ['a client token of another form', {}, { access: ACCESS, client: 'short' }],
])('invalid settings: %s', async (_, settings, tokens) => {
  const proxy = startProxy(
    { port: 1, caFile: '' },
    { settings: { caFile: null, ...settings }, ...('access' in tokens && { tokens }) },
  );
  const { exit, detail } = await proxy.result;
  expect(exit).toBe('configuration');
  expect(detail).not.toContain(ACCESS.slice(0, 8));
  expect(proxy.events.filter(({ event }) => event !== 'counts')).toHaveLength(1);
});

test('neither side that stalls makes memory grow', { tags: 'large' }, async () => {
  await using service = await fakeService();
  await using stalled = await target((socket) => {
    socket.pause();
    socket.write(Buffer.alloc(100_000_000));
  });
  const limits = { ...proxyLimits, holdMs: 100 };
  await using proxy = startProxy(service, { connect: stalled.connect, limits });
  const client = await service.client();
  client.send(START);
  await until('connected', () => stalled.sockets.length === 1);
  client.ws.pause();
  await untilFull('stalled', () => stalled.sockets[0]?.writableLength ?? 0);
  const before = process.memoryUsage.rss();
  for (let count = 0; count < 500; count += 1) {
    const data: Sent = { ...START, type: 'data', payload: Buffer.alloc(60_000) };
    client.send(data, data);
    await proxy.clock.advance(1);
  }
  // 60 MB were sent to a target that takes nothing, and 100 MB wait for a service that takes nothing.
  expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000);
  await until('reset', () => proxy.notes.includes('a connection was reset: the target does not read'));
});
