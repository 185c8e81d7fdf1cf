import type { ChassisSnapshot } from '../chassis/index.ts';
import { type DriveTarget, type MotionStatus, outOfFrame } from '../motion/index.ts';
import { mapOfPlace, type Site } from '../site/index.ts';

/** Project decision: a robot at rest so near to a place of the site file is there. Wider than an arrival, whose pose may be corrected. */
const AT_PLACE_M = 0.5;

type Places = Pick<Site, 'chassis' | 'stations' | 'dock' | 'maps'>;
type Seen = [status: Pick<MotionStatus, 'standstill'>, snapshot: Pick<ChassisSnapshot, 'values'>];
interface Place {
  readonly xM: number;
  readonly yM: number;
  readonly map?: string | undefined;
}

/**
 * The places of the site file at which the robot is known to rest, on the map of each in its version; none: it moves, its pose
 * or its map is not current, or it is elsewhere.
 */
export function placesOfRest(site: Places, ...seen: Seen): readonly DriveTarget[] {
  const isHere = (place: Place) => restsAt(place, site, ...seen) === true;
  return [
    ...(site.dock !== undefined && isHere(site.dock) ? [{ dock: true } as const] : []),
    ...Object.entries(site.stations).flatMap(([station, place]) => (isHere(place) ? [{ station }] : [])),
  ];
}

/** Whether it is known to rest elsewhere on the map of this station: a person has moved it. */
export function isMovedFrom(station: string, site: Places, ...seen: Seen): boolean {
  const place = site.stations[station];
  return place !== undefined && restsAt(place, site, ...seen) === false;
}

/** null: not known, on another map, or in coordinates of another robot. */
function restsAt(place: Place, site: Places, { standstill }: Seen[0], { values }: Seen[1]): boolean | null {
  const { pose, map } = values;
  if (standstill.verdict !== 'stands' || standstill.isOwed) return null;
  if (pose.status !== 'received' || pose.stale || map.status !== 'received' || map.stale) return null;
  if (outOfFrame(mapOfPlace(site, place), values) !== null) return null;
  return Math.hypot(place.xM - pose.value.xM, place.yM - pose.value.yM) <= AT_PLACE_M;
}

/** Whether it is one of these places; null is the dock. */
export function isAt(places: readonly DriveTarget[], station: string | null): boolean {
  return places.some((place) => ('station' in place ? place.station : null) === station);
}
