import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { decodeMessage, encodeFrame } from '../../../src/lib/tunnel/wire/codec.ts';
import { createFrameReader } from '../../../src/lib/tunnel/wire/frames.ts';
import type { TunnelMessage } from '../../../src/lib/tunnel/wire.ts';
import { isFull, runs } from '../../properties.ts';
import { anyMessage, chunked, hex, message } from './messages.ts';

const text = (words: string) => new TextEncoder().encode(words);

/** From the vendor's description: the length, then the message. */
const ssh = { streamId: 1, serviceId: 'SSH', connectionId: 1 };
const vectors = (
  [
    ['STREAM_START of version 3', '000b 080210012a035353483801', { type: 'stream-start', ...ssh }],
    ['DATA', '0012 08011001220568656c6c6f2a035353483801', { type: 'data', ...ssh, payload: text('hello') }],
    [
      'CONNECTION_START',
      '0009 080610012a01413802',
      { type: 'connection-start', ...ssh, serviceId: 'A', connectionId: 2 },
    ],
    ['CONNECTION_RESET', '000b 080710012a035353483802', { type: 'connection-reset', ...ssh, connectionId: 2 }],
    ['STREAM_RESET of version 2', '0009 080310012a03535348', { type: 'stream-reset', streamId: 1, serviceId: 'SSH' }],
    ['STREAM_START of version 1', '0004 08021001', { type: 'stream-start', streamId: 1 }],
    ['SERVICE_IDS', '0007 08053203535348', { type: 'service-ids', availableServiceIds: ['SSH'] }],
    ['SESSION_RESET', '0002 0804', { type: 'session-reset' }],
  ] as const
).map(([name, bytes, fields]): [string, string, TunnelMessage] => [name, bytes, message(fields)]);

function readAll(chunks: readonly Uint8Array[]): TunnelMessage[] {
  const messages: TunnelMessage[] = [];
  const reader = createFrameReader((read) => messages.push(read));
  for (const chunk of chunks) reader.push(chunk);
  return messages;
}

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return error instanceof GwError ? error.code : String(error);
  }
  return 'no error';
}

describe('known messages', () => {
  test.each(vectors)('%s is encoded and decoded byte by byte', (_, bytes, expected) => {
    expect(Buffer.from(encodeFrame(expected)).toString('hex')).toBe(bytes.replaceAll(' ', ''));
    expect(readAll([hex(bytes)])).toEqual([expected]);
  });

  test('fields in another order, repeated, and unknown ones', () => {
    // connectionId 9, then 2; field 15 (bytes), field 99 (fixed64), field 8 (fixed32) and an unknown group.
    const bytes = hex(
      '3809 7a03616263 3802 9906 0102030405060708 4501020304 f30608017a0161f406 2a01 41 1001 0806'.replaceAll(' ', ''),
    );
    const start = { type: 'connection-start', streamId: 1, serviceId: 'A', connectionId: 2 } as const;
    expect(decodeMessage(bytes)).toEqual(message(start));
  });

  test('a known field with a foreign wire type is an unknown field', () => {
    // streamId as bytes, payload as a number.
    expect(decodeMessage(hex('0804 12020101 2005'))).toEqual(message({ type: 'session-reset' }));
  });

  test('an unknown type keeps its number and its flag', () => {
    const unknown = message({ type: 'unknown', typeNumber: 99, streamId: 1, ignorable: true });
    expect(decodeMessage(hex('0863 1001 1801'))).toEqual(unknown);
  });

  test.each([
    ['a message without bytes', ''],
    ['a message without a type', '1001'],
    ['type 0', '0800 1001'],
    ['type 0 by 32 bits of a longer number', '0880808080801001'],
    ['a negative type', '08ffffffffffffffffff01 1001'],
    ['DATA of stream 0', '0801 22026162 2a0141'],
    ['STREAM_START of stream 0', '0802 2a0141'],
    ['STREAM_RESET without a stream', '0803'],
    ['a negative stream id', '0802 10ffffffffffffffffff01'],
    ['an unknown type with a negative stream id', '0863 10ffffffffffffffffff01'],
    ['a payload longer than the message', '0801 1001 220a 6162'],
    ['a payload length of 4 GB', '0801 1001 22ffffffff0f 6162'],
    ['a number that does not end', '0801 10ffffffffffffffffffffff'],
    ['a flag without a value', '0863 18'],
    ['an unknown field longer than the message', '0804 7a0a61'],
    ['an unknown group that does not end', '0804 f306 0801'],
    ['the end of a group that did not begin', '0804 f406'],
    ['field number 0', '0804 0001'],
    ['a wire type that does not exist', '0804 0f01'],
    ['a service that is not UTF-8', '0802 1001 2a02c328'],
  ])('refuses %s', (_, bytes) => void expect(codeOf(() => decodeMessage(hex(bytes)))).toBe('TUNNEL_PROTOCOL'));

  test('groups nested without end are refused, not followed', () => {
    expect(codeOf(() => decodeMessage(hex(`0804${'7b'.repeat(60_000)}`)))).toBe('TUNNEL_PROTOCOL');
  });

  test.each([300, 16_384, 32_768, 43_000, 64_512])(
    'a payload of %i bytes holds no more than three times its memory',
    (size) => {
      const junk = encodeFrame({ type: 'unknown', typeNumber: 99, ignorable: true, payload: new Uint8Array(60_000) });
      const frame = encodeFrame({ type: 'data', streamId: 1, payload: new Uint8Array(size).fill(7) });
      // As long as the service may send one.
      const whole = new Uint8Array(131_076);
      whole.set(frame);
      whole.set(junk, frame.length);
      const [read] = readAll([whole.subarray(0, frame.length + junk.length)]);
      expect(read?.payload).toEqual(new Uint8Array(size).fill(7));
      expect(read?.payload.buffer.byteLength).toBeLessThanOrEqual(3 * size);
    },
  );

  test('limits of the sender', () => {
    const longest = new Uint8Array(64_512);
    const [read] = readAll([encodeFrame({ type: 'data', streamId: 1, payload: longest })]);
    expect(read?.payload.length).toBe(64_512);
    expect(() => encodeFrame({ type: 'data', streamId: 1, payload: new Uint8Array(64_513) })).toThrow(RangeError);
    expect(() => encodeFrame({ type: 'service-ids', availableServiceIds: ['a'.repeat(65_532)] })).toThrow(RangeError);
  });
});

describe('framing', () => {
  test.each(vectors)('%s cut at every byte', (_, bytes, expected) => {
    const twice = hex(bytes + bytes);
    for (let cut = 0; cut <= twice.length; cut += 1)
      expect(readAll([twice.subarray(0, cut), twice.subarray(cut)]), `cut at ${cut}`).toEqual([expected, expected]);
    expect(readAll(chunked(twice, [1]))).toEqual([expected, expected]);
  });

  test('payloads of every length near the limits of numbers, cut at every byte of the head', {
    tags: 'property',
  }, () => {
    for (const size of [0, 1, 126, 127, 128, 129, 16_383, 16_384, 16_385, 64_511, 64_512]) {
      const payload = Uint8Array.from({ length: size }, (_, index) => index);
      const sent = message({ type: 'data', streamId: 1, serviceId: 'web', connectionId: 1, payload });
      const frame = new Uint8Array(encodeFrame(sent));
      for (const cut of isFull ? [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, frame.length - 1, frame.length] : [1, 3, 6, 9])
        expect(readAll([frame.subarray(0, cut), frame.subarray(cut)]), `${size} at ${cut}`).toEqual([sent]);
    }
  });

  test('any messages through any chunks', { tags: 'property' }, () => {
    const length = fc.oneof(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 70_000 }));
    const cuts = fc.array(length, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 5 }), cuts, (messages, lengths) => {
        const stream = new Uint8Array(Buffer.concat(messages.map((each) => encodeFrame(each))));
        expect(readAll(chunked(stream, lengths))).toEqual(messages);
      }),
      { numRuns: runs(80) },
    );
  });

  test('any bytes are decoded or refused, with nothing else thrown, and the same in every chunking', {
    tags: 'property',
  }, () => {
    const outcome = (chunks: readonly Uint8Array[]) => {
      const messages: TunnelMessage[] = [];
      const reader = createFrameReader((read) => messages.push(read));
      const code = codeOf(() => {
        for (const chunk of chunks) reader.push(chunk);
      });
      expect(['no error', 'TUNNEL_PROTOCOL']).toContain(code);
      return { messages, code };
    };
    const short = anyMessage.map((each) => encodeFrame({ ...each, payload: each.payload.subarray(0, 50) }));
    const lying = fc
      .tuple(fc.array(short, { minLength: 1, maxLength: 3 }), fc.nat(), fc.nat({ max: 255 }))
      .map(([frames, at, byte]) => {
        const stream = new Uint8Array(Buffer.concat(frames));
        stream[at % stream.length] = byte;
        return stream;
      });
    const anyBytes = fc.oneof(fc.uint8Array({ maxLength: 300 }), lying);
    fc.assert(
      fc.property(anyBytes, fc.integer({ min: 1, max: 40 }), (bytes, length) => {
        expect(outcome(chunked(bytes, [length]))).toEqual(outcome([bytes]));
      }),
      { numRuns: runs(400) },
    );
  });

  test('after an error nothing is delivered any more', () => {
    const messages: TunnelMessage[] = [];
    const reader = createFrameReader((read) => messages.push(read));
    expect(codeOf(() => reader.push(hex('0002 0804 0002 0800 0002 0804')))).toBe('TUNNEL_PROTOCOL');
    expect(codeOf(() => reader.push(hex('0002 0804')))).toBe('TUNNEL_PROTOCOL');
    expect(messages).toHaveLength(1);
  });

  test('an incomplete message keeps at most its own length', () => {
    const reader = createFrameReader(() => {});
    reader.push(hex('ffff'));
    const chunk = new Uint8Array(65_534);
    expect(codeOf(() => reader.push(chunk))).toBe('no error');
    expect(codeOf(() => reader.push(new Uint8Array(1)))).toBe('TUNNEL_PROTOCOL');
  });

  test('a small payload does not hold the memory of its chunk, a large one is not copied', () => {
    const small = encodeFrame({ type: 'data', streamId: 1, payload: text('abc') });
    const large = encodeFrame({ type: 'data', streamId: 1, payload: new Uint8Array(40_000) });
    const chunk = new Uint8Array([...small, ...large]);
    const [first, second] = readAll([chunk]);
    expect(first?.payload.buffer.byteLength).toBe(3);
    expect(second?.payload.buffer).toBe(chunk.buffer);
  });
});
