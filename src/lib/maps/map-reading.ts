import {
  type ChassisClient,
  type CurrentMap,
  type DamagedMapItem,
  failureDetail,
  type MapFile,
  type MapListItem,
} from '../chassis/index.ts';
import { GwError } from '../error/index.ts';
import { quote } from '../json/index.ts';
import { overlaysSource } from '../overlays/index.ts';
import type { ArchivedMap, DamagedMap, MissingFile } from './model.ts';
import { checkPng } from './png.ts';

export interface ReadMapOptions {
  readonly isCurrent: boolean;
  readonly signal: AbortSignal;
  /** Progress line for display. */
  readonly onProgress: (text: string) => void;
}

export type MapReading =
  | { readonly kind: 'read'; readonly map: ArchivedMap }
  | { readonly kind: 'damaged'; readonly damaged: DamagedMap };

/**
 * Reads one map with all its files. A picture or localisation data that cannot be read is missing; without readable data
 * the map is damaged. Throws where the chassis does not answer any more, or is another one.
 */
export async function readMap(client: ChassisClient, item: MapListItem, options: ReadMapOptions): Promise<MapReading> {
  const { id, uid, name } = item;
  const { data, image, localisation } = await receiveAll(client, id, options);
  if (data.why !== null) {
    const received = { data: data.bytes, image: image.bytes, localisation: localisation.bytes };
    const { isCurrent } = options;
    return { kind: 'damaged', damaged: { entry: null, id, uid, name, why: data.why, isCurrent, received } };
  }
  const missing = [['image', image] as const, ['localisation', localisation] as const].flatMap(
    ([what, { bytes: received, why }]): MissingFile[] => (why === null ? [] : [{ what, why, received }]),
  );
  const { text: overlays, form: overlaysForm } = overlaysSource(data.bytes);
  return {
    kind: 'read',
    map: {
      ...item,
      isCurrent: options.isCurrent,
      ...{ data: data.bytes, overlays, overlaysForm },
      image: image.why === null ? image.bytes : null,
      localisation: localisation.why === null ? localisation.bytes : null,
      missing,
    },
  };
}

/** Every answer about a map whose entry in the list is damaged; of a repeated number `isFirst` gets them. */
export async function readDamagedMap(
  client: ChassisClient,
  item: DamagedMapItem,
  { isFirst, ...options }: ReadMapOptions & { readonly isFirst: boolean },
): Promise<DamagedMap> {
  const { isCurrent } = options;
  if (item.id === null || !isFirst) {
    return { ...item, isCurrent, received: { data: null, image: null, localisation: null } };
  }
  const { data, image, localisation } = await receiveAll(client, item.id, options);
  const received = { data: data.bytes, image: image.bytes, localisation: localisation.bytes };
  return { ...item, isCurrent, received };
}

/** A file as received; `why` is null where it is valid. */
type Received =
  | { readonly bytes: Uint8Array; readonly why: null }
  | { readonly bytes: Uint8Array | null; readonly why: string };

async function receiveAll(client: ChassisClient, number: number, { signal, onProgress }: ReadMapOptions) {
  const id = String(number);
  onProgress(`map ${id}: reading data and overlays`);
  const data = await receiveMapFile(client, id, 'data', signal);
  onProgress(`map ${id}: reading the picture`);
  const image = await checked(await receiveMapFile(client, id, 'image', signal), async (bytes) => {
    const picture = await checkPng(bytes);
    return picture.ok ? null : `invalid PNG: ${picture.problem}`;
  });
  onProgress(`map ${id}: reading the localisation data`);
  const localisation = await checked(await receiveMapFile(client, id, 'localisation', signal), async (bytes) =>
    bytes.byteLength > 0 ? null : 'the chassis returned 0 bytes',
  );
  return { data, image, localisation };
}

async function checked(
  received: Received,
  problemOf: (bytes: Uint8Array) => Promise<string | null>,
): Promise<Received> {
  if (received.why !== null) return received;
  const why = await problemOf(received.bytes);
  return why === null ? received : { bytes: received.bytes, why };
}

const MAX_WHY = 300;

/** Why an answer cannot be used, as a clause. */
function reasonOfAnswer(error: unknown): string {
  return failureDetail(error).slice(0, MAX_WHY).replace(/\.$/, '');
}

/** One file of a map, or why there is none. Throws where the chassis does not answer any more, or is another one. */
export async function receiveMapFile(
  client: ChassisClient,
  id: string,
  what: MapFile,
  signal?: AbortSignal,
): Promise<Received> {
  let bytes: Uint8Array | null = null;
  let error: unknown;
  try {
    const file = await client.mapFile(id, what, signal);
    if (file.error === null) return { bytes: file.bytes, why: null };
    ({ bytes, error } = file);
  } catch (thrown) {
    error = thrown;
  }
  await assertConcernsOne(client, error, signal);
  return { bytes, why: reasonOfAnswer(error) };
}

/** The current map; `problem` says why it is not known. */
export async function readCurrentMap(
  client: ChassisClient,
  signal?: AbortSignal,
): Promise<{ readonly current: CurrentMap | null; readonly problem: string | null }> {
  try {
    return { current: await client.currentMap(signal), problem: null };
  } catch (error) {
    await assertConcernsOne(client, error, signal);
    return { current: null, problem: reasonOfAnswer(error) };
  }
}

const concerningOne = ['CHASSIS_REFUSED', 'CHASSIS_BAD_ANSWER', 'CHASSIS_NOT_CONNECTED', 'CHASSIS_BOOTING'];

/** Throws an error that is about more than this answer: the chassis is away, starts, or is another one. */
async function assertConcernsOne(client: ChassisClient, error: unknown, signal?: AbortSignal): Promise<void> {
  if (!(error instanceof GwError) || signal?.aborted || !concerningOne.includes(error.code)) throw error;
  if (error.code === 'CHASSIS_NOT_CONNECTED' || error.code === 'CHASSIS_BOOTING') await client.identity(signal);
}

/** A damaged map in words: `map 2 "Floor 2"`. */
export function damagedName({ entry, id, name }: Pick<DamagedMap, 'entry' | 'id' | 'name'>): string {
  const which = id === null ? `entry ${entry} of the list` : `map ${id}`;
  return name === null ? which : `${which} ${quote(name)}`;
}

/** MAP_UNREADABLE, with a remedy that names the map. */
export function unreadableMap(damaged: Pick<DamagedMap, 'entry' | 'id' | 'name' | 'why'>): GwError {
  const name = damagedName(damaged);
  return new GwError('MAP_UNREADABLE', `The chassis returns ${name} damaged: ${damaged.why}.`, {
    remedy: `Open ${name} with the tool of the chassis, and store it again or delete it there. The other maps can be used.`,
    details: { id: damaged.id, entry: damaged.entry, problem: damaged.why },
  });
}
