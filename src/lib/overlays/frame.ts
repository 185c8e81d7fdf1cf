import { pngSize } from '../png/index.ts';
import type { Bounds } from './geometry.ts';
import type { MapFrame } from './model.ts';

/** In metres. No map of a building has its corner farther from its origin, or larger pixels. */
const MAX_DISTANCE_M = 1_000_000;
const MAX_RESOLUTION_M = 10;

/**
 * Position and scale of the picture of a map: `grid_origin_x`, `grid_origin_y` (metres, lower left pixel) and
 * `grid_resolution` (metres per pixel) of the map object, and the size from the header of its PNG.
 * null when the map has no valid grid; width and height null when there is no picture.
 * @source vendor REST book (HINWEIS)
 */
export function frameOf(map: Readonly<Record<string, unknown>> | null, image: Uint8Array | null): MapFrame | null {
  if (map === null) return null;
  const originXM = bounded(map, 'grid_origin_x', MAX_DISTANCE_M);
  const originYM = bounded(map, 'grid_origin_y', MAX_DISTANCE_M);
  const resolutionM = bounded(map, 'grid_resolution', MAX_RESOLUTION_M);
  if (originXM === null || originYM === null || resolutionM === null || resolutionM <= 0) return null;
  const size = image === null ? null : pngSize(image);
  return { originXM, originYM, resolutionM, width: size?.width ?? null, height: size?.height ?? null };
}

/** The extent of the picture in metres of the map; null without a picture. */
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

function bounded(map: Readonly<Record<string, unknown>>, key: string, max: number): number | null {
  const value = Object.hasOwn(map, key) ? map[key] : undefined;
  return typeof value === 'number' && Math.abs(value) <= max ? value : null;
}
