import { type LiveValues, missingReason } from '../chassis/index.ts';
import type { ChassisMoves } from '../chassis/moves.ts';
import { GwError } from '../error/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import type { PlaceMap } from '../site/index.ts';
import { quoted } from '../text/index.ts';
import type { FrameFault } from './model.ts';

type MapValue = LiveValues['map'];
type CurrentMap = Extract<MapValue, { status: 'received' }>['value'];

const REMEDY = 'On that map, beside the robot, run `gw site map --measured-on-it`, then restart `gw serve`.';
/** Project decision: after a reconnect the chassis has so long to report its map, which it does at once (vendor). */
const REPORT_MS = 5_000;
const READ_MS = 2_000;

/** The map that the chassis uses now, or why it is not known, as a clause. */
export function currentMapOf({ map }: Pick<LiveValues, 'map'>): CurrentMap | string {
  const missing = missingReason(map);
  if (map.status !== 'received' || missing !== null) return whyUnknown(map, missing);
  return map.value.uid.trim() === '' ? 'the chassis reports a map without a uid' : map.value;
}

/** The frame of a place that is measured or set now; null while the current map is not known. */
export function frameNow(values: Pick<LiveValues, 'map'>): PlaceMap | null {
  const now = currentMapOf(values);
  return typeof now === 'string' ? null : { uid: now.uid, version: now.mapVersion, title: now.name };
}

/**
 * Why these coordinates are not those of this place now; null where the robot is on the map in which the place was
 * measured, in its version. On another map they are another place.
 */
export function outOfFrame(place: PlaceMap | null, values: Pick<LiveValues, 'map'>): FrameFault | null {
  const now = currentMapOf(values);
  if (typeof now === 'string') {
    return { code: 'map-unknown', map: null, measured: null, reason: `The current map is not known: ${now}.` };
  }
  const map = now.name;
  if (place === null) {
    const reason = `The site file does not say in which map the place was measured. ${REMEDY}`;
    return { code: 'map-unnamed', map, measured: null, reason };
  }
  const measured = place.title;
  if (place.uid !== now.uid) {
    const reason = `The robot is on the map ${quoted(map)}; the place was measured on the map ${quoted(measured)}.`;
    return { code: 'other-map', map, measured, reason };
  }
  if (place.ofRobot !== undefined) {
    const reason = `The places on the map ${quoted(map)} were measured with the robot ${place.ofRobot}. Check them on site with this one. ${REMEDY}`;
    return { code: 'other-robot', map, measured, reason };
  }
  if (place.version === now.mapVersion) return null;
  const versions = `version ${place.version ?? 'unknown'}, now ${now.mapVersion ?? 'unknown'}`;
  const reason = `The map ${quoted(map)} has changed since the place was measured (${versions}). Check the places on site. ${REMEDY}`;
  return { code: 'map-changed', map, measured, reason };
}

/** Why no place of the site file can be a goal now; null where one can, or the file has none. */
export function noPlaceInFrame(
  places: readonly (PlaceMap | null)[],
  values: Pick<LiveValues, 'map'>,
): FrameFault | null {
  const faults = places.map((place) => outOfFrame(place, values));
  return faults.includes(null) ? null : (faults[0] ?? null);
}

/** What ends a running drive, as a clause: another map, or none known. A lost connection is judged by its own rules. */
export function leftFrame(
  place: PlaceMap | null,
  values: Pick<LiveValues, 'map'>,
  { isConnected, linkForMs }: { readonly isConnected: boolean; readonly linkForMs: number },
): string | null {
  if (!isConnected) return null;
  const isAwaited = values.map.status === 'received' && values.map.staleReason === 'not-received-since-reconnect';
  if (isAwaited && linkForMs < REPORT_MS) return null;
  const fault = outOfFrame(place, values);
  return fault === null ? null : asClause(fault.reason);
}

interface MapReading {
  readonly moves: Pick<ChassisMoves, 'readMap'>;
  readonly clock: Clock;
}

/**
 * Asks the chassis for its current map: the topic may have fallen silent, and would then show the map of before. Throws
 * MOTION_REFUSED where the answer is another map, another version of it, or none, and as the client does.
 */
export async function confirmMap(place: PlaceMap | null, { moves, clock }: MapReading): Promise<void> {
  const ending = new AbortController();
  using _limit = clock.after(READ_MS, () =>
    ending.abort(new GwError('MOTION_REFUSED', 'The chassis does not answer which map it uses.')),
  );
  const now = await moves.readMap(ending.signal);
  if (now === null) throw new GwError('MOTION_REFUSED', 'The chassis answers that it uses no map.');
  if (now.uid === null) throw new GwError('MOTION_REFUSED', 'The chassis answers with a map that has no uid.');
  const reported = quoted(place?.title ?? 'none');
  if (now.uid !== place?.uid) {
    const answered = quoted(now.name ?? now.uid);
    const reason = `The chassis answers that it uses the map ${answered}, its topic reports ${reported}.`;
    throw new GwError('MOTION_REFUSED', reason);
  }
  // Its version is compared where the answer names one.
  if (now.mapVersion === null || now.mapVersion === place.version) return;
  const reason = `The chassis answers that it uses version ${now.mapVersion} of the map ${reported}, its topic reports version ${place.version ?? 'unknown'}.`;
  throw new GwError('MOTION_REFUSED', reason);
}

/** A sentence for the middle of another one. */
export function asClause(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, '');
}

function whyUnknown(map: MapValue, missing: ReturnType<typeof missingReason>): string {
  switch (missing) {
    case 'rejected':
    case 'newer-rejected':
      return `a message of /map/info could not be read (${map.rejected ?? 'no reason kept'})`;
    case 'no-connection':
      return 'the chassis is not connected';
    case 'not-received-since-reconnect':
      return 'the chassis has not reported it since the reconnect';
    default:
      return 'the chassis has not reported one';
  }
}
