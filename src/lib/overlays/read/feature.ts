import { type Degrees, degrees, parseDegrees } from '../../angle/index.ts';
import { isRecord } from '../../json/index.ts';
import type {
  CarriedMember,
  Code,
  CodeField,
  Feature,
  FeatureAngle,
  FeatureKind,
  Place,
  RawFeature,
  Shape,
  WrittenProperty,
} from '../model.ts';
import { speedsIn } from '../speeds.ts';
import { createMemberCounter } from './members.ts';

const noProperties: Readonly<Record<string, unknown>> = Object.freeze({});
const noSpeeds: readonly WrittenProperty[] = Object.freeze([]);

/** Digits that a number holds exactly. */
const MOST_DIGITS = 15;
/** Most features of a map carry the same few texts; a map in which all differ must not be kept twice. */
const MOST_SHARED = 4096;
/** Places that make a lane. */
const FEWEST_PLACES = 2;
/** Corners that make a zone; the corner that closes its ring is not counted. */
const FEWEST_CORNERS = 3;

export interface FeatureReader {
  read(raw: RawFeature, index: number): Feature;
  /** Of all that were read: the members that gw gives no meaning. */
  members(): CarriedMember[];
}

/**
 * Makes a reader of features, for one collection. A feature holds on to nothing of its feature but what gw reads in it,
 * so that a large collection need not stand in memory twice: codes and angles that are written alike are one object, since a
 * large map repeats them by the ten thousand. `null` for a code or an angle counts as none.
 */
export function createFeatureReader(): FeatureReader {
  const pointType = codeReader('type');
  const lineType = codeReader('lineType');
  const regionType = codeReader('regionType');
  const direction = codeReader('direction');
  const startType = codeReader('startType');
  const endType = codeReader('endType');
  const noCodes = createCodeList([]);
  const angle = shared((written): FeatureAngle => ({ deg: degreesOf(written), written }));
  const members = createMemberCounter('feature');
  const names = createMemberCounter('properties');
  let speeds = noSpeeds;
  const takeSpeeds = (name: string, value: unknown, isSpeed: boolean) => {
    const found = speedsIn(name, value, isSpeed);
    if (found.length > 0) speeds = speeds.length === 0 ? found : [...speeds, ...found];
  };

  /** By geometry: `type` of a line is no number of the table of points, whatever it holds, and is carried through. */
  const ownCode = (kind: FeatureKind, properties: Readonly<Record<string, unknown>>): Code | null => {
    if (kind === 'point') return pointType(properties.type);
    if (kind === 'lane') return lineType(properties.lineType);
    return kind === 'zone' ? regionType(properties.regionType) : null;
  };

  const read = (raw: RawFeature, index: number): Feature => {
    const properties = isRecord(raw.properties) ? raw.properties : noProperties;
    const shape = shapeOf(raw.geometry);
    const kind = shape.kind === 'broken' ? shape.expected : shape.kind;
    const code = ownCode(kind, properties);
    const codes = noCodes
      .and(code)
      .and(direction(properties.direction))
      .and(startType(properties.startType))
      .and(endType(properties.endType));
    const { name } = properties;
    members.add(raw, kind);
    speeds = noSpeeds;
    names.add(properties, kind, takeSpeeds);
    return {
      index,
      id: idOf(raw.id),
      kind,
      name: nameOf(name),
      shape,
      code,
      codes: codes.list,
      yaw: angle(properties.yaw),
      iconYaw: angle(properties.iconYaw),
      writtenId: raw.id,
      partnerId: idOf(properties.dockingPointId),
      mac: properties.mac,
      speeds,
    };
  };
  return { read, members: () => [...members.rows(), ...names.rows()] };
}

/** A text that is not empty, or a number as text: rooms have numbers. One that a number cannot hold exactly is none. */
function nameOf(written: unknown): string | null {
  if (typeof written === 'string') return written === '' ? null : written;
  const isExact = typeof written === 'number' && Math.abs(written) <= Number.MAX_SAFE_INTEGER;
  return isExact ? String(written) : null;
}

/** How a feature, or another feature, is named by its id: a text that is not empty, or a number as text. */
function idOf(written: unknown): string | null {
  if (typeof written === 'string') return written === '' ? null : written;
  return typeof written === 'number' ? String(written) : null;
}

/** A list of codes that knows its continuations, so that features with the same codes have the same list. */
interface CodeList {
  readonly list: readonly Code[];
  and(code: Code | null): CodeList;
}

function createCodeList(list: readonly Code[]): CodeList {
  const longer = new Map<Code, CodeList>();
  const self: CodeList = {
    list,
    and(code) {
      if (code === null) return self;
      const before = longer.get(code);
      if (before !== undefined) return before;
      const made = createCodeList([...list, code]);
      if (longer.size < MOST_SHARED) longer.set(code, made);
      return made;
    },
  };
  return self;
}

function codeReader(field: CodeField): (written: unknown) => Code | null {
  return shared((written): Code => ({ field, number: wholeNumber(written), written }));
}

/** What is made of a text or a number is made once; nothing is made of a value that is not there. */
function shared<T>(make: (written: unknown) => T): (written: unknown) => T | null {
  const known = new Map<unknown, T>();
  return (written) => {
    if (written === undefined || written === null) return null;
    const before = known.get(written);
    if (before !== undefined) return before;
    const made = make(written);
    if (typeof written !== 'object' && known.size < MOST_SHARED) known.set(written, made);
    return made;
  };
}

/** A number in either JSON type (vendor, HINWEIS), when it is whole and a number can hold it exactly. */
function wholeNumber(written: unknown): number | null {
  const value = parseDecimal(written);
  return value !== null && Number.isSafeInteger(value) ? value : null;
}

/** @source specification, 'Angles': degrees, usually as texts */
function degreesOf(written: unknown): Degrees | null {
  const value = parseDecimal(written);
  return value === null ? null : degrees(value);
}

/** A finite number in either JSON type. Decides most texts without the cost of a regular expression. */
function parseDecimal(written: unknown): number | null {
  if (typeof written !== 'string') return parseDegrees(written) ?? null;
  const start = written.charCodeAt(0) === 0x2d ? 1 : 0;
  const { length } = written;
  if (length === start || length > MOST_DIGITS) return parseDegrees(written) ?? null;
  let value = 0;
  for (let at = start; at < length; at += 1) {
    const digit = written.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return parseDegrees(written) ?? null;
    value = value * 10 + digit;
  }
  return start === 0 ? value : 0 - value;
}

/** The geometry as far as gw understands it. Coordinates are looked at and used as they are, never copied. */
function shapeOf(geometry: unknown): Shape {
  if (!isRecord(geometry)) return { kind: 'other', type: null };
  const { type, coordinates } = geometry;
  if (type === 'Point') {
    return isPlace(coordinates)
      ? { kind: 'point', at: coordinates }
      : { kind: 'broken', expected: 'point', why: `its coordinates are ${noPlace(coordinates)}` };
  }
  if (type === 'LineString') {
    const why = whyNoLine(coordinates);
    return why === null
      ? { kind: 'lane', line: coordinates as readonly Place[] }
      : { kind: 'broken', expected: 'lane', why };
  }
  if (type === 'Polygon') {
    const why = whyNoRings(coordinates);
    return why === null
      ? { kind: 'zone', rings: coordinates as readonly (readonly Place[])[] }
      : { kind: 'broken', expected: 'zone', why };
  }
  return { kind: 'other', type: typeof type === 'string' ? type : null };
}

/** Metres beyond what a number can hold come out of JSON as Infinity. */
function isPlace(value: unknown): value is Place {
  return Array.isArray(value) && Number.isFinite(value[0]) && Number.isFinite(value[1]);
}

function whyNoLine(coordinates: unknown): string | null {
  if (!Array.isArray(coordinates)) return `its coordinates are ${noPlace(coordinates)}`;
  if (coordinates.length < FEWEST_PLACES) return `it needs ${FEWEST_PLACES} places and has ${coordinates.length}`;
  const bad = coordinates.findIndex((place) => !isPlace(place));
  return bad === -1 ? null : `place ${bad + 1} of ${coordinates.length} is ${noPlace(coordinates[bad])}`;
}

function whyNoRings(coordinates: unknown): string | null {
  if (!Array.isArray(coordinates)) return `its coordinates are ${noPlace(coordinates)}`;
  if (coordinates.length === 0) return 'it has no ring';
  for (const [index, ring] of (coordinates as unknown[]).entries()) {
    const why = whyNoRing(ring);
    if (why !== null) return `ring ${index + 1} of ${coordinates.length}: ${why}`;
  }
  return null;
}

function whyNoRing(ring: unknown): string | null {
  if (!Array.isArray(ring)) return `it is ${noPlace(ring)}`;
  const bad = ring.findIndex((place) => !isPlace(place));
  if (bad !== -1) return `place ${bad + 1} of ${ring.length} is ${noPlace(ring[bad])}`;
  const corners = ring.length > 1 && isSamePlace(ring[0], ring.at(-1)) ? ring.length - 1 : ring.length;
  return corners < FEWEST_CORNERS ? `it needs ${FEWEST_CORNERS} corners and has ${corners}` : null;
}

function isSamePlace(a: Place, b: Place): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

/** What stands where a place should: said in words, since what it holds may be anything and of any length. */
function noPlace(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (!Array.isArray(value)) return `no list (${typeof value})`;
  if (value.length < 2) return `a list of ${value.length}, without x and y`;
  const wrong = [value[0], value[1]].find((it) => !Number.isFinite(it));
  if (typeof wrong === 'number') return 'beyond what a number can hold';
  return `without two numbers (${wrong === null ? 'null' : Array.isArray(wrong) ? 'list' : typeof wrong})`;
}
