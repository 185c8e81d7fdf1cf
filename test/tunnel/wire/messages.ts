import fc from 'fast-check';
import type { TunnelMessage, TunnelMessageType } from '../../../src/lib/tunnel/wire.ts';

const EMPTY_MESSAGE: TunnelMessage = {
  ...{ type: 'unknown', typeNumber: 0, streamId: 0, connectionId: 0, ignorable: false, serviceId: '' },
  ...{ payload: new Uint8Array(0), availableServiceIds: [] },
};

const numbers: Readonly<Record<TunnelMessageType, number>> = {
  unknown: 0,
  data: 1,
  'stream-start': 2,
  'stream-reset': 3,
  'session-reset': 4,
  'service-ids': 5,
  'connection-start': 6,
  'connection-reset': 7,
};

/** Of a source. */
export const requestTypes = [
  ...(['stream-start', 'connection-start', 'data'] as const),
  ...(['stream-reset', 'connection-reset', 'session-reset'] as const),
];

/** A message as the reader returns it. */
export function message(fields: Partial<TunnelMessage> & Pick<TunnelMessage, 'type'>): TunnelMessage {
  return { ...EMPTY_MESSAGE, typeNumber: numbers[fields.type], ...fields };
}

export const hex = (text: string) => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));

const name = fc.string({ maxLength: 40, unit: 'grapheme' });

/** Any message that may be decoded, including unknown types. */
export const anyMessage: fc.Arbitrary<TunnelMessage> = fc
  .record({
    typeNumber: fc.oneof(fc.integer({ min: 1, max: 7 }), fc.integer({ min: 8, max: 2 ** 31 - 1 })),
    streamId: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 ** 31 - 1 })),
    ignorable: fc.boolean(),
    payload: fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc.nat({ max: 64_512 }).map((size) => Uint8Array.from({ length: size }, (_, index) => index * 7)),
    ),
    serviceId: name,
    availableServiceIds: fc.array(name, { maxLength: 4 }),
    connectionId: fc.oneof(fc.nat({ max: 3 }), fc.integer({ min: 0, max: 2 ** 32 - 1 })),
  })
  .map((fields) => {
    const known = (Object.keys(numbers) as TunnelMessageType[]).find((type) => numbers[type] === fields.typeNumber);
    return { ...fields, type: known ?? 'unknown' };
  });

/** Cuts bytes into chunks of these lengths, over and over. */
export function chunked(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let [at, turn] = [0, 0]; at < bytes.length; turn += 1) {
    const length = Math.max(1, lengths[turn % lengths.length] ?? 1);
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
}
