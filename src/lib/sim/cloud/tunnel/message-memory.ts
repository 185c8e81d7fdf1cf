/** Before the payload, for the longest header of a server: 10 bytes. */
const RESERVED_BYTES = 16;

/** Memory with free bytes before the payload, for a header. */
class MessageMemory extends ArrayBuffer {}

/**
 * Memory of messages that were sent, for the next ones: new memory for every message makes the garbage collector take a
 * good part of the time. At most 4 MiB.
 */
const free: MessageMemory[] = [];
const MAX_FREE = 64;
/** Shorter messages are not worth it; the longest frame has 65,537 bytes. */
const MIN_REUSED_BYTES = 8 * 1024;
const REUSED_BYTES = RESERVED_BYTES + 65_537;

/** Memory for the payload of a message, behind free bytes for the header of the WebSocket. Its content is not defined. */
export function allocatePayload(bytes: number): Buffer {
  const isReused = bytes >= MIN_REUSED_BYTES && RESERVED_BYTES + bytes <= REUSED_BYTES;
  const reused = isReused ? free.pop() : undefined;
  return Buffer.from(
    reused ?? new MessageMemory(isReused ? REUSED_BYTES : RESERVED_BYTES + bytes),
    RESERVED_BYTES,
    bytes,
  );
}

/** The same bytes behind a header; payloads of other memory are copied. */
export function withHeader(header: Uint8Array, payload: Uint8Array): Buffer {
  const isOwn = payload.byteOffset === RESERVED_BYTES && payload.buffer instanceof MessageMemory;
  const own = isOwn ? payload : allocatePayload(payload.length);
  if (!isOwn) own.set(payload);
  const bytes = Buffer.from(own.buffer, RESERVED_BYTES - header.length, header.length + payload.length);
  bytes.set(header);
  return bytes;
}

/** To be called once when the bytes were sent, or never will be. */
export function release({ buffer }: Uint8Array): void {
  if (buffer instanceof MessageMemory && buffer.byteLength === REUSED_BYTES && free.length < MAX_FREE)
    free.push(buffer);
}
