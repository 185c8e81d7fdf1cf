import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { noCloud } from '../../../src/lib/gateway/cloud.ts';
import { notListening } from '../../../src/lib/gateway/neighbours.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { type Listener, openListener, type RequestHandler } from '../../../src/lib/operator/connections/listener.ts';
import { createOperator, openListeners, READ_ONLY_SOCKET } from '../../../src/lib/operator/operator.ts';
import { until } from '../../waiting.ts';
import { sendRaw, startServer } from '../server.ts';
import { type StandInClock, standInClock, standInHealth } from '../stand-ins.ts';
import { client, head } from './client.ts';

const hello: RequestHandler = (_request, response) => response.end('hello');

async function portOf(host: string) {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

async function isOpen(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('connect', () => resolve(true));
  socket.on('error', () => resolve(false));
  const open = await promise;
  socket.destroy();
  return open;
}

const anywhere = { scope: 'full', host: '127.0.0.1', port: 0 } as const;

/** Closes them long before the deadline: time passes in small steps, since an answer may still be on its way. */
async function closeInTime(listeners: readonly Listener[], clock: StandInClock): Promise<void> {
  let isClosed = false;
  const closing = Promise.all(listeners.map((listener) => listener.close(24 * 60 * 60_000))).then(() => {
    isClosed = true;
  });
  const look = () => {
    clock.advance(20);
    return isClosed;
  };
  await until(look, (is) => is);
  await closing;
}

describe('opening the listeners', () => {
  it('names the port in use, and opens all or none', async () => {
    await using occupied = await portOf('127.0.0.1');
    let first: Listener | undefined;
    const opening = openListeners({ handle: hello }, [
      { scope: 'full', host: '127.0.0.1', port: 0 },
      { scope: 'read-only', host: '127.0.0.1', port: occupied.port },
    ]).then(([listener]) => {
      first = listener;
    });
    const tried = { address: '127.0.0.1', port: occupied.port };
    await expect(opening).rejects.toMatchObject({ code: 'PORT_IN_USE', tried });
    expect(first).toBeUndefined();
  });

  it('closes the first when the second cannot be opened', async () => {
    await using occupied = await portOf('127.0.0.1');
    await using free = await portOf('127.0.0.1');
    await free[Symbol.asyncDispose]();
    const wanted = [free.port, occupied.port].map((port) => ({ scope: 'full' as const, host: '127.0.0.1', port }));
    await expect(openListeners({ handle: hello }, wanted)).rejects.toMatchObject({ code: 'PORT_IN_USE' });
    expect(await isOpen(free.port)).toBe(false);
  });

  it('has a port for itself, although it has several sockets for it', async () => {
    // An address of its own, where no other test opens the port meanwhile.
    const host = '127.7.7.7';
    await using free = await portOf(host);
    await free[Symbol.asyncDispose]();
    const address = { scope: 'full', host, port: free.port } as const;
    const both = await Promise.allSettled([openListener(hello, address), openListener(hello, address)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(openListener(hello, address)).rejects.toMatchObject({ code: 'PORT_IN_USE' });
    for (const one of both) if (one.status === 'fulfilled') await one.value.close(0);
    await (await openListener(hello, address)).close(0);
  });

  it('does not share a port with a program that would share it', async () => {
    const sharing = createTcpServer();
    await once(sharing.listen({ host: '127.0.0.1', port: 0, reusePort: true }), 'listening');
    const { port } = sharing.address() as AddressInfo;
    const attempt = openListener(hello, { scope: 'full', host: '127.0.0.1', port });
    await expect(attempt).rejects.toMatchObject({ code: 'PORT_IN_USE' });
    await new Promise((resolve) => sharing.close(resolve));
  });

  it('is closed on each of its sockets, once their connections have ended', async () => {
    const listener = await openListener(hello, anywhere);
    const sockets = await Promise.all(
      Array.from({ length: 64 }, async () => {
        const socket = connect({ host: '127.0.0.1', port: listener.port });
        socket.write('GET / HTTP/1.1\r\nhost: gw\r\n\r\n');
        const [answer] = await once(socket, 'data');
        expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
        return socket;
      }),
    );
    const ended = Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
    await listener.close(24 * 60 * 60_000);
    await ended;
    expect(await isOpen(listener.port)).toBe(false);
  });

  it('reports a port that the system does not permit', async () => {
    const attempt = openListener(hello, { scope: 'full', host: '192.0.2.1', port: 0 });
    await expect(attempt).rejects.toMatchObject({ code: 'PORT_UNUSABLE' });
  });

  it('serves IPv4 and IPv6 on ::', async () => {
    const listener = await openListener(hello, { scope: 'full', host: '::', port: 0 });
    expect((await sendRaw(listener.port, 'GET / HTTP/1.0\r\nHost: localhost\r\n\r\n')).body).toBe('hello');
    await listener.close(100);
  });

  it('keeps the read-only socket at its fixed address, whatever the site file', async () => {
    expect(READ_ONLY_SOCKET).toEqual({ host: '127.0.0.1', port: 5174 });
    await using server = await startServer();
    const { site, link, motion, clock, dir } = server;
    const operator = createOperator({
      site: { ...site, operator: { ...site.operator, port: 5174 } },
      ...{
        ...{ link, motion, clock, log: silentLog, checkCloudPath: null, support: null, assetsDir: dir },
        contractsDir: dir,
      },
      ...{ health: () => standInHealth(), neighbours: () => notListening, cloud: () => noCloud },
    });
    const context = { signal: new AbortController().signal, fail() {} };
    await expect(operator.start(context)).rejects.toMatchObject({ code: 'SITE_FILE_INVALID' });
    await operator.stop();
    await operator.stop();
  });
});

describe('closing a listener', () => {
  it('closes idle connections at once', async () => {
    const clock = standInClock();
    const listener = await openListener(hello, { ...anywhere, clock });
    using silent = await client(listener.port);
    const agent = new Agent({ keepAlive: true });
    await new Promise<void>((resolve) => {
      httpRequest({ host: '127.0.0.1', port: listener.port, agent, headers: { host: 'localhost' } }, (response) => {
        response.resume().on('end', resolve);
      }).end();
    });
    await closeInTime([listener], clock);
    await silent.closed;
    agent.destroy();
    expect(await isOpen(listener.port)).toBe(false);
  });

  it('completes an answer in progress, and disconnects one that takes too long', async () => {
    const clock = standInClock();
    const begun = new Map<string | undefined, ServerResponse>();
    const listener = await openListener((request, response) => void begun.set(request.url, response), {
      ...anywhere,
      clock,
    });
    using slow = await client(listener.port);
    using never = await client(listener.port);
    slow.send(head('GET /slow'));
    never.send(head('GET /never'));
    await until(
      () => begun.size,
      (size) => size === 2,
    );
    const withinMs = 1_000_000;
    const closing = listener.close(withinMs);
    begun.get('/slow')?.end('done');
    await until(
      () => {
        clock.advance(20);
        return slow.isClosed();
      },
      (is) => is,
    );
    expect([slow.text().includes('done'), never.isClosed()]).toEqual([true, false]);
    clock.advance(withinMs);
    await Promise.all([never.closed, closing]);
    expect(never.text()).toBe('');
    await listener.close(0);
  });

  it('completes with live streams open, before the deadline that disconnects hanging ones', async () => {
    await using server = await startServer();
    const request = httpRequest({ host: '127.0.0.1', port: server.full, path: '/api/events' }).end();
    const [stream] = (await once(request, 'response')) as [IncomingMessage];
    const ended = once(stream.resume(), 'end');
    server.application.endStreams();
    await closeInTime(server.listeners, server.clock);
    await ended;
    expect(stream.statusCode).toBe(200);
  });
});

describe('an Expect header', () => {
  it('does not change the answer', async () => {
    await using server = await startServer();
    const send = (port: number, line: string, expected: string) =>
      sendRaw(
        port,
        `${line} HTTP/1.1\r\nHost: localhost\r\nExpect: ${expected}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
    expect((await send(server.readOnly, 'POST /api/stopp', 'something')).statuses).toEqual([403]);
    expect((await send(server.readOnly, 'GET /api/nachbarn', 'something')).statuses).toEqual([200]);
    expect((await send(server.full, 'POST /api/touren/lauf', '100-continue')).statuses).toEqual([100, 400]);
  });
});

describe('the scope of a connection', () => {
  it('is read-only for a connection without a known listener', async () => {
    await using server = await startServer();
    const foreign = createServer(server.application.handle);
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
    const { port } = foreign.address() as AddressInfo;
    const ask = (path: string) => sendRaw(port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    expect((await ask('/api/nachbarn')).status).toBe(200);
    expect((await ask('/api/medien')).status).toBe(403);
    await new Promise((resolve) => foreign.close(resolve));
  });
});
