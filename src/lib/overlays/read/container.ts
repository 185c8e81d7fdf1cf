import { isRecord } from '../../json/index.ts';
import type { OverlaysContainer } from '../model.ts';


/**
 * The kind of container that a parsed value is; null when it holds no features. `isInMap`: the value is the `overlays`
 * of a map, where an empty list means no features.
 */
export function containerOf(value: unknown, isInMap: boolean): OverlaysContainer | null {
  if (Array.isArray(value)) return (value.length === 0 ? isInMap : value.some(isFeature)) ? 'feature-list' : null;
  if (!isRecord(value)) return null;
  if (value.type === 'FeatureCollection') return 'feature-collection';
  // A map object, whose features are in `overlays`.
  if (Object.hasOwn(value, 'overlays')) return null;
  if (hasNoType(value) && Object.hasOwn(value, 'features') && Array.isArray(value.features))
    return 'object-with-features';
  return isFeature(value) ? 'single-feature' : null;
}

/** The features of a container; undefined where a FeatureCollection has no `features`. */
export function featuresIn(value: unknown, container: OverlaysContainer): unknown {
  if (container === 'feature-list') return value;
  if (container === 'single-feature') return [value];
  return isRecord(value) && Object.hasOwn(value, 'features') ? value.features : undefined;
}

/** Has the type Feature or, without a type, a GeoJSON geometry. */
function isFeature(value: unknown): boolean {
  if (!isRecord(value)) return false;
  if (value.type === 'Feature') return true;
  const geometry = hasNoType(value) && Object.hasOwn(value, 'geometry') ? value.geometry : undefined;
  return isRecord(geometry) && typeof geometry.type === 'string';
}

function hasNoType(value: Members): boolean {
  return !Object.hasOwn(value, 'type') || value.type === null;
}
