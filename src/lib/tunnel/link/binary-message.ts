import { randomFillSync } from 'node:crypto';
import { encodeFrameBehind, type PartialMessage } from '../wire/codec.ts';

/** Bytes for the header of a WebSocket frame (at most 14), so that what follows is aligned to words. */
const HEADER_BYTES = 16;
/** FIN, binary. @source RFC 6455, 5.2 */
const FIN_BINARY = 0x82;
const MASKED = 0x80;

/** Masking keys must not be predictable (RFC 6455, 5.3); they are generated in advance, many at a time. */
const keys = { bytes: Buffer.alloc(8_192), at: 8_192 };

/**
 * Buffers of messages that were sent, for the next ones of about the same size: new memory for every message makes the
 * garbage collector take most of the time. At most 2 MiB.
 */
const free: ArrayBuffer[] = [];
const MAX_FREE = 64;
const MIN_REUSED_BYTES = 16 * 1024;
const REUSED_BYTES = 33 * 1024;

function allocate(bytes: number): Buffer<ArrayBuffer> {
  if (bytes < MIN_REUSED_BYTES || bytes > REUSED_BYTES) return Buffer.allocUnsafe(bytes);
  return Buffer.from(free.pop() ?? new ArrayBuffer(REUSED_BYTES), 0, bytes);
}

/** To be called once when a message was sent, or never will be. */
export function releaseMessage({ buffer }: Uint8Array<ArrayBuffer>): void {
  if (buffer.byteLength === REUSED_BYTES && free.length < MAX_FREE) free.push(buffer);
}

function nextKey(): Uint8Array {
  if (keys.at === keys.bytes.length) {
    randomFillSync(keys.bytes);
    keys.at = 0;
  }
  keys.at += 4;
  return keys.bytes.subarray(keys.at - 4, keys.at);
}

/**
 * Encodes a message as one masked binary WebSocket message, for the socket below the WebSocket. The library copies what
 * it sends once more and masks it byte by byte, which takes more time than everything else together.
 */
export function encodeBinaryMessage(message: PartialMessage): Uint8Array<ArrayBuffer> {
  const bytes = encodeFrameBehind(HEADER_BYTES, message, allocate);
  const length = bytes.length - HEADER_BYTES;
  const key = nextKey();
  const begin = HEADER_BYTES - (length < 126 ? 6 : length < 65_536 ? 8 : 14);
  bytes[begin] = FIN_BINARY;
  if (length < 126) {
    bytes[begin + 1] = MASKED | length;
  } else if (length < 65_536) {
    bytes[begin + 1] = MASKED | 126;
    bytes.writeUInt16BE(length, begin + 2);
  } else {
    bytes[begin + 1] = MASKED | 127;
    bytes.writeUInt32BE(0, begin + 2);
    bytes.writeUInt32BE(length, begin + 6);
  }
  bytes.set(key, HEADER_BYTES - 4);
  mask(bytes, HEADER_BYTES, key);
  return bytes.subarray(begin);
}

/** Combines the bytes from `begin` on with the key, four at a time. */
function mask(bytes: Buffer<ArrayBuffer>, begin: number, key: Uint8Array): void {
  const start = bytes.byteOffset + begin;
  const isAligned = start % 4 === 0;
  const count = isAligned ? (bytes.length - begin) >> 2 : 0;
  if (count > 0)
    combine(new Int32Array(bytes.buffer, start, count), new Int32Array(Uint8Array.from(key).buffer)[0] ?? 0);
  for (let at = count * 4; begin + at < bytes.length; at += 1)
    bytes[begin + at] = (bytes[begin + at] as number) ^ (key[at % 4] as number);
}

/** Eight words at a time: word by word the same takes two to six times as long (measured). */
function combine(words: Int32Array, key: number): void {
  const count = words.length;
  let at = 0;
  for (; at + 7 < count; at += 8) {
    words[at] = (words[at] as number) ^ key;
    words[at + 1] = (words[at + 1] as number) ^ key;
    words[at + 2] = (words[at + 2] as number) ^ key;
    words[at + 3] = (words[at + 3] as number) ^ key;
    words[at + 4] = (words[at + 4] as number) ^ key;
    words[at + 5] = (words[at + 5] as number) ^ key;
    words[at + 6] = (words[at + 6] as number) ^ key;
    words[at + 7] = (words[at + 7] as number) ^ key;
  }
  for (; at < count; at += 1) words[at] = (words[at] as number) ^ key;
}
