import { isRecord } from '../../json/index.ts';
import { plural } from '../../text/index.ts';
import { type Bounds, boundsOf, joinBounds, placesOf } from '../geometry.ts';
import type { Feature, Overlays, Place } from '../model.ts';
import type { RuleInput } from './input.ts';
import { MAX_COORDINATE_M, MAX_SPOT_EXTENT, MIN_LAND_DISTANCE_DEG } from './table.ts';
import { namingAll, rounded, spot, wording } from './wording.ts';

/** Fewer features on one spot may be duplicates. Project decision. */
const MIN_PLACES = 3;
const MAX_LONGITUDE_DEG = 180;
const MAX_LATITUDE_DEG = 90;

/** The container of the features, and the likely unit and system of their coordinates. */
export function findCoordinateFaults({ overlays, report }: RuleInput): void {
  const { container, features, map, text } = overlays;
  if (container !== 'feature-collection') {
    report(
      'not-a-feature-collection',
      [],
      () => `The overlays are ${containerWords[container]}, read as a collection.`,
    );
  }
  if (text.trim() === '' || text.trim() === '{}') {
    report('no-overlays', [], () => `The map has no overlays: ${absenceOf(map)}.`);
  }
  reportReferences(overlays, report);
  reportPlaces(overlays, report);
  const common = commonSpot(features);
  if (common === null || !canBeDegrees(common.box)) return;
  const { box, count } = common;
  report('coordinates-like-longitude-latitude', [], () => {
    const { minXM, minYM, maxXM, maxYM } = box;
    const [across, up] = [rounded(maxXM - minXM, 6), rounded(maxYM - minYM, 6)];
    const all = plural(count, 'feature lies', 'features lie');
    return `All ${all} within ${across} by ${up} at ${spot([minXM, minYM])}: one spot in metres, the size of a site in degrees of longitude and latitude.`;
  });
}

function absenceOf(map: Overlays['map']): string {
  if (map === null || !Object.hasOwn(map, 'overlays')) return '`overlays` is missing';
  const { overlays } = map;
  if (overlays === null) return '`overlays` is null';
  return typeof overlays === 'string' && overlays.trim() === '' ? '`overlays` is an empty text' : '`overlays` is empty';
}

/** A coordinate reference system of the collection, of features or of geometries. */
function reportReferences({ topLevel, features, rawOf }: Overlays, report: RuleInput['report']): void {
  const ofCollection = referenceIn(topLevel);
  if (ofCollection !== null) {
    report('foreign-reference-system', [], () => `The collection has the member crs ${ofCollection}.`);
  }
  const carriers: number[] = [];
  let first: string | null = null;
  for (const feature of features) {
    const raw: unknown = rawOf(feature);
    const found = referenceIn(raw) ?? (isRecord(raw) ? referenceIn(raw.geometry) : null);
    if (found === null) continue;
    first ??= found;
    carriers.push(feature.index);
  }
  if (carriers.length === 0) return;
  report('foreign-reference-system', carriers, () => {
    const have = plural(carriers.length, 'feature has', 'features have');
    return `${have} the member crs, ${first} for the first: ${namingAll(features, carriers)}.`;
  });
}

/** GeoJSON of 2008: `{type: 'name', properties: {name}}`; null means that none is known. */
function referenceIn(object: unknown): string | null {
  // The collection has no prototype.
  const crs =
    typeof object === 'object' && object !== null && Object.hasOwn(object, 'crs')
      ? (object as { readonly crs?: unknown }).crs
      : null;
  if (crs === null || crs === undefined) return null;
  const name = isRecord(crs) && isRecord(crs.properties) ? crs.properties.name : crs;
  return wording(name);
}

/** Places that no order of gw accepts, and those with more than x and y. */
function reportPlaces({ features, rawOf }: Overlays, report: RuleInput['report']): void {
  const beyond: number[] = [];
  const higher: number[] = [];
  for (const feature of features) {
    const { shape, index } = feature;
    const places = placesOf(shape);
    const isUnread = shape.kind === 'broken' || shape.kind === 'other';
    if (isUnread ? hasFarPlace(rawOf(feature).geometry) : places.some(isFar)) beyond.push(index);
    if (places.some((place: readonly unknown[]) => place.length > 2)) higher.push(index);
  }
  if (beyond.length > 0) {
    report('coordinates-beyond-site', beyond, () => {
      const lie = plural(beyond.length, 'feature has', 'features have');
      return `${lie} a place beyond ±${MAX_COORDINATE_M / 1_000} km, read as metres of the map: ${namingAll(features, beyond)}.`;
    });
  }
  if (higher.length > 0) {
    report('third-coordinate', higher, () => {
      const have = plural(higher.length, 'feature has', 'features have');
      return `${have} places of more than two coordinates: ${namingAll(features, higher)}.`;
    });
  }
}

function isFar([x, y]: readonly unknown[]): boolean {
  return [x, y].some((metres) => typeof metres === 'number' && Math.abs(metres) > MAX_COORDINATE_M);
}

const MAX_DEPTH = 8;

/** Whether a geometry that gw does not read, or that has an invalid place, has a place beyond any site. */
function hasFarPlace(value: unknown, depth = 0): boolean {
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return isFar(value) || value.some((inner) => hasFarPlace(inner, depth + 1));
  if (!isRecord(value)) return false;
  return [value.coordinates, value.geometries].some((inner) => hasFarPlace(inner, depth + 1));
}

const containerWords = {
  'object-with-features': 'an object with `features` and without `type`',
  'feature-list': 'a list of features',
  'single-feature': 'a single feature',
} as const;

/** The box around all places; null unless it is one spot with several features. Returns early for most maps. */
function commonSpot(features: readonly Feature[]): { readonly box: Bounds; readonly count: number } | null {
  let box: Bounds | null = null;
  let count = 0;
  const places: Place[] = [];
  for (const { shape } of features) {
    const own = boundsOf(shape);
    if (own === null) continue;
    box = box === null ? own : joinBounds(box, own);
    if (!(box.maxXM - box.minXM <= MAX_SPOT_EXTENT && box.maxYM - box.minYM <= MAX_SPOT_EXTENT)) return null;
    count += 1;
    const first: Place = [own.minXM, own.minYM];
    if (places.length < MIN_PLACES && !places.some(([x, y]) => x === first[0] && y === first[1])) places.push(first);
  }
  return box === null || places.length < MIN_PLACES ? null : { box, count };
}

/** In either axis order: some programs write latitude first. */
function canBeDegrees({ minXM, minYM, maxXM, maxYM }: Bounds): boolean {
  const x = Math.max(Math.abs(minXM), Math.abs(maxXM));
  const y = Math.max(Math.abs(minYM), Math.abs(maxYM));
  const isOnEarth = Math.max(x, y) <= MAX_LONGITUDE_DEG && Math.min(x, y) <= MAX_LATITUDE_DEG;
  return isOnEarth && Math.max(x, y) >= MIN_LAND_DISTANCE_DEG;
}
