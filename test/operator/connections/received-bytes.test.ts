import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Reader, takeOverReading } from '../../../src/lib/operator/connections/reading.ts';
import { signIn, startServer } from '../server.ts';
import { client, head } from './client.ts';

const CHUNKED = 'Transfer-Encoding: chunked';
const JSON_TYPE = 'Content-Type: application/json';
/** Chunks of one byte without an end, 1.5 MB of them. */
const chunks = '1\r\nx\r\n'.repeat(250_000);

describe('a body that never ends, in chunks of one byte', () => {
  // The clock of the server stands still, so none of its deadlines closes a connection here.
  it('of a read is answered, and the connection ends', async () => {
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

  it('is refused without being read, where a body with a length is taken', async () => {
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

  it('does not keep a stop, or the end of a tour, from being carried out', async () => {
    await using server = await startServer();
    for (const request of ['POST /api/stopp', 'DELETE /api/touren/lauf']) {
      using endless = await client(server.full);
      endless.send(head(request, JSON_TYPE, CHUNKED) + chunks);
      let waited = 0;
      while (!endless.isClosed() && waited < 1_000) {
        waited += 1;
        await new Promise(setImmediate);
        server.clock.advance(1);
      }
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

describe('the reading of a connection', () => {
  const segments = fc.array(fc.uint8Array({ minLength: 1, maxLength: 3_000 }), { maxLength: 12 });
  const steps = fc.infiniteStream(fc.record({ piece: fc.constantFrom(0, 1, 7, 1_024), pauses: fc.boolean() }));

  it('passes every byte on, in order and in pieces of the allowed size, whatever is paused meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(segments, steps, async (sent, plan) => {
        const socket = new PassThrough({ highWaterMark: 64 * 1_024 });
        const parsed: Buffer[] = [];
        const queue: Reader[] = [];
        let step = plan.next().value;
        let isEnded = false;
        socket.on('data', (piece: Buffer) => {
          parsed.push(piece);
          if (step.pauses) socket.pause();
        });
        socket.on('end', () => {
          isEnded = true;
        });
        const reader = takeOverReading(socket as unknown as Socket, {
          peer: 'a',
          schedule: (one) => queue.push(one),
          pieceBytes: () => step.piece,
          onParsed: (bytes) => expect(bytes).toBeLessThanOrEqual(step.piece),
        });
        for (const segment of sent) socket.push(Buffer.from(segment));
        socket.push(null);
        for (let round = 0; round < 100_000 && !isEnded; round += 1) {
          await Promise.resolve();
          expect(queue.length).toBeLessThanOrEqual(1);
          const scheduled = queue.shift();
          if (scheduled === undefined) {
            step = { piece: 1_024, pauses: false };
            socket.resume();
            reader.wake();
            await new Promise(setImmediate);
            step = plan.next().value;
          } else scheduled.parsePiece();
        }
        expect(isEnded).toBe(true);
        expect(Buffer.concat(parsed)).toEqual(Buffer.concat(sent));
      }),
      { numRuns: 40 },
    );
  });
});
