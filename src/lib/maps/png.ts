import { crc32, createInflate } from 'node:zlib';
import { isPng, PNG_SIGNATURE } from '../png/index.ts';

/** Limit of the unpacked pixel data. Project decision. */
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024;
/** Channels by colour type. */
const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** The seven passes of an interlaced PNG: first column, first row, column step, row step. */
const passes = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

export type PngReading =
  | { readonly ok: true; readonly width: number; readonly height: number }
  | { readonly ok: false; readonly problem: string };

/**
 * Whether these bytes are a complete PNG: every critical chunk has its checksum, and the pixel data has exactly the size
 * given by IHDR. The problem is a clause: `it is truncated`.
 */
export async function checkPng(bytes: Uint8Array): Promise<PngReading> {
  const invalid = (problem: string): PngReading => ({ ok: false, problem });
  if (bytes.byteLength === 0) return invalid('it is empty');
  if (!isPng(bytes)) return invalid('not a PNG');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let header: Header | undefined;
  const pixels: Uint8Array[] = [];
  let ended = false;
  for (let at = PNG_SIGNATURE.length; !ended; ) {
    if (at + 12 > bytes.byteLength) return invalid('it is truncated');
    const length = view.getUint32(at);
    const next = at + 12 + length;
    if (next > bytes.byteLength) return invalid('it is truncated');
    const name = Buffer.from(bytes.subarray(at + 4, at + 8)).toString('latin1');
    // Chunks with a lowercase first letter are ancillary.
    const isCritical = /^[A-Z]/.test(name);
    if (isCritical && crc32(bytes.subarray(at + 4, next - 4)) !== view.getUint32(next - 4)) {
      return invalid(`wrong CRC of chunk ${/^[A-Za-z]{4}$/.test(name) ? name : '(invalid name)'}`);
    }
    if (header === undefined) {
      if (name !== 'IHDR' || length !== 13) return invalid('its first chunk is not IHDR');
      header = headerOf(new DataView(bytes.buffer, bytes.byteOffset + at + 8, 13));
    } else if (name === 'IDAT') pixels.push(bytes.subarray(at + 8, next - 4));
    ended = name === 'IEND';
    at = next;
  }
  if (header === undefined) return invalid('its first chunk is not IHDR');
  const expected = expectedBytes(header);
  if (expected === null) return invalid('IHDR has invalid values');
  if (expected > MAX_UNPACKED_BYTES)
    return invalid(`its size of ${header.width} × ${header.height} pixels exceeds the limit`);
  const found = await inflatedBytes(pixels, expected);
  if (found === null) return invalid('its pixel data is corrupt');
  if (found !== expected) {
    return invalid(
      `its pixel data is ${found > expected ? 'longer' : 'shorter'} than ${header.width} × ${header.height} pixels`,
    );
  }
  return { ok: true, width: header.width, height: header.height };
}

interface Header {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly colour: number;
  readonly interlace: number;
}

function headerOf(view: DataView): Header {
  return {
    width: view.getUint32(0),
    height: view.getUint32(4),
    depth: view.getUint8(8),
    colour: view.getUint8(9),
    interlace: view.getUint8(12),
  };
}

/** Size of the pixel data; each row has a filter byte. null: invalid IHDR values. */
function expectedBytes({ width, height, depth, colour, interlace }: Header): number | null {
  const bits = (channels[colour] ?? 0) * depth;
  if (bits === 0 || ![1, 2, 4, 8, 16].includes(depth) || width === 0 || height === 0 || interlace > 1) return null;
  const size = (columns: number, rows: number) => (columns === 0 ? 0 : rows * (1 + Math.ceil((columns * bits) / 8)));
  if (interlace === 0) return size(width, height);
  return passes.reduce((sum, [x, y, columnStep, rowStep]) => {
    return sum + size(Math.max(0, Math.ceil((width - x) / columnStep)), Math.max(0, Math.ceil((height - y) / rowStep)));
  }, 0);
}

/** Size of the inflated data; stops when it exceeds `expected`. */
async function inflatedBytes(pixels: readonly Uint8Array[], expected: number): Promise<number | null> {
  const inflate = createInflate({ chunkSize: 256 * 1024 });
  inflate.end(Buffer.concat(pixels));
  let size = 0;
  try {
    for await (const chunk of inflate as AsyncIterable<Buffer>) {
      size += chunk.byteLength;
      if (size > expected) break;
    }
  } catch {
    return null;
  }
  return size;
}
