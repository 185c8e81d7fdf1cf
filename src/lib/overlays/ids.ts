import type { Feature } from './model.ts';

/** The features of a collection by their ids, each in the order of the collection. */
export interface IdIndex {
  readonly first: ReadonlyMap<string, Feature>;
  /** Ids of more than one feature, each with its features. */
  readonly duplicate: ReadonlyMap<string, readonly Feature[]>;
}

const indexes = new WeakMap<readonly Feature[], IdIndex>();

/** Cached per collection: for a large one it costs as much as a rule. */
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
  const duplicate = new Map<string, Feature[]>();
  for (const feature of features) {
    const { id } = feature;
    if (id === null) continue;
    const before = first.get(id);
    if (before === undefined) {
      first.set(id, feature);
      continue;
    }
    const all = duplicate.get(id);
    if (all === undefined) duplicate.set(id, [before, feature]);
    else all.push(feature);
  }
  return { first, duplicate };
}
