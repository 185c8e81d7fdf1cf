import chalk from 'chalk';
import type { InspectedFeature, OverlaysInspect } from '../../../lib/toolkit/overlays/inspect.result.ts';
import { type Column, renderTable, right } from '../../output.ts';
import { colourMark, open } from '../mark.ts';
import { cut, figure, MAX_ROWS, meaningText, moreText, type Reading, title } from './words.ts';

type Data = OverlaysInspect;
type CodeRow = Data['codes'][number];
/** The field with the number of the kind; null for a feature without one. */
type KindField = 'type' | 'regionType' | 'lineType' | null;

export interface View {
  readonly data: Data;
  readonly isComplete: boolean;
  readonly codeAt: (code: InspectedFeature['codes'][number]) => CodeRow | undefined;
  readonly featureAt: ReadonlyMap<number, InspectedFeature>;
}

export function createView(data: Data, isComplete: boolean): View {
  const codes = new Map(data.codes.map((code) => [`${code.field} ${code.number}`, code]));
  return {
    data,
    isComplete,
    codeAt: ({ field, number }) => codes.get(`${field} ${number}`),
    featureAt: new Map(data.features.map((feature) => [feature.index, feature])),
  };
}

export function kindSections(view: View): string[][] {
  const { fields } = view.data;
  const metres = `in metres (${colourMark(fields.xM ?? open)})`;
  const degrees = `yaw in degrees (${colourMark(fields.yawDeg ?? open)})`;
  const icon = `iconYaw in degrees (${colourMark(fields.iconYawDeg ?? open)}; its purpose is ${colourMark(open)})`;
  return [
    section(view, 'point', 'Points', `x and y ${metres}, ${degrees}, ${icon}`, 'type'),
    section(view, 'zone', 'Zones', `extent ${metres}, ${degrees}`, 'regionType'),
    section(view, 'lane', 'Lanes', `extent ${metres}, ${degrees}`, 'lineType'),
    section(view, 'other', 'Of other kinds', 'not checked and not rendered, carried through unchanged', null),
  ];
}

function section(
  view: View,
  kind: InspectedFeature['kind'],
  heading: string,
  units: string,
  code: KindField,
): string[] {
  const features = view.data.features.filter((feature) => feature.kind === kind);
  if (features.length === 0) return [];
  const shown = view.isComplete ? features : features.slice(0, MAX_ROWS);
  const isPoint = kind === 'point';
  const hasYaw = isPoint || shown.some((feature) => writtenOf(feature.feature, 'yaw') !== undefined);
  const hasIconYaw = shown.some((feature) => writtenOf(feature.feature, 'iconYaw') !== undefined);
  const columns: Column[] = [
    right('#'),
    'name',
    'id',
    ...(isPoint ? [right('x m'), right('y m')] : [kind === 'other' ? 'geometry' : 'extent m']),
    ...(hasYaw ? [right('yaw deg')] : []),
    ...(hasIconYaw ? [right('iconYaw deg')] : []),
    ...(code === null ? [] : [right(code)]),
    'read as',
  ];
  const rows = shown.map((feature) => [
    String(feature.index),
    nameText(feature.name, view.isComplete),
    feature.id === null ? chalk.yellow('none') : cut(feature.id, 36),
    ...(isPoint
      ? [coordinate(feature, 'x'), coordinate(feature, 'y')]
      : [kind === 'other' ? geometryText(feature) : extentText(feature)]),
    ...(hasYaw ? [angleText(feature, 'yaw', feature.yawDeg)] : []),
    ...(hasIconYaw ? [angleText(feature, 'iconYaw', feature.iconYawDeg)] : []),
    ...(code === null ? [] : [ownCodeText(feature, code)]),
    readAsText(feature, code, view),
  ]);
  const lines = [`${title(`${heading} (${features.length})`)}: ${units}`, renderTable(columns, rows)];
  if (shown.length < features.length) lines.push(moreText(features.length - shown.length, '--all, --format csv'));
  return lines;
}

/** Characters of a name in the short and in the complete table. */
const MAX_NAME_CHARS = { short: 28, complete: 400 } as const;

function nameText(name: string | null, isComplete: boolean): string {
  return name === null ? '' : cut(name, isComplete ? MAX_NAME_CHARS.complete : MAX_NAME_CHARS.short);
}

/** Of a point of several places the extent. */
function coordinate({ feature, xM, yM }: InspectedFeature, axis: 'x' | 'y'): string {
  const metres = axis === 'x' ? xM : yM;
  if (metres !== null) return figure(metres, 3);
  const places = placesOfMultiPoint(feature);
  if (places === null) return chalk.yellow('broken');
  const values = places.map((place) => place[axis === 'x' ? 0 : 1]);
  const [from, to] = [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
  return `${figure(from, 3)} to ${figure(to, 3)}`;
}

/** null for any other geometry, and for one with an invalid place. */
function placesOfMultiPoint(feature: InspectedFeature['feature']): readonly (readonly [number, number])[] | null {
  const geometry = Object.hasOwn(feature, 'geometry') ? feature.geometry : undefined;
  if (typeof geometry !== 'object' || geometry === null || !('type' in geometry)) return null;
  if (geometry.type !== 'MultiPoint' || !('coordinates' in geometry)) return null;
  const { coordinates } = geometry;
  const isPlace = (place: unknown) => Array.isArray(place) && Number.isFinite(place[0]) && Number.isFinite(place[1]);
  if (!Array.isArray(coordinates) || coordinates.length === 0 || !coordinates.every(isPlace)) return null;
  return coordinates as readonly (readonly [number, number])[];
}

/** The extent of the corners as received; the problem of an invalid geometry is a finding. */
function extentText({ feature }: InspectedFeature): string {
  const box = {
    minX: Number.POSITIVE_INFINITY,
    minY: Number.POSITIVE_INFINITY,
    maxX: Number.NEGATIVE_INFINITY,
    maxY: Number.NEGATIVE_INFINITY,
  };
  const geometry = Object.hasOwn(feature, 'geometry') ? feature.geometry : undefined;
  if (typeof geometry === 'object' && geometry !== null && 'coordinates' in geometry) widen(box, geometry.coordinates);
  const { minX, minY, maxX, maxY } = box;
  if (minX > maxX || minY > maxY) return chalk.yellow('broken');
  return `x ${figure(minX, 2)} to ${figure(maxX, 2)}, y ${figure(minY, 2)} to ${figure(maxY, 2)}`;
}

function widen(box: { minX: number; minY: number; maxX: number; maxY: number }, coordinates: unknown, level = 0): void {
  if (!Array.isArray(coordinates)) return;
  const [x, y] = coordinates as readonly unknown[];
  if (typeof x === 'number' && typeof y === 'number') {
    box.minX = Math.min(box.minX, x);
    box.maxX = Math.max(box.maxX, x);
    box.minY = Math.min(box.minY, y);
    box.maxY = Math.max(box.maxY, y);
  } else if (level < 3) {
    for (const inner of coordinates) widen(box, inner, level + 1);
  }
}

function geometryText({ feature }: InspectedFeature): string {
  const geometry = Object.hasOwn(feature, 'geometry') ? feature.geometry : undefined;
  if (typeof geometry !== 'object' || geometry === null) return 'none';
  const type = 'type' in geometry ? geometry.type : undefined;
  return typeof type === 'string' ? cut(type, 24) : 'without type';
}

/** Rounded; a value that is not a number is shown as written. */
function angleText({ feature }: InspectedFeature, key: 'yaw' | 'iconYaw', deg: number | null): string {
  if (deg !== null) return figure(deg, 2).replace(/\.?0+$/, '');
  const written = writtenOf(feature, key);
  return written === undefined || written === null
    ? ''
    : chalk.red(`not a number: ${cut(JSON.stringify(written), 16)}`);
}

function writtenOf(feature: InspectedFeature['feature'], key: string): unknown {
  const properties = Object.hasOwn(feature, 'properties') ? feature.properties : undefined;
  if (typeof properties !== 'object' || properties === null || !Object.hasOwn(properties, key)) return undefined;
  return (properties as Readonly<Record<string, unknown>>)[key];
}

function ownCodeText({ codes }: InspectedFeature, field: KindField): string {
  const own = codes.find((code) => code.field === field);
  if (own === undefined) return chalk.yellow('none');
  return own.number === null ? chalk.red('not a number') : String(own.number);
}

/** Every reading of the number in the previous column, then every other number of the feature. */
function readAsText({ codes }: InspectedFeature, own: KindField, { codeAt }: View): string {
  return codes
    .map((code) => {
      const readings = codeAt(code)?.readings.map((reading, _, all) => readingText(reading, all)) ?? [];
      const text = readings.length === 0 ? `${colourMark(open)} not a whole number` : readings.join(' | ');
      return code.field === own ? text : `${code.field} ${code.number ?? '?'} ${text}`;
    })
    .join('; ');
}

function readingText(reading: Reading, all: readonly Reading[]): string {
  const { here } = reading;
  const verdict =
    here === null ? '' : here.verdict === 'verified' ? ' (verified here)' : chalk.red(' (contradicted here)');
  return `${colourMark(reading)} ${meaningText(reading.meaning, all)}${verdict}`;
}
