import { type CarriedMember, codeFields, type FeatureKind, type JsonType, jsonTypes } from '../model.ts';
import { soundsLikeSpeed } from '../speeds.ts';

/** Names that gw reads. Everything else is carried through. */
const readMembers: ReadonlySet<string> = new Set(['type', 'id', 'geometry', 'properties']);
const readNames: Readonly<Record<CarriedMember['in'], ReadonlySet<string>>> = {
  collection: readMembers,
  feature: readMembers,
  properties: new Set([...codeFields, 'yaw', 'iconYaw', 'name', 'dockingPointId']),
};
/** Names that gw reads on one kind of feature only; on any other they are carried through. */
const ownerOf: Readonly<Record<string, FeatureKind>> = { type: 'point', lineType: 'lane', regionType: 'zone' };
const kindOrder: readonly FeatureKind[] = ['point', 'zone', 'lane', 'other'];

interface Counted {
  readonly name: string;
  /** Bits of the kinds on which gw reads it, so that there it is not merely carried through. */
  readonly readOn: number;
  readonly isSpeed: boolean;
  count: number;
  /** One bit a JSON type, in the order of `jsonTypes`. */
  types: number;
  /** One bit a kind, in the order of `kindOrder`. */
  kinds: number;
}

export interface MemberCounter {
  /** Of an object that came from outside, with the kind of the feature that it belongs to. */
  add(
    object: Readonly<Record<string, unknown>>,
    kind: FeatureKind | null,
    /** Called where the name sounds like a speed, or the value holds others. */
    onSuspect?: (name: string, value: unknown, isSpeed: boolean) => void,
  ): void;
  rows(): CarriedMember[];
}

/**
 * Counts names. Foreign names are kept in a map, where `__proto__` is a name like any other. Written for speed: no
 * lists of keys, and since neighbours mostly have the same names in the same order, the last name at each place is
 * tried first.
 */
export function createMemberCounter(where: CarriedMember['in']): MemberCounter {
  const names = new Map<string, Counted>();
  const lastAt: Counted[] = [];
  const countedOf = (name: string): Counted => {
    let counted = names.get(name);
    if (counted === undefined) {
      counted = { name, readOn: readOn(where, name), isSpeed: soundsLikeSpeed(name), count: 0, types: 0, kinds: 0 };
      names.set(name, counted);
    }
    return counted;
  };
  return {
    add(object, kind, onSuspect) {
      const kindBit = kind === null ? NO_KIND : bitOf(kind);
      let place = 0;
      for (const key in object) {
        let counted = lastAt[place];
        if (counted === undefined || counted.name !== key) {
          counted = countedOf(key);
          if (place < MOST_PLACES) lastAt[place] = counted;
        }
        place += 1;
        const value = object[key];
        const type = typeBit(value);
        if ((counted.readOn & kindBit) === 0) {
          counted.count += 1;
          counted.types |= type;
          counted.kinds |= kindBit;
        }
        if (onSuspect !== undefined && (counted.isSpeed || type >= LIST)) onSuspect(key, value, counted.isSpeed);
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

/** A feature has some twenty names; one with a million must not be kept twice. */
const MOST_PLACES = 64;

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

const LIST = 16;
const OBJECT = 32;

function typeBit(value: unknown): number {
  if (typeof value === 'string') return 1;
  if (typeof value === 'number') return 2;
  if (typeof value === 'boolean') return 4;
  if (value === null) return 8;
  return Array.isArray(value) ? LIST : OBJECT;
}

function chosenOf<T extends FeatureKind | JsonType>(all: readonly T[], bits: number): T[] {
  return all.filter((_, at) => (bits & (1 << at)) !== 0);
}
