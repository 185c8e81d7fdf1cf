import { type FactId, factById, markHere, markText } from '../evidence/index.ts';
import { quote } from '../json/index.ts';
import { plural, pluralWord } from '../text/index.ts';
import { iconOffsetDeg } from './inspect/survey.ts';
import type { AngleSurvey, CodeField, FeatureKind, Inspection, KnownRow } from './model.ts';
import { isSpeedName } from './speeds.ts';

type Finder = (inspection: Inspection) => string;

/**
 * The rows of the specification's table 'Map and overlays', in its order, then the two angles of features, each with
 * the content of this map.
 */
const known: readonly (readonly [FactId, Finder])[] = [
  ['overlays.map-id', ({ overlays }) => mapText(overlays.map)],
  [
    'overlays.map-data',
    ({ overlays }) =>
      `${plural(overlays.features.length, 'feature')} read; \`gw chassis watch\` shows the pose of the robot.`,
  ],
  ['overlays.map-image', ({ frame }) => pictureText(frame)],
  ['overlays.features', ({ survey }) => `${kindsText(survey.kinds)} here.`],
  ['overlays.version', ({ overlays }) => versionText(overlays.map)],
  ['overlays.point-type', (inspection) => numbersText(inspection, 'type')],
  ['overlays.point-type-11', type11Text],
  [
    'overlays.point-type-11-observed',
    (inspection) => `${plural(countOf(inspection, 'type', 11), 'feature')} of type 11 here; no meaning is derived.`,
  ],
  [
    'overlays.point-start-end-type',
    (inspection) =>
      `${carriersText(inspection, 'startType')}; ${carriersText(inspection, 'endType')}. Carried through unchanged.`,
  ],
  ['overlays.lane-direction', (inspection) => numbersText(inspection, 'direction')],
  ['overlays.zone-region-type', (inspection) => numbersText(inspection, 'regionType')],
  [
    'overlays.zone-kinds',
    (inspection) => `${plural(numbersOf(inspection, 'regionType').length, 'different number')} of \`regionType\` here.`,
  ],
  ['overlays.charging-pair', ({ pairs }) => pairsText(pairs)],
  ['overlays.charging-pair-distance', ({ pairs }) => distancesText(pairs)],
  ['overlays.icon-yaw-offset', iconText],
  [
    'overlays.icon-yaw-display-only',
    () => '`iconYaw` is listed, never rendered as a heading, and nothing is derived from it.',
  ],
  ['angles.overlay-yaw', ({ survey }) => angleText(survey.yaw)],
  ['angles.overlay-icon-yaw', ({ survey }) => angleText(survey.iconYaw)],
];

/** The open questions of the specification about maps and overlays: the list below that table, then its general remarks. */
const notShown: readonly (readonly [FactId, Finder])[] = [
  ['overlays.no-go-region-type', noGoText],
  [
    'overlays.other-region-types',
    (inspection) => `${numbersText(inspection, 'regionType')} The vendor's readings are listed with the numbers.`,
  ],
  [
    'overlays.point-kind-numbers',
    (inspection) => `${numbersText(inspection, 'type')} The vendor's readings are listed with the numbers.`,
  ],
  [
    'overlays.lane-direction-3',
    (inspection) =>
      `${plural(countOf(inspection, 'direction', 3), 'feature')} with \`direction\` 3 here; no meaning is given.`,
  ],
  ['overlays.zone-speed-limit-field', speedText],
  [
    'overlays.start-end-type-meaning',
    (inspection) =>
      `\`startType\`: ${listOf(inspection, 'startType')}; \`endType\`: ${listOf(inspection, 'endType')}. No meaning is given.`,
  ],
  [
    'overlays.charging-pair-distance-constant',
    ({ pairs }) => `${distancesText(pairs)} No distance is judged right or wrong.`,
  ],
  ['overlays.icon-yaw-offset-meaning', iconText],
  [
    'overlays.feature-identifiers',
    ({ survey, overlays }) =>
      `${survey.withId} of ${plural(overlays.features.length, 'feature')} ${pluralWord(survey.withId, 'has', 'have')} an id; its origin cannot be determined.`,
  ],
  ['chassis.clock-and-zone', () => 'Not part of overlays; `gw chassis probe` shows the values of the chassis.'],
  ['overlays.map-fields', mapFieldsText],
  ['overlays.point-fields', (inspection) => kindFieldsText(inspection, 'point')],
  ['overlays.zone-fields', (inspection) => kindFieldsText(inspection, 'zone')],
  ['overlays.lane-fields', (inspection) => kindFieldsText(inspection, 'lane')],
];

/** Every statement of the specification about maps and overlays, open ones included, with the content of this map. */
export function knownOf(inspection: Inspection): readonly KnownRow[] {
  return [
    ...known.map(([id, find]) => row('known', id, find, inspection)),
    ...notShown.map(([id, find]) => row('not-shown', id, find, inspection)),
  ];
}

function row(group: KnownRow['group'], id: FactId, find: Finder, inspection: Inspection): KnownRow {
  const { statement, source } = factById(id);
  const { mark, basis, verdict, record } = markHere(id, inspection.device);
  return {
    group,
    fact: id,
    statement,
    mark,
    basis,
    source,
    here: record === null || verdict === 'as-marked' ? null : { verdict, who: record.who, when: record.when },
    found: find(inspection),
  };
}

function mapText(map: Inspection['overlays']['map']): string {
  const at = (key: string) => (map !== null && Object.hasOwn(map, key) ? map[key] : undefined);
  const [id, uid] = [at('id'), at('uid')];
  const parts = [
    ...(typeof id === 'number' || typeof id === 'string' ? [`id ${quote(String(id))}`] : []),
    ...(typeof uid === 'string' ? [`uid ${quote(uid)}`] : []),
  ];
  return parts.length === 0 ? 'The source does not identify the map.' : `This map: ${parts.join(', ')}.`;
}

function versionText(map: Inspection['overlays']['map']): string {
  const version = map !== null && Object.hasOwn(map, 'overlays_version') ? map.overlays_version : undefined;
  return version === undefined || version === null
    ? 'The source has none.'
    : `${quote(String(version))} here. Content is compared, never this counter alone.`;
}

function pictureText(frame: Inspection['frame']): string {
  if (frame === null) return 'Not checked: the map has no valid grid, so the position of the picture is unknown.';
  const { width, height, resolutionM, originXM, originYM } = frame;
  if (width === null || height === null) return 'Not checked: the picture was not read.';
  return `${width} × ${height} pixels of ${resolutionM} m, lower left corner at x ${originXM} m, y ${originYM} m.`;
}

function type11Text({ codeBook, ...inspection }: Inspection): string {
  const others = codeBook
    .meaning('type', 11)
    .readings.filter(({ fact, meaning }) => fact !== 'overlays.point-type-11' && meaning !== null)
    .map((reading) => `'${reading.meaning}' (${markText(reading)})`);
  const alternatives = others.length === 0 ? '' : ` Other readings: ${others.join(', ')}.`;
  return `${plural(countOf(inspection, 'type', 11), 'feature')} of type 11 here.${alternatives} Stations are never derived from it.`;
}

function noGoText({ codeBook, ...inspection }: Inspection): string {
  const numbers = numbersOf(inspection, 'regionType').filter((number) =>
    codeBook.meaning('regionType', number).readings.some(({ meaning }) => meaning !== null && /no-go/i.test(meaning)),
  );
  const unread = unreadText(inspection);
  if (numbers.length === 0) return `No zone here has a number that the vendor reads as a no-go zone.${unread}`;
  const texts = numbers
    .map((number) => {
      const named = codeBook.meaning('regionType', number).readings.find(({ meaning }) => meaning !== null);
      const features = plural(countOf(inspection, 'regionType', number), 'feature');
      const mark = named === undefined ? 'OFFEN' : markText(named);
      return `${features} with \`regionType\` ${number} here; ${named?.source}: '${named?.meaning}' (${mark}).`;
    })
    .join(' ');
  return `${texts}${unread}`;
}

/** Features of which no kind is known, and so not whether they are such a zone. */
function unreadText({ survey: { kinds } }: Surveyed): string {
  return kinds.other === 0 ? '' : ` Not checked: ${plural(kinds.other, 'feature')} without a geometry that gw reads.`;
}

function speedText({ survey }: Inspection): string {
  const names = survey.carried.filter(({ name }) => isSpeedName(name));
  if (names.length === 0) return 'No feature here has a member whose name contains speed, velocity or limit.';
  return `Carried through, not interpreted: ${names
    .slice(0, 6)
    .map(({ name, count: times }) => `${quote(name)} (${times})`)
    .join(', ')}${names.length > 6 ? ` and ${names.length - 6} more` : ''}.`;
}

/** Members of a map object that gw reads. */
const readOfMap: ReadonlySet<string> = new Set([
  'id',
  'uid',
  'map_name',
  'map_version',
  'overlays_version',
  'overlays',
  'grid_origin_x',
  'grid_origin_y',
  'grid_resolution',
]);

function mapFieldsText({ survey, overlays: { map } }: Inspection): string {
  const ofMap = map === null ? [] : Object.keys(map).filter((name) => !readOfMap.has(name));
  const ofCollection = survey.carried.filter((member) => member.in === 'collection').map(({ name }) => name);
  return `Of the map: ${namesText(ofMap)}. Of the collection: ${namesText(ofCollection)}.`;
}

function kindFieldsText({ survey }: Inspection, kind: FeatureKind): string {
  const names = survey.carried.filter(({ kinds }) => kinds.includes(kind)).map(({ name }) => name);
  return names.length === 0
    ? `No ${kind} here has another.`
    : `On ${kind}s here, carried through unchanged: ${namesText(names)}.`;
}

function namesText(names: readonly string[]): string {
  if (names.length === 0) return 'none beyond those that gw reads';
  const shown = names.slice(0, 12).map(quote).join(', ');
  return `${shown}${names.length > 12 ? ` and ${names.length - 12} more` : ''}`;
}

function pairsText(pairs: Inspection['pairs']): string {
  const without = (side: 'charger' | 'dockingPoint') => pairs.filter((pair) => pair[side] === null).length;
  const [chargers, dockingPoints] = [without('dockingPoint'), without('charger')];
  const alone = [
    ...(chargers === 0 ? [] : [plural(chargers, 'charger')]),
    ...(dockingPoints === 0 ? [] : [plural(dockingPoints, 'docking point')]),
  ];
  const whole = plural(pairs.length - chargers - dockingPoints, 'pair');
  return `${whole} here${alone.length === 0 ? '' : `, and ${alone.join(' and ')} without a partner`}.`;
}

function distancesText(pairs: Inspection['pairs']): string {
  const distances = pairs.flatMap(({ distanceM }) => (distanceM === null ? [] : [distanceM]));
  if (distances.length === 0) return 'No pair here to measure.';
  const [min, max] = [Math.min(...distances.slice(0, 1000)), Math.max(...distances.slice(0, 1000))];
  const range = min === max ? `${metres(min)} m` : `${metres(min)} to ${metres(max)} m`;
  return `${plural(distances.length, 'pair')} here: ${range} apart in the overlays.`;
}

function iconText({ survey }: Inspection): string {
  const { withBoth, withOffset } = survey.icons;
  if (withBoth === 0) return 'No feature here has both angles.';
  return `${withOffset} of ${plural(withBoth, 'feature')} with both angles ${pluralWord(withOffset, 'shows', 'show')} ${iconOffsetDeg()} degrees: reproducible, unexplained.`;
}

function angleText({ asString, asNumber, unreadable }: AngleSurvey): string {
  const bad = unreadable === 0 ? '' : `; ${unreadable} not a number`;
  return `${asString} written as string, ${asNumber} as number here${bad}.`;
}

type Surveyed = Pick<Inspection, 'survey'>;

/** The numbers of a code that occur, smallest first. */
function numbersOf({ survey }: Surveyed, field: CodeField): number[] {
  return survey.codes.flatMap((code) => (code.field === field && code.number !== null ? [code.number] : []));
}

function countOf({ survey }: Surveyed, field: CodeField, number: number): number {
  return survey.codes.find((code) => code.field === field && code.number === number)?.count ?? 0;
}

function carriersText({ survey }: Surveyed, field: CodeField): string {
  const carriers = survey.codes.reduce((sum, code) => sum + (code.field === field ? code.count : 0), 0);
  return `\`${field}\` on ${plural(carriers, 'feature')}`;
}

function numbersText(inspection: Surveyed, field: CodeField): string {
  const carriers = inspection.survey.codes.reduce((sum, code) => sum + (code.field === field ? code.count : 0), 0);
  if (carriers === 0)
    return `No ${ownerOf[field] ?? 'feature'} here carries \`${field}\`${elsewhereText(inspection, field)}.`;
  return `${plural(carriers, 'feature')} here ${pluralWord(carriers, 'carries', 'carry')} \`${field}\`: ${listOf(inspection, field)}.`;
}

/** Kinds on which a code is read; on others it is carried through. */
const ownerOf: Partial<Record<CodeField, FeatureKind>> = { type: 'point', lineType: 'lane', regionType: 'zone' };

function elsewhereText({ survey }: Surveyed, field: CodeField): string {
  const others = survey.carried.find((member) => member.in === 'properties' && member.name === field)?.count ?? 0;
  if (others === 0) return '';
  return `; ${plural(others, 'feature')} of another geometry ${pluralWord(others, 'does', 'do')}, which is carried through`;
}

function listOf(inspection: Surveyed, field: CodeField): string {
  const numbers = numbersOf(inspection, field);
  const unread = inspection.survey.codes.some((code) => code.field === field && code.number === null);
  const shown = numbers.slice(0, 24).join(', ');
  const more = numbers.length > 24 ? ` and ${numbers.length - 24} more` : '';
  if (numbers.length === 0) return unread ? 'only values that are not whole numbers' : 'none';
  return `${shown}${more}${unread ? ', and values that are not whole numbers' : ''}`;
}

function kindsText(kinds: Readonly<Record<'point' | 'lane' | 'zone' | 'other', number>>): string {
  const parts = [plural(kinds.point, 'point'), plural(kinds.zone, 'zone'), plural(kinds.lane, 'lane')];
  if (kinds.other > 0) parts.push(`${kinds.other} other`);
  return parts.join(', ');
}

function metres(value: number): string {
  return value.toFixed(3);
}
