import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createUnmasker } from '../../../../src/lib/sim/cloud/tunnel/unmask.ts';

interface Frame {
  readonly first: number;
  readonly payload: Uint8Array;
  /** null: not masked, which no client may send. */
  readonly key: Uint8Array | null;
}

/** A frame by the text of RFC 6455, 5.2; with a key of zeros its payload is as it is. */
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

function unmasked(chunks: readonly Buffer[]): Buffer {
  const unmask = createUnmasker();
  for (const chunk of chunks) unmask(chunk);
  return Buffer.concat(chunks);
}

describe('unmask', () => {
  test('example of RFC 6455, 5.7: a masked text frame "Hello"', () => {
    const frame = Buffer.from('818537fa213d7f9f4d5158', 'hex');
    expect(unmasked([frame]).toString('hex')).toBe(`818500000000${Buffer.from('Hello').toString('hex')}`);
  });

  const frame = fc.record({
    first: fc.constantFrom(0x82, 0x02, 0x80, 0x81, 0x89, 0x8a, 0x88, 0xf7),
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 130 }),
      fc
        .constantFrom(0, 125, 126, 127, 32_768, 65_535, 65_536, 131_076)
        .map((length) => Uint8Array.from({ length }, (_, i) => (i * 7) & 0xff)),
    ),
    key: fc.option(fc.uint8Array({ minLength: 4, maxLength: 4 }), { freq: 5 }),
  });

  test('property: frames in any chunks are those of a client with the key 0', () => {
    const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 70_000 })), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 5 }), lengths, fc.nat(7), (frames, cuts, shift) => {
        const sent = Buffer.concat(frames.map(frameOf));
        const zero = (each: Frame) => frameOf({ ...each, key: each.key === null ? null : new Uint8Array(4) });
        const received = unmasked(chunksOf(sent, cuts, shift));
        return received.equals(Buffer.concat(frames.map(zero)));
      }),
      { numRuns: 60 },
    );
  });

  test('property: any bytes are passed, and nothing else changes than payloads and keys', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), fc.nat(7), (bytes, shift) => {
        const [chunk = Buffer.alloc(0)] = chunksOf(Buffer.from(bytes), [bytes.length || 1], shift);
        createUnmasker()(chunk);
        return chunk.length === bytes.length && chunk.subarray(0, 2).equals(Buffer.from(bytes.subarray(0, 2)));
      }),
    );
  });
});
