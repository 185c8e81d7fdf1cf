import { type ChassisClient, failureDetail, type MapListItem } from '../chassis/index.ts';
import { GwError } from '../error/index.ts';
import { quote } from '../json/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { overlaysSource } from '../overlays/index.ts';
import { bounds } from './manifest.ts';
import type { ArchivedMap, MapArchive } from './model.ts';
import { checkPng } from './png.ts';

export interface BackupOptions {
  /** Numbers of the maps as texts; 'all' for every one that the chassis lists. */
  readonly ids: 'all' | readonly string[];
  readonly gwVersion: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** One line for a person about what happens now. */
  readonly onProgress: (text: string) => void;
}

export type ReadMapOptions = Pick<BackupOptions, 'signal' | 'onProgress'>;

/**
 * Takes maps off a chassis, byte for byte, and changes nothing there. A picture or localisation data that the chassis
 * does not give is noted in `missing`; everything else that fails ends the backup. It is refused as BACKUP_OUTDATED
 * when the list of maps, or the chassis itself, is another one at the end than it was at the beginning.
 * `complete` is false when maps were named, and when the map in use is stored nowhere (id -1), so that nobody can
 * take it. Throws as the client does, and MAP_UNKNOWN.
 */
export async function backUpMaps(client: ChassisClient, options: BackupOptions): Promise<MapArchive> {
  const { ids, gwVersion, clock, signal, onProgress } = options;
  onProgress('asking the chassis who it is and which maps it has');
  const identity = await client.identity(signal);
  const listed = await client.listMaps(signal);
  const current = await client.currentMap(signal);
  const chosen = ids === 'all' ? checkedList(client, listed) : pickMaps(checkedList(client, listed), ids);
  const maps: ArchivedMap[] = [];
  let bytes = 0;
  for (const item of chosen) {
    const map = await readMap(client, item, { isCurrent: current?.id === item.id }, { signal, onProgress });
    bytes += sizeOf(map);
    if (bytes > bounds.totalBytes) {
      throw new GwError('CHASSIS_BAD_ANSWER', `The maps are larger than ${bounds.totalBytes} bytes together.`, {
        tried: { address: client.endpoint.host, port: client.endpoint.port },
        remedy: 'Back up a few maps at a time: name each with --map.',
      });
    }
    maps.push(map);
  }
  onProgress('asking whether anything changed meanwhile');
  const after = await client.identity(signal);
  const listedAfter = await client.listMaps(signal);
  if (after.serial !== identity.serial || JSON.stringify(listedAfter) !== JSON.stringify(listed)) {
    throw new GwError('BACKUP_OUTDATED', 'The maps of the chassis changed while they were read; nothing was kept.', {
      remedy: 'Make sure that nobody works on the maps, then take the backup again.',
    });
  }
  const { serial, software, model } = identity;
  return {
    createdAt: clock.wall().toISOString(),
    gwVersion,
    chassis: { serial, software, model },
    complete: ids === 'all' && (current === null || listed.some(({ id }) => id === current.id)),
    maps,
  };
}

/** One map with everything that the chassis gives for it. Throws as the client does. */
export async function readMap(
  client: ChassisClient,
  item: MapListItem,
  { isCurrent }: { readonly isCurrent: boolean },
  { signal, onProgress }: ReadMapOptions,
): Promise<ArchivedMap> {
  const id = String(item.id);
  const missing: { what: 'image' | 'localisation'; why: string }[] = [];
  /** What the chassis gives is taken; why it does not is written down. */
  async function take(
    what: 'image' | 'localisation',
    read: () => Promise<Uint8Array>,
    problem: (bytes: Uint8Array) => Promise<string | null>,
  ): Promise<Uint8Array | null> {
    let why: string | null;
    try {
      const bytes = await read();
      why = await problem(bytes);
      if (why === null) return bytes;
    } catch (error) {
      if (!isOfThisFile(error)) throw error;
      why = failureDetail(error);
    }
    missing.push({ what, why: why.slice(0, 300) });
    return null;
  }

  onProgress(`map ${id}: reading data and overlays`);
  const data = await client.mapBytes(id, signal);
  const { text: overlays, form: overlaysForm } = overlaysSource(data);
  onProgress(`map ${id}: reading the picture`);
  const image = await take(
    'image',
    () => client.mapPng(id, signal),
    async (bytes) => {
      const picture = await checkPng(bytes);
      return picture.ok ? null : `the picture came, but ${picture.problem}`;
    },
  );
  onProgress(`map ${id}: reading the localisation data`);
  const localisation = await take(
    'localisation',
    () => client.mapLocalisation(id, signal),
    async ({ byteLength }) => (byteLength > 0 ? null : 'the chassis gave 0 bytes'),
  );
  const { uid, name, mapVersion, overlaysVersion } = item;
  return {
    id: item.id,
    uid,
    name,
    mapVersion,
    overlaysVersion,
    isCurrent,
    data,
    overlays,
    overlaysForm,
    image,
    localisation,
    missing,
  };
}

/**
 * Whether an error is about the one file that was asked for, so that the rest of a backup is still worth having. A
 * chassis that is gone altogether shows at the next request, and at the last one of the backup.
 */
function isOfThisFile(error: unknown): boolean {
  return (
    error instanceof GwError && ['CHASSIS_REFUSED', 'CHASSIS_BAD_ANSWER', 'CHASSIS_NOT_CONNECTED'].includes(error.code)
  );
}

function checkedList(client: ChassisClient, listed: readonly MapListItem[]): readonly MapListItem[] {
  const twice = listed.find(({ id }, at) => listed.findIndex((other) => other.id === id) !== at);
  const problem = twice
    ? `lists map ${twice.id} twice`
    : listed.length > bounds.maps
      ? `lists ${listed.length} maps, and gw takes ${bounds.maps} at most`
      : null;
  if (problem === null) return listed;
  throw new GwError('CHASSIS_BAD_ANSWER', `The chassis ${problem}.`, {
    tried: { address: client.endpoint.host, port: client.endpoint.port, action: 'GET /maps/' },
    details: { problem },
  });
}

/** The items of these ids, in the order of the list, each once. Throws MAP_UNKNOWN. */
function pickMaps(listed: readonly MapListItem[], ids: readonly string[]): readonly MapListItem[] {
  const chosen = new Set(ids.map((id) => pickMap(listed, id)));
  return listed.filter((item) => chosen.has(item));
}

/** The item of this id. Throws MAP_UNKNOWN with the ids that there are. */
export function pickMap(listed: readonly MapListItem[], id: string): MapListItem {
  const found = listed.find((item) => String(item.id) === id);
  if (found) return found;
  const ids = listed.map((item) => item.id);
  const there =
    ids.length === 0 ? 'It has none.' : `It has: ${ids.slice(0, 50).join(', ')}${ids.length > 50 ? ', …' : ''}.`;
  throw new GwError('MAP_UNKNOWN', `The chassis has no map ${quote(id)}. ${there}`, { details: { id, maps: ids } });
}

function sizeOf({ data, overlays, image, localisation }: ArchivedMap): number {
  return data.byteLength + (overlays?.length ?? 0) + (image?.byteLength ?? 0) + (localisation?.byteLength ?? 0);
}
