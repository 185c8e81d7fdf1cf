import type { MapListItem } from '../../chassis/index.ts';
import type { NewMap } from '../../chassis/map-writes.ts';
import { GwError } from '../../error/index.ts';
import {
  compareOverlays,
  gridOf,
  type OverlaysComparison,
  overlaysOf,
  sameBytes,
  samePictureSize,
} from '../live-maps.ts';
import type { ArchivedMap, DamagedMap } from '../model.ts';
import { type Sent, send, settle, type WriteTools } from './checked-write.ts';

/** Result of creating a lost map. */
type CreationOutcome =
  | 'not-sent'
  /** It exists, and everything that was compared matches. */
  | 'written'
  /** The chassis lists no new map. */
  | 'no-effect'
  /** A new map exists, but differs from what was sent. It is not deleted. */
  | 'differs'
  /** The maps could not be read back, or the new map cannot be identified. */
  | 'unknown';

export interface MapCreation {
  readonly outcome: CreationOutcome;
  /** Error of the order; null when the chassis accepted it. */
  readonly orderError: string | null;
  /** Number of the new map; null when unknown. */
  readonly id: number | null;
  /** From the sent overlays to those of the new map; null when not readable. */
  readonly after: OverlaysComparison | null;
  /** Other differences from what was sent, as clauses. */
  readonly differences: readonly string[];
  /** What was not compared, as clauses. */
  readonly notCompared: readonly string[];
  readonly why: string | null;
}

const noResult = { id: null, after: null, differences: [], notCompared: [], why: null };

/**
 * Creates a map of the archive under a number assigned by the chassis, finds it in the list, reads it back and compares
 * it. The order is sent once; after a lost response the list shows whether a new map exists. It also completes after
 * Ctrl-C; chassis and network errors are results.
 */
export async function createLostMap(
  tools: WriteTools,
  archived: ArchivedMap,
  before: readonly ListedBefore[],
): Promise<MapCreation> {
  const { writes, onProgress, pace } = tools;
  onProgress(`creating map ${archived.id}`);
  const sent = await send(tools, (grace) => writes.createMap(newMapOf(archived), grace));
  const orderError = sent.kind === 'answered' ? null : sent.why;
  if (sent.kind === 'not-sent') return { ...noResult, outcome: 'not-sent', orderError };

  onProgress('searching the new map');
  const settleMs = sent.kind === 'lost' ? pace.settleLostMs : pace.settleMs;
  const search = await findNew(tools, sent, before, settleMs);
  if (search.kind === 'unknown') return { ...noResult, outcome: 'unknown', orderError, why: search.why };
  if (search.kind === 'none') return { ...noResult, outcome: 'no-effect', orderError };
  const { item } = search;
  onProgress(`map ${item.id}: reading back`);
  const compared = await settle(tools, settleMs, async (grace) => {
    const found = { kind: 'compared' as const, ...(await compareNew(tools, archived, item, grace)) };
    return { found, expected: found.after.same && found.differences.length === 0 };
  });
  if (compared.kind === 'unknown')
    return { ...noResult, outcome: 'unknown', orderError, id: item.id, why: compared.why };
  const { after, differences, notCompared } = compared;
  const outcome = after.same && differences.length === 0 ? 'written' : 'differs';
  return { outcome, orderError, id: item.id, after, differences, notCompared, why: null };
}

function newMapOf(archived: ArchivedMap): NewMap {
  const { name, uid, mapVersion, overlaysVersion, overlays, image, localisation, data } = archived;
  const grid = gridOf(data);
  if (grid === null || image === null || localisation === null) {
    throw new GwError('INTERNAL', `Map ${archived.id} cannot be created: grid, picture or localisation data missing.`);
  }
  return { name, uid, mapVersion, overlaysVersion, overlays, ...grid, image, localisation };
}

/** An entry of the list of maps before the order; its number is null where it cannot be read. */
type ListedBefore = Pick<DamagedMap, 'id'>;

type Search =
  | { readonly kind: 'found'; readonly item: MapListItem }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown'; readonly why: string };

async function findNew(
  tools: WriteTools,
  sent: Sent<{ readonly id: number }>,
  before: readonly ListedBefore[],
  settleMs: number,
): Promise<Search> {
  const existingIds = new Set(before.map(({ id }) => id));
  const answered = sent.kind === 'answered' ? sent.value.id : null;
  if (answered !== null && existingIds.has(answered)) {
    return { kind: 'unknown', why: `the chassis returned the number of an existing map (${answered})` };
  }
  return await settle<Search>(tools, settleMs, async (grace) => {
    await tools.client.identity(grace);
    const { maps, damaged } = await tools.client.listMaps(grace);
    const newMaps = maps.filter(({ id }) => !existingIds.has(id));
    const [first] = answered === null ? newMaps : newMaps.filter(({ id }) => id === answered);
    if (answered === null && newMaps.length > 1) {
      const why = `${newMaps.length} new maps exist; which one was created is unknown`;
      return { found: { kind: 'unknown', why }, expected: false };
    }
    if (first) return { found: { kind: 'found', item: first }, expected: true };
    const unread =
      damaged.find(({ id }) => !existingIds.has(id)) ?? (isLonger(damaged, before) ? damaged[0] : undefined);
    if (unread === undefined) return { found: { kind: 'none' }, expected: false };
    const why = `the list has a new entry that cannot be read (${unread.why}), which may be the created map`;
    return { found: { kind: 'unknown', why }, expected: false };
  });
}

/** Whether more entries without a number are listed than before. */
function isLonger(damaged: readonly ListedBefore[], before: readonly ListedBefore[]): boolean {
  const count = (entries: readonly ListedBefore[]) => entries.filter(({ id }) => id === null).length;
  return count(damaged) > count(before);
}

async function compareNew(tools: WriteTools, archived: ArchivedMap, item: MapListItem, signal: AbortSignal) {
  const { client } = tools;
  const id = String(item.id);
  await client.identity(signal);
  const data = await client.mapBytes(id, signal);
  const after = compareOverlays(archived.overlays, overlaysOf(data).overlays);
  const differences: string[] = [];
  const notCompared: string[] = [];
  if (item.name !== archived.name) differences.push('its name differs');
  if (archived.uid !== null && item.uid !== archived.uid) differences.push('the chassis assigned another uid');
  if (archived.mapVersion !== null && item.mapVersion !== archived.mapVersion) {
    notCompared.push(`map_version is ${item.mapVersion ?? 'none'}, was ${archived.mapVersion}; counters are ignored`);
  }
  const [grid, expected] = [gridOf(data), gridOf(archived.data)];
  if (JSON.stringify(grid) !== JSON.stringify(expected)) differences.push('its grid differs');
  const image = await client.mapPng(id, signal);
  if (archived.image !== null && !sameBytes(image, archived.image)) {
    if (samePictureSize(image, archived.image)) {
      notCompared.push('its picture has the same size but other bytes; pixels not compared');
    } else differences.push('its picture has another size');
  }
  const localisation = await client.mapLocalisation(id, signal);
  if (archived.localisation !== null && !sameBytes(localisation, archived.localisation)) {
    differences.push('its localisation data differs');
  }
  return { after, differences, notCompared };
}
