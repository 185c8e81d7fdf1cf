import type { ChassisClient, CurrentMap } from '../../chassis/index.ts';
import { GwError } from '../../error/index.ts';
import { isRecord, quote } from '../../json/index.ts';
import {
  diffOverlays,
  type OverlaysDiff,
  overlaysSource,
  readOverlays,
  type ValueChange,
} from '../../overlays/index.ts';
import { NO_FEATURES, type OverlaysComparison, overlaysOf, reasonOf } from '../live-maps.ts';
import {
  type Announcement,
  type MapAnnouncements,
  openMapAnnouncements,
  type TopicAccess,
} from './map-announcements.ts';

/** Comparison of stored overlays with those announced by `/map/info`. */
interface RunningComparison extends OverlaysComparison {
  /** Differences that do not concern the overlays, as clauses. */
  readonly notes: readonly string[];
}

const TOPIC = 'message of /map/info';

/** Maximum nesting of texts and wrappers around a collection. */
const MAX_NESTING = 3;

/** Whether the robot drives by the overlays stored for the current map, as announced by the chassis. */
export interface RunningMap {
  readonly verdict: /** `/map/info` announces the stored overlays. */
    | 'equal'
    /** It announces other overlays. */
    | 'differs'
    /** It announces another map than the current one of the REST interface. */
    | 'another-map'
    /** No current map. */
    | 'none-in-use'
    /** Not decidable from what was received: see `detail`. */
    | 'not-checked';
  /** Reason of the verdict, as a clause. */
  readonly detail: string;
  /** The current map by `GET /chassis/current-map`; null without one or it is unknown. */
  readonly map: CurrentMap | null;
  /** The deciding or else the last received message. */
  readonly announced: Omit<Announcement, 'overlays'> | null;
  /** From the stored to the announced overlays; null when not compared. */
  readonly comparison: RunningComparison | null;
}

/** Announcements of `/map/info` before a write, and over the same connection after it. */
export interface WatchedMap extends Disposable {
  readonly announcements: MapAnnouncements;
  /** Whether there was a current map before the write. */
  readonly hadMap: boolean;
  /** Marks the moment right before the first write; later calls are ignored. */
  mark(): void;
  /** The last announcement at the mark; null without one. */
  before(): Announcement | null;
  /** The newest announcement sent after the mark for certain; null without one. */
  since(): Announcement | null;
}

/** Time limit for the latched message before a write. */
const LATCHED_TIMEOUT_MS = 1_500;

/**
 * Subscribes before a write. A latched message is sent to every new subscriber regardless of its age, so an announcement
 * is newer than the write only when the same connection had received the latched one before. Without a current map
 * (`hadMap` false) and without an announcement there is no older one. Takes 3 s at most; chassis and network errors are
 * results.
 */
export async function watchRunningMap(
  access: TopicAccess,
  { hadMap }: { readonly hadMap: boolean },
): Promise<WatchedMap> {
  const announcements = await openMapAnnouncements(access);
  if (announcements.count() === 0) await announcements.next(LATCHED_TIMEOUT_MS);
  let before: Announcement | null = null;
  let marked = Number.POSITIVE_INFINITY;
  return {
    announcements,
    mark() {
      if (Number.isFinite(marked)) return;
      before = announcements.latest();
      marked = announcements.count();
    },
    before: () => before,
    hadMap,
    since: () => ((before !== null || !hadMap) && announcements.count() > marked ? announcements.latest() : null),
    [Symbol.dispose]: () => announcements[Symbol.dispose](),
  };
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

/** The uid of the announced map belongs to the message, not to its overlays. */
function noteOf({ name, change, toJson }: ValueChange, uid: string): string | null {
  const isOwnUid = name === 'map_uid' && change === 'added' && toJson === JSON.stringify(uid);
  return isOwnUid ? 'the announced overlays contain the uid of the map' : null;
}

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

export interface RunningMapOptions {
  readonly client: ChassisClient;
  readonly access: TopicAccess;
  /** Set after a write: only a later announcement shows that the running map has changed. */
  readonly watched: WatchedMap | null;
  /** Timeout of an announcement. */
  readonly announceMs: number;
  readonly signal: AbortSignal;
}

/**
 * Compares the overlays stored for the current map with those announced by `/map/info`, by content. Silence, a message
 * without overlays, and one that may be older than the write are 'not-checked'. Chassis and network errors and an
 * interruption are results.
 */
export async function checkRunningMap(options: RunningMapOptions): Promise<RunningMap> {
  let map: CurrentMap | null = null;
  try {
    const { client, signal } = options;
    // The topic stream has no serial number, so the identity is verified before and after.
    await client.identity(signal);
    map = await client.currentMap(signal);
    if (map === null)
      return { verdict: 'none-in-use', detail: 'there is no current map', map, announced: null, comparison: null };
    const undecidable = whyUndecidable(map);
    if (undecidable !== null) return notChecked(map, undecidable);
    const { overlays } = overlaysOf(await client.mapBytes(String(map.id), signal));
    const found = await compareAnnounced(options, map, overlays);
    await client.identity(signal);
    const now = await client.currentMap(signal);
    if (now?.id !== map.id || now.uid !== map.uid) {
      return { ...found, verdict: 'not-checked', detail: 'the current map changed during the comparison' };
    }
    return found;
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    return notChecked(map, reasonOf(error));
  }
}

function whyUndecidable({ id, uid }: CurrentMap): string | null {
  if (id < 0) return 'the current map was set from data and is not stored';
  return uid === null ? 'the current map has no uid, by which /map/info identifies maps' : null;
}

function notChecked(map: CurrentMap | null, detail: string, announced: Announcement | null = null): RunningMap {
  return { verdict: 'not-checked', detail, map, announced: announced && withoutOverlays(announced), comparison: null };
}

function withoutOverlays({ overlays: _, ...rest }: Announcement): Omit<Announcement, 'overlays'> {
  return rest;
}

async function compareAnnounced(
  options: RunningMapOptions,
  map: CurrentMap,
  stored: string | null,
): Promise<RunningMap> {
  const { access, watched, announceMs, signal } = options;
  const deadline = access.clock.monotonicMs() + announceMs;
  if (watched !== null) {
    for (;;) {
      const announced = watched.since();
      const found = announced && judge(map, stored, announced);
      const leftMs = deadline - access.clock.monotonicMs();
      if (found?.verdict === 'equal' || leftMs <= 0 || signal.aborted) break;
      if (watched.announcements.isOver()) break;
      await watched.announcements.next(leftMs);
    }
    const announced = watched.since();
    // After a lost connection a later announcement may have been missed, so a new one is opened.
    if (announced !== null && !watched.announcements.isOver()) return judge(map, stored, announced);
  }
  // A latched topic sends its current message to a new subscriber, regardless of its age.
  using stream = await openMapAnnouncements(access, signal);
  if (stream.count() === 0) await stream.next(announceMs);
  const announced = stream.latest();
  if (announced === null) {
    const why = stream.problem() ?? watched?.announcements.problem();
    return notChecked(map, `/map/info was not received within ${announceMs / 1000} s${why ? ` (${why})` : ''}`);
  }
  const found = judge(map, stored, announced);
  if (watched === null || found.verdict === 'not-checked') return found;
  const before = watched.before();
  // An announcement that differs from the former one is newer than the write.
  if (before === null ? !watched.hadMap : JSON.stringify(before) !== JSON.stringify(announced)) return found;
  if (found.verdict !== 'equal') {
    return { ...found, detail: `${found.detail}; no new announcement since the write` };
  }
  return {
    ...found,
    verdict: 'not-checked',
    detail:
      'no announcement is known to be newer than the write; the last one, which may be older, equals the stored overlays',
  };
}

function judge(map: CurrentMap, stored: string | null, announced: Announcement): RunningMap {
  const base = { map, announced: withoutOverlays(announced), comparison: null };
  if (announced.uid !== map.uid) {
    const detail = `/map/info announces map ${quote(announced.name)} (uid ${quote(announced.uid)}), but the current map is ${map.id} (uid ${quote(map.uid ?? '')})`;
    return { ...base, verdict: 'another-map', detail };
  }
  if (announced.overlays === null)
    return { ...base, verdict: 'not-checked', detail: '/map/info announces no overlays' };
  const comparison = compareRunning(stored, announced.overlays, announced.uid);
  if (comparison.problem !== null) {
    return { ...base, verdict: 'not-checked', detail: `not comparable: ${comparison.problem}`, comparison };
  }
  return comparison.same
    ? { ...base, verdict: 'equal', detail: 'the running map has the stored overlays', comparison }
    : {
        ...base,
        verdict: 'differs',
        detail: 'the running map has other overlays than the stored map',
        comparison,
      };
}
