/** Packet types of MQTT 3.1.1, section 2.2.1. */
export const packetTypes = {
  connect: 1,
  publish: 3,
  puback: 4,
  pubrec: 5,
  pubrel: 6,
  pubcomp: 7,
  subscribe: 8,
} as const;

/** A complete packet as it was on the wire. */
export interface RawPacket {
  readonly type: number;
  /** The lower four bits of the first byte. */
  readonly flags: number;
  /** Everything after the fixed header. */
  readonly body: Buffer;
  /** The whole packet. */
  readonly bytes: Buffer;
}

export interface ParsedPublish {
  readonly topic: string;
  readonly qos: number;
  readonly retain: boolean;
  /** Null with QoS 0. */
  readonly packetId: number | null;
  readonly payload: Buffer;
}

/** MQTT 3.1.1, section 2.2.3. */
const MAX_LENGTH_BYTES = 4;

/** Splits a stream into packets. `read` returns null once the stream is malformed or a packet has more than `maxBytes`. */
export function createPacketReader(maxBytes = Number.POSITIVE_INFINITY) {
  let pending: Buffer = Buffer.alloc(0);
  let isBroken = false;
  return {
    read(chunk: Buffer): readonly RawPacket[] | null {
      if (isBroken) return null;
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const packets: RawPacket[] = [];
      for (;;) {
        const size = sizeOf(pending);
        if (size === 'incomplete') return packets;
        if (size === 'malformed' || size.headerBytes + size.bodyBytes > maxBytes) {
          isBroken = true;
          return null;
        }
        const total = size.headerBytes + size.bodyBytes;
        if (pending.length < total) return packets;
        const bytes = pending.subarray(0, total);
        const first = bytes.readUInt8(0);
        packets.push({ type: first >> 4, flags: first & 0xf, body: bytes.subarray(size.headerBytes), bytes });
        pending = pending.subarray(total);
      }
    },
  };
}

function sizeOf(bytes: Buffer): { headerBytes: number; bodyBytes: number } | 'incomplete' | 'malformed' {
  let bodyBytes = 0;
  for (let i = 0; i < MAX_LENGTH_BYTES; i += 1) {
    const byte = bytes[1 + i];
    if (byte === undefined) return 'incomplete';
    bodyBytes += (byte & 0x7f) * 128 ** i;
    if ((byte & 0x80) === 0) return { headerBytes: 2 + i, bodyBytes };
  }
  return 'malformed';
}

/** Undefined when malformed. */
export function parsePublish({ flags, body }: Pick<RawPacket, 'flags' | 'body'>): ParsedPublish | undefined {
  const topic = readText(body, 0);
  if (topic === undefined) return undefined;
  const qos = (flags >> 1) & 3;
  const idBytes = qos > 0 ? 2 : 0;
  if (qos === 3 || body.length < topic.end + idBytes) return undefined;
  return {
    topic: topic.text,
    qos,
    retain: (flags & 1) === 1,
    packetId: qos > 0 ? body.readUInt16BE(topic.end) : null,
    payload: body.subarray(topic.end + idBytes),
  };
}

/** The topic filters of a SUBSCRIBE; undefined when malformed. */
export function parseFilters({ body }: Pick<RawPacket, 'body'>): readonly string[] | undefined {
  const filters: string[] = [];
  let at = 2;
  while (at < body.length) {
    const filter = readText(body, at);
    if (filter === undefined || filter.end >= body.length) return undefined;
    filters.push(filter.text);
    at = filter.end + 1;
  }
  return filters.length > 0 ? filters : undefined;
}

/** The packet id of an acknowledgement; undefined when malformed. */
export function packetIdOf({ body }: Pick<RawPacket, 'body'>): number | undefined {
  return body.length >= 2 ? body.readUInt16BE(0) : undefined;
}

/** The same PUBLISH with another packet id. */
export function withPacketId({ body, bytes }: RawPacket, packetId: number): Buffer {
  const copy = Buffer.from(bytes);
  const at = bytes.length - body.length + 2 + body.readUInt16BE(0);
  copy.writeUInt16BE(packetId, at);
  return copy;
}

/** Two bytes of length and UTF-8. */
function readText(body: Buffer, at: number): { text: string; end: number } | undefined {
  if (body.length < at + 2) return undefined;
  const end = at + 2 + body.readUInt16BE(at);
  return body.length < end ? undefined : { text: body.toString('utf8', at + 2, end), end };
}
