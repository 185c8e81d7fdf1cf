import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { GwError } from '../../error/index.ts';
import type { TunnelMessage, TunnelMessageType } from '../wire.ts';

/** Maximum payload of one message. @source vendor (HINWEIS) */
const MAX_PAYLOAD_BYTES = 64_512;

/** Maximum length of an encoded message, by its 16-bit length. */
const MAX_MESSAGE_BYTES = 65_535;

/** Bytes of the length in front of a message. */
const LENGTH_BYTES = 2;

/** By their number in the schema. */
const types = [
  'unknown',
  'data',
  'stream-start',
  'stream-reset',
  'session-reset',
  'service-ids',
  'connection-start',
  'connection-reset',
] as const satisfies readonly TunnelMessageType[];

const ofStream: ReadonlySet<TunnelMessageType> = new Set([
  'data',
  'stream-start',
  'stream-reset',
  'connection-start',
  'connection-reset',
]);

const field = {
  type: 1,
  streamId: 2,
  ignorable: 3,
  payload: 4,
  serviceId: 5,
  availableServiceIds: 6,
  connectionId: 7,
} as const;

const EMPTY: Uint8Array = new Uint8Array(0);

/**
 * A payload is copied where it has fewer bytes, or is a smaller part of the memory that it shares, so that a queued one
 * does not hold that of a whole WebSocket message.
 */
const MIN_SHARED_BYTES = 16_384;
const MIN_SHARED_PART = 1 / 3;

export type PartialMessage = Partial<TunnelMessage> & Pick<TunnelMessage, 'type'>;

/**
 * Encodes a message with its length in front. Fields that are absent, 0 or empty are left out. The payload is copied once.
 * Throws RangeError for a payload or a message above the limits: the sender has to split it.
 * @source vendor (HINWEIS)
 */
export function encodeFrame(message: PartialMessage): Buffer<ArrayBuffer> {
  const { payload = EMPTY } = message;
  if (payload.length > MAX_PAYLOAD_BYTES) throw new RangeError(`payload of ${payload.length} bytes`);
  // Everything before the payload, including its length, and everything behind it.
  const head = new BinaryWriter();
  const type = message.type === 'unknown' ? (message.typeNumber ?? 0) : types.indexOf(message.type);
  if (type !== 0) head.tag(field.type, WireType.Varint).int32(type);
  if (message.streamId) head.tag(field.streamId, WireType.Varint).int32(message.streamId);
  if (message.ignorable) head.tag(field.ignorable, WireType.Varint).bool(true);
  if (payload.length > 0) head.tag(field.payload, WireType.LengthDelimited).uint32(payload.length);
  const tail = new BinaryWriter();
  if (message.serviceId) tail.tag(field.serviceId, WireType.LengthDelimited).string(message.serviceId);
  for (const id of message.availableServiceIds ?? [])
    tail.tag(field.availableServiceIds, WireType.LengthDelimited).string(id);
  if (message.connectionId) tail.tag(field.connectionId, WireType.Varint).uint32(message.connectionId);
  const [before, behind] = [head.finish(), tail.finish()];
  const length = before.length + payload.length + behind.length;
  if (length > MAX_MESSAGE_BYTES) throw new RangeError(`message of ${length} bytes`);

  const frame = Buffer.allocUnsafe(LENGTH_BYTES + length);
  frame.writeUInt16BE(length);
  frame.set(before, LENGTH_BYTES);
  frame.set(payload, LENGTH_BYTES + before.length);
  frame.set(behind, LENGTH_BYTES + before.length + payload.length);
  return frame;
}

/**
 * Decodes a message without its length. Unknown fields are ignored; an unknown type stays in `typeNumber`. The payload
 * may share the memory of `bytes`. Throws TUNNEL_PROTOCOL for type 0 or a negative one, for a message of a stream whose
 * stream id is not above 0, and for bytes that cannot be decoded.
 * @source vendor (HINWEIS)
 */
export function decodeMessage(bytes: Uint8Array): TunnelMessage {
  let message: TunnelMessage;
  try {
    message = read(new BinaryReader(bytes));
  } catch (cause) {
    throw new GwError('TUNNEL_PROTOCOL', `A message of ${bytes.length} bytes cannot be decoded.`, { cause });
  }
  if (message.typeNumber <= 0) throw new GwError('TUNNEL_PROTOCOL', `A message has the type ${message.typeNumber}.`);
  if (message.streamId < 0 || (message.streamId === 0 && ofStream.has(message.type)))
    throw new GwError('TUNNEL_PROTOCOL', `A ${message.type} message has the stream id ${message.streamId}.`);
  return message;
}

function read(reader: BinaryReader): TunnelMessage {
  let [typeNumber, streamId, connectionId] = [0, 0, 0];
  let [ignorable, payload, serviceId] = [false, EMPTY, ''];
  const availableServiceIds: string[] = [];
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    // As by every protobuf reader, a known field with a foreign wire type is an unknown field.
    if (wireType === WireType.Varint && number === field.type) typeNumber = reader.int32();
    else if (wireType === WireType.Varint && number === field.streamId) streamId = reader.int32();
    else if (wireType === WireType.Varint && number === field.ignorable) ignorable = reader.bool();
    else if (wireType === WireType.LengthDelimited && number === field.payload) payload = reader.bytes();
    else if (wireType === WireType.LengthDelimited && number === field.serviceId) serviceId = reader.string(true);
    else if (wireType === WireType.LengthDelimited && number === field.availableServiceIds)
      availableServiceIds.push(reader.string(true));
    else if (wireType === WireType.Varint && number === field.connectionId) connectionId = reader.uint32();
    else reader.skip(wireType, number);
  }
  // Not every read of the library checks the end.
  if (reader.pos !== reader.len) throw new RangeError('the message ends within a field');
  const minSharedBytes = Math.max(MIN_SHARED_BYTES, payload.buffer.byteLength * MIN_SHARED_PART);
  return {
    type: types[typeNumber] ?? 'unknown',
    typeNumber,
    streamId,
    ignorable,
    payload: payload.length < minSharedBytes ? new Uint8Array(payload) : payload,
    serviceId,
    availableServiceIds,
    connectionId,
  };
}
