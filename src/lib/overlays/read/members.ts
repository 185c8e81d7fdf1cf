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
  /** The kind of feature on which gw interprets it; null: on none. */
  readonly readOn: FeatureKind | 'any' | null;
  readonly isSpeed: boolean;
  count: number;
  readonly types: Set<JsonType>;
  readonly kinds: Set<FeatureKind>;
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

/** Counts member names. Foreign names are kept in a Map, where `__proto__` is an ordinary key. */
export function createMemberCounter(where: CarriedMember['in']): MemberCounter {
  const names = new Map<string, Counted>();
  const countedOf = (name: string): Counted => {
    const owner = where === 'properties' && Object.hasOwn(ownerOf, name) ? ownerOf[name] : undefined;
    const readOn = readNames[where].has(name) ? (owner ?? 'any') : null;
    const counted: Counted = {
      readOn,
      isSpeed: isSpeedName(name),
      count: 0,
      types: new Set<JsonType>(),
      kinds: new Set<FeatureKind>(),
    };
    names.set(name, counted);
    return counted;
  };
  return {
    add(object, kind, onCandidate) {
      for (const name in object) {
        const counted = names.get(name) ?? countedOf(name);
        const value = object[name];
        const type = jsonTypeOf(value);
        if (counted.readOn !== 'any' && (counted.readOn === null || counted.readOn !== kind)) {
          counted.count += 1;
          counted.types.add(type);
          if (kind !== null) counted.kinds.add(kind);
        }
        if (onCandidate !== undefined && (counted.isSpeed || type === 'array' || type === 'object')) {
          onCandidate(name, value, counted.isSpeed);
        }
      }
    },
    rows: () =>
      [...names].flatMap(([name, { count, kinds, types }]) =>
        count === 0
          ? []
          : [
              {
                in: where,
                name,
                count,
                kinds: kindOrder.filter((kind) => kinds.has(kind)),
                types: jsonTypes.filter((type) => types.has(type)),
              },
            ],
      ),
  };
}

function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : (typeof value as JsonType);
}
