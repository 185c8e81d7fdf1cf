import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeFrame, encodeFrame } from '../../../../src/lib/sim/cloud/tunnel/codec.ts';
import type { TunnelMessage } from '../../../../src/lib/tunnel/wire.ts';
import { runs } from '../../../properties.ts';
import { framed, hex } from './client.ts';

const plain = (message: TunnelMessage) => ({ ...message, payload: Buffer.from(message.payload) });
function decode(frame: Uint8Array): TunnelMessage {
  const decoded = decodeFrame(frame);
  if (decoded.kind === 'invalid') throw new Error(decoded.reason);
  return plain(decoded.message);
}

describe('the codec of the simulated service', () => {
  it.each([
    ['a negative stream id as ten bytes', '080110ffffffffffffffffff01', { streamId: -1 }],
    ['the last of a repeated field', '080110011002', { streamId: 2 }],
    ['a varint with zeros at its end', '0881808000', { type: 'data', typeNumber: 1 }],
    ['a connection id above 31 bits', '080138ffffffff0f', { connectionId: 0xffffffff }],
    ['an unknown type', '08631801', { type: 'unknown', typeNumber: 99, ignorable: true }],
    ['a negative type', '08ffffffffffffffffff01', { type: 'unknown', typeNumber: -1 }],
    ['nothing as the type 0', '', { type: 'unknown', typeNumber: 0 }],
  ])('decodes %s', (_, body, fields) => {
    expect(decodeFrame(framed(hex(body)))).toMatchObject({ kind: 'message', message: fields });
  });

  it.each([
    ['an unknown field', '08014001', 'the unknown field 8'],
    ['field 0', '0001', 'the unknown field 0'],
    ['a group', '0b0801', 'field 1 with wire type 3'],
    ['a payload as a number', '2001', 'field 4 with wire type 0'],
    ['a cut varint', '0880', 'a cut varint in field 1'],
    ['a varint of eleven bytes', '08ffffffffffffffffffff01', 'a cut varint in field 1'],
    ['a length above the message', '08012205aa', 'a cut field 4'],
    ['a length above 31 bits', '080122ffffffff0f', 'a cut field 4'],
    ['a service id that is not UTF-8', '08012a02c328', 'field 5 is not UTF-8'],
  ])('refuses %s', (_, body, reason) => {
    expect(decodeFrame(framed(hex(body)))).toEqual({ kind: 'invalid', reason });
  });

  it('never throws, and what it accepts it encodes to an equal message', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (body) => {
        const decoded = decodeFrame(framed(body));
        if (decoded.kind === 'invalid') return;
        expect(decode(encodeFrame(decoded.message))).toEqual(plain(decoded.message));
      }),
      { numRuns: runs(3_000) },
    );
  });
});
