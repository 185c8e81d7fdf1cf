import { GwError } from '../../error/index.ts';
import { quote } from '../../json/index.ts';
import {
  compareOverlays,
  comparePictures,
  gridOf,
  type LiveMap,
  type LiveMaps,
  type OverlaysComparison,
  type PictureVerdict,
  type UnreadMap,
} from '../live-maps.ts';
import { damagedName } from '../map-reading.ts';
import type { ArchivedMap, DamagedMap, MapArchive } from '../model.ts';

/** Planned change for one map of the archive. */
type PlanVerdict =
  /** Stored on the chassis with the same overlays. */
  | 'same'
  /** Stored on the chassis with other overlays, which would be replaced. */
  | 'overlays-differ'
  /** Not stored on the chassis: it would be created. */
  | 'missing'
  /** The chassis has another map in its place, which is not overwritten. */
  | 'conflict'
  /** Required data is missing. */
  | 'not-restorable';

export interface PlannedMap {
  readonly archived: ArchivedMap;
  readonly verdict: PlanVerdict;
  readonly live: LiveMap | null;
  /** 'content': another or no uid, but the same name, grid and picture. */
  readonly matchedBy: 'uid' | 'id' | 'content' | null;
  /** From the overlays on the chassis to those of the archive; null without a live map. */
  readonly overlays: OverlaysComparison | null;
  readonly picture: PictureVerdict | null;
  /** Reason of a conflict or of 'not-restorable'; null otherwise. */
  readonly why: string | null;
  /** Further notes for the user. */
  readonly notes: readonly string[];
}

export interface RestorePlan {
  readonly maps: readonly PlannedMap[];
  /** Maps that were damaged at the backup, so that it cannot restore them. */
  readonly damaged: readonly DamagedMap[];
  /** Maps of the chassis that are not in the archive: unchanged. */
  readonly others: readonly LiveMap[];
  /** The current map of this robot at the backup, to be set as current map when there is none now; else null. */
  readonly mapToSelect: ArchivedMap | null;
}

export interface PlanOptions {
  /** Maps of the archive by id or uid. */
  readonly ids?: 'all' | readonly string[];
  /** The archive is of another robot, whose numbers and whose current map say nothing about this one. */
  readonly isForeign?: boolean;
}

/**
 * Plans a restore map by map from an archive and the maps of the chassis. Pure. Throws MAP_UNKNOWN when the archive has
 * no such map.
 */
export function planRestore(
  archive: Pick<MapArchive, 'maps' | 'damaged'>,
  live: Pick<LiveMaps, 'maps' | 'damaged' | 'current' | 'currentProblem'>,
  { ids = 'all', isForeign = false }: PlanOptions = {},
): RestorePlan {
  const matches = new Map(
    archive.maps.map((archived) => [archived, matchOf(archived, archive.maps, live.maps, isForeign)]),
  );
  const claims = new Map<LiveMap, number>();
  for (const { map } of matches.values()) if (map) claims.set(map, (claims.get(map) ?? 0) + 1);
  const chosen = selected(archive, ids);
  const maps = chosen.maps.map((archived) => {
    const match = matches.get(archived) ?? { map: null, by: null };
    if (match.map !== null && (claims.get(match.map) ?? 0) > 1) {
      const why = 'several maps of the backup match the one on the chassis';
      return planned(archived, { verdict: 'conflict', live: match.map, why });
    }
    const damaged = match.map === null ? live.damaged.find((other) => mayBe(archived, other, isForeign)) : undefined;
    return damaged === undefined
      ? planOne(archived, match, live.maps)
      : planned(archived, { verdict: 'conflict', why: damagedConflict(damaged) });
  });
  const wasCurrent = maps.find(
    ({ archived, verdict }) => archived.isCurrent && verdict !== 'conflict' && verdict !== 'not-restorable',
  );
  return {
    maps,
    damaged: chosen.damaged,
    others: live.maps.filter((map) => !claims.has(map)),
    mapToSelect:
      live.current === null && live.currentProblem === null && !isForeign ? (wasCurrent?.archived ?? null) : null,
  };
}

/** Whether the plan changes anything on the chassis. */
export function changesAnything({ maps, mapToSelect }: RestorePlan): boolean {
  return mapToSelect !== null || maps.some(({ verdict }) => verdict === 'overlays-differ' || verdict === 'missing');
}

type Contents = Pick<MapArchive, 'maps' | 'damaged'>;

function selected({ maps, damaged }: Contents, ids: 'all' | readonly string[]): Contents {
  if (ids === 'all') return { maps, damaged };
  const all = [...maps, ...damaged];
  const unknown = ids.filter((id) => !all.some((map) => hasName(map, id)));
  if (unknown.length > 0) {
    const has = maps.length === 0 ? 'It contains none.' : `It contains ${maps.map(({ id }) => id).join(', ')}.`;
    throw new GwError('MAP_UNKNOWN', `The backup contains no map ${unknown.map(quote).join(', ')}. ${has}`, {
      remedy: 'Name a map by its id at the time of the backup, or by its uid; `gw map verify FILE` lists them.',
    });
  }
  const isNamed = (map: ArchivedMap | DamagedMap) => ids.some((id) => hasName(map, id));
  return { maps: maps.filter(isNamed), damaged: damaged.filter(isNamed) };
}

function hasName({ id, uid }: ArchivedMap | DamagedMap, name: string): boolean {
  return (id !== null && name === String(id)) || name === uid;
}

interface Match {
  readonly map: LiveMap | null;
  readonly by: PlannedMap['matchedBy'];
  /** Set when the match is ambiguous. */
  readonly ambiguity?: string;
}

/**
 * Matches by uid; by number only on the same robot where neither has a uid, since numbers are reassigned. A map recreated with another uid
 * is matched by name, grid and picture, so that a second restore does not create it twice.
 */
function matchOf(
  archived: ArchivedMap,
  all: readonly ArchivedMap[],
  live: readonly LiveMap[],
  isForeign: boolean,
): Match {
  const { uid, id } = archived;
  const sameUid = uid === null ? [] : live.filter((map) => map.uid === uid);
  if (sameUid.length > 1) {
    return { map: sameUid[0] ?? null, by: 'uid', ambiguity: `${sameUid.length} maps on the chassis have its uid` };
  }
  if (sameUid[0]) return { map: sameUid[0], by: 'uid' };
  const sameId = isForeign ? undefined : live.find((map) => map.id === id);
  if (uid === null && sameId?.uid === null) return { map: sameId, by: 'id' };
  // Live maps with the uid of another archived map are excluded.
  const free = live.filter((map) => map.uid === null || !all.some((other) => other.uid === map.uid));
  const twin = free.find(
    (map) => map.name === archived.name && isSamePlace(archived, map) && hasSamePicture(archived, map),
  );
  if (twin) return { map: twin, by: 'content' };
  if (sameId && free.includes(sameId) && (uid === null) !== (sameId.uid === null)) {
    return {
      map: sameId,
      by: 'id',
      ambiguity: 'only one of the two has a uid, so whether they are the same map is unknown',
    };
  }
  return { map: null, by: null };
}

function planOne(archived: ArchivedMap, { map, by, ambiguity }: Match, live: readonly LiveMap[]): PlannedMap {
  if (map === null) return planMissing(archived, live);
  const picture = comparePictures(archived.image, map.image);
  const base = { live: map, matchedBy: by, picture };
  const conflict = ambiguity ?? conflictOf(archived, map, picture);
  if (conflict !== null) return planned(archived, { ...base, verdict: 'conflict', why: conflict });
  const overlays = compareOverlays(map.overlays, archived.overlays);
  const notes = [
    ...(picture === 'not-compared' ? ['its picture was not compared: it is missing on one side'] : []),
    ...(archived.name === map.name ? [] : [`its name is now ${quote(map.name)} and is not changed by a restore`]),
  ];
  if (overlays.same) return planned(archived, { ...base, verdict: 'same', overlays, notes });
  const why = obstacleOf(archived, map);
  return planned(archived, {
    ...base,
    verdict: why === null ? 'overlays-differ' : 'not-restorable',
    overlays,
    why,
    notes,
  });
}

function conflictOf(archived: ArchivedMap, map: LiveMap, picture: PictureVerdict): string | null {
  if (gridOf(archived.data) === null || gridOf(map.data) === null) return 'its grid cannot be read';
  if (!isSamePlace(archived, map)) return 'its grid differs: the map was recreated since the backup';
  if (picture === 'differs') return 'its picture differs: the map was recreated since the backup';
  if (archived.mapVersion !== map.mapVersion) {
    const was = archived.mapVersion ?? 'none';
    return `its map_version is ${map.mapVersion ?? 'none'}, was ${was}: the map was recreated since the backup`;
  }
  if (picture === 'not-compared' && archived.mapVersion === null) {
    return 'neither picture nor map_version exists on both sides, so whether it is the same map is unknown';
  }
  return null;
}

/** Why different overlays cannot be written; null when they can. */
function obstacleOf(archived: ArchivedMap, map: LiveMap): string | null {
  if (archived.overlays === null) {
    return 'the backup has no overlays for it, and only overlays received from a chassis are written';
  }
  if (archived.overlaysForm === 'object' || map.overlaysForm === 'object') {
    return 'the chassis returns its overlays as an object, and the write is documented for a JSON text only';
  }
  return null;
}

/** Whether a map of the chassis that cannot be read may be this one; a second one is not created beside it. */
function mayBe(archived: ArchivedMap, { id, uid, name }: UnreadMap, isForeign: boolean): boolean {
  if (uid !== null && uid === archived.uid) return true;
  if (name === archived.name) return true;
  return !isForeign && id === archived.id && (uid === null || archived.uid === null);
}

function damagedConflict(damaged: UnreadMap): string {
  const name = damagedName(damaged);
  return `${name} of the chassis cannot be read (${damaged.why}) and may be this map: delete ${name} with the tool of the chassis, then restore again`;
}

function planMissing(archived: ArchivedMap, live: readonly LiveMap[]): PlannedMap {
  const lacks = [
    ...(archived.image === null ? ['its picture'] : []),
    ...(archived.localisation === null ? ['its localisation data'] : []),
    ...(gridOf(archived.data) === null ? ['its grid'] : []),
  ];
  if (lacks.length > 0) {
    const why = `not on the chassis, and the backup lacks ${lacks.join(' and ')}`;
    return planned(archived, { verdict: 'not-restorable', why });
  }
  const namesake = live.find(({ name }) => name === archived.name);
  const note = `map ${namesake?.id} on the chassis has the same name but is another map; it is not changed`;
  return planned(archived, { verdict: 'missing', notes: namesake ? [note] : [] });
}

function planned(
  archived: ArchivedMap,
  properties: Pick<PlannedMap, 'verdict'> & Partial<Omit<PlannedMap, 'archived' | 'verdict'>>,
): PlannedMap {
  return { archived, live: null, matchedBy: null, overlays: null, picture: null, why: null, notes: [], ...properties };
}

function isSamePlace(a: Pick<LiveMap, 'data'>, b: Pick<LiveMap, 'data'>): boolean {
  const [one, other] = [gridOf(a.data), gridOf(b.data)];
  if (one === null || other === null) return false;
  const { originXM, originYM, resolutionM } = one;
  return originXM === other.originXM && originYM === other.originYM && resolutionM === other.resolutionM;
}

function hasSamePicture(a: LiveMap, b: LiveMap): boolean {
  return comparePictures(a.image, b.image) === 'same';
}
