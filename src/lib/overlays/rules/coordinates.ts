import { plural } from '../../text/index.ts';
import { type Bounds, boundsOf } from '../geometry.ts';
import type { Feature, Place } from '../model.ts';
import type { RuleInput } from './input.ts';
import { MAX_SPOT_EXTENT, MIN_LAND_DISTANCE_DEG } from './table.ts';
import { rounded, spot } from './wording.ts';

/** Fewer features on one spot may be duplicates. Project decision. */
const MIN_PLACES = 3;
const MAX_LONGITUDE_DEG = 180;
const MAX_LATITUDE_DEG = 90;

/** The container of the features, and the likely unit of their coordinates. */
export function findCoordinateFaults({ overlays, report }: RuleInput): void {
  const { container, features } = overlays;
  if (container !== 'feature-collection') {
    report(
      'not-a-feature-collection',
      [],
      () => `The overlays are ${containerWords[container]}, read as a collection.`,
    );
  }
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
    box = box === null ? own : around(box, own);
    if (!(box.maxXM - box.minXM <= MAX_SPOT_EXTENT && box.maxYM - box.minYM <= MAX_SPOT_EXTENT)) return null;
    count += 1;
    const first: Place = [own.minXM, own.minYM];
    if (places.length < MIN_PLACES && !places.some(([x, y]) => x === first[0] && y === first[1])) places.push(first);
  }
  return box === null || places.length < MIN_PLACES ? null : { box, count };
}

function around(a: Bounds, b: Bounds): Bounds {
  return {
    minXM: Math.min(a.minXM, b.minXM),
    minYM: Math.min(a.minYM, b.minYM),
    maxXM: Math.max(a.maxXM, b.maxXM),
    maxYM: Math.max(a.maxYM, b.maxYM),
  };
}

/** In either axis order: some programs write latitude first. */
function canBeDegrees({ minXM, minYM, maxXM, maxYM }: Bounds): boolean {
  const x = Math.max(Math.abs(minXM), Math.abs(maxXM));
  const y = Math.max(Math.abs(minYM), Math.abs(maxYM));
  const isOnEarth = Math.max(x, y) <= MAX_LONGITUDE_DEG && Math.min(x, y) <= MAX_LATITUDE_DEG;
  return isOnEarth && Math.max(x, y) >= MIN_LAND_DISTANCE_DEG;
}
