import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createOutflow, type Outflow, type OutflowLimits } from '../../../src/lib/operator/connections/outflow.ts';
import { createLiveEvents } from '../../../src/lib/operator/events.ts';
import { isFull } from '../../properties.ts';
import { until } from '../../waiting.ts';
import { ask, startServer } from '../server.ts';
import { jsonReply, standInClock } from '../stand-ins.ts';

const MiB = 1024 * 1024;
/** Larger than the buffers of both kernels. */
const LARGE = 24 * MiB;

interface Reader {
  readonly socket: Socket;
  /** Reads the given number of bytes, and no more. */
  readonly read: (bytes: number) => Promise<void>;
  readonly isCut: () => boolean;
}

/** A server with content set by the test, and clients that do not read until the test lets them. */
async function sending(handle: (response: ServerResponse, path: string) => void) {
  const responses: ServerResponse[] = [];
  const server = createServer((request, response) => {
    responses.push(response);
    handle(response, request.url ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    responses,
    async reader(path = '/'): Promise<Reader> {
      const before = responses.length;
      const socket = connect(port, '127.0.0.1');
      let isCut = false;
      socket.on('error', () => {});
      socket.on('close', () => {
        isCut = true;
      });
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await until(
        () => responses.length,
        (length) => length === before + 1,
      );
      return {
        socket,
        isCut: () => isCut,
        async read(bytes) {
          let left = bytes;
          await new Promise<void>((resolve) => {
            socket.on('data', (chunk) => {
              left -= chunk.length;
              if (left > 0) return;
              socket.pause();
              resolve();
            });
          });
        },
      };
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function outflowing(limits: OutflowLimits = { bodyBytes: 2 * LARGE, files: 2 }) {
  const clock = standInClock();
  const outflow: Outflow = createOutflow(clock, limits);
  const peer = await sending((response, path) => {
    // A separate buffer for every request, as every read of the chassis yields.
    const body = outflow.take(Buffer.alloc(LARGE, path));
    const stream = body === null ? null : outflow.send(body, response);
    if (stream === null) response.writeHead(503).end();
    else stream.pipe(response);
  });
  return { clock, outflow, ...peer };
}

const isTrue = (is: boolean | undefined) => is === true;
/** Until the connection accepts no more. */
const full = (response: ServerResponse | undefined) => until(() => response?.writableNeedDrain, isTrue);
const gone = (response: ServerResponse | undefined) => until(() => response?.destroyed, isTrue);
const keptNothing = (outflow: Outflow) =>
  until(
    () => outflow.keptBytes(),
    (bytes) => bytes === 0,
  );

describe('output to clients that do not read', () => {
  it('is stored once for all readers of the same bytes, with little per reader', { tags: 'property' }, async () => {
    await using peer = await outflowing();
    for (let i = 0; i < (isFull ? 12 : 4); i += 1) await peer.reader('/a');
    for (const response of peer.responses) await full(response);
    expect(peer.outflow.keptBytes()).toBe(LARGE);
    expect(peer.responses.every((response) => response.writableLength <= 256 * 1024)).toBe(true);
  });

  it('is dropped when no byte was read for ten seconds, and not before', async () => {
    await using peer = await outflowing();
    const idle = await peer.reader('/a');
    const slow = await peer.reader('/a');
    for (const response of peer.responses) await full(response);
    peer.clock.advance(9_000);
    expect([idle.isCut(), peer.outflow.keptBytes()]).toEqual([false, LARGE]);
    await slow.read(12 * MiB);
    await full(peer.responses[1]);
    peer.clock.advance(2_000);
    await gone(peer.responses[0]);
    expect([peer.responses[1]?.destroyed, peer.outflow.keptBytes()]).toEqual([false, LARGE]);
    peer.clock.advance(10_000);
    await gone(peer.responses[1]);
    expect(peer.outflow.keptBytes()).toBe(0);
  });

  it('counts until the connection has sent it', async () => {
    using outflow = createOutflow(standInClock());
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    let bytes = 0;
    for await (const piece of outflow.send(Buffer.alloc(LARGE), response) ?? []) bytes += piece.length;
    expect([bytes, outflow.keptBytes()]).toEqual([LARGE, LARGE]);
    response.destroy();
    await keptNothing(outflow);
  });

  it('releases its memory when no longer used or without a reader', async () => {
    using outflow = createOutflow(standInClock(), { bodyBytes: 2 * MiB, files: 1 });
    const [first, equal, other, more] = ['a', 'a', 'b', 'c'].map((letter) => Buffer.alloc(MiB, letter)) as Buffer[];
    expect(outflow.take(first as Buffer)).toBe(first);
    expect(outflow.take(equal as Buffer)).toBe(first);
    expect(outflow.take(first as Buffer)).toBe(first);
    expect(outflow.take(other as Buffer)).toBe(other);
    expect(outflow.take(more as Buffer)).toBeNull();
    expect([first, equal, other, more].map((body) => body?.length)).toEqual([MiB, 0, MiB, 0]);
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    expect(outflow.send(first as Buffer, response)).not.toBeNull();
    await new Promise((resolve) => setImmediate(resolve));
    expect(outflow.keptBytes()).toBe(MiB);
    // Shared memory is not released.
    const part = Buffer.alloc(2 * MiB, 'a').subarray(0, MiB);
    expect([outflow.take(part), part.length]).toEqual([first, MiB]);
    response.destroy();
    await keptNothing(outflow);
  });

  it('disconnects the reader that has been idle longest first', async () => {
    await using peer = await outflowing();
    await peer.reader('/a');
    await full(peer.responses[0]);
    peer.clock.advance(500);
    await peer.reader('/b');
    await full(peer.responses[1]);
    // Both read recently, so no place is free for a third.
    peer.clock.advance(400);
    await peer.reader('/c');
    expect(peer.responses[2]?.statusCode).toBe(503);
    peer.clock.advance(1_000);
    await peer.reader('/d');
    expect(peer.responses.map(({ destroyed }) => destroyed).toSpliced(2, 1)).toEqual([true, false, false]);
    expect(peer.outflow.keptBytes()).toBe(2 * LARGE);
  });

  it('disconnects no reader while another reader of the same bytes is active', async () => {
    await using peer = await outflowing({ bodyBytes: LARGE, files: 1 });
    await peer.reader('/a');
    const reading = await peer.reader('/a');
    for (const response of peer.responses) await full(response);
    peer.clock.advance(5_000);
    await reading.read(12 * MiB);
    await peer.reader('/b');
    expect(peer.responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 503]);
    expect(peer.responses.slice(0, 2).map(({ destroyed }) => destroyed)).toEqual([false, false]);
  });

  it('limits concurrent files, and a paused one is replaced', async () => {
    const clock = standInClock();
    using outflow = createOutflow(clock, { bodyBytes: MiB, files: 2 });
    const files = [{ bytesRead: 0 }, { bytesRead: 0 }, { bytesRead: 0 }, { bytesRead: 0 }];
    const admitted: boolean[] = [];
    await using peer = await sending((response, path) => {
      admitted.push(outflow.admit(files[Number(path.slice(1))] ?? { bytesRead: 0 }, response));
      response.flushHeaders();
    });
    await peer.reader('/0');
    await peer.reader('/1');
    await peer.reader('/2');
    expect(admitted).toEqual([true, true, false]);
    for (let second = 0; second < 6; second += 1) {
      (files[0] as { bytesRead: number }).bytesRead += 100;
      clock.advance(1_000);
    }
    await peer.reader('/3');
    expect(admitted).toEqual([true, true, false, true]);
    expect(peer.responses.map(({ destroyed }) => destroyed).slice(0, 2)).toEqual([false, true]);
    peer.responses[0]?.destroy();
    await until(() => peer.responses[0]?.closed, isTrue);
    await peer.reader('/2');
    expect(admitted.at(-1)).toBe(true);
  });
});

describe('a large map', () => {
  const map = { id: 7, overlays: 'Größe'.repeat(isFull ? 500_000 : 50_000) };

  it('arrives complete, with its length, and HEAD gives the length only', { tags: 'property' }, async () => {
    await using server = await startServer();
    server.link.answers.set('/maps/7', () => jsonReply(map));
    const { data, headers } = await ask(server.full, '/api/chassis/maps/7');
    expect(data).toEqual(map);
    const length = Buffer.byteLength(JSON.stringify(map));
    expect(headers.get('content-length')).toBe(`${length}`);
    const head = await fetch(`http://127.0.0.1:${server.full}/api/chassis/maps/7`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, `${length}`, '']);
  });

  it('is queued behind the one being read in a bounded queue, and the device information is not', async () => {
    await using server = await startServer();
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    let atOnce = 0;
    let most = 0;
    for (let id = 0; id < 30; id += 1) {
      server.link.answers.set(`/maps/${id}`, async () => {
        atOnce += 1;
        most = Math.max(most, atOnce);
        await answered;
        atOnce -= 1;
        return jsonReply({ id });
      });
    }
    const answers = Array.from({ length: 30 }, (_, id) => ask(server.full, `/api/chassis/maps/${id}`));
    let busy = 0;
    for (const answerOf of answers) {
      void answerOf.then(({ status, data }) => {
        if (status === 503 && data.error.code === 'BUSY') busy += 1;
      });
    }
    await until(
      () => busy,
      (count) => count === 13,
    );
    expect((await ask(server.full, '/api/chassis/device/info')).status).toBe(200);
    answer();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect([statuses.filter((status) => status === 200).length, most]).toEqual([17, 1]);
  });
});

describe('live events to clients that do not read', () => {
  it('are bounded in total, and active readers are not disconnected', { tags: 'property' }, async () => {
    const clock = standInClock();
    let round = 0;
    const unchanging = () => ({ [Symbol.dispose]: () => {} });
    const events = createLiveEvents({
      clock,
      compose: () => `${round}`.padEnd(100_000, 'x'),
      subscribe: { state: unchanging, pose: unchanging },
    });
    await using peer = await sending((response) => {
      response.writeHead(200);
      events.add(response, { scope: 'full', peer: '127.0.0.1' });
    });
    (await peer.reader()).socket.resume();
    for (let i = 0; i < 24; i += 1) await peer.reader();
    const unread = () => peer.responses.reduce((sum, one) => sum + (one.destroyed ? 0 : one.writableLength), 0);
    let maxUnread = 0;
    const rounds = isFull ? 150 : 60;
    for (; round < rounds; round += 1) {
      clock.advance(1_000);
      maxUnread = Math.max(maxUnread, unread());
      while (peer.responses[0]?.writableLength !== 0) await new Promise(setImmediate);
    }
    expect(maxUnread).toBeGreaterThan(2 * MiB);
    // The size that one event adds for each of them is checked before it is sent.
    expect(maxUnread).toBeLessThanOrEqual(4 * MiB + 512 * 1024);
    expect(peer.responses[0]?.destroyed).toBe(false);
    events.end();
  });
});
