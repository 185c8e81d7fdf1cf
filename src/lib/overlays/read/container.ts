import { isRecord } from '../../json/index.ts';
import type { OverlaysContainer } from '../model.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * What of GeoJSON a parsed value is; null when it holds no features. `isInMap`: it stands where a map has its overlays,
 * so that an empty list says that there are none.
 */
export function containerOf(value: unknown, isInMap: boolean): OverlaysContainer | null {
  if (Array.isArray(value)) return (value.length === 0 ? isInMap : value.some(isFeature)) ? 'feature-list' : null;
  if (!isRecord(value)) return null;
  if (value.type === 'FeatureCollection') return 'feature-collection';
  // A map: its features are in there.
  if (Object.hasOwn(value, 'overlays')) return null;
  if (hasNoType(value) && Object.hasOwn(value, 'features') && Array.isArray(value.features))
    return 'object-with-features';
  return isFeature(value) ? 'single-feature' : null;
}

/** The features in a container; undefined where a FeatureCollection has none. */
export function featuresIn(value: unknown, container: OverlaysContainer): unknown {
  if (container === 'feature-list') return value;
  if (container === 'single-feature') return [value];
  return isRecord(value) && Object.hasOwn(value, 'features') ? value.features : undefined;
}

/** Says so by its type or, without one, has a geometry as GeoJSON writes it. */
function isFeature(value: unknown): boolean {
  if (!isRecord(value)) return false;
  if (value.type === 'Feature') return true;
  const geometry = hasNoType(value) && Object.hasOwn(value, 'geometry') ? value.geometry : undefined;
  return isRecord(geometry) && typeof geometry.type === 'string';
}

function hasNoType(value: Members): boolean {
  return !Object.hasOwn(value, 'type') || value.type === null;
}
