import { Duplex } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openServerSocket } from '../../../../src/lib/sim/cloud/tunnel/websocket.ts';
import { createFakeClock } from '../../../lifecycle/fake-clock.ts';
import { until } from '../../raw-client.ts';

const MAX_MESSAGE_BYTES = 131_076;

interface Frame {
  /** FIN, reserved bits, opcode. */
  readonly first: number;
  readonly payload: Uint8Array;
  /** null: not masked, which no client may send. */
  readonly key: Uint8Array | null;
}

/** A frame by the text of RFC 6455, 5.2. */
function frameOf({ first, payload, key }: Frame): Buffer {
  const flag = key === null ? 0 : 0x80;
  const { length } = payload;
  const size = Buffer.alloc(length < 126 ? 1 : length < 65_536 ? 3 : 9);
  if (size.length === 1) size[0] = flag | length;
  else if (size.length === 3) {
    size[0] = flag | 126;
    size.writeUInt16BE(length, 1);
  } else {
    size[0] = flag | 127;
    size.writeBigUInt64BE(BigInt(length), 1);
  }
  const masked = payload.map((byte, i) => byte ^ (key?.[i % 4] ?? 0));
  return Buffer.concat([Buffer.of(first), size, key ?? Buffer.alloc(0), masked]);
}

const KEY = Uint8Array.of(0x37, 0xfa, 0x21, 0x3d);
const frame = (first: number, payload: Uint8Array | string = '', key: Uint8Array | null = KEY) =>
  frameOf({ first, payload: Buffer.from(payload), key });

/** The bytes in chunks of these lengths, one after the other again and again, each at an odd or even place of its memory. */
function chunksOf(bytes: Buffer, lengths: readonly number[], shift: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i += 1) {
    const part = bytes.subarray(at, at + (lengths[i % lengths.length] ?? 1));
    const memory = Buffer.from(new ArrayBuffer(part.length + 8), (shift + i) % 8, part.length);
    memory.set(part);
    chunks.push(memory);
    at += part.length;
  }
  return chunks;
}

/** A server's end on a stream in memory. */
function createWorld() {
  const clock = createFakeClock();
  const written: Buffer[] = [];
  const received: Buffer[] = [];
  const events: string[] = [];
  const socket = new Duplex({
    read() {},
    write(bytes: Buffer, _encoding, done) {
      written.push(Buffer.from(bytes));
      done();
    },
  });
  const server = openServerSocket({
    socket,
    clock,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    onBytes: (bytes) => received.push(Buffer.from(bytes)),
    onText: () => events.push('text'),
    onClosed: () => events.push('closed'),
  });
  return {
    clock,
    server,
    socket,
    events,
    /** As the socket delivers it: the chunk itself, not a copy. */
    receive: (chunk: Buffer) => void socket.emit('data', chunk),
    received: () => Buffer.concat(received),
    written: () => Buffer.concat(written).toString('hex'),
  };
}

describe("the server's end of a WebSocket", () => {
  test('example of RFC 6455, 5.7, as a binary message: a masked "Hello"', () => {
    const world = createWorld();
    world.receive(Buffer.from('828537fa213d7f9f4d5158', 'hex'));
    expect(world.received().toString()).toBe('Hello');
  });

  test('sends frames without a mask, with the shortest length', () => {
    const world = createWorld();
    for (const length of [0, 125, 126, 65_535, 65_536]) world.server.send(Buffer.alloc(length, 7));
    const expected = [0, 125, 126, 65_535, 65_536].map((length) => frame(0x82, Buffer.alloc(length, 7), null));
    expect(world.written()).toBe(Buffer.concat(expected).toString('hex'));
  });

  test('a message in fragments, with a ping between them', () => {
    const world = createWorld();
    for (const bytes of [frame(0x02, 'one '), frame(0x89, 'there?'), frame(0x00, ''), frame(0x80, 'message')])
      world.receive(bytes);
    world.receive(frame(0x82, '!'));
    expect(world.received().toString()).toBe('one message!');
    expect(world.written()).toBe(frame(0x8a, 'there?', null).toString('hex'));
  });

  test.each([
    ['a reserved bit', frame(0xc2, 'x'), 1002],
    ['a frame without a mask', frame(0x82, 'x', null), 1002],
    ['an unknown opcode', frame(0x83, 'x'), 1002],
    ['an unknown opcode of control', frame(0x8b, 'x'), 1002],
    ['a continuation of nothing', frame(0x80, 'x'), 1002],
    ['a message within another one', Buffer.concat([frame(0x02, 'x'), frame(0x82, 'y')]), 1002],
    ['a ping in fragments', frame(0x09, 'x'), 1002],
    ['a ping of 126 bytes', frame(0x89, Buffer.alloc(126)), 1002],
    ['a close frame of one byte', frame(0x88, 'x'), 1002],
    ['a close frame with a code that is never sent', frame(0x88, Buffer.from([1005 >> 8, 1005 & 0xff])), 1002],
    ['a close frame that is not UTF-8', frame(0x88, Buffer.from([0x03, 0xe8, 0xff])), 1002],
    ['a message above the limit', frame(0x82, Buffer.alloc(MAX_MESSAGE_BYTES + 1)), 1009],
    [
      'fragments above the limit',
      Buffer.concat([frame(0x02, Buffer.alloc(MAX_MESSAGE_BYTES)), frame(0x80, 'x')]),
      1009,
    ],
    ['a length of 2^63', Buffer.from('82ff8000000000000000aabbccdd', 'hex'), 1009],
  ] as const)('%s ends the connection, and nothing behind it is handled', async (_, bytes, code) => {
    const world = createWorld();
    world.receive(Buffer.from(bytes));
    const before = world.received().length;
    const writtenBefore = world.written();
    expect(Buffer.from(writtenBefore, 'hex').readUInt16BE(2)).toBe(code);
    world.receive(frame(0x82, 'later'));
    world.receive(frame(0x89, 'later'));
    expect(world.received().length).toBe(before);
    expect(world.written()).toBe(writtenBefore);
    await until(() => world.socket.writableFinished);
    await world.clock.advance(5_000);
    await until(() => world.events.includes('closed'));
    expect(world.clock.pending).toBe(0);
  });

  test('a close frame is answered with its code, and the connection ends', async () => {
    const world = createWorld();
    world.receive(frame(0x88, Buffer.from([0x03, 0xe9])));
    expect(world.written()).toBe('880203e9');
    world.socket.push(null);
    await until(() => world.events.includes('closed'));
    expect(world.clock.pending).toBe(0);
  });

  test('behind our close frame data and pings are left out; the answer ends the connection', async () => {
    const world = createWorld();
    world.server.close(1000, 'over');
    world.server.close(1001, 'again');
    world.server.send(Buffer.from('late'));
    world.receive(Buffer.concat([frame(0x82, 'data'), frame(0x89, 'ping'), frame(0x88, Buffer.from([0x03, 0xe8]))]));
    expect(world.received().length).toBe(0);
    expect(world.written()).toBe(`880603e8${Buffer.from('over').toString('hex')}`);
    await until(() => world.socket.writableFinished);
  });

  test('without an answer to our close frame the connection is destroyed after 5 s', async () => {
    const world = createWorld();
    world.server.close(1000, '');
    await world.clock.advance(4_999);
    expect(world.socket.destroyed).toBe(false);
    await world.clock.advance(1);
    await until(() => world.events.includes('closed'));
  });

  test('a text message is reported once, and none of it is passed on', () => {
    const world = createWorld();
    for (const bytes of [frame(0x01, 'te'), frame(0x80, 'xt'), frame(0x82, 'bytes')]) world.receive(bytes);
    expect(world.events).toEqual(['text']);
    expect(world.received().toString()).toBe('bytes');
  });

  test('property: messages in any chunks, masked by any key, arrive byte by byte as they were sent', () => {
    const message = fc.record({
      payload: fc.oneof(
        fc.uint8Array({ maxLength: 130 }),
        fc
          .constantFrom(0, 125, 126, 127, 32_768, 65_535, 65_536, MAX_MESSAGE_BYTES)
          .map((length) => Uint8Array.from({ length }, (_, i) => (i * 7) & 0xff)),
      ),
      key: fc.uint8Array({ minLength: 4, maxLength: 4 }),
    });
    const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 70_000 })), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 5 }), lengths, fc.nat(7), (messages, cuts, shift) => {
        const world = createWorld();
        const sent = Buffer.concat(messages.map((each) => frameOf({ first: 0x82, ...each })));
        for (const chunk of chunksOf(sent, cuts, shift)) world.receive(chunk);
        return world.received().equals(Buffer.concat(messages.map(({ payload }) => payload)));
      }),
      { numRuns: 60 },
    );
  });

  test('property: any bytes never throw, and are answered with pongs and one close frame at most', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 500 }),
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
        (bytes, cuts) => {
          const world = createWorld();
          for (const chunk of chunksOf(Buffer.from(bytes), cuts, 0)) world.receive(chunk);
          world.socket.destroy();
          let closes = 0;
          for (let rest = Buffer.from(world.written(), 'hex'); rest.length > 0; ) {
            expect([0x88, 0x8a]).toContain(rest[0]);
            if (rest[0] === 0x88) closes += 1;
            rest = rest.subarray(2 + (rest[1] ?? 0));
          }
          expect(closes).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});
