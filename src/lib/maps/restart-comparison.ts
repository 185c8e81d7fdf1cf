import { GwError } from '../error/index.ts';
import { quote } from '../json/index.ts';
import {
  compareOverlays,
  comparePictures,
  gridOf,
  type LiveMap,
  type LiveMaps,
  type OverlaysComparison,
} from './live-maps.ts';
import type { MapArchive } from './model.ts';

/**
 * Throws BACKUP_OUTDATED, naming every reason, unless the archive holds each map of the chassis as it is now, with
 * picture and localisation data, and the map in use is the same one. A map in use that is stored nowhere is refused:
 * no backup can hold it.
 */
export function assertHoldsAll(archive: MapArchive, live: LiveMaps): void {
  const { current, maps } = live;
  if (current !== null && !maps.some(({ id }) => id === current.id)) {
    throw new GwError(
      'BACKUP_OUTDATED',
      `The map in use (id ${current.id}) was set from data and is stored nowhere, so no backup can hold it: a restart would lose it. Nothing was changed.`,
      { remedy: 'Store the map on the chassis first, take a new backup with `gw map backup`, then try again.' },
    );
  }
  const reasons = maps.flatMap((map) => whatIsMissing(archive, map));
  const inUse = archive.maps.find(({ isCurrent }) => isCurrent);
  const currentMap = maps.find(({ id }) => id === current?.id);
  if (reasons.length === 0 && (inUse === undefined ? currentMap !== undefined : !isSameMap(inUse, currentMap))) {
    reasons.push(`in use is ${named(currentMap)}, at the backup it was ${named(inUse)}`);
  }
  if (reasons.length === 0) return;
  throw new GwError(
    'BACKUP_OUTDATED',
    `The backup does not hold what the chassis holds now: ${reasons.slice(0, 10).join('; ')}. Nothing was changed.`,
    { details: { reasons: reasons.slice(0, 200) } },
  );
}

function whatIsMissing(archive: MapArchive, live: LiveMap): string[] {
  const archived = archive.maps.find((map) => isSameMap(map, live));
  if (archived === undefined) return [`${named(live)} is not in it`];
  const reasons: string[] = [];
  if (archived.name !== live.name) reasons.push(`its name was ${quote(archived.name)}`);
  if (archived.mapVersion !== live.mapVersion) reasons.push('its map_version was another one');
  if (archived.overlaysVersion !== live.overlaysVersion) reasons.push('its overlays_version was another one');
  if (archived.overlays !== live.overlays) reasons.push('its overlays were other ones');
  if (JSON.stringify(gridOf(archived.data)) !== JSON.stringify(gridOf(live.data)))
    reasons.push('its grid lay elsewhere');
  if (comparePictures(archived.image, live.image) === 'differs') reasons.push('its picture was another one');
  if (archived.image === null) reasons.push('the backup lacks its picture');
  if (archived.localisation === null) reasons.push('the backup lacks its localisation data');
  return reasons.length === 0 ? [] : [`${named(live)}: ${reasons.join(', ')}`];
}

type Named = Pick<LiveMap, 'id' | 'uid' | 'name'>;

function isSameMap(a: Named, b: Named | undefined): boolean {
  if (b === undefined) return false;
  return a.uid === null && b.uid === null ? a.id === b.id : a.uid === b.uid;
}

function named(map: Named | undefined): string {
  return map === undefined ? 'none' : `map ${map.id} ${quote(map.name)}`;
}

/** What became of one map over a restart. */
export interface MapFate {
  readonly before: LiveMap;
  readonly fate: 'there' | 'changed' | 'lost';
  /** Its number now; null when it is lost. */
  readonly id: number | null;
  /** What is not as it was, as clauses. */
  readonly changes: readonly string[];
  readonly overlays: OverlaysComparison | null;
  /** What is no loss and should still be known, as clauses. */
  readonly notes: readonly string[];
}

/** Every map of before beside what is there now. Pictures and localisation data are not among what is compared. */
export function compareMaps(before: Pick<LiveMaps, 'maps'>, after: Pick<LiveMaps, 'maps'>): MapFate[] {
  return before.maps.map((map) => {
    const now = after.maps.find((other) => isSameMap(map, other));
    if (now === undefined) return { before: map, fate: 'lost', id: null, changes: [], overlays: null, notes: [] };
    const overlays = compareOverlays(map.overlays, now.overlays);
    const changes = [
      ...(map.name === now.name ? [] : [`its name is ${quote(now.name)}`]),
      ...(map.mapVersion === now.mapVersion ? [] : [`its map_version is ${now.mapVersion ?? 'none'}`]),
      ...(JSON.stringify(gridOf(map.data)) === JSON.stringify(gridOf(now.data)) ? [] : ['its grid lies elsewhere']),
      ...(overlays.same ? [] : ['its overlays are other ones']),
    ];
    const notes = [
      ...(map.id === now.id ? [] : [`its number is ${now.id} now`]),
      ...(map.overlaysVersion === now.overlaysVersion
        ? []
        : [
            `its overlays_version is ${now.overlaysVersion ?? 'none'} now, with ${overlays.same ? 'the same' : 'other'} overlays`,
          ]),
    ];
    return { before: map, fate: changes.length === 0 ? 'there' : 'changed', id: now.id, changes, overlays, notes };
  });
}
