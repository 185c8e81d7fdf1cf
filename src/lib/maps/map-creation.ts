import type { MapListItem } from '../chassis/index.ts';
import type { NewMap } from '../chassis/map-writes.ts';
import { GwError } from '../error/index.ts';
import { type Sent, send, settle, type WriteTools } from './checked-write.ts';
import {
  compareOverlays,
  gridOf,
  type OverlaysComparison,
  overlaysOf,
  sameBytes,
  samePictureSize,
} from './live-maps.ts';
import type { ArchivedMap } from './model.ts';

/** How creating a map that was lost came out. */
type CreationOutcome =
  | 'not-sent'
  /** It is there, with everything that was compared as it was. */
  | 'written'
  /** The chassis lists no new map. */
  | 'no-effect'
  /** A new map is there, and it is not what was sent. Nothing deletes it. */
  | 'differs'
  /** The chassis could not be asked what it holds, or it is not clear which of its maps is the new one. */
  | 'unknown';

export interface MapCreation {
  readonly outcome: CreationOutcome;
  /** How the chassis took the order; null when it said yes. */
  readonly said: string | null;
  /** Number of the new map; null when it is not known. */
  readonly id: number | null;
  /** The overlays that were sent beside those of the new map; null when nothing could be read. */
  readonly after: OverlaysComparison | null;
  /** What else is not as it was sent, as clauses. */
  readonly differences: readonly string[];
  /** What could not be compared, as clauses. */
  readonly notCompared: readonly string[];
  readonly why: string | null;
}

const nothing = { id: null, after: null, differences: [], notCompared: [], why: null };

/**
 * Creates a map out of the archive under a number that the chassis chooses, finds it in the list, reads all of it back
 * and compares. It is sent once only; where the answer was lost, the list says whether a new map is there. It ends by
 * itself also after Ctrl-C, and throws nothing that a chassis or a network can cause.
 */
export async function createLostMap(
  tools: WriteTools,
  archived: ArchivedMap,
  before: readonly Pick<MapListItem, 'id'>[],
): Promise<MapCreation> {
  const { writes, onProgress, pace } = tools;
  const known = new Set(before.map(({ id }) => id));
  onProgress(`creating map ${archived.id} anew`);
  const sent = await send(tools, (grace) => writes.createMap(newMapOf(archived), grace));
  const said = sent.kind === 'answered' ? null : sent.why;
  if (sent.kind === 'not-sent') return { ...nothing, outcome: 'not-sent', said };

  onProgress('looking for the new map');
  const settleMs = sent.kind === 'lost' ? pace.settleLostMs : pace.settleMs;
  const search = await findNew(tools, sent, known, settleMs);
  if (search.kind === 'unknown') return { ...nothing, outcome: 'unknown', said, why: search.why };
  if (search.kind === 'none') return { ...nothing, outcome: 'no-effect', said };
  const { item } = search;
  onProgress(`map ${item.id}: reading back`);
  const compared = await settle(tools, settleMs, async (grace) => {
    const found = { kind: 'compared' as const, ...(await compareNew(tools, archived, item, grace)) };
    return { found, expected: found.after.same && found.differences.length === 0 };
  });
  if (compared.kind === 'unknown') return { ...nothing, outcome: 'unknown', said, id: item.id, why: compared.why };
  const { after, differences, notCompared } = compared;
  const outcome = after.same && differences.length === 0 ? 'written' : 'differs';
  return { outcome, said, id: item.id, after, differences, notCompared, why: null };
}

function newMapOf(archived: ArchivedMap): NewMap {
  const { name, uid, mapVersion, overlaysVersion, overlays, image, localisation, data } = archived;
  const grid = gridOf(data);
  if (grid === null || image === null || localisation === null) {
    throw new GwError('INTERNAL', `Map ${archived.id} was to be created without everything that this needs.`);
  }
  return { name, uid, mapVersion, overlaysVersion, overlays, ...grid, image, localisation };
}

type Search =
  | { readonly kind: 'found'; readonly item: MapListItem }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown'; readonly why: string };

async function findNew(
  tools: WriteTools,
  sent: Sent<{ readonly id: number }>,
  known: ReadonlySet<number>,
  settleMs: number,
): Promise<Search> {
  const answered = sent.kind === 'answered' ? sent.value.id : null;
  if (answered !== null && known.has(answered)) {
    return { kind: 'unknown', why: `the chassis answered with the number of a map that it had before (${answered})` };
  }
  return await settle<Search>(tools, settleMs, async (grace) => {
    await tools.client.identity(grace);
    const fresh = (await tools.client.listMaps(grace)).filter(({ id }) => !known.has(id));
    const [first] = answered === null ? fresh : fresh.filter(({ id }) => id === answered);
    if (answered === null && fresh.length > 1) {
      const why = `there are ${fresh.length} new maps, and which of them is this one is not known`;
      return { found: { kind: 'unknown', why }, expected: false };
    }
    return { found: first ? { kind: 'found', item: first } : { kind: 'none' }, expected: first !== undefined };
  });
}

async function compareNew(tools: WriteTools, archived: ArchivedMap, item: MapListItem, signal: AbortSignal) {
  const { client } = tools;
  const id = String(item.id);
  await client.identity(signal);
  const data = await client.mapBytes(id, signal);
  const after = compareOverlays(archived.overlays, overlaysOf(data).overlays);
  const differences: string[] = [];
  const notCompared: string[] = [];
  if (item.name !== archived.name) differences.push('its name is another one');
  if (archived.uid !== null && item.uid !== archived.uid) differences.push('the chassis gave it another uid');
  if (archived.mapVersion !== null && item.mapVersion !== archived.mapVersion) {
    notCompared.push(
      `map_version is ${item.mapVersion ?? 'none'} and was ${archived.mapVersion}; counters decide nothing`,
    );
  }
  const [grid, wanted] = [gridOf(data), gridOf(archived.data)];
  if (JSON.stringify(grid) !== JSON.stringify(wanted)) differences.push('its grid lies elsewhere');
  const image = await client.mapPng(id, signal);
  if (archived.image !== null && !sameBytes(image, archived.image)) {
    if (samePictureSize(image, archived.image)) {
      notCompared.push('its picture has the same size and other bytes; the pixels were not compared');
    } else differences.push('its picture has another size');
  }
  const localisation = await client.mapLocalisation(id, signal);
  if (archived.localisation !== null && !sameBytes(localisation, archived.localisation)) {
    differences.push('its localisation data are other bytes');
  }
  return { after, differences, notCompared };
}
