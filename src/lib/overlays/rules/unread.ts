import { isRecord, quote } from '../../json/index.ts';
import { plural } from '../../text/index.ts';
import type { RuleInput } from './input.ts';
import { namingAll } from './wording.ts';

type Members = Readonly<Record<string, unknown>>;

/** What a map says in a form that gw does not read: geometries elsewhere, and properties. */
export function findUnreadFaults(input: RuleInput): void {
  const { overlays, report } = input;
  const { features, topLevel, map, rawOf } = overlays;
  for (const [name, value] of Object.entries(topLevel)) reportMember(name, value, 'collection');
  if (map !== null && Object.hasOwn(map, 'overlays')) {
    for (const [name, value] of Object.entries(map)) if (name !== 'overlays') reportMember(name, value, 'map');
  }

  const elsewhere = new Map<string, number[]>();
  const unread: number[] = [];
  for (const feature of features) {
    const raw = rawOf(feature);
    const { index } = feature;
    for (const name in raw) {
      if (name === 'geometry' || name === 'properties' || !holdsGeometry(raw[name])) continue;
      add(elsewhere, `feature member ${quote(name)}`, index);
    }
    const { properties } = raw;
    if (isRecord(properties)) {
      for (const name in properties) {
        if (holdsGeometry(properties[name])) add(elsewhere, `property ${quote(name)}`, index);
      }
    } else if (properties !== undefined && properties !== null) unread.push(index);
  }
  for (const [where, carriers] of elsewhere) {
    report('geometry-elsewhere', carriers, () => {
      const have = plural(carriers.length, 'feature has', 'features have');
      return `${have} a geometry in the ${where}, which gw neither renders nor checks: ${namingAll(features, carriers)}.`;
    });
  }
  if (unread.length > 0) {
    report('properties-unread', unread, () => {
      const have = plural(unread.length, 'feature has', 'features have');
      return `${have} properties that are not an object, so that gw reads no name and no number: ${namingAll(features, unread)}.`;
    });
  }

  function reportMember(name: string, value: unknown, where: 'collection' | 'map'): void {
    if (!holdsGeometry(value)) return;
    report('geometry-elsewhere', [], () => {
      return `There is a geometry in the member ${quote(name)} of the ${where}, which gw neither renders nor checks.`;
    });
  }
}

function add(lists: Map<string, number[]>, key: string, index: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [index]);
  else list.push(index);
}

const MAX_DEPTH = 6;
/** Well-known text, the other usual notation of a geometry: `POLYGON ((0 0, 1 0, …`. */
const WKT =
  /^\s*(?:SRID=\d+;\s*)?(?:(?:MULTI)?(?:POINT|LINESTRING|POLYGON)|GEOMETRYCOLLECTION)\b[\sZM]*\([\s(A-Z]*-?[\d.]+\s+-?[\d.]/i;

/** Whether a foreign value is or contains a geometry in a usual notation. */
function holdsGeometry(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.includes('(') && WKT.test(value.slice(0, 200));
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.some((item) => holdsGeometry(item, depth + 1));
  return isGeometry(value as Members) || Object.values(value).some((inner) => holdsGeometry(inner, depth + 1));
}

/** GeoJSON: a type of its list, with its content. */
function isGeometry(value: Members): boolean {
  const isFilled = (key: string) => {
    const content = Object.hasOwn(value, key) ? value[key] : undefined;
    return Array.isArray(content) ? content.length > 0 : isRecord(content);
  };
  switch (Object.hasOwn(value, 'type') ? value.type : undefined) {
    case 'Point':
    case 'MultiPoint':
    case 'LineString':
    case 'MultiLineString':
    case 'Polygon':
    case 'MultiPolygon':
      return isFilled('coordinates');
    case 'GeometryCollection':
      return isFilled('geometries');
    case 'Feature':
      return isFilled('geometry');
    case 'FeatureCollection':
      return isFilled('features');
    default:
      return false;
  }
}
