import { GwError } from '../../error/index.ts';
import { quote } from '../../json/index.ts';
import {
  compareOverlays,
  comparePictures,
  gridOf,
  type LiveMap,
  type LiveMaps,
  type OverlaysComparison,
} from '../live-maps.ts';
import { damagedName } from '../map-reading.ts';
import type { MapArchive } from '../model.ts';

/**
 * Throws BACKUP_OUTDATED with every reason unless the archive contains each map of the chassis in its current state, with
 * picture and localisation data, and the same current map. A current map that is not stored cannot be in a backup and is
 * refused.
 */
export function assertContainsAll(archive: MapArchive, live: LiveMaps): void {
  const { current, maps, damaged, currentProblem } = live;
  const unread = damaged.map((map) => `${damagedName(map)}: ${map.why}`);
  if (currentProblem !== null) unread.push(`the current map: ${currentProblem}`);
  if (unread.length > 0) {
    throw new GwError(
      'BACKUP_OUTDATED',
      `The chassis has maps that cannot be read, so no backup contains them and a restart may lose them: ${unread.slice(0, 10).join('; ')}. Nothing was changed.`,
      {
        remedy: `With the tool of the chassis store again or delete ${damaged.map(damagedName).join(', ') || 'the current map'}, take a new backup with \`gw map backup\`, then try again.`,
        details: { reasons: unread.slice(0, 200) },
      },
    );
  }
  if (current !== null && !maps.some(({ id }) => id === current.id)) {
    throw new GwError(
      'BACKUP_OUTDATED',
      `The current map (id ${current.id}) was set from data and is not stored, so no backup contains it: a restart would lose it. Nothing was changed.`,
      { remedy: 'Store the map on the chassis first, take a new backup with `gw map backup`, then try again.' },
    );
  }
  const reasons = maps.flatMap((map) => differencesOf(archive, map));
  const inUse = archive.maps.find(({ isCurrent }) => isCurrent);
  const currentMap = maps.find(({ id }) => id === current?.id);
  if (reasons.length === 0 && (inUse === undefined ? currentMap !== undefined : !isSameMap(inUse, currentMap))) {
    reasons.push(`current map is ${named(currentMap)}, was ${named(inUse)} at the backup`);
  }
  if (reasons.length === 0) return;
  throw new GwError(
    'BACKUP_OUTDATED',
    `The backup differs from the current chassis content: ${reasons.slice(0, 10).join('; ')}. Nothing was changed.`,
    { details: { reasons: reasons.slice(0, 200) } },
  );
}

function differencesOf(archive: MapArchive, live: LiveMap): string[] {
  const archived = archive.maps.find((map) => isSameMap(map, live));
  if (archived === undefined) return [`${named(live)} is missing in it`];
  const reasons: string[] = [];
  if (archived.name !== live.name) reasons.push(`its name was ${quote(archived.name)}`);
  if (archived.mapVersion !== live.mapVersion) reasons.push('its map_version differs');
  if (archived.overlaysVersion !== live.overlaysVersion) reasons.push('its overlays_version differs');
  if (archived.overlays !== live.overlays) reasons.push('its overlays differ');
  if (JSON.stringify(gridOf(archived.data)) !== JSON.stringify(gridOf(live.data))) reasons.push('its grid differs');
  if (comparePictures(archived.image, live.image) === 'differs') reasons.push('its picture differs');
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

/** Comparison of one map before and after. */
export interface MapComparison {
  readonly before: LiveMap;
  readonly status: 'unchanged' | 'changed' | 'lost';
  /** Its current number; null when it is lost. */
  readonly id: number | null;
  /** Changes, as clauses. */
  readonly changes: readonly string[];
  readonly overlays: OverlaysComparison | null;
  /** Notes that are not changes, as clauses. */
  readonly notes: readonly string[];
}

/** Compares every former map with the current ones, without pictures and localisation data. */
export function compareMaps(
  before: Pick<LiveMaps, 'maps'>,
  after: Pick<LiveMaps, 'maps' | 'damaged'>,
): MapComparison[] {
  return before.maps.map((map) => {
    const unread = after.damaged.find(({ id, uid }) =>
      uid === null || map.uid === null ? id === map.id : uid === map.uid,
    );
    if (unread !== undefined) {
      const changes = [`it cannot be read any more: ${unread.why}`];
      return { before: map, status: 'changed', id: unread.id, changes, overlays: null, notes: [] };
    }
    const now = after.maps.find((other) => isSameMap(map, other));
    if (now === undefined) return { before: map, status: 'lost', id: null, changes: [], overlays: null, notes: [] };
    const overlays = compareOverlays(map.overlays, now.overlays);
    const changes = [
      ...(map.name === now.name ? [] : [`its name is ${quote(now.name)}`]),
      ...(map.mapVersion === now.mapVersion ? [] : [`its map_version is ${now.mapVersion ?? 'none'}`]),
      ...(JSON.stringify(gridOf(map.data)) === JSON.stringify(gridOf(now.data)) ? [] : ['its grid differs']),
      ...(overlays.same ? [] : ['its overlays differ']),
    ];
    const notes = [
      ...(map.id === now.id ? [] : [`its number is now ${now.id}`]),
      ...(map.overlaysVersion === now.overlaysVersion
        ? []
        : [
            `its overlays_version is now ${now.overlaysVersion ?? 'none'}, with ${overlays.same ? 'the same' : 'other'} overlays`,
          ]),
    ];
    return {
      before: map,
      status: changes.length === 0 ? 'unchanged' : 'changed',
      id: now.id,
      changes,
      overlays,
      notes,
    };
  });
}
