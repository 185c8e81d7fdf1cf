import { type ChassisClient, failureDetail, type MapListItem } from '../chassis/index.ts';
import { GwError } from '../error/index.ts';
import { quote } from '../json/index.ts';
import type { Clock } from '../lifecycle/index.ts';
import { overlaysSource } from '../overlays/index.ts';
import { bounds } from './archive/manifest.ts';
import type { ArchivedMap, MapArchive } from './model.ts';
import { checkPng } from './png.ts';

export interface BackupOptions {
  /** Map numbers as texts; 'all' for every listed map. */
  readonly ids: 'all' | readonly string[];
  readonly gwVersion: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Progress line for display. */
  readonly onProgress: (text: string) => void;
}

export type ReadMapOptions = Pick<BackupOptions, 'signal' | 'onProgress'>;

/**
 * Reads maps of a chassis byte for byte, without changing it. A picture or localisation data that cannot be read is
 * listed in `missing`; every other failure ends the backup. `complete` is false for selected maps, and when the map in
 * use is not stored (id -1). Throws MAP_UNKNOWN, BACKUP_TOO_LARGE, BACKUP_OUTDATED when the list of maps or the chassis
 * changed meanwhile, and the errors of the client.
 */
export async function backUpMaps(client: ChassisClient, options: BackupOptions): Promise<MapArchive> {
  const { ids, gwVersion, clock, signal, onProgress } = options;
  onProgress('reading identity and list of maps');
  const identity = await client.identity(signal);
  const listed = await client.listMaps(signal);
  const current = await client.currentMap(signal);
  assertDistinct(client, listed);
  const chosen = ids === 'all' ? listed : pickMaps(listed, ids);
  if (chosen.length > bounds.maps) {
    const what = ids === 'all' ? `The chassis lists ${chosen.length} maps` : `${chosen.length} maps were named`;
    throw new GwError('BACKUP_TOO_LARGE', `${what}; a backup holds at most ${bounds.maps}.`, {
      details: { maps: chosen.length, limit: bounds.maps },
    });
  }
  const maps: ArchivedMap[] = [];
  let bytes = 0;
  for (const item of chosen) {
    const map = await readMap(client, item, { isCurrent: current?.id === item.id }, { signal, onProgress });
    bytes += sizeOf(map);
    if (bytes > bounds.totalBytes) {
      throw new GwError('BACKUP_TOO_LARGE', `The maps exceed ${bounds.totalBytes} bytes in total.`);
    }
    maps.push(map);
  }
  onProgress('checking that nothing changed meanwhile');
  const after = await client.identity(signal);
  const listedAfter = await client.listMaps(signal);
  if (after.serial !== identity.serial || JSON.stringify(listedAfter) !== JSON.stringify(listed)) {
    throw new GwError('BACKUP_OUTDATED', 'The maps of the chassis changed while they were read; nothing was saved.', {
      remedy: 'Make sure that the maps are not being edited, then take the backup again.',
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

/** Reads one map with all its files. Throws the errors of the client. */
export async function readMap(
  client: ChassisClient,
  item: MapListItem,
  { isCurrent }: { readonly isCurrent: boolean },
  { signal, onProgress }: ReadMapOptions,
): Promise<ArchivedMap> {
  const id = String(item.id);
  const missing: { what: 'image' | 'localisation'; why: string }[] = [];
  /** Reads a file, or records why it is missing. */
  async function readPart(
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
      if (!isFileError(error)) throw error;
      why = failureDetail(error);
    }
    missing.push({ what, why: why.slice(0, 300) });
    return null;
  }

  onProgress(`map ${id}: reading data and overlays`);
  const data = await client.mapBytes(id, signal);
  const { text: overlays, form: overlaysForm } = overlaysSource(data);
  onProgress(`map ${id}: reading the picture`);
  const image = await readPart(
    'image',
    () => client.mapPng(id, signal),
    async (bytes) => {
      const picture = await checkPng(bytes);
      return picture.ok ? null : `invalid PNG: ${picture.problem}`;
    },
  );
  onProgress(`map ${id}: reading the localisation data`);
  const localisation = await readPart(
    'localisation',
    () => client.mapLocalisation(id, signal),
    async ({ byteLength }) => (byteLength > 0 ? null : 'the chassis returned 0 bytes'),
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
 * Whether an error concerns a single file, so that the backup continues. A chassis that is not connected fails at the
 * next request.
 */
function isFileError(error: unknown): boolean {
  return (
    error instanceof GwError && ['CHASSIS_REFUSED', 'CHASSIS_BAD_ANSWER', 'CHASSIS_NOT_CONNECTED'].includes(error.code)
  );
}

function assertDistinct(client: ChassisClient, listed: readonly MapListItem[]): void {
  const seen = new Set<number>();
  const twice = listed.find(({ id }) => seen.size === seen.add(id).size);
  if (twice === undefined) return;
  const problem = `lists map ${twice.id} twice`;
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

/** The item of this id. Throws MAP_UNKNOWN with the existing ids. */
export function pickMap(listed: readonly MapListItem[], id: string): MapListItem {
  const found = listed.find((item) => String(item.id) === id);
  if (found) return found;
  const ids = listed.map((item) => item.id);
  const available =
    ids.length === 0 ? 'It has none.' : `It has: ${ids.slice(0, 50).join(', ')}${ids.length > 50 ? ', …' : ''}.`;
  throw new GwError('MAP_UNKNOWN', `The chassis has no map ${quote(id)}. ${available}`, { details: { id, maps: ids } });
}

function sizeOf({ data, overlays, image, localisation }: ArchivedMap): number {
  return data.byteLength + (overlays?.length ?? 0) + (image?.byteLength ?? 0) + (localisation?.byteLength ?? 0);
}
