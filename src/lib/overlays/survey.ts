import { factById } from '../evidence/index.ts';
import type {
  AngleSurvey,
  CarriedMember,
  Code,
  CodeField,
  Drawing,
  DrawingKind,
  DrawnAngle,
  Overlays,
  Survey,
} from './model.ts';
import { jsonTypes } from './model.ts';

/** Fields of `properties` that gw reads. Everything else is carried through. */
const readFields: ReadonlySet<string> = new Set([
  'type',
  'lineType',
  'regionType',
  'direction',
  'startType',
  'endType',
  'yaw',
  'iconYaw',
  'name',
  'dockingPointId',
]);
const readMembers: ReadonlySet<string> = new Set(['type', 'id', 'geometry', 'properties']);
const kindOrder: readonly DrawingKind[] = ['point', 'zone', 'lane', 'other'];
const kindBits = Object.fromEntries(kindOrder.map((kind, at) => [kind, 1 << at])) as Record<DrawingKind, number>;
const fieldOrder: readonly CodeField[] = ['type', 'lineType', 'regionType', 'direction', 'startType', 'endType'];

/** Decision of ours: a map has some ten names. A list without end would only hide them. */
const MOST_CARRIED = 200;
/** Angles are decimals of a text: two of them differ by -82 as far as their digits can tell. */
const SAME_ANGLE = 1e-6;

/** Counts what a collection holds. */
export function surveyOf({ drawings, topLevel }: Overlays): Survey {
  const kinds = { point: 0, lane: 0, zone: 0, other: 0 };
  const codes = new Map<Code, number>();
  const yaw = angleCounter();
  const iconYaw = angleCounter();
  const icons = { withBoth: 0, withOffset: 0, offsetDeg: iconOffsetDeg() };
  const members = memberCounter('drawing', readMembers);
  const properties = memberCounter('properties', readFields);
  let withId = 0;
  for (const drawing of drawings) {
    kinds[drawing.kind] += 1;
    if (drawing.id !== null) withId += 1;
    for (const code of drawing.codes) codes.set(code, (codes.get(code) ?? 0) + 1);
    if (drawing.yaw !== null) yaw.add(drawing.yaw);
    if (drawing.iconYaw !== null) {
      iconYaw.add(drawing.iconYaw);
      if (hasOffset(drawing, icons.offsetDeg)) icons.withOffset += 1;
      if (drawing.iconYaw.deg !== null && drawing.yaw !== null && drawing.yaw.deg !== null) icons.withBoth += 1;
    }
    const kindBit = kindBits[drawing.kind];
    members.add(drawing.raw, kindBit);
    properties.add(drawing.properties, kindBit);
  }
  const collection = memberCounter('collection', readMembers);
  collection.add(topLevel, 0);
  const carried = [...collection.rows(), ...members.rows(), ...properties.rows()];
  carried.sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
  return {
    kinds,
    withId,
    codes: codeRows(codes),
    yaw: yaw.row,
    iconYaw: iconYaw.row,
    icons,
    propertyNames: properties.names(),
    carried: carried.slice(0, MOST_CARRIED),
    carriedMore: Math.max(0, carried.length - MOST_CARRIED),
  };
}

/** Whether its icon is turned against its heading by the offset that was seen again and again, whole turns aside. */
export function hasOffset({ yaw, iconYaw }: Pick<Drawing, 'yaw' | 'iconYaw'>, offsetDeg: number): boolean {
  if (yaw === null || iconYaw === null || yaw.deg === null || iconYaw.deg === null) return false;
  const rest = Math.abs((iconYaw.deg - yaw.deg - offsetDeg) % 360);
  return rest <= SAME_ANGLE || 360 - rest <= SAME_ANGLE;
}

/** In degrees, out of the ledger (BELEGT, unexplained). */
export function iconOffsetDeg(): number {
  return Number(factById('overlays.icon-yaw-offset').value);
}

function codeRows(counts: ReadonlyMap<Code, number>): Survey['codes'] {
  const rows = new Map<string, { field: CodeField; number: number | null; count: number }>();
  // '11' and 11 are two codes as written and one number.
  for (const [{ field, number }, count] of counts) {
    const key = `${field} ${number}`;
    const row = rows.get(key);
    if (row) row.count += count;
    else rows.set(key, { field, number, count });
  }
  return [...rows.values()].sort(
    (a, b) =>
      fieldOrder.indexOf(a.field) - fieldOrder.indexOf(b.field) ||
      (a.number ?? Number.POSITIVE_INFINITY) - (b.number ?? Number.POSITIVE_INFINITY),
  );
}

function angleCounter() {
  const row = { asText: 0, asNumber: 0, unreadable: 0 };
  return {
    row: row as AngleSurvey,
    add({ deg, written }: DrawnAngle): void {
      if (typeof written === 'string') row.asText += 1;
      else if (typeof written === 'number') row.asNumber += 1;
      if (deg === null) row.unreadable += 1;
    },
  };
}

interface Counted {
  readonly name: string;
  /** gw reads it, so it is not merely carried through. */
  readonly isRead: boolean;
  count: number;
  /** One bit a JSON type, in the order of `jsonTypes`. */
  types: number;
  /** One bit a kind, in the order of `kindOrder`. */
  kinds: number;
}

/**
 * Foreign names are kept in a map, where `__proto__` is a name like any other. Written for speed: no lists of keys, and
 * since neighbours mostly have the same names in the same order, the last name at each place is tried first.
 */
function memberCounter(where: CarriedMember['in'], read: ReadonlySet<string>) {
  const names = new Map<string, Counted>();
  const lastAt: Counted[] = [];
  const countedOf = (name: string): Counted => {
    let counted = names.get(name);
    if (counted === undefined) {
      counted = { name, isRead: read.has(name), count: 0, types: 0, kinds: 0 };
      names.set(name, counted);
    }
    return counted;
  };
  return {
    add(object: Readonly<Record<string, unknown>>, kindBit: number): void {
      let place = 0;
      for (const key in object) {
        let counted = lastAt[place];
        if (counted === undefined || counted.name !== key) {
          counted = countedOf(key);
          lastAt[place] = counted;
        }
        place += 1;
        counted.count += 1;
        counted.types |= typeBit(object[key]);
        counted.kinds |= kindBit;
      }
    },
    names(): Survey['propertyNames'] {
      return [...names].map(([name, { types }]) => ({ name, types: chosenOf(jsonTypes, types) }));
    },
    rows(): CarriedMember[] {
      return [...names].flatMap(([name, { isRead, count, kinds, types }]) =>
        isRead
          ? []
          : [{ in: where, name, count, kinds: chosenOf(kindOrder, kinds), types: chosenOf(jsonTypes, types) }],
      );
    },
  };
}

function typeBit(value: unknown): number {
  if (typeof value === 'string') return 1;
  if (typeof value === 'number') return 2;
  if (typeof value === 'boolean') return 4;
  if (value === null) return 8;
  return Array.isArray(value) ? 16 : 32;
}

function chosenOf<T>(all: readonly T[], bits: number): T[] {
  return all.filter((_, at) => (bits & (1 << at)) !== 0);
}
