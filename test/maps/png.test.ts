import { crc32, deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPng } from '../../src/lib/maps/png.ts';
import { runs } from '../properties.ts';
import { picture } from './samples.ts';

function chunk(name: string, body: Uint8Array): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(name, 'latin1'), body, Buffer.alloc(4)]);
  bytes.writeUInt32BE(body.length, 0);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4);
  return bytes;
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function header(width: number, height: number, { depth = 8, colour = 0, interlace = 0 } = {}): Buffer {
  const body = Buffer.alloc(13);
  body.writeUInt32BE(width, 0);
  body.writeUInt32BE(height, 4);
  body.set([depth, colour, 0, 0, interlace], 8);
  return chunk('IHDR', body);
}

function png(first: Buffer, pixels: number, more: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([
    signature,
    first,
    more,
    chunk('IDAT', deflateSync(Buffer.alloc(pixels))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

describe('a PNG', () => {
  it('is valid with every critical chunk and pixel data of the size in IHDR', async () => {
    expect(await checkPng(picture(13, 7))).toEqual({ ok: true, width: 13, height: 7 });
    expect(await checkPng(png(header(10, 3, { depth: 1 }), 3 * 3))).toMatchObject({ ok: true });
    expect(await checkPng(png(header(10, 3, { colour: 6 }), 3 * 41))).toMatchObject({ ok: true });
    expect(await checkPng(png(header(10, 3, { depth: 16, colour: 2 }), 3 * 61))).toMatchObject({ ok: true });
    // Adam7, 5 by 5 grey: passes of 1x1, 1x1, 2x1, 1x2, 3x1 … as the PNG specification splits them.
    const sizes = [
      [1, 1],
      [1, 1],
      [2, 1],
      [1, 2],
      [3, 1],
      [2, 3],
      [5, 2],
    ] as const;
    const bytes = sizes.reduce((sum, [columns, rows]) => sum + rows * (1 + columns), 0);
    expect(await checkPng(png(header(5, 5, { interlace: 1 }), bytes))).toMatchObject({ ok: true });
    expect(await checkPng(png(header(5, 5, { interlace: 1 }), bytes - 1))).toMatchObject({ ok: false });
  });

  it('may contain ancillary chunks, valid or not, and data after its end', async () => {
    const text = chunk('tEXt', Buffer.from('note'));
    text[text.length - 1] = (text[text.length - 1] ?? 0) ^ 1;
    expect(await checkPng(png(header(2, 2), 6, text))).toMatchObject({ ok: true });
    expect(await checkPng(Buffer.concat([picture(), Buffer.from('after')]))).toMatchObject({ ok: true });
  });

  it.each([
    ['empty', Buffer.alloc(0), 'it is empty'],
    ['a web page', Buffer.from('<html>'), 'not a PNG'],
    ['truncated', picture().subarray(0, -13), 'it is truncated'],
    ['without IHDR', Buffer.concat([signature, chunk('IEND', Buffer.alloc(0))]), 'its first chunk is not IHDR'],
    ['of size 0', png(header(0, 4), 0), 'IHDR has invalid values'],
    ['of an invalid colour type', png(header(4, 4, { colour: 5 }), 20), 'IHDR has invalid values'],
    [
      'of excessive size',
      png(header(2 ** 31, 2 ** 31), 20),
      'its size of 2147483648 × 2147483648 pixels exceeds the limit',
    ],
    ['with too few pixels', png(header(4, 4), 19), 'its pixel data is shorter than 4 × 4 pixels'],
    ['with too many pixels', png(header(4, 4), 50_000_000), 'its pixel data is longer than 4 × 4 pixels'],
    [
      'with corrupt pixel data',
      Buffer.concat([signature, header(4, 4), chunk('IDAT', Buffer.from('xyz')), chunk('IEND', Buffer.alloc(0))]),
      'its pixel data is corrupt',
    ],
  ])('that is %s is invalid', async (_, bytes, problem) => {
    expect(await checkPng(bytes)).toEqual({ ok: false, problem });
  });

  it('is invalid when truncated anywhere, or with a flipped bit in a critical chunk', {
    tags: 'property',
  }, async () => {
    const whole = picture();
    for (let length = 0; length < whole.length; length += 1) {
      expect(await checkPng(whole.subarray(0, length))).toMatchObject({ ok: false });
    }
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(7), async (at, bit) => {
        const bytes = Buffer.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        const reading = await checkPng(bytes);
        // A flipped bit may turn a critical chunk name into an ancillary one; then the chunk is missing.
        expect(reading.ok).toBe(false);
      }),
      { numRuns: runs(300) },
    );
  });
});
