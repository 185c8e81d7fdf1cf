import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Reader,
  type ReadingOptions,
  takeOverReading,
} from '../../../src/lib/operator/connections/requests/reading.ts';
import { isFull, runs } from '../../properties.ts';
import { until } from '../../waiting.ts';
import { signIn, startServer } from '../server.ts';
import { client, head, listener, parsedRequests } from './client.ts';

const CHUNKED = 'Transfer-Encoding: chunked';
const JSON_TYPE = 'Content-Type: application/json';
/** Chunks of one byte without an end, up to 1.5 MB of them. */
const chunks = '1\r\nx\r\n'.repeat(isFull ? 250_000 : 25_000);

describe('a body that never ends, in chunks of one byte', () => {
  // The clock of the server stands still, so none of its deadlines closes a connection here.
  it('of a read is answered, and the connection ends', { tags: 'property' }, async () => {
    await using server = await startServer();
    for (const port of [server.full, server.readOnly]) {
      for (const more of [[CHUNKED], ['Content-Length: 100000'], [CHUNKED, 'Expect: 100-continue']]) {
        using endless = await client(port);
        endless.send(head('GET /api/health', ...more) + chunks);
        await endless.closed;
        expect(endless.text()).toMatch(/^HTTP\/1\.1 200 OK/);
        expect(endless.text()).toMatch(/\r\nconnection: close\r\n/i);
        expect(endless.text()).not.toContain('100 Continue');
      }
    }
  });

  it('is refused without being read, where a body with a length is taken', { tags: 'property' }, async () => {
    await using server = await startServer({ password: true });
    const cookie = `Cookie: ${await signIn(server.full)}`;
    for (const path of ['/api/anmeldung', '/api/touren/lauf', '/api/medien']) {
      using endless = await client(server.full);
      endless.send(head(`POST ${path}`, cookie, JSON_TYPE, CHUNKED) + chunks);
      await endless.closed;
      expect(endless.text()).toMatch(/^HTTP\/1\.1 411 /);
      expect(endless.text()).toContain('"code":"LENGTH_REQUIRED"');
    }
  });

  it('does not keep a stop, or the end of a tour, from being carried out', { tags: 'property' }, async () => {
    await using server = await startServer();
    for (const request of ['POST /api/stopp', 'DELETE /api/touren/lauf']) {
      using endless = await client(server.full);
      endless.send(head(request, JSON_TYPE, CHUNKED) + chunks);
      const before = server.motion.calls.length;
      const look = () => {
        server.clock.advance(1);
        return server.motion.calls.length;
      };
      await until(look, (calls) => calls > before);
      expect(endless.text()).not.toMatch(/^HTTP\/1\.1 4/);
    }
    expect(server.motion.calls.map((call) => call.split(' ', 1)[0])).toEqual(['stopRobot', 'endTour']);
  });
});

describe('a body with a length', () => {
  it('is not parsed beyond the limit of its route', async () => {
    await using server = await startServer({ password: true });
    using long = await client(server.full);
    long.send(head('POST /api/anmeldung', JSON_TYPE, 'Content-Length: 50000000') + 'x'.repeat(1_000_000));
    await long.closed;
    expect(long.text()).toMatch(/^HTTP\/1\.1 413 /);
  });
});

describe('a body that no handler takes yet', () => {
  /** The bytes of its body that are parsed after all of `bytes` arrived, with a first request that is not answered. */
  async function parsedOf(bytes: string): Promise<number> {
    await using server = await listener(() => {});
    using requests = parsedRequests();
    using one = await client(server.port);
    one.send(bytes);
    await until(
      () => requests[0]?.socket.bytesRead ?? 0,
      (read) => read >= Math.min(bytes.length, 50_000),
    );
    for (let round = 0; round < 100; round += 1) await new Promise(setImmediate);
    return requests.at(-1)?.readableLength ?? Number.NaN;
  }

  it('stays in the buffer of its connection, except for the piece in which its head ended', {
    tags: 'property',
  }, async () => {
    const waiting = head('GET /') + head('POST /', 'Content-Length: 16000') + 'x'.repeat(16_000);
    expect(await parsedOf(waiting)).toBeLessThan(1_024);
    expect(await parsedOf(head('GET /', CHUNKED) + chunks)).toBeLessThan(1_024);
    expect(await parsedOf(head('POST /', CHUNKED) + chunks)).toBeLessThan(1_024);
  });
});

describe('the reading of a connection', () => {
  /** A connection that received `sent` and then its end, with the parser in `onData`. */
  function connection(sent: readonly Uint8Array[], options: Pick<ReadingOptions, 'pieceBytes' | 'onParsed'>) {
    const socket = new PassThrough({ highWaterMark: 64 * 1_024 });
    const queue: Reader[] = [];
    const onData = (handle: (piece: Buffer) => void) => socket.on('data', handle);
    const reader = takeOverReading(socket as unknown as Socket, {
      peer: 'a',
      schedule: (one) => queue.push(one),
      ...options,
    });
    for (const segment of sent) socket.push(Buffer.from(segment));
    socket.push(null);
    return { socket, queue, reader, onData };
  }

  const segments = fc.array(fc.uint8Array({ minLength: 1, maxLength: 3_000 }), { maxLength: 12 });
  const steps = fc.infiniteStream(
    fc.record({
      pieceBytes: fc.constantFrom(0, 1, 7, 1_024, 1_024),
      calls: fc.array(fc.constantFrom<'pause' | 'resume'>('pause', 'resume'), { maxLength: 3 }),
    }),
  );

  it('passes every byte on, in order, in pieces of the allowed size, and nothing while it is paused', {
    tags: 'property',
  }, async () => {
    await fc.assert(
      fc.asyncProperty(segments, steps, async (sent, plan) => {
        let step = plan.next().value;
        let isPaused = false;
        let isEnded = false;
        const parsed: Buffer[] = [];
        const { socket, queue, reader, onData } = connection(sent, {
          pieceBytes: () => step.pieceBytes,
          onParsed: (bytes) => expect(bytes).toBeLessThanOrEqual(step.pieceBytes),
        });
        onData((piece) => {
          expect(isPaused).toBe(false);
          parsed.push(piece);
          for (const call of step.calls) {
            if (call === 'pause') socket.pause();
            else socket.resume();
            isPaused = call === 'pause';
          }
        });
        socket.on('end', () => {
          isEnded = true;
        });
        for (let round = 0; round < 100_000 && !isEnded; round += 1) {
          expect(queue.length).toBeLessThanOrEqual(1);
          queue.shift()?.parsePiece();
          if (isPaused) {
            isPaused = false;
            socket.resume();
          } else if (queue.length === 0 && step.pieceBytes === 0) {
            step = { pieceBytes: 1_024, calls: [] };
            reader.wake();
          } else if (queue.length === 0) await new Promise(setImmediate);
          if (parsed.length % 2 === 0) step = plan.next().value;
          if (step.pieceBytes === 0 && queue.length > 0) step = { ...step, pieceBytes: 3 };
        }
        expect(isEnded).toBe(true);
        expect(Buffer.concat(parsed)).toEqual(Buffer.concat(sent));
      }),
      { numRuns: runs(60) },
    );
  });

  it('is over once the connection only waits for its close', async () => {
    const { socket, queue, onData } = connection([Buffer.alloc(3_000)], {
      pieceBytes: () => 1_000,
      onParsed: () => {},
    });
    const parsed: Buffer[] = [];
    onData((piece) => parsed.push(piece));
    await new Promise(setImmediate);
    queue.shift()?.parsePiece();
    socket.end();
    queue.shift()?.parsePiece();
    expect(parsed).toHaveLength(1);
    expect(queue).toEqual([]);
  });
});
