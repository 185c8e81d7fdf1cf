import type { ChassisLink } from '../../chassis/index.ts';
import { isRecord, type JsonBounds, readJsonBytes } from '../../json/index.ts';
import type { SharedBody } from '../http/answer.ts';

/** What a page needs to show a map. */
export type MapPart = 'list' | 'data' | 'image';

/** The map that was last read of the chassis, for pages that are loaded while it is away. */
export interface LastMap {
  /** Names the map that the chassis reports, or reported last; null: none was reported. */
  current(): MapName | null;
  /**
   * Keeps what was read, unless the chassis uses another map than `of` by now. Data and image are those of this map only by
   * the list of maps that was read before them.
   */
  keep(part: MapPart, path: string, read: SharedBody, of: MapName | null): void;
  /** What was read of this path, if the map is still the one that the chassis reported last. */
  find(path: string): SharedBody | undefined;
}

interface MapName {
  readonly uid: string;
  readonly version: number | null;
}

/** Project decision: far above the list of a building. */
const listBounds: JsonBounds = { maxDepth: 200, maxValues: 20_000 };

/** Keeps one of each part, together no more than these bytes. */
export function createLastMap(link: Pick<ChassisLink, 'snapshot'>, maxBytes: number): LastMap {
  const kept = new Map<MapPart, { readonly path: string; readonly read: SharedBody }>();
  let keptOf: MapName | null = null;
  /** Of the map in the kept list; null: the list does not name it. */
  let dataPath: string | null = null;

  function current(): MapName | null {
    const { map } = link.snapshot().values;
    return map.status === 'received' ? { uid: map.value.uid, version: map.value.mapVersion } : null;
  }

  /** The chassis may use the id of a map for another one. */
  function listed(list: SharedBody['body'], uid: string): void {
    const before = kept.get('list')?.read.body;
    if (before !== undefined && isSameBody(before, list)) return;
    const path = pathIn(list, uid);
    if (path !== dataPath) kept.clear();
    dataPath = path;
  }

  function isOfMap(part: MapPart, path: string): boolean {
    return part === 'list' || path === (part === 'data' ? dataPath : `${dataPath}.png`);
  }

  return {
    current,
    keep(part, path, read, of) {
      if (of === null || !isSame(of, current())) return;
      if (!isSame(of, keptOf)) {
        kept.clear();
        dataPath = null;
      }
      keptOf = of;
      if (part === 'list') listed(read.body, of.uid);
      if (!isOfMap(part, path)) return;
      kept.set(part, { path, read });
      const bytes = [...kept.values()].reduce((sum, { read: { body } }) => sum + Buffer.byteLength(body), 0);
      if (bytes > maxBytes) kept.delete(part);
    },
    find(path) {
      if (keptOf === null || !isSame(keptOf, current())) return undefined;
      return [...kept.values()].find((one) => one.path === path)?.read;
    },
  };
}

function isSame(one: MapName, other: MapName | null): boolean {
  return one.uid === other?.uid && one.version === other.version;
}

function isSameBody(one: SharedBody['body'], other: SharedBody['body']): boolean {
  return typeof one === 'string' || typeof other === 'string' ? one === other : one.equals(other);
}

/** Where the chassis has the data of the map of this uid, by its list of maps. */
function pathIn(list: SharedBody['body'], uid: string): string | null {
  const read = readJsonBytes(typeof list === 'string' ? Buffer.from(list) : list, 'answer', listBounds);
  if (!read.ok || !Array.isArray(read.value)) return null;
  const found = read.value.find((one: unknown) => isRecord(one) && one.uid === uid);
  return found === undefined ? null : `/maps/${String(found.id)}`;
}
