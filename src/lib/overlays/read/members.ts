import { codeFields, jsonTypes } from '../kinds.ts';
import type { CarriedMember, FeatureKind, JsonType } from '../model.ts';
import { isSpeedName } from '../speeds.ts';

/** Names that gw interprets; all others are carried through. */
const readMembers: ReadonlySet<string> = new Set(['type', 'id', 'geometry', 'properties']);
const readNames: Readonly<Record<CarriedMember['in'], ReadonlySet<string>>> = {
  collection: readMembers,
  feature: readMembers,
  properties: new Set([...codeFields, 'yaw', 'iconYaw', 'name', 'dockingPointId']),
};
/** Names that gw interprets on one kind of feature only; on other kinds they are carried through. */
const ownerOf: Readonly<Record<string, FeatureKind>> = { type: 'point', lineType: 'lane', regionType: 'zone' };
const kindOrder: readonly FeatureKind[] = ['point', 'zone', 'lane', 'other'];

interface Counted {
  readonly name: string;
  /** Bits of the kinds on which gw interprets it. */
  readonly readOn: number;
  readonly isSpeed: boolean;
  count: number;
  /** One bit per JSON type, in the order of `jsonTypes`. */
  types: number;
  /** One bit per kind, in the order of `kindOrder`. */
  kinds: number;
}

export interface MemberCounter {
  /** Counts the members of a foreign object; `kind` is that of its feature. */
  add(
    object: Readonly<Record<string, unknown>>,
    kind: FeatureKind | null,
    /** Called for speed names and for objects and arrays, which may hold some. */
    onCandidate?: (name: string, value: unknown, isSpeed: boolean) => void,
  ): void;
  rows(): CarriedMember[];
}

/**
 * Counts member names. Foreign names are kept in a Map, where `__proto__` is an ordinary key. For speed no key lists are
 * made, and the last name at each position is tried first, since neighbours mostly have the same names in the same order.
 */
export function createMemberCounter(where: CarriedMember['in']): MemberCounter {
  const names = new Map<string, Counted>();
  const lastAt: Counted[] = [];
  const countedOf = (name: string): Counted => {
    let counted = names.get(name);
    if (counted === undefined) {
      counted = { name, readOn: readOn(where, name), isSpeed: isSpeedName(name), count: 0, types: 0, kinds: 0 };
      names.set(name, counted);
    }
    return counted;
  };
  return {
    add(object, kind, onCandidate) {
      const kindBit = kind === null ? NO_KIND : bitOf(kind);
      let position = 0;
      for (const key in object) {
        let counted = lastAt[position];
        if (counted === undefined || counted.name !== key) {
          counted = countedOf(key);
          if (position < MAX_CACHED_NAMES) lastAt[position] = counted;
        }
        position += 1;
        const value = object[key];
        const type = typeBit(value);
        if ((counted.readOn & kindBit) === 0) {
          counted.count += 1;
          counted.types |= type;
          counted.kinds |= kindBit;
        }
        if (onCandidate !== undefined && (counted.isSpeed || type >= ARRAY)) onCandidate(key, value, counted.isSpeed);
      }
    },
    rows: () =>
      [...names.values()].flatMap(({ name, count, kinds, types }) =>
        count === 0
          ? []
          : [{ in: where, name, count, kinds: chosenOf(kindOrder, kinds), types: chosenOf(jsonTypes, types) }],
      ),
  };
}

/** Bounds the cache: a feature has some twenty names, one with a million must not be held twice. */
const MAX_CACHED_NAMES = 64;

/** Members of the collection belong to no kind. */
const NO_KIND = 16;
const EVERY_KIND = 31;

function readOn(where: CarriedMember['in'], name: string): number {
  if (!readNames[where].has(name)) return 0;
  const owner = where === 'properties' && Object.hasOwn(ownerOf, name) ? ownerOf[name] : undefined;
  return owner === undefined ? EVERY_KIND : bitOf(owner);
}

function bitOf(kind: FeatureKind): number {
  if (kind === 'point') return 1;
  if (kind === 'zone') return 2;
  return kind === 'lane' ? 4 : 8;
}

const ARRAY = 16;
const OBJECT = 32;

function typeBit(value: unknown): number {
  if (typeof value === 'string') return 1;
  if (typeof value === 'number') return 2;
  if (typeof value === 'boolean') return 4;
  if (value === null) return 8;
  return Array.isArray(value) ? ARRAY : OBJECT;
}

function chosenOf<T extends FeatureKind | JsonType>(all: readonly T[], bits: number): T[] {
  return all.filter((_, at) => (bits & (1 << at)) !== 0);
}
