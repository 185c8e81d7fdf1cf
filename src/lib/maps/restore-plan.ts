import type { CurrentMap } from '../chassis/index.ts';
import { GwError } from '../error/index.ts';
import { quote } from '../json/index.ts';
import {
  compareOverlays,
  comparePictures,
  gridOf,
  type LiveMap,
  type OverlaysComparison,
  type PictureVerdict,
} from './live-maps.ts';
import type { ArchivedMap, MapArchive } from './model.ts';

/** What a restore would do with one map of the archive. */
type PlanVerdict =
  /** The chassis holds it with the same overlays. */
  | 'same'
  /** The chassis holds it with other overlays: they would be replaced. */
  | 'overlays-differ'
  /** The chassis does not hold it: it would be created. */
  | 'missing'
  /** The chassis holds another map in its place: the old overlays are not written over it. */
  | 'conflict'
  /** Something that the restore needs is not there. */
  | 'cannot';

export interface PlannedMap {
  readonly archived: ArchivedMap;
  readonly verdict: PlanVerdict;
  readonly live: LiveMap | null;
  /** 'content': its uid is another one or none, but name, grid and picture are the same. */
  readonly matchedBy: 'uid' | 'id' | 'content' | null;
  /** The overlays on the chassis beside those of the archive; null without a live map. */
  readonly overlays: OverlaysComparison | null;
  readonly picture: PictureVerdict | null;
  /** Why it is a conflict, or cannot be; null otherwise. */
  readonly why: string | null;
  /** What else a person should know before. */
  readonly notes: readonly string[];
}

export interface RestorePlan {
  readonly maps: readonly PlannedMap[];
  /** Maps of the chassis that the archive does not have: nothing touches them. */
  readonly others: readonly LiveMap[];
  /** The map that would be taken into use again: it was in use at the backup, and now none is. */
  readonly takeIntoUse: ArchivedMap | null;
}

/**
 * Compares an archive with what the chassis holds, and says map by map what a restore would do. Reads and writes
 * nothing. Throws MAP_UNKNOWN when the archive has no such map.
 */
export function planRestore(
  archive: Pick<MapArchive, 'maps'>,
  live: { readonly maps: readonly LiveMap[]; readonly current: CurrentMap | null },
  ids: 'all' | readonly string[] = 'all',
): RestorePlan {
  const matches = new Map(archive.maps.map((archived) => [archived, matchOf(archived, archive.maps, live.maps)]));
  const claims = new Map<LiveMap, number>();
  for (const { map } of matches.values()) if (map) claims.set(map, (claims.get(map) ?? 0) + 1);
  const maps = selected(archive.maps, ids).map((archived) => {
    const match = matches.get(archived) ?? { map: null, by: null };
    if (match.map !== null && (claims.get(match.map) ?? 0) > 1) {
      const why = 'the archive has more than one map that fits the one on the chassis';
      return planned(archived, { verdict: 'conflict', live: match.map, why });
    }
    return planOne(archived, match, live.maps);
  });
  const wasInUse = maps.find(
    ({ archived, verdict }) => archived.isCurrent && verdict !== 'conflict' && verdict !== 'cannot',
  );
  return {
    maps,
    others: live.maps.filter((map) => !claims.has(map)),
    takeIntoUse: live.current === null ? (wasInUse?.archived ?? null) : null,
  };
}

/** Whether carrying this plan out would change anything on the chassis. */
export function changesAnything({ maps, takeIntoUse }: RestorePlan): boolean {
  return takeIntoUse !== null || maps.some(({ verdict }) => verdict === 'overlays-differ' || verdict === 'missing');
}

function selected(maps: readonly ArchivedMap[], ids: 'all' | readonly string[]): readonly ArchivedMap[] {
  if (ids === 'all') return maps;
  const unknown = ids.filter((id) => !maps.some((map) => isCalled(map, id)));
  if (unknown.length > 0) {
    const has = maps.length === 0 ? 'It holds none.' : `It holds ${maps.map(({ id }) => id).join(', ')}.`;
    throw new GwError('MAP_UNKNOWN', `The backup holds no map ${unknown.map(quote).join(', ')}. ${has}`, {
      remedy: 'Name a map by its id at the time of the backup, or by its uid; `gw map verify FILE` lists them.',
    });
  }
  return maps.filter((map) => ids.some((id) => isCalled(map, id)));
}

function isCalled({ id, uid }: ArchivedMap, name: string): boolean {
  return name === String(id) || name === uid;
}

interface Match {
  readonly map: LiveMap | null;
  readonly by: PlannedMap['matchedBy'];
  /** Set when several fit or when it cannot be told whether one does. */
  readonly doubt?: string;
}

/**
 * By uid; by number where neither has one, since numbers are given anew. A map that came back under another uid is
 * known by its name, grid and picture, so that a second restore does not create it a second time.
 */
function matchOf(archived: ArchivedMap, all: readonly ArchivedMap[], live: readonly LiveMap[]): Match {
  const { uid, id } = archived;
  const sameUid = uid === null ? [] : live.filter((map) => map.uid === uid);
  if (sameUid.length > 1) {
    return { map: sameUid[0] ?? null, by: 'uid', doubt: `${sameUid.length} maps on the chassis have its uid` };
  }
  if (sameUid[0]) return { map: sameUid[0], by: 'uid' };
  const sameId = live.find((map) => map.id === id);
  if (uid === null && sameId?.uid === null) return { map: sameId, by: 'id' };
  // A live map that is another archived one by its uid is not this one.
  const free = live.filter((map) => map.uid === null || !all.some((other) => other.uid === map.uid));
  const twin = free.find(
    (map) => map.name === archived.name && isSamePlace(archived, map) && hasSamePicture(archived, map),
  );
  if (twin) return { map: twin, by: 'content' };
  if (sameId && free.includes(sameId) && (uid === null) !== (sameId.uid === null)) {
    return {
      map: sameId,
      by: 'id',
      doubt: 'one of the two has a uid and the other has none, so nobody can say whether they are the same map',
    };
  }
  return { map: null, by: null };
}

function planOne(archived: ArchivedMap, { map, by, doubt }: Match, live: readonly LiveMap[]): PlannedMap {
  if (map === null) return planMissing(archived, live);
  const picture = comparePictures(archived.image, map.image);
  const base = { live: map, matchedBy: by, picture };
  const because = doubt ?? conflictOf(archived, map, picture);
  if (because !== null) return planned(archived, { ...base, verdict: 'conflict', why: because });
  const overlays = compareOverlays(map.overlays, archived.overlays);
  const notes = [
    ...(picture === 'not-compared' ? ['its picture was not compared: one of the two is missing'] : []),
    ...(archived.name === map.name ? [] : [`its name is ${quote(map.name)} now; a restore leaves it so`]),
  ];
  if (overlays.same) return planned(archived, { ...base, verdict: 'same', overlays, notes });
  const why = obstacleOf(archived, map);
  return planned(archived, { ...base, verdict: why === null ? 'overlays-differ' : 'cannot', overlays, why, notes });
}

function conflictOf(archived: ArchivedMap, map: LiveMap, picture: PictureVerdict): string | null {
  if (gridOf(archived.data) === null || gridOf(map.data) === null) return 'its grid cannot be read';
  if (!isSamePlace(archived, map)) return 'its grid lies elsewhere: the map was made anew since the backup';
  if (picture === 'differs') return 'its picture is another one: the map was made anew since the backup';
  if (archived.mapVersion !== map.mapVersion) {
    const was = archived.mapVersion ?? 'none';
    return `its map_version is ${map.mapVersion ?? 'none'} and was ${was}: the map was made anew since the backup`;
  }
  if (picture === 'not-compared' && archived.mapVersion === null) {
    return 'there is neither a picture nor a map_version on both sides to tell whether it is the same map';
  }
  return null;
}

/** Why overlays that differ cannot be written back. */
function obstacleOf(archived: ArchivedMap, map: LiveMap): string | null {
  if (archived.overlays === null) {
    return 'the chassis gave no overlays for it at the backup, and only a text that came from a chassis is written back';
  }
  if (archived.overlaysForm === 'object' || map.overlaysForm === 'object') {
    return 'the chassis gives its overlays as an object, and a write is described for a JSON text only';
  }
  return null;
}

function planMissing(archived: ArchivedMap, live: readonly LiveMap[]): PlannedMap {
  const lacks = [
    ...(archived.image === null ? ['its picture'] : []),
    ...(archived.localisation === null ? ['its localisation data'] : []),
    ...(gridOf(archived.data) === null ? ['where its grid lies'] : []),
  ];
  if (lacks.length > 0) {
    const why = `the chassis has lost it, and the backup lacks ${lacks.join(' and ')}`;
    return planned(archived, { verdict: 'cannot', why });
  }
  const namesake = live.find(({ name }) => name === archived.name);
  const note = `map ${namesake?.id} on the chassis has the same name and is another map; it is left as it is`;
  return planned(archived, { verdict: 'missing', notes: namesake ? [note] : [] });
}

function planned(
  archived: ArchivedMap,
  of: Pick<PlannedMap, 'verdict'> & Partial<Omit<PlannedMap, 'archived' | 'verdict'>>,
): PlannedMap {
  return { archived, live: null, matchedBy: null, overlays: null, picture: null, why: null, notes: [], ...of };
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
