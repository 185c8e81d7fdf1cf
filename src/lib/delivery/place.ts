import type { ChassisSnapshot } from '../chassis/index.ts';
import { type DriveTarget, frameNow, type MotionStatus } from '../motion/index.ts';
import { mapOfPlace, type PlaceMap, type Site } from '../site/index.ts';

/** Project decision: a robot at rest so near to a place of the site file is there. Wider than an arrival, whose pose may be corrected. */
const AT_PLACE_M = 0.5;

/**
 * The places of the site file at which the robot is known to rest, on the map of each in its version; none: it moves, its pose
 * or its map is not current, or it is elsewhere.
 */
export function placesOfRest(
  site: Pick<Site, 'stations' | 'dock' | 'maps'>,
  { standstill }: Pick<MotionStatus, 'standstill'>,
  { values }: Pick<ChassisSnapshot, 'values'>,
): readonly DriveTarget[] {
  const { pose, map } = values;
  if (standstill.verdict !== 'stands' || standstill.isOwed) return [];
  if (pose.status !== 'received' || pose.stale || map.status !== 'received' || map.stale) return [];
  const now = frameNow(values);
  const { xM, yM } = pose.value;
  const isHere = (place: { readonly xM: number; readonly yM: number; readonly map?: string | undefined }) =>
    isSame(mapOfPlace(site, place), now) && Math.hypot(place.xM - xM, place.yM - yM) <= AT_PLACE_M;
  return [
    ...(site.dock !== undefined && isHere(site.dock) ? [{ dock: true } as const] : []),
    ...Object.entries(site.stations).flatMap(([station, place]) => (isHere(place) ? [{ station }] : [])),
  ];
}

/** Whether it is one of these places; null is the dock. */
export function isAt(places: readonly DriveTarget[], station: string | null): boolean {
  return places.some((place) => ('station' in place ? place.station : null) === station);
}

function isSame(one: PlaceMap | null, other: PlaceMap | null): boolean {
  return one !== null && other !== null && one.uid === other.uid && one.version === other.version;
}
