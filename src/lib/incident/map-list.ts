import type { KeptMap } from '../pages/index.ts';

/** A chassis that reports further ones has no map that a picture could be made of. Project decision. */
const MAX_MAPS = 32;

/** The maps of one incident, each once, to which its poses and places refer by their index. */
export function createMapList() {
  const maps: KeptMap[] = [];
  const indexes = new Map<string, number>();
  return {
    maps,
    /** null: the map is not known, or is one too many. */
    indexOf(map: KeptMap | null): number | null {
      if (map === null) return null;
      const { uid, version, title } = map;
      const mark = JSON.stringify([uid, version]);
      const known = indexes.get(mark);
      if (known !== undefined) return known;
      if (maps.length === MAX_MAPS) return null;
      indexes.set(mark, maps.length);
      return maps.push({ uid, version, title }) - 1;
    },
  };
}
