import type { ChassisLink } from '../../chassis/index.ts';
import type { SharedBody } from '../http/answer.ts';

/** What a page needs to show a map. */
export type MapPart = 'list' | 'data' | 'image';

/** The map that was last read of the chassis, for pages that are loaded while it is away. */
export interface LastMap {
  /** Names the map that the chassis reports, or reported last; null: none was reported. */
  current(): string | null;
  /** Keeps what was read, unless the chassis uses another map than `of` by now. */
  keep(part: MapPart, path: string, read: SharedBody, of: string | null): void;
  /** What was read of this path, if the map is still the one that the chassis reported last. */
  find(path: string): SharedBody | undefined;
}

/** Keeps one of each part, together no more than these bytes. */
export function createLastMap(link: Pick<ChassisLink, 'snapshot'>, maxBytes: number): LastMap {
  const kept = new Map<MapPart, { readonly path: string; readonly read: SharedBody }>();
  let keptOf: string | null = null;

  function current(): string | null {
    const { map } = link.snapshot().values;
    return map.status === 'received' ? `${map.value.uid} ${map.value.mapVersion}` : null;
  }

  return {
    current,
    keep(part, path, read, of) {
      if (of === null || of !== current()) return;
      if (of !== keptOf) kept.clear();
      keptOf = of;
      kept.set(part, { path, read });
      const bytes = [...kept.values()].reduce((sum, { read: { body } }) => sum + Buffer.byteLength(body), 0);
      if (bytes > maxBytes) kept.delete(part);
    },
    find(path) {
      if (keptOf === null || keptOf !== current()) return undefined;
      return [...kept.values()].find((one) => one.path === path)?.read;
    },
  };
}
