import { crc32, deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkPng } from '../../src/lib/maps/png.ts';
import { picture } from './samples.ts';

function chunk(name: string, body: Uint8Array): Buffer {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(name, 'latin1'), body, Buffer.alloc(4)]);
  bytes.writeUInt32BE(body.length, 0);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4);
  return bytes;
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function head(width: number, height: number, { depth = 8, colour = 0, interlace = 0 } = {}): Buffer {
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

describe('a picture', () => {
  it('is whole when every part that it needs is there and its pixels are as many as its head says', async () => {
    expect(await checkPng(picture(13, 7))).toEqual({ ok: true, width: 13, height: 7 });
    expect(await checkPng(png(head(10, 3, { depth: 1 }), 3 * 3))).toMatchObject({ ok: true });
    expect(await checkPng(png(head(10, 3, { colour: 6 }), 3 * 41))).toMatchObject({ ok: true });
    expect(await checkPng(png(head(10, 3, { depth: 16, colour: 2 }), 3 * 61))).toMatchObject({ ok: true });
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
    expect(await checkPng(png(head(5, 5, { interlace: 1 }), bytes))).toMatchObject({ ok: true });
    expect(await checkPng(png(head(5, 5, { interlace: 1 }), bytes - 1))).toMatchObject({ ok: false });
  });

  it('may carry parts that are none of its pixels, whole or not, and something behind its end', async () => {
    const text = chunk('tEXt', Buffer.from('note'));
    text[text.length - 1] = (text[text.length - 1] ?? 0) ^ 1;
    expect(await checkPng(png(head(2, 2), 6, text))).toMatchObject({ ok: true });
    expect(await checkPng(Buffer.concat([picture(), Buffer.from('behind')]))).toMatchObject({ ok: true });
  });

  it.each([
    ['empty', Buffer.alloc(0), 'it is empty'],
    ['a web page', Buffer.from('<html>'), 'it is no PNG'],
    ['cut off', picture().subarray(0, -13), 'it is cut off'],
    ['without its head', Buffer.concat([signature, chunk('IEND', Buffer.alloc(0))]), 'it does not begin with its head'],
    ['of no size', png(head(0, 4), 0), 'its head names a kind of picture that does not exist'],
    [
      'of a kind that does not exist',
      png(head(4, 4, { colour: 5 }), 20),
      'its head names a kind of picture that does not exist',
    ],
    ['of absurd size', png(head(2 ** 31, 2 ** 31), 20), 'it says that it measures 2147483648 × 2147483648 pixels'],
    ['with too few pixels', png(head(4, 4), 19), 'its pixels are fewer than the 4 × 4 of its head'],
    ['with a flood of pixels', png(head(4, 4), 50_000_000), 'its pixels are more than the 4 × 4 of its head'],
    [
      'with damaged pixels',
      Buffer.concat([signature, head(4, 4), chunk('IDAT', Buffer.from('xyz')), chunk('IEND', Buffer.alloc(0))]),
      'its pixels are damaged',
    ],
  ])('that is %s is none', async (_, bytes, problem) => {
    expect(await checkPng(bytes)).toEqual({ ok: false, problem });
  });

  it('is none once it is cut anywhere, or a bit of what it needs is turned', async () => {
    const whole = picture();
    for (let length = 0; length < whole.length; length += 1) {
      expect(await checkPng(whole.subarray(0, length))).toMatchObject({ ok: false });
    }
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(7), async (at, bit) => {
        const bytes = Buffer.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        const reading = await checkPng(bytes);
        // A turned bit may make an unneeded part of a needed one's name; then the picture is none for want of it.
        expect(reading.ok).toBe(false);
      }),
      { numRuns: 300 },
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        expect(await checkPng(bytes)).toMatchObject({ ok: false });
      }),
    );
  });
});
