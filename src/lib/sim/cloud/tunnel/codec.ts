import type { TunnelMessage, TunnelMessageType } from '../../../tunnel/wire.ts';

/**
 * The messages of the tunnel protocol in protobuf, by hand from their description: it shares no code with the client, so
 * that the two can disagree.
 */

/** By number of the enum. @source vendor (HINWEIS) */
const types: readonly TunnelMessageType[] = [
  'unknown',
  'data',
  'stream-start',
  'stream-reset',
  'session-reset',
  'service-ids',
  'connection-start',
  'connection-reset',
];

/** Numbers of the fields. */
const TYPE = 1;
const STREAM_ID = 2;
const IGNORABLE = 3;
const PAYLOAD = 4;
const SERVICE_ID = 5;
const AVAILABLE_SERVICE_IDS = 6;
const CONNECTION_ID = 7;

const VARINT = 0;
const BYTES = 2;
/** Bytes of the length before a message. */
const LENGTH_BYTES = 2;
/** Longest varint of protobuf. */
const MAX_VARINT_BYTES = 10;

/** Fields with their defaults are absent on the wire. */
type Sent = Partial<TunnelMessage> & Pick<TunnelMessage, 'type'>;

export type Decoded =
  | { readonly kind: 'message'; readonly message: TunnelMessage }
  | { readonly kind: 'invalid'; readonly reason: string };

/** A frame: two bytes of length, big-endian, and the message. Throws RangeError above 65,535 bytes. */
export function encodeFrame(message: Sent): Buffer {
  const body = encodeMessage(message);
  if (body.length > 0xffff) throw new RangeError('a message has at most 65535 bytes');
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(body.length);
  return Buffer.concat([length, body]);
}

/** Whole frames of a byte stream, each with its length, whatever its chunks are. Every length is valid, so it never fails. */
export function createFrameReader(): (chunk: Buffer) => readonly Buffer[] {
  let pending: Buffer = Buffer.alloc(0);
  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    const frames: Buffer[] = [];
    while (pending.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + pending.readUInt16BE(0);
      if (end > pending.length) break;
      frames.push(pending.subarray(0, end));
      pending = pending.subarray(end);
    }
    return frames;
  };
}

function encodeMessage(message: Sent): Buffer {
  const { type, typeNumber = types.indexOf(type), streamId = 0, connectionId = 0 } = message;
  const { ignorable = false, payload, serviceId = '', availableServiceIds = [] } = message;
  const parts: Uint8Array[] = [];
  const number = (field: number, value: number) => {
    if (value !== 0) parts.push(Uint8Array.of(field << 3), varint(value));
  };
  const bytes = (field: number, value: Uint8Array) =>
    parts.push(Uint8Array.of((field << 3) | BYTES), varint(value.length), value);
  number(TYPE, typeNumber);
  number(STREAM_ID, streamId);
  number(IGNORABLE, ignorable ? 1 : 0);
  if (payload !== undefined && payload.length > 0) bytes(PAYLOAD, payload);
  if (serviceId !== '') bytes(SERVICE_ID, Buffer.from(serviceId));
  for (const id of availableServiceIds) bytes(AVAILABLE_SERVICE_IDS, Buffer.from(id));
  number(CONNECTION_ID, connectionId);
  return Buffer.concat(parts);
}

/** A negative number is extended to 64 bits, as protobuf does for int32. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
}

/** The message in a frame. Never throws. `payload` is a view of `frame`. */
export function decodeFrame(frame: Uint8Array): Decoded {
  const body = frame.subarray(LENGTH_BYTES);
  let at = 0;
  let typeNumber = 0;
  let streamId = 0;
  let ignorable = false;
  let payload: Uint8Array = body.subarray(0, 0);
  let serviceId = '';
  const availableServiceIds: string[] = [];
  let connectionId = 0;

  /** The low 32 bits; null when it is cut or too long. */
  function readVarint(): number | null {
    let low = 0;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      const byte = body[at];
      if (byte === undefined) return null;
      at += 1;
      // A shift by 32 and more would begin again at bit 0.
      if (i < 5) low |= (byte & 0x7f) << (7 * i);
      if (byte < 0x80) return low;
    }
    return null;
  }

  function readBytes(): Uint8Array | null {
    const length = readVarint();
    if (length === null || length < 0 || at + length > body.length) return null;
    at += length;
    return body.subarray(at - length, at);
  }

  while (at < body.length) {
    const key = readVarint();
    if (key === null) return invalid('a cut key of a field');
    const field = key >>> 3;
    const wireType = key & 7;
    const wanted = field === PAYLOAD || field === SERVICE_ID || field === AVAILABLE_SERVICE_IDS ? BYTES : VARINT;
    if (field < TYPE || field > CONNECTION_ID) return invalid(`the unknown field ${field}`);
    if (wireType !== wanted) return invalid(`field ${field} with wire type ${wireType}`);
    if (wanted === VARINT) {
      const value = readVarint();
      if (value === null) return invalid(`a cut varint in field ${field}`);
      if (field === TYPE) typeNumber = value;
      else if (field === STREAM_ID) streamId = value;
      else if (field === IGNORABLE) ignorable = value !== 0;
      else connectionId = value >>> 0;
      continue;
    }
    const value = readBytes();
    if (value === null) return invalid(`a cut field ${field}`);
    if (field === PAYLOAD) payload = value;
    else {
      const text = textOf(value);
      if (text === null) return invalid(`field ${field} is not UTF-8`);
      if (field === SERVICE_ID) serviceId = text;
      else availableServiceIds.push(text);
    }
  }
  const type = types[typeNumber] ?? 'unknown';
  return {
    kind: 'message',
    message: { type, typeNumber, streamId, ignorable, payload, serviceId, availableServiceIds, connectionId },
  };
}

function invalid(reason: string): Decoded {
  return { kind: 'invalid', reason };
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}
