import type { Drawing } from './model.ts';

/** The drawings of a collection by their ids, each in the order of the collection. */
export interface IdIndex {
  readonly first: ReadonlyMap<string, Drawing>;
  /** Ids that more than one drawing has, with all of these. */
  readonly doubled: ReadonlyMap<string, readonly Drawing[]>;
}

const indexes = new WeakMap<readonly Drawing[], IdIndex>();

/** Made once for a collection: for a large one it takes as long as a rule. */
export function idsOf(drawings: readonly Drawing[]): IdIndex {
  let index = indexes.get(drawings);
  if (index === undefined) {
    index = indexOf(drawings);
    indexes.set(drawings, index);
  }
  return index;
}

function indexOf(drawings: readonly Drawing[]): IdIndex {
  const first = new Map<string, Drawing>();
  const doubled = new Map<string, Drawing[]>();
  for (const drawing of drawings) {
    const { id } = drawing;
    if (id === null) continue;
    const before = first.get(id);
    if (before === undefined) {
      first.set(id, drawing);
      continue;
    }
    const all = doubled.get(id);
    if (all === undefined) doubled.set(id, [before, drawing]);
    else all.push(drawing);
  }
  return { first, doubled };
}
