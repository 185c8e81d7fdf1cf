import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createPacketReader,
  packetIdOf,
  parseFilters,
  parsePublish,
  withPacketId,
} from '../../../src/lib/sim/cloud/mqtt/packets.ts';

/** A packet with its length in as many bytes as MQTT 3.1.1 prescribes. */
function packet(first: number, body: Uint8Array): Buffer {
  const length: number[] = [];
  let rest = body.length;
  do {
    length.push((rest % 128) | (rest >= 128 ? 0x80 : 0));
    rest = Math.floor(rest / 128);
  } while (rest > 0);
  return Buffer.concat([Buffer.from([first, ...length]), body]);
}

const text = (value: string) => {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
};
const arbitraryPacket = fc
  .tuple(fc.integer({ min: 0x10, max: 0xff }), fc.uint8Array({ maxLength: 20_000 }))
  .map(([first, body]) => packet(first, body));

describe('packets', () => {
  it('are the same however the stream is split', () => {
    fc.assert(
      fc.property(
        fc.array(arbitraryPacket, { maxLength: 5 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 9_000 })),
        (packets, sizes) => {
          const stream = Buffer.concat(packets);
          const reader = createPacketReader();
          const found: Buffer[] = [];
          for (let at = 0; at < stream.length; ) {
            const size = sizes.next().value ?? 1;
            found.push(...(reader.read(stream.subarray(at, at + size)) ?? []).map(({ bytes }) => bytes));
            at += size;
          }
          expect(found.map((bytes) => bytes.toString('hex'))).toEqual(packets.map((bytes) => bytes.toString('hex')));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('end a stream with a length of five bytes or above the maximum', () => {
    expect(createPacketReader().read(Buffer.from([0x30, 0x80, 0x80, 0x80, 0x80, 1]))).toBeNull();
    const reader = createPacketReader(1024);
    expect(reader.read(Buffer.from([0x30, 0xfd, 0x07]))).toEqual([]);
    expect(createPacketReader(1024).read(Buffer.from([0x30, 0xfe, 0x07]))).toBeNull();
    expect(reader.read(Buffer.alloc(2000, 0xff))).toBeNull();
    expect(reader.read(Buffer.from([0xc0, 0]))).toBeNull();
  });

  it('with a PUBLISH have topic, packet id, payload and flags', () => {
    const bytes = packet(0x33, Buffer.concat([text('gw/Ä'), Buffer.from([1, 2]), Buffer.from('xyz')]));
    const [read] = createPacketReader().read(bytes) ?? [];
    if (read === undefined) throw new Error('no packet');
    expect(parsePublish(read)).toEqual({
      topic: 'gw/Ä',
      qos: 1,
      retain: true,
      packetId: 0x0102,
      payload: Buffer.from('xyz'),
    });
    const copy = createPacketReader().read(withPacketId(read, 0xfffe))?.[0];
    expect(copy && parsePublish(copy)).toMatchObject({ packetId: 0xfffe, topic: 'gw/Ä', payload: Buffer.from('xyz') });
    expect(bytes.readUInt16BE(2 + 2 + 5)).toBe(0x0102);
  });

  it('with a SUBSCRIBE have every filter', () => {
    const body = Buffer.concat([Buffer.from([0, 9]), text('a/#'), Buffer.from([1]), text('b'), Buffer.from([0])]);
    expect(parseFilters({ body })).toEqual(['a/#', 'b']);
    expect(parseFilters({ body: body.subarray(0, -1) })).toBeUndefined();
    expect(parseFilters({ body: body.subarray(0, 2) })).toBeUndefined();
  });

  it('of any content never throw', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 15 }), fc.uint8Array({ maxLength: 40 }), (flags, bytes) => {
        const body = Buffer.from(bytes);
        parsePublish({ flags, body });
        parseFilters({ body });
        packetIdOf({ body });
        createPacketReader().read(body);
      }),
    );
  });
});
