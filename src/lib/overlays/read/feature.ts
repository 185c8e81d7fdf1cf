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
import { jsonOf, membersOf, type Span } from './json-source.ts';
import { createMemberCounter } from './members.ts';

const noProperties: Readonly<Record<string, unknown>> = Object.freeze({});
const noSpeeds: readonly WrittenProperty[] = Object.freeze([]);

/** Bounds the cache: most features of a map share a few strings, but a map where all differ must not be held twice. */
const MAX_SHARED = 4096;
/** Places of a line. */
const MIN_PLACES = 2;
/** Corners of a zone, without the closing corner of its ring. */
const MIN_CORNERS = 3;

export interface FeatureReader {
  /** `source`: its JSON, for whole numbers beyond the exact range. */
  read(raw: RawFeature, index: number, source?: Span): Feature;
  /** The members of all features read that gw does not interpret. */
  members(): CarriedMember[];
}

/**
 * Makes a reader for the features of one collection. A feature keeps only what gw reads, so that a large collection is
 * not held in memory twice; equal codes and angles share one object, since a large map repeats them by the ten thousand.
 * `null` for a code or an angle counts as none.
 */
export function createFeatureReader(): FeatureReader {
  const pointType = codeReader('type');
  const lineType = codeReader('lineType');
  const regionType = codeReader('regionType');
  const direction = codeReader('direction');
  const startType = codeReader('startType');
  const endType = codeReader('endType');
  const angle = shared((written): FeatureAngle => ({ deg: degreesOf(written), written }));
  const members = createMemberCounter('feature');
  const names = createMemberCounter('properties');
  let speeds = noSpeeds;
  const addSpeeds = (name: string, value: unknown, isSpeed: boolean) => {
    const found = speedsIn(name, value, isSpeed);
    if (found.length > 0) speeds = speeds.length === 0 ? found : [...speeds, ...found];
  };

  /** By geometry: `type` of a line is not a point type, whatever its value, and is carried through. */
  const ownCode = (kind: FeatureKind, properties: Readonly<Record<string, unknown>>): Code | null => {
    if (kind === 'point') return pointType(properties.type);
    if (kind === 'lane') return lineType(properties.lineType);
    return kind === 'zone' ? regionType(properties.regionType) : null;
  };

  const read = (raw: RawFeature, index: number, source?: Span): Feature => {
    const properties = isRecord(raw.properties) ? raw.properties : noProperties;
    const shape = shapeOf(raw.geometry);
    const kind = shape.kind === 'broken' ? shape.expected : shape.kind;
    const code = ownCode(kind, properties);
    const others = [direction(properties.direction), startType(properties.startType), endType(properties.endType)];
    const { name } = properties;
    members.add(raw, kind);
    speeds = noSpeeds;
    names.add(properties, kind, addSpeeds);
    return {
      index,
      id: idOf(raw.id, source, ['id']),
      kind,
      name: nameOf(name),
      shape,
      code,
      codes: [code, ...others].filter((one) => one !== null),
      yaw: angle(properties.yaw),
      iconYaw: angle(properties.iconYaw),
      writtenId: raw.id,
      partnerId: idOf(properties.dockingPointId, source, ['properties', 'dockingPointId']),
      mac: properties.mac,
      speeds,
    };
  };
  return { read, members: () => [...members.rows(), ...names.rows()] };
}

/** A non-empty string, or a number as string, as in room numbers. Numbers beyond the exact range count as none. */
function nameOf(written: unknown): string | null {
  if (typeof written === 'string') return written === '' ? null : written;
  const isExact = typeof written === 'number' && Math.abs(written) <= Number.MAX_SAFE_INTEGER;
  return isExact ? String(written) : null;
}

/** An id or a reference to one: a non-empty string, or a number with all its digits as string. */
function idOf(written: unknown, source: Span | undefined, path: readonly string[]): string | null {
  if (typeof written === 'string') return written === '' ? null : written;
  if (typeof written !== 'number') return null;
  if (!isInexact(written)) return String(written);
  const span = path.reduce<Span | undefined>((inner, key) => inner && membersOf(inner)?.members.get(key), source);
  return span === undefined ? String(written) : jsonOf(span);
}

/** A whole number that lost digits, or may have, when it was parsed. */
export function isInexact(written: unknown): boolean {
  return typeof written === 'number' && Math.abs(written) > Number.MAX_SAFE_INTEGER;
}

function codeReader(field: CodeField): (written: unknown) => Code | null {
  return shared((written): Code => ({ field, number: wholeNumber(written), written }));
}

/** Caches the result for a string or a number; null for a missing value. */
function shared<T>(make: (written: unknown) => T): (written: unknown) => T | null {
  const cache = new Map<unknown, T>();
  return (written) => {
    if (written === undefined || written === null) return null;
    const cached = cache.get(written);
    if (cached !== undefined) return cached;
    const made = make(written);
    if (typeof written !== 'object' && cache.size < MAX_SHARED) cache.set(written, made);
    return made;
  };
}

/** A number in either JSON type (vendor, HINWEIS), when it is whole and within the exact range. */
function wholeNumber(written: unknown): number | null {
  const value = parseDegrees(written) ?? null;
  // Zero has no sign.
  return value !== null && Number.isSafeInteger(value) ? value + 0 : null;
}

/** @source specification, 'Angles': degrees, usually as strings */
function degreesOf(written: unknown): Degrees | null {
  const value = parseDegrees(written);
  return value === undefined ? null : degrees(value + 0);
}

type Line = readonly Place[];

/** The geometry as far as gw interprets it. Coordinates are validated and used as received, never copied. */
function shapeOf(geometry: unknown): Shape {
  if (!isRecord(geometry)) return { kind: 'other', type: null };
  const { type, coordinates } = geometry;
  switch (type) {
    case 'Point':
      return isPlace(coordinates)
        ? { kind: 'point', at: coordinates }
        : { kind: 'broken', expected: 'point', problem: `its coordinates are ${describeInvalidPlace(coordinates)}` };
    case 'MultiPoint':
      return read<Line>('point', coordinates, placesProblem, (places) => ({
        ...{ kind: 'point', at: places[0] as Place, places },
      }));
    case 'LineString':
      return read<Line>('lane', coordinates, lineProblem, (line) => ({ kind: 'lane', lines: [line] }));
    case 'MultiLineString':
      return read<readonly Line[]>('lane', coordinates, partsProblem('line', lineProblem), (lines) => ({
        ...{ kind: 'lane', lines, isMulti: true },
      }));
    case 'Polygon':
      return read<readonly Line[]>('zone', coordinates, ringsProblem, (rings) => ({ kind: 'zone', rings }));
    case 'MultiPolygon':
      return read<readonly (readonly Line[])[]>(
        'zone',
        coordinates,
        partsProblem('polygon', ringsProblem),
        (parts) => ({
          ...{ kind: 'zone', rings: parts.flat(), parts },
        }),
      );
    default:
      return { kind: 'other', type: typeof type === 'string' ? type : null };
  }
}

/** `problemOf` finds nothing only in coordinates of the type that `shapeFor` takes. */
function read<T>(
  expected: 'point' | 'lane' | 'zone',
  coordinates: unknown,
  problemOf: (coordinates: unknown) => string | null,
  shapeFor: (coordinates: T) => Shape,
): Shape {
  const problem = problemOf(coordinates);
  return problem === null ? shapeFor(coordinates as T) : { kind: 'broken', expected, problem };
}

/** JSON.parse returns Infinity for numbers out of range. */
function isPlace(value: unknown): value is Place {
  return Array.isArray(value) && Number.isFinite(value[0]) && Number.isFinite(value[1]);
}

function lineProblem(coordinates: unknown): string | null {
  if (!Array.isArray(coordinates)) return `its coordinates are ${describeInvalidPlace(coordinates)}`;
  if (coordinates.length < MIN_PLACES) return `it needs ${MIN_PLACES} places and has ${coordinates.length}`;
  return firstBadPlace(coordinates);
}

function placesProblem(coordinates: unknown): string | null {
  if (!Array.isArray(coordinates)) return `its coordinates are ${describeInvalidPlace(coordinates)}`;
  return coordinates.length === 0 ? 'it has no place' : firstBadPlace(coordinates);
}

function firstBadPlace(places: readonly unknown[]): string | null {
  const bad = places.findIndex((place) => !isPlace(place));
  return bad === -1 ? null : `place ${bad + 1} of ${places.length} is ${describeInvalidPlace(places[bad])}`;
}

function partsProblem(
  part: 'line' | 'polygon' | 'ring',
  problemOf: (part: unknown) => string | null,
): (coordinates: unknown) => string | null {
  return (coordinates) => {
    if (!Array.isArray(coordinates)) return `its coordinates are ${describeInvalidPlace(coordinates)}`;
    if (coordinates.length === 0) return `it has no ${part}`;
    for (const [index, one] of (coordinates as unknown[]).entries()) {
      const problem = problemOf(one);
      if (problem !== null) return `${part} ${index + 1} of ${coordinates.length}: ${problem}`;
    }
    return null;
  };
}

function ringsProblem(coordinates: unknown): string | null {
  return partsProblem('ring', ringProblem)(coordinates);
}

function ringProblem(ring: unknown): string | null {
  if (!Array.isArray(ring)) return `it is ${describeInvalidPlace(ring)}`;
  const bad = firstBadPlace(ring);
  if (bad !== null) return bad;
  const corners = ring.length > 1 && isSamePlace(ring[0], ring.at(-1)) ? ring.length - 1 : ring.length;
  return corners < MIN_CORNERS ? `it needs ${MIN_CORNERS} corners and has ${corners}` : null;
}

function isSamePlace(a: Place, b: Place): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

/** Describes the value found in place of a position, without its content, which may be of any length. */
function describeInvalidPlace(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (!Array.isArray(value)) return `not an array (${typeof value})`;
  if (value.length < 2) return `an array of ${value.length}, without x and y`;
  const wrong = [value[0], value[1]].find((it) => !Number.isFinite(it));
  if (typeof wrong === 'number') return 'out of range for a number';
  return `an array without two numbers (${wrong === null ? 'null' : Array.isArray(wrong) ? 'array' : typeof wrong})`;
}
