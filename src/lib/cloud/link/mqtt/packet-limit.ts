/**
 * Bounds the memory of the MQTT parser, which collects a packet of any length (up to 256 MB) before it looks at it.
 * @source MQTT 3.1.1, 2.2 and 3.3
 */

/** Largest payload of a PUBLISH packet. @source vendor, quota page (HINWEIS) */
export const MAX_PAYLOAD_BYTES = 128 * 1024;
const MAX_VARINT_BYTES = 4;

const PUBLISH = 3;
/** Filters in one SUBSCRIBE packet. @source vendor, quota page (HINWEIS) */
export const MAX_FILTERS = 8;
/** Largest remaining length of the other packets that a broker sends to a client with QoS 1. @source MQTT 3.1.1, 3 */
const maxControlBytes: ReadonlyMap<number, number> = new Map([
  // CONNACK, PUBACK, SUBACK, UNSUBACK, PINGRESP
  [2, 2],
  [4, 2],
  [9, 2 + MAX_FILTERS],
  [11, 2],
  [13, 0],
]);

/** The bytes are not a packet that gw accepts; the connection must end. */
export class PacketError extends Error {}

export interface PacketLimit {
  /**
   * Takes received bytes in chunks of any size and yields those to be parsed. An oversized PUBLISH loses its payload, so
   * that it can be acknowledged and is not delivered again for ever. Throws PacketError behind the packets before the
   * wrong one, also for every later chunk.
   */
  push(chunk: Uint8Array): Iterable<Uint8Array>;
  /** Called once for each parsed PUBLISH, in order: the size of its payload if that was removed; null otherwise. */
  nextPublish(): number | null;
}

export function createPacketLimit(maxPayloadBytes = MAX_PAYLOAD_BYTES): PacketLimit {
  /** Start of a packet that is not complete enough to decide about it; at most 7 bytes. */
  let head: number[] = [];
  /** Bytes of the present packet that are passed on, and that are dropped after them. */
  let passBytes = 0;
  let dropBytes = 0;
  let broken: PacketError | undefined;
  const oversized = new Map<number, number>();
  let publishesIn = 0;
  let publishesOut = 0;

  const fail = (what: string): never => {
    broken = new PacketError(what);
    throw broken;
  };

  /** Decides about the packet whose first bytes are in `head`; returns what is passed on, undefined: more is needed. */
  function decide(): Uint8Array | undefined {
    const [first = 0] = head;
    const type = first >> 4;
    const maxBytes = maxControlBytes.get(type);
    if (type !== PUBLISH && maxBytes === undefined)
      fail(`the broker sent a packet of type ${type}, which gw does not expect`);
    const varint = readVarint(head);
    if (varint === 'malformed') return fail('the broker sent a packet with a malformed length');
    if (varint === undefined) return undefined;
    const { value: length, bytes } = varint;
    if (maxBytes !== undefined) {
      if (length > maxBytes) fail(`the broker sent a packet of type ${type} with ${length} bytes`);
      passBytes = length;
      return Uint8Array.from(head);
    }
    const qos = (first >> 1) & 3;
    // Project decision: gw subscribes with QoS 1, and the parser keeps each QoS 2 message until it is released.
    if (qos > 1) fail(`the broker sent a message with QoS ${qos}; gw subscribes with QoS 1`);
    const at = 1 + bytes;
    if (length < 2) fail('the broker sent a message without a topic');
    const [high, low] = [head[at], head[at + 1]];
    if (high === undefined || low === undefined) return undefined;
    const restBytes = high * 256 + low + (qos === 0 ? 0 : 2);
    const payloadBytes = length - 2 - restBytes;
    if (payloadBytes < 0) fail('the broker sent a message whose topic is longer than its packet');
    const index = publishesIn;
    publishesIn += 1;
    if (payloadBytes <= maxPayloadBytes) {
      passBytes = length - 2;
      return Uint8Array.from(head);
    }
    oversized.set(index, payloadBytes);
    passBytes = restBytes;
    dropBytes = payloadBytes;
    return Uint8Array.from([first, ...varintOf(2 + restBytes), high, low]);
  }

  return {
    *push(chunk) {
      if (broken !== undefined) throw broken;
      let at = 0;
      while (at < chunk.length) {
        if (passBytes > 0) {
          const piece = chunk.subarray(at, at + passBytes);
          passBytes -= piece.length;
          at += piece.length;
          yield piece;
        } else if (dropBytes > 0) {
          const skipped = Math.min(dropBytes, chunk.length - at);
          dropBytes -= skipped;
          at += skipped;
        } else {
          head.push(chunk[at] as number);
          at += 1;
          const decided = decide();
          if (decided !== undefined) {
            head = [];
            yield decided;
          }
        }
      }
    },
    nextPublish() {
      const bytes = oversized.get(publishesOut) ?? null;
      oversized.delete(publishesOut);
      publishesOut += 1;
      return bytes;
    },
  };
}

/** The remaining length after the first byte; undefined: incomplete. @source MQTT 3.1.1, 2.2.3 */
function readVarint(head: readonly number[]): { value: number; bytes: number } | 'malformed' | undefined {
  let value = 0;
  for (let index = 0; index < MAX_VARINT_BYTES; index += 1) {
    const byte = head[1 + index];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 128 ** index;
    if ((byte & 0x80) === 0) return { value, bytes: index + 1 };
  }
  return 'malformed';
}

function varintOf(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  do {
    bytes.push(rest >= 128 ? (rest % 128) | 0x80 : rest);
    rest = Math.floor(rest / 128);
  } while (rest > 0);
  return bytes;
}
