import { crc32, createInflate } from 'node:zlib';
import { isPng, PNG_SIGNATURE } from '../png/index.ts';

/** Decision of ours: a picture of more bytes than this, unpacked, is not looked into. */
const MOST_UNPACKED = 512 * 1024 * 1024;
/** Channels by colour type. */
const channels: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** The seven passes of an interlaced picture: first column, first row, step across, step down. */
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
 * Whether these bytes are a whole PNG: every part that a picture needs is there with its checksum, and exactly as
 * many pixels come out of it as its head says. The problem is a clause: `it is cut off`.
 */
export async function checkPng(bytes: Uint8Array): Promise<PngReading> {
  const wrong = (problem: string): PngReading => ({ ok: false, problem });
  if (bytes.byteLength === 0) return wrong('it is empty');
  if (!isPng(bytes)) return wrong('it is no PNG');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let head: Head | undefined;
  const pixels: Uint8Array[] = [];
  let ended = false;
  for (let at = PNG_SIGNATURE.length; !ended; ) {
    if (at + 12 > bytes.byteLength) return wrong('it is cut off');
    const length = view.getUint32(at);
    const next = at + 12 + length;
    if (next > bytes.byteLength) return wrong('it is cut off');
    const name = Buffer.from(bytes.subarray(at + 4, at + 8)).toString('latin1');
    // Parts with a small first letter are no part of the picture itself.
    const needed = /^[A-Z]/.test(name);
    if (needed && crc32(bytes.subarray(at + 4, next - 4)) !== view.getUint32(next - 4)) {
      return wrong(`its part ${/^[A-Za-z]{4}$/.test(name) ? name : 'of no name'} does not have its checksum`);
    }
    if (head === undefined) {
      if (name !== 'IHDR' || length !== 13) return wrong('it does not begin with its head');
      head = headOf(new DataView(bytes.buffer, bytes.byteOffset + at + 8, 13));
    } else if (name === 'IDAT') pixels.push(bytes.subarray(at + 8, next - 4));
    ended = name === 'IEND';
    at = next;
  }
  if (head === undefined) return wrong('it does not begin with its head');
  const expected = expectedBytes(head);
  if (expected === null) return wrong('its head names a kind of picture that does not exist');
  if (expected > MOST_UNPACKED) return wrong(`it says that it measures ${head.width} × ${head.height} pixels`);
  const found = await inflatedBytes(pixels, expected);
  if (found === null) return wrong('its pixels are damaged');
  if (found !== expected) {
    return wrong(
      `its pixels are ${found > expected ? 'more' : 'fewer'} than the ${head.width} × ${head.height} of its head`,
    );
  }
  return { ok: true, width: head.width, height: head.height };
}

interface Head {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly colour: number;
  readonly interlace: number;
}

function headOf(view: DataView): Head {
  return {
    width: view.getUint32(0),
    height: view.getUint32(4),
    depth: view.getUint8(8),
    colour: view.getUint8(9),
    interlace: view.getUint8(12),
  };
}

/** Each row has one byte before its pixels. null: no such kind of picture. */
function expectedBytes({ width, height, depth, colour, interlace }: Head): number | null {
  const bits = (channels[colour] ?? 0) * depth;
  if (bits === 0 || ![1, 2, 4, 8, 16].includes(depth) || width === 0 || height === 0 || interlace > 1) return null;
  const size = (columns: number, rows: number) => (columns === 0 ? 0 : rows * (1 + Math.ceil((columns * bits) / 8)));
  if (interlace === 0) return size(width, height);
  return passes.reduce((sum, [x, y, across, down]) => {
    return sum + size(Math.max(0, Math.ceil((width - x) / across)), Math.max(0, Math.ceil((height - y) / down)));
  }, 0);
}

/** Counts, and stops counting soon after there are too many. */
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
