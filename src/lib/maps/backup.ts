import type { ChassisClient, MapListItem, MapListing } from '../chassis/index.ts';
import { GwError } from '../error/index.ts';
import { quote } from '../json/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { bounds } from './archive/manifest.ts';
import { readCurrentMap, readDamagedMap, readMap, unreadableMap } from './map-reading.ts';
import type { ArchivedMap, DamagedMap, MapArchive } from './model.ts';

export interface BackupOptions {
  /** Map numbers as texts; 'all' for every listed map. */
  readonly ids: 'all' | readonly string[];
  readonly gwVersion: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Progress line for display. */
  readonly onProgress: (text: string) => void;
}

/**
 * Reads maps of a chassis byte for byte, without changing it. A map that cannot be read is in `damaged` with the answers
 * of the chassis, and a picture or localisation data in `missing`: neither ends the backup of the others. `complete` is
 * false for selected maps, with a damaged one, and when the current map is unknown or not stored (id -1). Throws
 * MAP_UNKNOWN, BACKUP_TOO_LARGE, BACKUP_OUTDATED when the list of maps or the chassis changed meanwhile, and the errors of
 * the client where the chassis does not answer, or with something that is no list of maps.
 */
export async function backUpMaps(client: ChassisClient, options: BackupOptions): Promise<MapArchive> {
  const { ids, gwVersion, clock, signal, onProgress } = options;
  onProgress('reading identity and list of maps');
  const identity = await client.identity(signal);
  const listing = await client.listMaps(signal);
  const { current, problem: currentProblem } = await readCurrentMap(client, signal);
  const chosen = ids === 'all' ? listing : pickMaps(listing, ids);
  const count = chosen.maps.length + chosen.damaged.length;
  if (count > bounds.maps) {
    const what = ids === 'all' ? `The chassis lists ${count} maps` : `${count} maps were named`;
    throw new GwError('BACKUP_TOO_LARGE', `${what}; a backup holds at most ${bounds.maps}.`, {
      details: { maps: count, limit: bounds.maps },
    });
  }
  const maps: ArchivedMap[] = [];
  const damaged: DamagedMap[] = [];
  let bytes = listing.bytes.byteLength;
  const add = (files: readonly (Uint8Array | null)[]) => {
    for (const file of files) bytes += file?.byteLength ?? 0;
    if (bytes <= bounds.totalBytes) return;
    throw new GwError('BACKUP_TOO_LARGE', `The maps exceed ${bounds.totalBytes} bytes in total.`);
  };
  const addDamaged = (map: DamagedMap) => {
    add(Object.values(map.received));
    damaged.push(map);
  };
  for (const item of chosen.maps) {
    const reading = await readMap(client, item, { isCurrent: current?.id === item.id, signal, onProgress });
    if (reading.kind === 'read') {
      add(filesOf(reading.map));
      maps.push(reading.map);
    } else addDamaged(reading.damaged);
  }
  for (const item of chosen.damaged) {
    const isCurrent = item.id !== null && current?.id === item.id;
    const isFirst = !damaged.some(({ id }) => id === item.id);
    addDamaged(await readDamagedMap(client, item, { isCurrent, isFirst, signal, onProgress }));
  }
  onProgress('comparing the list of maps and its version counters with those before');
  const after = await client.identity(signal);
  const listedAfter = await client.listMaps(signal);
  if (
    after.serial !== identity.serial ||
    JSON.stringify(entriesOf(listedAfter)) !== JSON.stringify(entriesOf(listing))
  ) {
    throw new GwError('BACKUP_OUTDATED', 'The maps of the chassis changed while they were read; nothing was saved.', {
      remedy: 'Make sure that the maps are not being edited, then take the backup again.',
    });
  }
  const { serial, software, model } = identity;
  return {
    createdAt: clock.wall().toISOString(),
    gwVersion,
    chassis: { serial, software, model },
    complete:
      ids === 'all' &&
      damaged.length === 0 &&
      currentProblem === null &&
      (current === null || listing.maps.some(({ id }) => id === current.id)),
    maps,
    damaged,
    list: damaged.length > 0 ? listing.bytes : null,
    currentProblem,
  };
}

/** The entries of these ids, in the order of the list, each once. Throws MAP_UNKNOWN. */
function pickMaps(listing: MapListing, ids: readonly string[]): Pick<MapListing, 'maps' | 'damaged'> {
  const isNamed = ({ id }: { readonly id: number | null }) => id !== null && ids.includes(String(id));
  const picked = { maps: listing.maps.filter(isNamed), damaged: listing.damaged.filter(isNamed) };
  const found = [...picked.maps, ...picked.damaged];
  const unknown = ids.find((name) => !found.some(({ id }) => String(id) === name));
  if (unknown !== undefined) throw unknownMap(listing, unknown);
  return picked;
}

/** The readable entry of this id. Throws MAP_UNKNOWN with the existing ids, MAP_UNREADABLE. */
export function pickMap(listing: MapListing, id: string): MapListItem {
  const { maps, damaged } = pickMaps(listing, [id]);
  if (damaged[0] !== undefined) throw unreadableMap(damaged[0]);
  return maps[0] as MapListItem;
}

const entriesOf = ({ maps, damaged }: MapListing) => [maps, damaged];

function unknownMap(listing: MapListing, id: string): GwError {
  const ids = [...listing.maps, ...listing.damaged].flatMap((item) => item.id ?? []);
  const available =
    ids.length === 0 ? 'It has none.' : `It has: ${ids.slice(0, 50).join(', ')}${ids.length > 50 ? ', …' : ''}.`;
  return new GwError('MAP_UNKNOWN', `The chassis has no map ${quote(id)}. ${available}`, {
    details: { id, maps: ids },
  });
}

function filesOf({ data, overlays, image, localisation, missing }: ArchivedMap): (Uint8Array | null)[] {
  const text = overlays === null ? null : Buffer.from(overlays);
  return [data, text, image, localisation, ...missing.map(({ received }) => received)];
}
