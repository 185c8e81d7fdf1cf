import { GwError } from '../../error/index.ts';
import { isRecord, quote, readJson } from '../../json/index.ts';
import type { Feature, Overlays, OverlaysContainer, OverlaysForm, RawFeature } from '../model.ts';
import { createFeatureReader } from './feature.ts';
import { decodeText, jsonProblem } from './foreign-text.ts';
import { jsonOf, listIn, membersOf, spanOf } from './json-source.ts';

type Members = Readonly<Record<string, unknown>>;

/** Levels of wrapping of a collection, in a JSON string or as `overlays` of an object. Project decision. */
const MAX_WRAPPING = 3;
/** Far more than a floor needs; a disk image named by mistake must not exhaust the memory. */
const MAX_BYTES = 256 * 1024 * 1024;
/** Deeper values would exhaust the stack of recursive code. */
const MAX_DEPTH = 200;
const MAX_KEYS_SHOWN = 5;

/**
 * Reads the overlays of a map: a bare collection, or the data of a map whose `overlays` hold one as JSON text, as an
 * object, or in a wrapper with `overlays` of its own. An object with `features` and no `type`, a list of features and a
 * single feature are read as a collection, and `container` names the form. A map without overlays yields no features and
 * the text ''. Unknown content is kept unchanged; duplicate keys are refused in texts up to 2 MiB, as everywhere in gw.
 * `what` names the input in errors. Throws OVERLAYS_INVALID only.
 * @source vendor (HINWEIS): the forms, and that features are GeoJSON in metres of the map
 */
export function readOverlays(input: Uint8Array | string, what = 'file'): Overlays {
  let place = what;
  let text = textOf(input, what);
  let value = parse(text, what);
  let form: OverlaysForm = 'collection';
  let map: Members | null = null;

  for (let wrapping = 0; ; wrapping += 1) {
    const container = containerOf(value, map !== null);
    if (container !== null) {
      return overlaysOf(value, { form, container, map: map ?? mapIn(value), text, what: place });
    }
    if (wrapping === MAX_WRAPPING) throw invalid(what, `they are wrapped more than ${MAX_WRAPPING} levels deep`);
    if (typeof value === 'string') {
      form = 'wrapped';
      text = withoutMark(value);
    } else if (isRecord(value) && Object.hasOwn(value, 'overlays')) {
      const { overlays } = value;
      form = wrapping > 0 ? 'wrapped' : typeof overlays === 'string' ? 'text-in-map' : 'object-in-map';
      map ??= value;
      if (isEmpty(overlays)) return emptyOverlays(map, form);
      place = `overlays of the ${what}`;
      if (typeof overlays !== 'string') {
        text = sourceOfMember(text, 'overlays');
        value = overlays;
        continue;
      }
      text = withoutMark(overlays);
    } else if (map === null && isMapData(value)) {
      return emptyOverlays(value, wrapping > 0 ? 'wrapped' : 'text-in-map');
    } else if (map !== null && isRecord(value) && Object.keys(value).length === 0) {
      return { ...emptyOverlays(map, form), text };
    } else {
      throw invalid(place, `it is ${describe(value)}`);
    }
    value = parse(text, place);
  }
}

/**
 * The exact overlays of a `GET /maps/<id>` document: the content of the JSON text ('text'), or the source of any other
 * value ('object'). They are not parsed. A text may hold a lone surrogate, which UTF-8 cannot encode. Throws
 * OVERLAYS_INVALID when the bytes are not a JSON object.
 */
export function overlaysSource(mapBytes: Uint8Array): { text: string | null; form: 'text' | 'object' | 'none' } {
  const text = textOf(mapBytes, 'map');
  const map = parse(text, 'map');
  if (!isRecord(map)) throw invalid('map', `it is ${describe(map)}`);
  const overlays = Object.hasOwn(map, 'overlays') ? map.overlays : null;
  if (overlays === null) return { text: null, form: 'none' };
  if (typeof overlays === 'string') return { text: overlays, form: 'text' };
  return { text: sourceOfMember(text, 'overlays'), form: 'object' };
}

function isEmpty(overlays: unknown): boolean {
  return overlays === null || (typeof overlays === 'string' && overlays.trim() === '');
}

/** An entry of the list of maps has no overlays either; only map data, which has a grid, can mean that there are none. */
function isMapData(value: unknown): value is Members {
  return isRecord(value) && Object.hasOwn(value, 'grid_resolution');
}

/** Map data may hold `features` itself, without `overlays` around them. */
function mapIn(value: unknown): Members | null {
  return isMapData(value) ? value : null;
}

function emptyOverlays(map: Members, form: OverlaysForm): Overlays {
  const rawOf = () => ({});
  const container = 'feature-collection';
  return {
    form,
    container,
    features: [],
    topLevel: topLevelOf({}),
    notFeatures: [],
    members: [],
    rawOf,
    map,
    text: '',
    entries: [],
  };
}

interface ReadCollection {
  readonly form: OverlaysForm;
  readonly container: OverlaysContainer;
  readonly map: Members | null;
  readonly text: string;
  readonly what: string;
}

function overlaysOf(value: unknown, { form, container, map, text, what }: ReadCollection): Overlays {
  const list = featuresIn(value, container);
  if (!Array.isArray(list)) {
    const found = list === undefined ? 'missing' : describe(list);
    throw invalid(what, `it is a FeatureCollection whose \`features\` is ${found}, not an array`);
  }
  const hasMembers = container === 'feature-collection' || container === 'object-with-features';
  const topLevel = topLevelOf(hasMembers && isRecord(value) ? value : {});
  const { items, levels } = listIn(text, container === 'feature-list' ? null : 'features');
  if (levels > MAX_DEPTH) throw tooDeep(what);
  const entries = container === 'single-feature' ? [spanOf(text)] : items;
  const features: Feature[] = [];
  const notFeatures: number[] = [];
  const reader = createFeatureReader();
  for (let index = 0; index < list.length; index += 1) {
    const entry: unknown = list[index];
    if (isRecord(entry)) features.push(reader.read(entry satisfies RawFeature, index, entries[index]));
    else notFeatures.push(index);
  }
  const rawOf = ({ index }: Feature) => list[index] as RawFeature;
  const members = reader.members();
  return { form, container, features, topLevel, notFeatures, members, rawOf, map, text, entries };
}

/** Without a prototype, so that foreign keys cannot reach it. */
function topLevelOf(collection: Members): Members {
  const topLevel: Record<string, unknown> = Object.create(null);
  for (const [key, value] of Object.entries(collection)) {
    if (key !== 'type' && key !== 'features') topLevel[key] = value;
  }
  return topLevel;
}

function textOf(input: Uint8Array | string, what: string): string {
  const size = input.length;
  if (size > MAX_BYTES) throw invalid(what, `it has ${size} bytes, more than ${MAX_BYTES}`);
  if (typeof input === 'string') return withoutMark(input);
  const reading = decodeText(input);
  if (!reading.ok) throw invalid(what, reading.problem);
  return reading.text;
}

function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

function parse(text: string, what: string): unknown {
  const reading = readJson(text, 'text', { keepProtoKeys: true });
  if (reading.ok) return reading.value;
  throw invalid(what, jsonProblem(text) ?? reading.problem);
}

/** The source of a member of a parsed object; of duplicate keys the last, as in JSON.parse. */
function sourceOfMember(text: string, key: string): string {
  const span = membersOf(spanOf(text))?.members.get(key);
  return span === undefined ? '' : jsonOf(span);
}

/** Describes a value without its content, which may be anything. */
function describe(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length} entries`;
  if (typeof value === 'string') return 'a string';
  if (!isRecord(value)) return `the value ${String(value)}`;
  const keys = Object.keys(value);
  if (keys.length === 0) return 'an empty object';
  const { type } = value;
  if (typeof type === 'string') return `an object of type ${quote(type)}`;
  if (Object.hasOwn(value, 'map_name')) return 'an entry of the list of maps, which has no overlays';
  const shown = keys.slice(0, MAX_KEYS_SHOWN).map(quote).join(', ');
  return `an object with the keys ${shown}${keys.length > MAX_KEYS_SHOWN ? ` and ${keys.length - MAX_KEYS_SHOWN} more` : ''}`;
}

function tooDeep(what: string): GwError {
  return invalid(what, `the JSON is nested deeper than ${MAX_DEPTH} levels`);
}

function invalid(what: string, found: string): GwError {
  return new GwError('OVERLAYS_INVALID', `No map overlays in the ${what}: ${found}.`, {
    details: { found },
  });
}

/**
 * The kind of container that a parsed value is; null when it holds no features. `isInMap`: the value is the `overlays`
 * of a map, where an empty list means no features.
 */
function containerOf(value: unknown, isInMap: boolean): OverlaysContainer | null {
  if (Array.isArray(value)) return (value.length === 0 ? isInMap : value.some(isFeature)) ? 'feature-list' : null;
  if (!isRecord(value)) return null;
  if (value.type === 'FeatureCollection') return 'feature-collection';
  // A map object, whose features are in `overlays`.
  if (Object.hasOwn(value, 'overlays')) return null;
  if (hasNoType(value) && Object.hasOwn(value, 'features') && Array.isArray(value.features))
    return 'object-with-features';
  return isFeature(value) ? 'single-feature' : null;
}

/** The features of a container; undefined where a FeatureCollection has no `features`. */
function featuresIn(value: unknown, container: OverlaysContainer): unknown {
  if (container === 'feature-list') return value;
  if (container === 'single-feature') return [value];
  return isRecord(value) && Object.hasOwn(value, 'features') ? value.features : undefined;
}

/** Has the type Feature or, without a type, a GeoJSON geometry. */
function isFeature(value: unknown): boolean {
  if (!isRecord(value)) return false;
  if (value.type === 'Feature') return true;
  const geometry = hasNoType(value) && Object.hasOwn(value, 'geometry') ? value.geometry : undefined;
  return isRecord(geometry) && typeof geometry.type === 'string';
}

function hasNoType(value: Members): boolean {
  return !Object.hasOwn(value, 'type') || value.type === null;
}
