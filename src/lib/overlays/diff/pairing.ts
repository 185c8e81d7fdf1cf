import Flatbush from 'flatbush';
import { distanceBetweenM } from '../geometry.ts';
import type { Feature, Place, RawFeature } from '../model.ts';
import { jsonOf, type Span } from '../read/json-source.ts';
import type { ChangedFeature } from '../schemas.ts';
import { cornersOf, middleOf } from './shape-change.ts';

/** One entry of `features`: its source, and the parsed feature when it is an object. */
export interface Entry {
  readonly index: number;
  readonly span: Span;
  readonly feature: Feature | null;
}

export interface Pair {
  readonly a: Entry;
  readonly b: Entry;
  readonly by: ChangedFeature['pairedBy'];
}

export interface Pairing {
  /** In the order of the left side. */
  readonly pairs: readonly Pair[];
  readonly onlyA: readonly Entry[];
  readonly onlyB: readonly Entry[];
}

/** Maximum distance of a match by nearness: stations are further apart than accidental shifts. Project decision. */
const MAX_NEAR_M = 1;

/** Neighbours per round and number of rounds: bounds the work where all features lie in one spot. */
const MAX_NEIGHBOURS = 8;
const MAX_ROUNDS = 4;

/**
 * Matches the features of both sides: by id where it is unique on both sides, else by geometry, else the nearest of the
 * same kind and code. Exchanging the sides yields the same number of pairs.
 */
export function pairUp(left: readonly Entry[], right: readonly Entry[]): Pairing {
  const pairs: Pair[] = [];
  let onlyA = left;
  let onlyB = right;
  for (const [by, step] of [
    ['id', byId],
    ['geometry', byGeometry],
    ['nearness', byNearness],
  ] as const) {
    if (onlyA.length === 0 || onlyB.length === 0) break;
    const matched = new Set<Entry>();
    for (const [a, b] of step(onlyA, onlyB)) {
      pairs.push({ a, b, by });
      matched.add(a);
      matched.add(b);
    }
    onlyA = onlyA.filter((entry) => !matched.has(entry));
    onlyB = onlyB.filter((entry) => !matched.has(entry));
  }
  pairs.sort((one, other) => one.a.index - other.a.index);
  return { pairs, onlyA, onlyB };
}

function byId(left: readonly Entry[], right: readonly Entry[]): [Entry, Entry][] {
  const ours = uniqueIds(left);
  const theirs = uniqueIds(right);
  const found: [Entry, Entry][] = [];
  for (const [id, a] of ours) {
    const b = theirs.get(id);
    if (a && b) found.push([a, b]);
  }
  return found;
}

/** null for a duplicate id. */
function uniqueIds(entries: readonly Entry[]): Map<string, Entry | null> {
  const ids = new Map<string, Entry | null>();
  for (const entry of entries) {
    const id = entry.feature?.id;
    if (typeof id === 'string') ids.set(id, ids.has(id) ? null : entry);
  }
  return ids;
}

function byGeometry(left: readonly Entry[], right: readonly Entry[]): [Entry, Entry][] {
  const ours = Map.groupBy(left, geometryKey);
  const theirs = Map.groupBy(right, geometryKey);
  const found: [Entry, Entry][] = [];
  for (const [key, group] of ours) {
    const others = theirs.get(key);
    if (others === undefined) continue;
    const [a, b] = [group[0], others[0]];
    if (key !== '' && group.length === 1 && others.length === 1 && a && b) found.push([a, b]);
    else found.push(...byLikeness(group, others, key !== ''));
  }
  return found;
}

/** Among features with the same geometry: equal content first, then id, code and name, then fewer of these. */
function byLikeness(left: readonly Entry[], right: readonly Entry[], atSamePlace: boolean): [Entry, Entry][] {
  const keys: ((entry: Entry) => string)[] = [contentKey];
  if (atSamePlace) {
    keys.push(
      ({ feature }) => JSON.stringify([feature?.id, codeKey(feature), feature?.name]),
      ({ feature }) => JSON.stringify([codeKey(feature), feature?.name]),
      ({ feature }) => codeKey(feature),
      () => '',
    );
  }
  const found: [Entry, Entry][] = [];
  let ours = left;
  let theirs = right;
  for (const key of keys) {
    const candidates = Map.groupBy(theirs, key);
    const next = new Map<string, number>();
    const matched = new Set<Entry>();
    for (const a of ours) {
      const own = key(a);
      const place = next.get(own) ?? 0;
      const b = candidates.get(own)?.[place];
      if (b === undefined) continue;
      next.set(own, place + 1);
      found.push([a, b]);
      matched.add(a);
      matched.add(b);
    }
    ours = ours.filter((entry) => !matched.has(entry));
    theirs = theirs.filter((entry) => !matched.has(entry));
    if (ours.length === 0 || theirs.length === 0) break;
  }
  return found;
}

/** '' for entries without a geometry, which are matched by content only. */
function geometryKey({ feature, span }: Entry): string {
  const geometry = feature === null ? null : (JSON.parse(jsonOf(span)) as RawFeature).geometry;
  if (typeof geometry !== 'object' || geometry === null) return '';
  return canonical(geometry) ?? jsonOf(span);
}

function contentKey({ span }: Entry): string {
  return canonical(JSON.parse(jsonOf(span))) ?? jsonOf(span);
}

function codeKey(feature: Feature | null): string {
  return `${feature?.kind}:${feature?.code?.field}:${feature?.code?.number}`;
}

const MAX_DEPTH = 200;

/** JSON text with sorted keys; null when it is nested too deeply. */
function canonical(value: unknown, depth = 0): string | null {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (depth >= MAX_DEPTH) return null;
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (const item of value) {
      const part = typeof item === 'number' ? String(item) : canonical(item, depth + 1);
      if (part === null) return null;
      parts.push(part);
    }
    return `[${parts.join()}]`;
  }
  const members = value as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(members).sort()) {
    const part = canonical(members[key], depth + 1);
    if (part === null) return null;
    parts.push(`${JSON.stringify(key)}:${part}`);
  }
  return `{${parts.join()}}`;
}

interface Located {
  readonly entry: Entry;
  readonly at: Place;
}

function byNearness(left: readonly Entry[], right: readonly Entry[]): [Entry, Entry][] {
  const ours = Map.groupBy(located(left), ({ entry }) => codeKey(entry.feature));
  const theirs = Map.groupBy(located(right), ({ entry }) => codeKey(entry.feature));
  const found: [Entry, Entry][] = [];
  for (const [key, group] of ours) {
    const others = theirs.get(key);
    if (others !== undefined) found.push(...nearestOf(group, others));
  }
  return found;
}

function located(entries: readonly Entry[]): Located[] {
  return entries.flatMap((entry) => {
    const at = entry.feature === null ? null : middleOf(cornersOf(entry.feature.shape));
    return at === null ? [] : [{ entry, at }];
  });
}

function nearestOf(left: readonly Located[], right: readonly Located[]): [Entry, Entry][] {
  const found: [Entry, Entry][] = [];
  let ours = left;
  let theirs = right;
  for (let round = 0; round < MAX_ROUNDS && ours.length > 0 && theirs.length > 0; round += 1) {
    const matched = new Set<Located>();
    // Searched from both sides, so that exchanging the sides finds the same pairs.
    const candidates = [
      ...neighbours(ours, theirs).map(([a, b]) => [a, b] as const),
      ...neighbours(theirs, ours).map(([b, a]) => [a, b] as const),
    ].map(([a, b]) => ({
      a,
      b,
      distanceM: distanceBetweenM(a.at, b.at),
      sameName: a.entry.feature?.name === b.entry.feature?.name,
    }));
    candidates.sort(
      (one, other) =>
        one.distanceM - other.distanceM ||
        Number(other.sameName) - Number(one.sameName) ||
        one.a.entry.index + one.b.entry.index - (other.a.entry.index + other.b.entry.index),
    );
    for (const { a, b } of candidates) {
      if (matched.has(a) || matched.has(b)) continue;
      matched.add(a);
      matched.add(b);
      found.push([a.entry, b.entry]);
    }
    if (matched.size === 0) break;
    ours = ours.filter((item) => !matched.has(item));
    theirs = theirs.filter((item) => !matched.has(item));
  }
  return found;
}

function neighbours(of: readonly Located[], among: readonly Located[]): [Located, Located][] {
  const index = new Flatbush(among.length);
  for (const { at } of among) index.add(at[0], at[1], at[0], at[1]);
  index.finish();
  const found: [Located, Located][] = [];
  for (const item of of) {
    for (const place of index.neighbors(item.at[0], item.at[1], MAX_NEIGHBOURS, MAX_NEAR_M)) {
      const other = among[place];
      if (other !== undefined) found.push([item, other]);
    }
  }
  return found;
}
