import type { Feature } from './model.ts';

/** The features of a collection by their ids, each in the order of the collection. */
export interface IdIndex {
  readonly first: ReadonlyMap<string, Feature>;
  /** Ids that more than one feature has, with all of these. */
  readonly doubled: ReadonlyMap<string, readonly Feature[]>;
}

const indexes = new WeakMap<readonly Feature[], IdIndex>();

/** Made once for a collection: for a large one it takes as long as a rule. */
export function idsOf(features: readonly Feature[]): IdIndex {
  let index = indexes.get(features);
  if (index === undefined) {
    index = indexOf(features);
    indexes.set(features, index);
  }
  return index;
}

function indexOf(features: readonly Feature[]): IdIndex {
  const first = new Map<string, Feature>();
  const doubled = new Map<string, Feature[]>();
  for (const feature of features) {
    const { id } = feature;
    if (id === null) continue;
    const before = first.get(id);
    if (before === undefined) {
      first.set(id, feature);
      continue;
    }
    const all = doubled.get(id);
    if (all === undefined) doubled.set(id, [before, feature]);
    else all.push(feature);
  }
  return { first, doubled };
}
