import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { holdOpen } from '../../../src/lib/operator/connections/connection.ts';
import type { Crowding } from '../../../src/lib/operator/connections/crowding.ts';
import { connectionLimits, openFileLimit, totalWithin } from '../../../src/lib/operator/connections/limits.ts';
import { openListener, type RequestHandler } from '../../../src/lib/operator/connections/listener.ts';
import { until } from '../../waiting.ts';
import { startServer } from '../server.ts';
import { standInClock } from '../stand-ins.ts';
import { answerTo, client, head, listener, parsedRequests } from './client.ts';

const ok: RequestHandler = (_request, response) => void response.end('ok');
const OK = 'HTTP/1.1 200 OK';
/** So many connections, one after the other. */
async function connections(port: number, count: number, address: string | ((nth: number) => string) = '127.0.0.1') {
  const all: Awaited<ReturnType<typeof client>>[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    all.push(await client(port, typeof address === 'string' ? address : address(nth)));
  }
  const end = () => {
    for (const { socket } of all) socket.destroy();
  };
  return Object.assign(all, { [Symbol.dispose]: end });
}

describe('a flood of connections', () => {
  it('of one address closes its own oldest ones, and other addresses do not wait', async () => {
    await using server = await listener(ok, { limits: { total: 100, perPeer: 4 } });
    using tablet = await client(server.port, '127.0.0.9');
    using greedy = await connections(server.port, 12, '127.0.0.5');
    await Promise.all(greedy.slice(0, 8).map(({ closed }) => closed));
    expect(greedy.slice(8).map((one) => one.isClosed())).toEqual([false, false, false, false]);
    tablet.send(head('GET /'));
    expect(await tablet.until((text) => text.includes('ok'))).toContain(OK);
    expect(await answerTo(server.port, 'POST /', '127.0.0.2')).toBe(OK);
    // The address at its limit is not locked out either.
    expect(await answerTo(server.port, 'POST /', '127.0.0.5')).toBe(OK);
  });

  it('of many addresses closes the least recently used one', async () => {
    const reports: Crowding[] = [];
    const clock = standInClock();
    await using server = await listener(ok, {
      limits: { total: 6, perPeer: 6, smallPeer: 3 },
      onCrowded: (crowding) => reports.push(crowding),
      clock,
    });
    using many = await connections(server.port, 6, (nth) => `127.1.0.${nth + 1}`);
    many[0]?.send(head('GET /'));
    await many[0]?.until((text) => text.includes('ok'));
    expect(await answerTo(server.port, 'POST /', '127.0.0.2')).toBe(OK);
    await many[1]?.closed;
    expect(many.map((one) => one.isClosed())).toEqual([false, true, false, false, false, false]);
    using _more = await connections(server.port, 3, (nth) => `127.1.0.${nth + 7}`);
    await many[3]?.closed;
    expect(reports).toEqual([{ evicted: 1, refused: 0, peer: '127.1.0.2', open: 5 }]);
    clock.advance(60_000);
    expect(await answerTo(server.port, 'POST /', '127.0.0.2')).toBe(OK);
    expect(reports).toHaveLength(2);
    expect(reports[1]?.evicted).toBeGreaterThanOrEqual(3);
  });

  it('closes no live stream, and takes no place of a remote viewer: there all have one address', async () => {
    await using server = await startServer({ limits: { total: 12, perPeer: 12, smallPeer: 12 } });
    for (const port of [server.full, server.readOnly]) {
      using stream = await client(port);
      stream.send(head('GET /api/events'));
      await stream.until((text) => text.includes('event: state'));
      using others = await connections(port, 40);
      await Promise.all(others.slice(0, 29).map(({ closed }) => closed));
      expect(stream.isClosed()).toBe(false);
      expect(await answerTo(port, 'GET /api/nachbarn', '127.0.0.1')).toBe(OK);
    }
    expect(connectionLimits['read-only'].perPeer).toBe(connectionLimits['read-only'].total);
  });

  it('is admitted even if all others are live streams', async () => {
    await using server = await startServer({ limits: { total: 8, perPeer: 8, smallPeer: 8 } });
    const streams = [];
    for (let i = 0; i < 8; i += 1) {
      const stream = await client(server.full);
      stream.send(head('GET /api/events'));
      await stream.until((text) => text.includes('event: state'));
      streams.push(stream);
    }
    expect(await answerTo(server.full, 'POST /api/stopp', '127.0.0.2')).toBe(OK);
    // A quarter of all is kept; of the others the oldest is closed.
    await streams[2]?.closed;
    expect(streams.map((stream) => stream.isClosed())).toEqual([false, false, true, false, false, false, false, false]);
    for (const stream of streams) stream.socket.destroy();
  });

  it('closes no stop in progress, however many live streams there are', async () => {
    const stop = Promise.withResolvers<ServerResponse>();
    await using server = await listener(
      (request, response) => {
        if (request.url === '/stop') return stop.resolve(response);
        if (request.url === '/answered') return void response.end('stopped');
        if (request.url === '/stream') holdOpen(request);
        response.write('begun');
      },
      { limits: { total: 8, perPeer: 8, smallPeer: 8 }, isUrgent: ({ method }) => method === 'POST' },
    );
    using streams = await connections(server.port, 4);
    for (const stream of streams) {
      stream.send(head('GET /stream'));
      await stream.until((text) => text.includes('begun'));
    }
    // Nor do connections whose stop was answered, and which stay open.
    using answered = await connections(server.port, 2, '127.0.0.3');
    for (const one of answered) {
      one.send(head('POST /answered', 'Content-Length: 0'));
      await one.until((text) => text.includes('stopped'));
    }
    using person = await client(server.port, '127.0.0.2');
    person.send(head('POST /stop', 'Content-Length: 0'));
    const answer = await stop.promise;
    using _crowd = await connections(server.port, 30, (nth) => `127.1.1.${nth + 1}`);
    await Promise.all(streams.slice(2).map(({ closed }) => closed));
    answer.end('stopped');
    expect(await person.until((text) => text.includes('stopped'))).toContain(OK);
    expect(streams.slice(0, 2).map((stream) => stream.isClosed())).toEqual([false, false]);
  });

  it('on a Unix socket, where there are no addresses, closes the oldest one', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'gw-crowding-'));
    const path = join(dir, 'socket');
    const opened = await openListener(ok, { scope: 'local', path, limits: { total: 2, perPeer: 2 } });
    const sockets = [];
    for (let i = 0; i < 4; i += 1) {
      const socket = connect({ path });
      const closed = once(socket, 'close');
      await once(socket, 'connect');
      sockets.push({ socket, closed });
    }
    await Promise.all([sockets[0]?.closed, sockets[1]?.closed]);
    const newest = sockets[3]?.socket;
    newest?.write(head('GET /'));
    const [answer] = newest ? await once(newest, 'data') : [];
    expect(String(answer)).toContain(OK);
    for (const { socket } of sockets) socket.destroy();
    await opened.close(0);
    await rm(dir, { recursive: true });
  });

  it('stays within the open files of the process, and leaves some for the rest', () => {
    expect(totalWithin(512, null)).toBe(512);
    expect(totalWithin(512, 524_288)).toBe(512);
    expect(totalWithin(512, 1_024)).toBe(416);
    expect(totalWithin(512, 64)).toBe(32);
    expect(totalWithin(8, 64)).toBe(8);
    expect(openFileLimit()).toBeGreaterThan(0);
    expect(openFileLimit('/nowhere')).toBeNull();
  });
});

describe('requests on one connection', () => {
  /** Keeps every request open until the test answers it. */
  function holding() {
    const begun: { url: string; response: ServerResponse }[] = [];
    const handler: RequestHandler = ({ url = '' }: IncomingMessage, response) => void begun.push({ url, response });
    const untilBegun = (count: number) =>
      until(
        () => begun.length,
        (length) => length >= count,
      );
    return { begun, handler, untilBegun, urls: () => begun.map(({ url }) => url) };
  }

  it('are processed one after the other, except a stop', async () => {
    const { begun, handler, untilBegun, urls } = holding();
    await using server = await listener(handler, { isUrgent: ({ url }) => url === '/stop' });
    using one = await client(server.port);
    one.send(head('GET /1') + head('GET /2') + head('GET /stop') + head('GET /3'));
    await untilBegun(2);
    expect(urls().sort()).toEqual(['/1', '/stop']);
    for (let i = 0; i < 4; i += 1) {
      await untilBegun(i + 1);
      begun[i]?.response.end(`answer to ${begun[i]?.url}.`);
    }
    const text = await one.until((all) => all.includes('to /3.'));
    expect(urls().slice(2)).toEqual(['/2', '/3']);
    expect([...text.matchAll(/answer to (\S+?)\./g)].map((match) => match[1])).toEqual(['/1', '/2', '/stop', '/3']);
  });

  it('keep their connection while one of them is a stop, and no longer', async () => {
    const { begun, handler, untilBegun } = holding();
    await using server = await listener(handler, {
      limits: { total: 100, perPeer: 4 },
      isUrgent: ({ url }) => url === '/stop',
    });
    using stopping = await client(server.port, '127.0.0.5');
    stopping.send(head('POST /stop', 'Content-Length: 0'));
    await untilBegun(1);
    using more = await connections(server.port, 12, '127.0.0.5');
    await Promise.all(more.slice(0, 9).map(({ closed }) => closed));
    expect(stopping.isClosed()).toBe(false);
    begun[0]?.response.end('stopped');
    expect(await stopping.until((text) => text.includes('stopped'))).toContain(OK);
    using _last = await connections(server.port, 4, '127.0.0.5');
    await stopping.closed;
  });

  it('that are pipelined end the connection, and the remaining ones are not parsed', async () => {
    const { begun, handler } = holding();
    await using server = await listener(handler);
    using parsed = parsedRequests();
    using flood = await client(server.port);
    flood.send(head('GET /').repeat(2_000));
    await flood.closed;
    expect(begun.length).toBeLessThanOrEqual(1);
    // Those of one piece.
    expect(parsed.length).toBeLessThan(40);
  });

  it('with an unread answer end the connection; a long-running one does not', async () => {
    const { begun, handler, untilBegun } = holding();
    await using server = await listener(handler, { limits: { unreadMs: 40, silentMs: 1_000_000 } });
    using waiting = await client(server.port);
    using deaf = await client(server.port, '127.0.0.3', false);
    waiting.send(head('GET /'));
    await untilBegun(1);
    deaf.send(head('GET /'));
    await untilBegun(2);
    begun[1]?.response.end(Buffer.alloc(32 * 1024 * 1024));
    // A paused client does not detect by itself that it was disconnected.
    await new Promise((resolve) => begun[1]?.response.once('close', resolve));
    expect(waiting.isClosed()).toBe(false);
    begun[0]?.response.end('at last');
    expect(await waiting.until((text) => text.includes('at last'))).toContain(OK);
  });

  it('that never produce output end after a timeout', async () => {
    const { handler } = holding();
    await using server = await listener(handler, { limits: { unreadMs: 30, silentMs: 90 } });
    using waiting = await client(server.port);
    waiting.send(head('GET /'));
    await waiting.closed;
    expect(waiting.text()).toBe('');
  });
});
