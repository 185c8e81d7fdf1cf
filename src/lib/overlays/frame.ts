import type { Bounds } from './geometry.ts';
import type { MapFrame } from './model.ts';

/** Metres. A map whose corner lies farther from its origin, or whose pixels are larger, is no floor of a house. */
const FARTHEST_M = 1_000_000;
const COARSEST_M = 10;
/** Pixels along one side. A header that says more is taken for damaged. */
const LONGEST_SIDE = 100_000;

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52];

/**
 * Where the picture of a map lies: `grid_origin_x`, `grid_origin_y` (metres, lower left pixel) and
 * `grid_resolution` (metres per pixel) of the map object, and the size out of the header of its PNG.
 * null when the map gives no usable grid; width and height null when there is no picture.
 * @source vendor REST book (HINWEIS)
 */
export function frameOf(map: Readonly<Record<string, unknown>> | null, image: Uint8Array | null): MapFrame | null {
  if (map === null) return null;
  const originXM = bounded(map, 'grid_origin_x', FARTHEST_M);
  const originYM = bounded(map, 'grid_origin_y', FARTHEST_M);
  const resolutionM = bounded(map, 'grid_resolution', COARSEST_M);
  if (originXM === null || originYM === null || resolutionM === null || resolutionM <= 0) return null;
  const size = image === null ? null : pngSize(image);
  return { originXM, originYM, resolutionM, width: size?.width ?? null, height: size?.height ?? null };
}

/** The picture in metres of the map; null without one. */
export function extentOf(frame: MapFrame | null): Bounds | null {
  if (frame === null || frame.width === null || frame.height === null) return null;
  const { originXM, originYM, resolutionM, width, height } = frame;
  return {
    minXM: originXM,
    minYM: originYM,
    maxXM: originXM + width * resolutionM,
    maxYM: originYM + height * resolutionM,
  };
}

/** Width and height in pixels out of the header of a PNG; null when the bytes are none. The pixels are not read. */
export function pngSize(bytes: Uint8Array): { readonly width: number; readonly height: number } | null {
  if (bytes.length < 33 || signature.some((byte, at) => bytes[at] !== byte)) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const width = view.getUint32(16);
  const height = view.getUint32(20);
  const fits = width >= 1 && height >= 1 && width <= LONGEST_SIDE && height <= LONGEST_SIDE;
  return fits ? { width, height } : null;
}

function bounded(map: Readonly<Record<string, unknown>>, key: string, most: number): number | null {
  const value = Object.hasOwn(map, key) ? map[key] : undefined;
  return typeof value === 'number' && Math.abs(value) <= most ? value : null;
}
