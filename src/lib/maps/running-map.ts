import type { ChassisClient, CurrentMap } from '../chassis/index.ts';
import { GwError } from '../error/index.ts';
import { quote } from '../json/index.ts';
import { overlaysOf, reasonOf } from './live-maps.ts';
import {
  type Announcement,
  type MapAnnouncements,
  openMapAnnouncements,
  type TopicAccess,
} from './map-announcements.ts';
import { compareRunning, type RunningComparison } from './running-overlays.ts';

/** Whether the robot drives by the overlays that are stored for the map in use, as far as the chassis announces it. */
export interface RunningMap {
  readonly verdict: /** `/map/info` announces what is stored. */
    | 'equal'
    /** It announces other overlays. */
    | 'differs'
    /** It announces another map than the one that the chassis names as the current one. */
    | 'another-map'
    /** No map is in use. */
    | 'none-in-use'
    /** Nothing was received that answers it: `detail` says why. */
    | 'not-checked';
  /** One clause for a person. */
  readonly detail: string;
  /** The current map by `GET /chassis/current-map`; null when none is, or when it is not known. */
  readonly map: CurrentMap | null;
  /** The message that decided, or the last one that was received. */
  readonly announced: Omit<Announcement, 'overlays'> | null;
  /** From what is stored to what is announced; null when the two were not compared. */
  readonly comparison: RunningComparison | null;
}

/** What `/map/info` announced before a write, and over the same connection after it. */
export interface WatchedMap extends Disposable {
  readonly announcements: MapAnnouncements;
  /** Whether a map was in use before the write. */
  readonly hadMap: boolean;
  /** To be called right before each write is sent; the first call counts. */
  mark(): void;
  /** What was announced at the mark; null when nothing was. */
  before(): Announcement | null;
  /** The newest announcement that surely came after the mark; null without one. */
  since(): Announcement | null;
}

/** A latched message comes at once: so long it is waited for before a write. */
const FIRST_MS = 1_500;

/**
 * Begins to listen before a write. Only what comes over a connection that had brought its latched message before the
 * write is known to be of after it: a latched message is re-sent to whoever subscribes, however old it is. Where no map
 * was in use (`hadMap` false) and nothing was announced, there is no older one. Takes two or three seconds at most, and
 * throws nothing that a chassis or a network can cause.
 */
export async function watchRunningMap(
  access: TopicAccess,
  { hadMap }: { readonly hadMap: boolean },
): Promise<WatchedMap> {
  const announcements = await openMapAnnouncements(access);
  if (announcements.count() === 0) await announcements.next(FIRST_MS);
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

export interface RunningMapOptions {
  readonly client: ChassisClient;
  readonly access: TopicAccess;
  /** Set after a write: only an announcement of after it can say that the running map took it up. */
  readonly watched: WatchedMap | null;
  /** So long an announcement may take, in milliseconds. */
  readonly announceMs: number;
  readonly signal: AbortSignal;
}

/**
 * Compares the overlays that are stored for the map in use with those that `/map/info` announces, by content. Silence,
 * a message without overlays, and one that may be older than the write are 'not-checked'. Throws nothing that a chassis
 * or a network can cause, and INTERRUPTED neither.
 */
export async function checkRunningMap(options: RunningMapOptions): Promise<RunningMap> {
  let map: CurrentMap | null = null;
  try {
    const { client, signal } = options;
    // Nothing in the topic stream names the device: the same address is asked before and after.
    await client.identity(signal);
    map = await client.currentMap(signal);
    if (map === null)
      return { verdict: 'none-in-use', detail: 'no map is in use', map, announced: null, comparison: null };
    const undecidable = whyUndecidable(map);
    if (undecidable !== null) return notChecked(map, undecidable);
    const { overlays } = overlaysOf(await client.mapBytes(String(map.id), signal));
    const found = await listen(options, map, overlays);
    await client.identity(signal);
    const now = await client.currentMap(signal);
    if (now?.id !== map.id || now.uid !== map.uid) {
      return { ...found, verdict: 'not-checked', detail: 'another map was taken into use while the two were compared' };
    }
    return found;
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    return notChecked(map, reasonOf(error));
  }
}

function whyUndecidable({ id, uid }: CurrentMap): string | null {
  if (id < 0) return 'the map in use was set from data and is stored nowhere';
  return uid === null ? 'the map in use has no uid, by which /map/info could name it' : null;
}

function notChecked(map: CurrentMap | null, detail: string, announced: Announcement | null = null): RunningMap {
  return { verdict: 'not-checked', detail, map, announced: announced && withoutOverlays(announced), comparison: null };
}

function withoutOverlays({ overlays: _, ...rest }: Announcement): Omit<Announcement, 'overlays'> {
  return rest;
}

async function listen(options: RunningMapOptions, map: CurrentMap, stored: string | null): Promise<RunningMap> {
  const { access, watched, announceMs, signal } = options;
  const deadline = access.clock.monotonicMs() + announceMs;
  if (watched !== null) {
    for (;;) {
      const said = watched.since();
      const found = said && judge(map, stored, said);
      const leftMs = deadline - access.clock.monotonicMs();
      if (found?.verdict === 'equal' || leftMs <= 0 || signal.aborted) break;
      if (watched.announcements.isOver()) break;
      await watched.announcements.next(leftMs);
    }
    const said = watched.since();
    // Where the connection was lost meanwhile, a later announcement may have been missed: then it is asked anew.
    if (said !== null && !watched.announcements.isOver()) return judge(map, stored, said);
  }
  // What a latched topic re-sends to a new subscriber is what it announces now, however old it is.
  using asked = await openMapAnnouncements(access, signal);
  if (asked.count() === 0) await asked.next(announceMs);
  const said = asked.latest();
  if (said === null) {
    const why = asked.problem() ?? watched?.announcements.problem();
    return notChecked(map, `/map/info was not received within ${announceMs / 1000} s${why ? ` (${why})` : ''}`);
  }
  const found = judge(map, stored, said);
  if (watched === null || found.verdict === 'not-checked') return found;
  const before = watched.before();
  // Another announcement than the one of before can only be of after it.
  if (before === null ? !watched.hadMap : JSON.stringify(before) !== JSON.stringify(said)) return found;
  if (found.verdict !== 'equal') {
    return { ...found, detail: `${found.detail}; nothing was announced since the write` };
  }
  return {
    ...found,
    verdict: 'not-checked',
    detail:
      'nothing is known to have been announced since the write; the last announcement, which may be older, holds what is stored now',
  };
}

function judge(map: CurrentMap, stored: string | null, said: Announcement): RunningMap {
  const base = { map, announced: withoutOverlays(said), comparison: null };
  if (said.uid !== map.uid) {
    const detail = `/map/info announces the map ${quote(said.name)} (uid ${quote(said.uid)}), and the current map is ${map.id} (uid ${quote(map.uid ?? '')})`;
    return { ...base, verdict: 'another-map', detail };
  }
  if (said.overlays === null) return { ...base, verdict: 'not-checked', detail: '/map/info announces no overlays' };
  const comparison = compareRunning(stored, said.overlays, said.uid);
  if (comparison.problem !== null) {
    return { ...base, verdict: 'not-checked', detail: `the two cannot be compared: ${comparison.problem}`, comparison };
  }
  return comparison.same
    ? { ...base, verdict: 'equal', detail: 'the running map holds the overlays that are stored', comparison }
    : {
        ...base,
        verdict: 'differs',
        detail: 'the running map holds other overlays than those that are stored',
        comparison,
      };
}
