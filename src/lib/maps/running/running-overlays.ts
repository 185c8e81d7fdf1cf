import { GwError } from '../../error/index.ts';
import { isRecord } from '../../json/index.ts';
import {
  diffOverlays,
  type OverlaysDiff,
  overlaysSource,
  readOverlays,
  type ValueChange,
} from '../../overlays/index.ts';
import { NO_FEATURES, type OverlaysComparison, reasonOf } from '../live-maps.ts';

/** Comparison of stored overlays with those announced by `/map/info`. */
export interface RunningComparison extends OverlaysComparison {
  /** Differences that do not concern the overlays, as clauses. */
  readonly notes: readonly string[];
}

/**
 * Compares by content from the stored to the announced overlays. The announcement may be a collection, a text of one, or
 * a wrapper around either, and its collection may lack `type`. The uid of the map in it is noted, not a difference.
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

/** The uid of the announced map belongs to the message, not to its overlays. */
function noteOf({ name, change, toJson }: ValueChange, uid: string): string | null {
  const isOwnUid = name === 'map_uid' && change === 'added' && toJson === JSON.stringify(uid);
  return isOwnUid ? 'the announced overlays contain the uid of the map' : null;
}

/** Maximum nesting of texts and wrappers around a collection. */
const MAX_NESTING = 3;

/** Adds a missing `type`, as in a vendor example; everything else is left to the parser. */
function asCollection(text: string, depth = 0): string {
  if (depth > MAX_NESTING) return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof value === 'string') return asCollection(value, depth + 1);
  if (!isRecord(value) || Object.hasOwn(value, 'type')) return text;
  if (Array.isArray(value.features)) {
    return text.replace('{', '{"type":"FeatureCollection",');
  }
  const inner = Object.hasOwn(value, 'overlays') ? overlaysSource(Buffer.from(text)).text : null;
  return inner === null ? text : asCollection(inner, depth + 1);
}
