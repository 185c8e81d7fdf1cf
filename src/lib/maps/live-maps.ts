import type { ChassisClient, ChassisIdentity, CurrentMap } from '../chassis/index.ts';
import { GwError } from '../error/index.ts';
import { readJsonBytes } from '../json/index.ts';
import { diffOverlaysTexts, type OverlaysDiff, overlaysSource } from '../overlays/index.ts';
import { pngSize } from '../png/index.ts';
import { shorten } from '../text/index.ts';
import { readCurrentMap, receiveMapFile } from './map-reading.ts';
import type { ArchivedMap, DamagedMap } from './model.ts';

/** A map as currently stored on the chassis. An archived map has the same fields. */
export type LiveMap = Omit<ArchivedMap, 'localisation' | 'missing' | 'isCurrent'>;

export interface LiveMaps {
  readonly identity: ChassisIdentity;
  /** null without one, and while `currentProblem` says why it is not known; `id` -1: set from data. */
  readonly current: CurrentMap | null;
  readonly currentProblem: string | null;
  readonly maps: readonly LiveMap[];
  readonly damaged: readonly UnreadMap[];
  /** Maps whose picture was not received, with the reason. */
  readonly withoutImage: readonly { readonly id: number; readonly why: string }[];
}

/** A listed map that cannot be read now. */
export type UnreadMap = Omit<DamagedMap, 'received' | 'isCurrent'>;

/**
 * Reads data and picture of every map of the chassis. A map that cannot be read is in `damaged`, a missing picture in
 * `withoutImage`. Throws where the chassis does not answer any more, or is another one.
 */
export async function readLiveMaps(
  client: ChassisClient,
  { images = true, signal, onProgress = () => {} }: LiveReadOptions = {},
): Promise<LiveMaps> {
  const identity = await client.identity(signal);
  const { current, problem: currentProblem } = await readCurrentMap(client, signal);
  const { maps: list, ...listing } = await client.listMaps(signal);
  const damaged: UnreadMap[] = [...listing.damaged];
  const maps: LiveMap[] = [];
  const withoutImage: { id: number; why: string }[] = [];
  for (const [at, item] of list.entries()) {
    onProgress(`reading map ${at + 1} of ${list.length}`);
    const id = String(item.id);
    const { bytes: data, why } = await receiveMapFile(client, id, 'data', signal);
    if (why !== null) {
      damaged.push({ entry: null, id: item.id, uid: item.uid, name: item.name, why });
      continue;
    }
    let image: Uint8Array | null = null;
    if (images) {
      try {
        image = await client.mapPng(id, signal);
      } catch (error) {
        if (signal?.aborted) throw error;
        withoutImage.push({ id: item.id, why: reasonOf(error) });
      }
    }
    maps.push({ ...item, data, ...overlaysOf(data), image });
  }
  return { identity, current, currentProblem, maps, damaged, withoutImage };
}

export interface LiveReadOptions {
  readonly images?: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: (text: string) => void;
}

export function overlaysOf(data: Uint8Array): Pick<ArchivedMap, 'overlays' | 'overlaysForm'> {
  const { text, form } = overlaysSource(data);
  return { overlays: text, overlaysForm: form };
}

/** The message of an error as a clause. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
}

/** Empty collection: the equivalent of a map without `overlays`. */
export const NO_FEATURES = '{"type":"FeatureCollection","features":[]}';

/** The comparison of two texts of overlays, by content; a text that is not an overlay collection equals only itself. */
export interface OverlaysComparison {
  /** Whether all features, their order and every value with its JSON type are equal. */
  readonly same: boolean;
  /** Whether the texts are identical. */
  readonly sameText: boolean;
  /** null when the texts are identical or one is not readable. */
  readonly diff: OverlaysDiff | null;
  /** Why they cannot be compared; null when they can. */
  readonly problem: string | null;
}

/** Compares from the old text to the new one. A map without `overlays` counts as one without features. */
export function compareOverlays(from: string | null, to: string | null): OverlaysComparison {
  const [a, b] = [from ?? NO_FEATURES, to ?? NO_FEATURES];
  if (a === b) return { same: true, sameText: from === to, diff: null, problem: null };
  try {
    const diff = diffOverlaysTexts(a, b);
    return { same: diff.same, sameText: false, diff, problem: null };
  } catch (error) {
    if (!(error instanceof GwError) || error.code !== 'OVERLAYS_INVALID') throw error;
    return { same: false, sameText: false, diff: null, problem: reasonOf(error) };
  }
}

export interface MapGrid {
  readonly originXM: number;
  readonly originYM: number;
  /** Metres per pixel. */
  readonly resolutionM: number;
}

/** Position and resolution of the picture of a map; null when missing in its data. @source vendor REST book (HINWEIS) */
export function gridOf(data: Uint8Array): MapGrid | null {
  const members = membersOf(data);
  const [x, y, resolution] = ['grid_origin_x', 'grid_origin_y', 'grid_resolution'].map((key) => members?.get(key));
  if (typeof x !== 'number' || typeof y !== 'number' || typeof resolution !== 'number') return null;
  return { originXM: x, originYM: y, resolutionM: resolution };
}

/** Members that identify a map and its position: they must not change with its overlays. */
const identityMembers = ['map_name', 'uid', 'grid_origin_x', 'grid_origin_y', 'grid_resolution'];

/** Changes of those members, as clauses. Counters, times and addresses are ignored. */
export function identityChanges(before: Uint8Array, after: Uint8Array): string[] {
  const [from, to] = [membersOf(before), membersOf(after)];
  if (from === null || to === null) return ['its data is not readable'];
  return identityMembers.flatMap((key) => {
    const [a, b] = [JSON.stringify(from.get(key)), JSON.stringify(to.get(key))];
    return a === b ? [] : [`\`${key}\` was ${shortened(a)}, is ${shortened(b)}`];
  });
}

function shortened(json: string | undefined): string {
  return json === undefined ? 'missing' : shorten(json, 60);
}

/** Members as a Map, since their names are foreign; null when the data is not an object. */
function membersOf(data: Uint8Array): ReadonlyMap<string, unknown> | null {
  const reading = readJsonBytes(data, 'map');
  if (!reading.ok || typeof reading.value !== 'object' || reading.value === null) return null;
  return new Map(Object.entries(reading.value));
}

export type PictureVerdict = 'same' | 'differs' | 'not-compared';

/** Compares two pictures byte for byte; a missing one is 'not-compared'. */
export function comparePictures(a: Uint8Array | null, b: Uint8Array | null): PictureVerdict {
  if (a === null || b === null) return 'not-compared';
  return sameBytes(a, b) ? 'same' : 'differs';
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

export function samePictureSize(a: Uint8Array, b: Uint8Array): boolean {
  const [first, second] = [pngSize(a), pngSize(b)];
  return first !== null && first.width === second?.width && first.height === second.height;
}
