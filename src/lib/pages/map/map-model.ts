import type { PageState } from '../model.ts';

/** What the map of the operator surface shows, in metres of the map; x to the right, y up. */
export interface MapModel {
  /** The floor plan; null: not available here. */
  readonly plan: { readonly href: string; readonly widthM: number; readonly heightM: number } | null;
  /** Lower left corner of the floor plan. */
  readonly origin: { readonly xM: number; readonly yM: number };
  readonly features: readonly Feature[];
  /** Some features are not shown: there are too many, or they could not be read. */
  readonly isPartial: boolean;
}

/**
 * Names the map that a page loads in this state, where `loaded` names the one that it loaded last; null: that one stays.
 * A map that was loaded while the robot was away is loaded again once it is back.
 */
export function mapToLoad(loaded: string, { map: { value }, link }: Pick<PageState, 'map' | 'link'>): string | null {
  if (value === null) return null;
  const present = `${value.uid} ${value.mapVersion} ${value.overlaysVersion}`;
  const last = `${present} last`;
  if (loaded === present) return null;
  if (link.kind === 'connected') return present;
  return loaded === last ? null : last;
}

export interface Feature {
  readonly kind: 'point' | 'lane' | 'zone';
  /** Own name of the feature, shortened; null without one. */
  readonly name: string | null;
  /** Rings of a zone or paths of a lane; each place of a point is one path of one position. */
  readonly paths: readonly (readonly (readonly [xM: number, yM: number])[])[];
}

/** Project decision: beyond this a tablet no longer moves the map smoothly. */
export const MAX_FEATURES = 2_000;
const MAX_POSITIONS = 40_000;
const MAX_NAME_LENGTH = 60;
const MAX_COORDINATE_M = 10_000;

/** Parts of a map as data that place its image; null where they are no numbers that can place one. */
export interface PlanPlace {
  readonly originXM: number;
  readonly originYM: number;
  readonly metresPerPixel: number;
}

/**
 * Reads a map as the chassis describes it: foreign data, of which whatever cannot be read is left out.
 * @source vendor description (HINWEIS): grid_origin_x, grid_origin_y and grid_resolution in metres, overlays as JSON text
 */
export function readMap(map: unknown): { readonly place: PlanPlace | null } & Pick<MapModel, 'features' | 'isPartial'> {
  const found = isObject(map) ? map : {};
  const [x, y, resolution] = [found.grid_origin_x, found.grid_origin_y, found.grid_resolution];
  const hasPlace =
    isCoordinate(x) && isCoordinate(y) && typeof resolution === 'number' && resolution > 1e-4 && resolution < 100;
  return {
    place: hasPlace ? { originXM: x, originYM: y, metresPerPixel: resolution } : null,
    ...readFeatures(found.overlays),
  };
}

function readFeatures(overlays: unknown): Pick<MapModel, 'features' | 'isPartial'> {
  let parsed: unknown;
  try {
    const isText = typeof overlays === 'string' && overlays.trim() !== '';
    parsed = isText ? JSON.parse(overlays) : typeof overlays === 'string' ? null : overlays;
  } catch {
    return { features: [], isPartial: true };
  }
  const list = featuresIn(parsed);
  const features: Feature[] = [];
  let positions = 0;
  let isPartial = list === null || list.length > MAX_FEATURES;
  for (const one of list?.slice(0, MAX_FEATURES) ?? []) {
    const feature = readFeature(one);
    positions += feature?.paths.reduce((sum, path) => sum + path.length, 0) ?? 0;
    if (feature === null || positions > MAX_POSITIONS) isPartial = true;
    else features.push(feature);
  }
  return { features, isPartial };
}

/** A collection, a list of features, or a single one; null where the features of a map cannot be found. */
function featuresIn(overlays: unknown): readonly unknown[] | null {
  if (Array.isArray(overlays)) return overlays;
  if (overlays === null || overlays === undefined) return [];
  if (!isObject(overlays)) return null;
  if (Array.isArray(overlays.features)) return overlays.features;
  if (isObject(overlays.geometry)) return [overlays];
  return Object.keys(overlays).length === 0 ? [] : null;
}

/** The kind of a geometry, and its paths by its coordinates. */
const kinds: Readonly<
  Record<string, { readonly kind: Feature['kind']; readonly pathsOf: (coordinates: unknown) => unknown }>
> = {
  Point: { kind: 'point', pathsOf: (place) => [[place]] },
  MultiPoint: { kind: 'point', pathsOf: (places) => (Array.isArray(places) ? places.map((place) => [place]) : null) },
  LineString: { kind: 'lane', pathsOf: (line) => [line] },
  MultiLineString: { kind: 'lane', pathsOf: (lines) => lines },
  Polygon: { kind: 'zone', pathsOf: (rings) => rings },
  MultiPolygon: {
    kind: 'zone',
    pathsOf: (polygons) =>
      Array.isArray(polygons) && polygons.every((rings) => Array.isArray(rings)) ? polygons.flat() : null,
  },
};

function readFeature(one: unknown): Feature | null {
  if (!isObject(one) || !isObject(one.geometry)) return null;
  const { type, coordinates } = one.geometry;
  const known = typeof type === 'string' && Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  if (known === undefined) return null;
  const nested = known.pathsOf(coordinates);
  if (!Array.isArray(nested)) return null;
  const paths = nested.map((path) => (Array.isArray(path) ? path.map(readPosition) : null));
  if (paths.length === 0 || paths.some((path) => path === null || path.length === 0 || path.includes(null)))
    return null;
  const name = isObject(one.properties) ? one.properties.name : null;
  return {
    kind: known.kind,
    name: typeof name === 'string' && name !== '' ? name.slice(0, MAX_NAME_LENGTH) : null,
    paths: paths as Feature['paths'],
  };
}

function readPosition(position: unknown): readonly [number, number] | null {
  if (!Array.isArray(position)) return null;
  const [x, y] = position as unknown[];
  return isCoordinate(x) && isCoordinate(y) ? [x, y] : null;
}

function isCoordinate(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= MAX_COORDINATE_M;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
