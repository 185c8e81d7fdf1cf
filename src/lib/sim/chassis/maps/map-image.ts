import { PNG } from 'pngjs';
import { createGrid, FREE, type Grid, UNKNOWN, WALL } from '../floor/grid.ts';

const shades: Readonly<Record<number, number>> = { [FREE]: 255, [UNKNOWN]: 127, [WALL]: 0 };
/** A larger picture is refused before it is decompressed. */
const MAX_PIXELS = 4_000_000;

/** The grid as a grey PNG, north up: the first row of the picture is the highest y. */
export function gridToPng(grid: Grid, every = 1): Buffer {
  const width = Math.floor(grid.width / every);
  const height = Math.floor(grid.height / every);
  const png = new PNG({ width, height, colorType: 0, inputColorType: 0, bitDepth: 8, inputHasAlpha: false });
  const pixels = Buffer.alloc(width * height);
  for (let row = 0; row < height; row += 1) {
    const from = (grid.height - 1 - row * every) * grid.width;
    for (let column = 0; column < width; column += 1) {
      pixels[row * width + column] = shades[grid.cells[from + column * every] ?? UNKNOWN] ?? 127;
    }
  }
  png.data = pixels;
  return PNG.sync.write(png, { colorType: 0, inputColorType: 0, bitDepth: 8, inputHasAlpha: false });
}

/** Decodes an occupancy grid from a PNG; undefined when it is not a PNG or too large. */
export function gridFromPng(
  bytes: Buffer,
  place: { readonly resolutionM: number; readonly originXM: number; readonly originYM: number },
): Grid | undefined {
  if (bytes.length < 33 || bytes.toString('latin1', 1, 4) !== 'PNG') return undefined;
  const width = bytes.readUInt32BE(16);
  const height = bytes.readUInt32BE(20);
  if (width < 1 || height < 1 || width * height > MAX_PIXELS) return undefined;
  let png: PNG;
  try {
    png = PNG.sync.read(bytes);
  } catch {
    return undefined;
  }
  const grid = createGrid({ width, height, ...place }, UNKNOWN);
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const shade = png.data[4 * (row * width + column)] ?? 127;
      grid.cells[(height - 1 - row) * width + column] = shade > 200 ? FREE : shade < 60 ? WALL : UNKNOWN;
    }
  }
  return grid;
}
