import { GwError } from '../error/index.ts';
import { isRecord } from '../json/index.ts';
import { diffOverlays, type OverlaysDiff, overlaysSource, readOverlays, type ValueChange } from '../overlays/index.ts';
import { NO_FEATURES, type OverlaysComparison, reasonOf } from './live-maps.ts';

/** Overlays as a map stores them beside those that `/map/info` announces. */
export interface RunningComparison extends OverlaysComparison {
  /** What differs and says nothing about the overlays, as clauses. */
  readonly notes: readonly string[];
}

/**
 * Compares by content what a map stores with what the chassis announces, `stored` taken as the old side. The
 * announcement may be a collection, a text of one, or a wrapper around either, and its collection may lack `type`. The
 * uid of the map inside of it is noted and counts as no difference.
 */
export function compareRunning(stored: string | null, running: string, uid: string): RunningComparison {
  const before = stored === null || stored.trim() === '' ? NO_FEATURES : stored;
  if (before === running) return { same: true, sameText: true, diff: null, problem: null, notes: [] };
  try {
    const diff = diffOverlays(readOverlays(asCollection(before), 'map'), readOverlays(asCollection(running), TOPIC));
    const notes = diff.members.flatMap((change) => noteOf(change, uid) ?? []);
    const members = diff.members.filter((change) => noteOf(change, uid) === null);
    const same =
      members.length === 0 &&
      [diff.changed, diff.added, diff.removed, diff.reordered].every(({ length }) => length === 0);
    const found: OverlaysDiff = { ...diff, members, same, sameText: false };
    return { same, sameText: false, diff: found, problem: null, notes };
  } catch (error) {
    if (!(error instanceof GwError) || error.code !== 'OVERLAYS_INVALID') throw error;
    return { same: false, sameText: false, diff: null, problem: reasonOf(error), notes: [] };
  }
}

const TOPIC = 'message of /map/info';

/** The uid of the very map that is announced belongs to the message and not to its overlays. */
function noteOf({ name, change, toJson }: ValueChange, uid: string): string | null {
  const isOwnUid = name === 'map_uid' && change === 'added' && toJson === JSON.stringify(uid);
  return isOwnUid ? 'the announcement names the uid of the map in its overlays' : null;
}

/** How often a collection may be packed into a text or a wrapper. */
const MOST_PACKING = 3;

/** A vendor example has a collection without `type`: read it as one, and leave everything else to the reader. */
function asCollection(text: string, packing = 0): string {
  if (packing > MOST_PACKING) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof value === 'string') return asCollection(value, packing + 1);
  if (!isRecord(value) || Object.hasOwn(value, 'type')) return text;
  if (Array.isArray(value.features)) {
    return text.replace('{', '{"type":"FeatureCollection",');
  }
  const inner = Object.hasOwn(value, 'overlays') ? overlaysSource(Buffer.from(text)).text : null;
  return inner === null ? text : asCollection(inner, packing + 1);
}
