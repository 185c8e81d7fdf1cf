import fc from 'fast-check';
import { generate, type Packet, parser } from 'mqtt-packet';
import { describe, expect, it } from 'vitest';
import { createPacketLimit, MAX_PAYLOAD_BYTES, PacketError } from '../../../src/lib/cloud/link/mqtt/packet-limit.ts';

const LIMIT = 50;

/** Packets parsed from what the limit passes on, each PUBLISH with the size reported for it. */
function through(chunks: readonly Uint8Array[], maxPayloadBytes = LIMIT) {
  const limit = createPacketLimit(maxPayloadBytes);
  const reader = parser({ protocolVersion: 4 });
  const packets: (Packet & { oversizedBytes?: number | null })[] = [];
  reader.on('packet', (packet: Packet) =>
    packets.push(packet.cmd === 'publish' ? { ...packet, oversizedBytes: limit.nextPublish() } : packet),
  );
  let longest = 0;
  for (const chunk of chunks) {
    for (const piece of limit.push(chunk)) {
      longest = Math.max(longest, piece.length);
      reader.parse(Buffer.from(piece));
    }
  }
  return { packets, longest };
}

/** Splits bytes at the given places. */
function split(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...cuts].map((from, index) => bytes.subarray(from, cuts[index] ?? bytes.length));
}

const topic = fc.string({ unit: fc.constantFrom('a', 'Z', '/', 'ä', '7'), minLength: 1, maxLength: 40 });
const publish = fc.record({
  cmd: fc.constant('publish' as const),
  topic,
  payload: fc.uint8Array({ maxLength: 4 * LIMIT }).map((bytes) => Buffer.from(bytes)),
  qos: fc.constantFrom(0 as const, 1 as const),
  retain: fc.boolean(),
  messageId: fc.integer({ min: 1, max: 65_535 }),
});
const control = fc.oneof(
  fc.integer({ min: 1, max: 65_535 }).map((messageId) => ({ cmd: 'puback' as const, messageId })),
  fc
    .tuple(fc.integer({ min: 1, max: 65_535 }), fc.array(fc.constantFrom(0, 1, 128), { minLength: 1, maxLength: 8 }))
    .map(([messageId, granted]) => ({ cmd: 'suback' as const, messageId, granted })),
  fc.constant({ cmd: 'pingresp' as const }),
);

describe('the packet limit', () => {
  it('passes every packet on in order, and removes exactly the payloads above the limit, for any chunks', {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(publish, control), { maxLength: 12 }), fc.array(fc.nat()), (sent, places) => {
        const bytes = Buffer.concat(sent.map((packet) => generate(packet as Packet)));
        const { packets } = through(split(bytes, places));
        expect(packets).toHaveLength(sent.length);
        for (const [index, packet] of sent.entries()) {
          const received = packets[index];
          expect(received?.cmd).toBe(packet.cmd);
          if (packet.cmd !== 'publish') continue;
          const isOver = packet.payload.length > LIMIT;
          expect(received).toMatchObject({
            topic: packet.topic,
            retain: packet.retain,
            qos: packet.qos,
            ...(packet.qos === 1 && { messageId: packet.messageId }),
            oversizedBytes: isOver ? packet.payload.length : null,
          });
          expect(
            Buffer.compare((received as { payload: Buffer }).payload, isOver ? Buffer.alloc(0) : packet.payload),
          ).toBe(0);
        }
      }),
    );
  });

  it('holds no more than it was given, for arbitrary bytes and lengths that lie', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 60 }), { maxLength: 20 }), (chunks) => {
        const limit = createPacketLimit(LIMIT);
        let broken: unknown;
        for (const chunk of chunks) {
          try {
            const out = [...limit.push(chunk)];
            expect(broken).toBeUndefined();
            // Seven bytes at most are kept back, and a rewritten header is never longer than the received one.
            expect(out.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(chunk.length + 7);
          } catch (error) {
            expect(error).toBeInstanceOf(PacketError);
            // Once broken, it passes nothing on.
            if (broken !== undefined) expect(error).toBe(broken);
            broken = error;
          }
        }
      }),
    );
  });

  it('acknowledges the standard limit: 128 KiB pass, one byte more does not', () => {
    const message = (bytes: number) =>
      generate({
        ...{ cmd: 'publish', topic: 't', payload: Buffer.alloc(bytes, 1), qos: 1, messageId: 7, dup: false },
        retain: false,
      });
    const { packets } = through([message(MAX_PAYLOAD_BYTES), message(MAX_PAYLOAD_BYTES + 1)], MAX_PAYLOAD_BYTES);
    expect(packets.map((packet) => (packet as { oversizedBytes?: number }).oversizedBytes)).toEqual([
      null,
      MAX_PAYLOAD_BYTES + 1,
    ]);
    expect(packets.map((packet) => (packet as { messageId?: number }).messageId)).toEqual([7, 7]);
  });

  it('drops the payload of the largest possible message without keeping it', () => {
    const limit = createPacketLimit();
    // PUBLISH QoS 1, remaining length 268,435,455, topic 't', packet identifier 9.
    const head = Uint8Array.from([0x32, 0xff, 0xff, 0xff, 0x7f, 0, 1, 0x74, 0, 9]);
    expect(Buffer.concat([...limit.push(head)]).toString('hex')).toBe('32050001740009');
    const chunk = new Uint8Array(1 << 20);
    let rest = 268_435_455 - 5;
    while (rest > 0) {
      const bytes = Math.min(rest, chunk.length);
      expect([...limit.push(chunk.subarray(0, bytes))]).toEqual([]);
      rest -= bytes;
    }
    expect(limit.nextPublish()).toBe(268_435_450);
    // The next packet is read from its start.
    expect(Buffer.concat([...limit.push(Uint8Array.from([0xd0, 0]))]).toString('hex')).toBe('d000');
  });

  it.each([
    ['a malformed length', [0x30, 0xff, 0xff, 0xff, 0xff], /malformed length/],
    ['a topic longer than its packet', [0x30, 0x04, 0x00, 0x08, 0x61, 0x62], /longer than its packet/],
    ['a topic without its packet identifier', [0x32, 0x03, 0x00, 0x01, 0x61], /longer than its packet/],
    ['a message without a topic', [0x30, 0x01, 0x00], /without a topic/],
    ['a SUBACK of megabytes', [0x90, 0x80, 0x80, 0x80, 0x01], /type 9 with 2097152 bytes/],
    ['QoS 2', [0x34, 0x05, 0x00, 0x01, 0x61, 0x00, 0x01], /QoS 2/],
    ['QoS 3', [0x36, 0x05, 0x00, 0x01, 0x61, 0x00, 0x01], /QoS 3/],
    ['CONNECT', [0x10, 0x00], /type 1/],
    ['PUBREL', [0x62, 0x02, 0x00, 0x01], /type 6/],
    ['HTTP', [...Buffer.from('HTTP/1.1 400 Bad Request')], /(type|malformed|bytes)/],
  ])('ends the connection on %s', (_what, bytes, message) => {
    expect(() => [...createPacketLimit().push(Uint8Array.from(bytes))]).toThrow(message);
  });
});
