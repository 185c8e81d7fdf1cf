import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as ws from 'ws';
import { encodeBinaryMessage, releaseMessage } from '../../../src/lib/tunnel/link/socket.ts';
import { encodeFrame } from '../../../src/lib/tunnel/wire/codec.ts';
import { anyMessage } from '../wire/messages.ts';

// The types of the library leave it out.
const { Receiver } = ws as unknown as {
  Receiver: new (options: object) => NodeJS.WritableStream;
};

/** What the library reads as a server, which refuses frames without a mask and lengths that are not the shortest. */
function received(bytes: readonly Uint8Array[]): Buffer[] {
  const messages: Buffer[] = [];
  const receiver = new Receiver({ isServer: true, maxPayload: 131_076 });
  receiver.on('message', (data: Buffer, isBinary: boolean) => messages.push(isBinary ? data : Buffer.from('text')));
  receiver.on('error', (error: Error) => {
    throw error;
  });
  for (const each of bytes) receiver.write(each);
  return messages;
}

test('any message is read by the library as it was encoded', () => {
  fc.assert(
    fc.property(fc.array(anyMessage, { minLength: 1, maxLength: 4 }), (messages) => {
      const read = received(messages.map((each) => encodeBinaryMessage(each)));
      expect(Buffer.concat(read).equals(Buffer.concat(messages.map((each) => encodeFrame(each))))).toBe(true);
      expect(read).toHaveLength(messages.length);
    }),
    { numRuns: 100 },
  );
});

test('payloads of every length near the limits of the length field and of a word', () => {
  for (const size of [...Array(140).keys(), 65_500, 65_501, 65_502, 65_503].filter((each) => each <= 64_512)) {
    const message = { type: 'data', streamId: 1, payload: Buffer.alloc(size, 'x') } as const;
    expect(received([encodeBinaryMessage(message)])[0]?.equals(encodeFrame(message)), `${size}`).toBe(true);
  }
  const longest = { type: 'service-ids', availableServiceIds: ['a'.repeat(65_529)] } as const;
  expect(received([encodeBinaryMessage(longest)])[0]?.length).toBe(65_537);
});

test('a buffer is used again only after its message was sent, and never by two messages', () => {
  const data = (byte: number) => ({ type: 'data', streamId: 1, payload: Buffer.alloc(32_768, byte) }) as const;
  const first = encodeBinaryMessage(data(1));
  const second = encodeBinaryMessage(data(2));
  expect(second.buffer).not.toBe(first.buffer);
  releaseMessage(first);
  const third = encodeBinaryMessage(data(3));
  expect(third.buffer).toBe(first.buffer);
  const fourth = encodeBinaryMessage(data(4));
  expect(fourth.buffer).not.toBe(third.buffer);
  const read = received([second, third, fourth]);
  expect(read.map((each) => each[10])).toEqual([2, 3, 4]);
});

test('every message has another key', () => {
  const keyOf = (bytes: Uint8Array) => Buffer.from(bytes.subarray(2, 6)).toString('hex');
  const keys = new Set(Array.from({ length: 5_000 }, () => keyOf(encodeBinaryMessage({ type: 'session-reset' }))));
  expect(keys.size).toBeGreaterThan(4_990);
});
