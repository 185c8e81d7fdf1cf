import chalk from 'chalk';
import type { Mark } from '../../lib/evidence/index.ts';
import type { InspectedFeature, OverlaysInspect } from '../../lib/toolkit/overlays-inspect.result.ts';
import { type Column, printable, renderTable } from '../output.ts';

/** Rows of one table before the rest is only counted: what a person reads, and a terminal still scrolls back to. */
const MOST_ROWS = 40;
const MOST_FINDINGS = 40;
const MOST_NUMBERS = 100;
const MOST_NAMED = 8;
const INDENT = ' '.repeat(10);

type Data = OverlaysInspect;
type Finding = Data['findings'][number];
/** The number that says of what kind a drawing is; null for a drawing that has none of its own. */
type KindField = 'type' | 'regionType' | 'lineType' | null;
type CodeRow = Data['codes'][number];
type Reading = CodeRow['readings'][number];
type Pair = Data['chargers']['pairs'][number];

/** `gw overlays inspect`. `isComplete`: every row, however many. */
export function renderOverlaysInspect(data: Data, { isComplete }: { readonly isComplete: boolean }): string {
  if (data.written !== null) return `${firstLine(data)}\n${writtenLine(data.written)}`;
  const view = createView(data, isComplete);
  const sections = [
    [firstLine(data), ...sourceLines(data)],
    findingLines(data, isComplete),
    ...kindSections(view),
    chargerLines(view),
    codeLines(view),
    iconLines(data),
    carriedLines(view),
    ...(data.filter === null
      ? [
          knownLines(data, 'known', 'What the specification says about maps and drawings, and what this map has of it'),
          knownLines(data, 'not-shown', 'What nobody knows, and what this map has of it'),
        ]
      : [[chalk.dim('What is known, and what nobody knows, about the whole map: the same without filters.')]]),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

// ── the answer ───────────────────────────────────────────────────────────────────────────────────────────────────

function firstLine({ summary, source, filter }: Data): string {
  const { drawings, points, zones, lanes, others, chargers, selected } = summary;
  const kinds = [counted(points, 'point'), counted(zones, 'zone'), counted(lanes, 'lane')];
  if (others > 0) kinds.push(`${others} of other kinds`);
  const pairs = chargers === 0 ? '' : `, ${counted(chargers, 'charger')} among them`;
  const some = filter === null ? '' : `${selected} of `;
  return `${some}${counted(drawings, 'drawing')} (${kinds.join(', ')}${pairs}), ${findingsText(summary.findings)}: ${printable(source.label)}.`;
}

function findingsText(counts: Data['summary']['findings']): string {
  const { wrong, warning, note, 'not-checked': open } = counts;
  const total = wrong + warning + note + open;
  if (total === 0) return chalk.green('no findings');
  const parts = [
    ...(wrong > 0 ? [chalk.red.bold(`${wrong} wrong`)] : []),
    ...(warning > 0 ? [chalk.yellow(counted(warning, 'warning'))] : []),
    ...(note > 0 ? [counted(note, 'note')] : []),
    ...(open > 0 ? [chalk.yellow(`${open} not checked`)] : []),
  ];
  return `${counted(total, 'finding')} (${parts.join(', ')})`;
}

function writtenLine({ format, path, bytes }: NonNullable<Data['written']>): string {
  return `${format} written to ${printable(path)} (${bytes.toLocaleString('en')} bytes).`;
}

const formText: Readonly<Record<Data['source']['form'], string>> = {
  collection: 'a bare collection',
  'text-in-map': 'a JSON text inside a map, as the chassis gives it',
  'object-in-map': 'an object inside a map',
  wrapped: 'packed in a wrapper',
};

function sourceLines({ source, map, picture, summary }: Data): string[] {
  const lines = [`read as ${formText[source.form]}`];
  if (map !== null) {
    const parts = [
      `map ${map.id ?? '(no id)'}${map.name === null ? '' : ` "${printable(map.name)}"`}`,
      ...(map.uid === null ? [] : [`uid ${printable(map.uid)}`]),
      ...(map.mapVersion === null ? [] : [`map version ${map.mapVersion}`]),
      ...(map.overlaysVersion === null ? [] : [`overlays version ${map.overlaysVersion}`]),
    ];
    lines.push(parts.join(', '));
  }
  if (source.chassis === null)
    lines.push('The source names no chassis, so nothing verified on a device is counted in.');
  else {
    const { serial, software } = source.chassis;
    lines.push(`chassis ${printable(serial)}, software ${software === null ? 'not told' : printable(software)}`);
  }
  if (picture !== null && picture.widthPx !== null) {
    lines.push(`picture ${picture.widthPx} × ${picture.heightPx} pixels of ${picture.resolutionM} m`);
  }
  if (summary.notFeatures > 0) lines.push(`${summary.notFeatures} entries of the collection are no drawings at all`);
  return lines.map((line) => chalk.dim(line));
}

// ── findings ─────────────────────────────────────────────────────────────────────────────────────────────────────

const severityText: Readonly<Record<Finding['severity'], () => string>> = {
  wrong: () => chalk.red.bold('WRONG'),
  warning: () => chalk.yellow('warn '),
  note: () => chalk.dim('note '),
  'not-checked': () => chalk.yellow('--   '),
};

function findingLines({ findings }: Data, isComplete: boolean): string[] {
  if (findings.length === 0) return [];
  const shown = isComplete ? findings : findings.slice(0, MOST_FINDINGS);
  const lines = [title(`Findings (${findings.length})`)];
  const told = new Set<string>();
  for (const { severity, rule, drawings, detail, remedy, mark } of shown) {
    const where = drawings.length === 0 ? '' : ` ${indicesText(drawings)}`;
    const relies = mark === null ? '' : ` [${colourMark(mark)}]`;
    lines.push(`${severityText[severity]()} ${chalk.bold(rule)}${where}: ${printable(detail)}${relies}`);
    // Once for each rule: a map has ten points with the same fault, and one thing to do about them.
    if (!told.has(rule)) lines.push(`      ${chalk.dim(printable(remedy))}`);
    told.add(rule);
  }
  if (shown.length < findings.length) lines.push(moreText(findings.length - shown.length, '--all, --json'));
  return lines;
}

function indicesText(indices: readonly number[]): string {
  const shown = indices.slice(0, MOST_NAMED).map((index) => `#${index}`);
  const more = indices.length > MOST_NAMED ? ` and ${indices.length - MOST_NAMED} more` : '';
  return `${shown.join(' ')}${more}`;
}

// ── the drawings, kind by kind ───────────────────────────────────────────────────────────────────────────────────

interface View {
  readonly data: Data;
  readonly isComplete: boolean;
  readonly codeAt: (code: InspectedFeature['codes'][number]) => CodeRow | undefined;
  readonly featureAt: ReadonlyMap<number, InspectedFeature>;
}

function createView(data: Data, isComplete: boolean): View {
  const codes = new Map(data.codes.map((code) => [`${code.field} ${code.number}`, code]));
  return {
    data,
    isComplete,
    codeAt: ({ field, number }) => codes.get(`${field} ${number}`),
    featureAt: new Map(data.features.map((feature) => [feature.index, feature])),
  };
}

function kindSections(view: View): string[][] {
  const { fields } = view.data;
  const metres = `in metres (${colourMark(fields.xM?.mark ?? 'OFFEN')})`;
  const degrees = `yaw in degrees (${colourMark(fields.yawDeg?.mark ?? 'OFFEN')})`;
  const icon = `iconYaw in degrees (${colourMark(fields.iconYawDeg?.mark ?? 'OFFEN')}; what for is ${colourMark('OFFEN')})`;
  return [
    section(view, 'point', 'Points', `x and y ${metres}, ${degrees}, ${icon}`, 'type'),
    section(view, 'zone', 'Zones', `extent ${metres}, ${degrees}`, 'regionType'),
    section(view, 'lane', 'Lanes', `extent ${metres}, ${degrees}`, 'lineType'),
    section(view, 'other', 'Of other kinds', 'not drawn, carried through as they are', null),
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
  const shown = view.isComplete ? features : features.slice(0, MOST_ROWS);
  const isPoint = kind === 'point';
  const hasYaw = isPoint || shown.some((feature) => writtenOf(feature.feature, 'yaw') !== undefined);
  const hasIconYaw = shown.some((feature) => writtenOf(feature.feature, 'iconYaw') !== undefined);
  const columns: Column[] = [
    { title: '#', align: 'right' },
    { title: 'name' },
    { title: 'id' },
    ...(isPoint
      ? ([
          { title: 'x m', align: 'right' },
          { title: 'y m', align: 'right' },
        ] as const)
      : [{ title: kind === 'other' ? 'geometry' : 'extent m' }]),
    ...(hasYaw ? [{ title: 'yaw deg', align: 'right' } as const] : []),
    ...(hasIconYaw ? [{ title: 'iconYaw deg', align: 'right' } as const] : []),
    ...(code === null ? [] : [{ title: code, align: 'right' } as const]),
    { title: 'read as' },
  ];
  const rows = shown.map((feature) => [
    String(feature.index),
    nameText(feature.name),
    feature.id === null ? chalk.yellow('none') : cut(feature.id, 36),
    ...(isPoint
      ? [coordinate(feature.xM), coordinate(feature.yM)]
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

function nameText(name: string | null): string {
  return name === null ? '' : cut(name, 28);
}

function coordinate(metres: number | null): string {
  return metres === null ? chalk.yellow('broken') : figure(metres, 3);
}

/** Of the corners as they came; what makes a geometry broken is a finding. */
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
  } else if (level < 2) {
    for (const inner of coordinates) widen(box, inner, level + 1);
  }
}

function geometryText({ feature }: InspectedFeature): string {
  const geometry = Object.hasOwn(feature, 'geometry') ? feature.geometry : undefined;
  if (typeof geometry !== 'object' || geometry === null) return 'none';
  const type = 'type' in geometry ? geometry.type : undefined;
  return typeof type === 'string' ? cut(type, 24) : 'of no type';
}

/** As a person can compare it; what is no number is shown as it was written. */
function angleText({ feature }: InspectedFeature, key: 'yaw' | 'iconYaw', deg: number | null): string {
  if (deg !== null) return figure(deg, 2).replace(/\.?0+$/, '');
  const written = writtenOf(feature, key);
  return written === undefined || written === null ? '' : chalk.red(`no number: ${cut(JSON.stringify(written), 16)}`);
}

function writtenOf(feature: InspectedFeature['feature'], key: string): unknown {
  const properties = Object.hasOwn(feature, 'properties') ? feature.properties : undefined;
  if (typeof properties !== 'object' || properties === null || !Object.hasOwn(properties, key)) return undefined;
  return (properties as Readonly<Record<string, unknown>>)[key];
}

function ownCodeText({ codes }: InspectedFeature, field: KindField): string {
  const own = codes.find((code) => code.field === field);
  if (own === undefined) return chalk.yellow('none');
  return own.number === null ? chalk.red('no number') : String(own.number);
}

/** Every reading of the number in the column before, then every other number that the drawing carries. */
function readAsText({ codes }: InspectedFeature, own: KindField, { codeAt }: View): string {
  return codes
    .map((code) => {
      const readings = codeAt(code)?.readings.map((reading, _, all) => readingText(reading, all)) ?? [];
      const text = readings.length === 0 ? `${colourMark('OFFEN')} not a whole number` : readings.join(' | ');
      return code.field === own ? text : `${code.field} ${code.number ?? '?'} ${text}`;
    })
    .join('; ');
}

function readingText({ meaning, mark, here }: Reading, all: readonly Reading[]): string {
  const verdict =
    here === null ? '' : here.verdict === 'verified' ? ' (verified here)' : chalk.red(' (contradicted here)');
  return `${colourMark(mark)} ${meaningText(meaning, all)}${verdict}`;
}

/** Beside the word of a vendor an open reading says that the specification gives none. */
function meaningText(meaning: string | null, all: readonly Reading[]): string {
  if (meaning !== null) return `'${printable(meaning)}'`;
  return all.some((other) => other.meaning !== null) ? 'not shown' : 'nobody knows';
}

// ── chargers, codes, icons, what is carried through ──────────────────────────────────────────────────────────────

function chargerLines({ data, featureAt, isComplete }: View): string[] {
  const { pairs, measuredOnce } = data.chargers;
  const about = pairs.filter(
    ({ charger, dockingPoint }) => featureAt.has(charger) || (dockingPoint !== null && featureAt.has(dockingPoint)),
  );
  if (about.length === 0) return [];
  const shown = isComplete ? about : about.slice(0, MOST_ROWS);
  const mark = data.fields.distanceM?.mark ?? 'OFFEN';
  const nameOf = (index: number) => {
    const name = featureAt.get(index)?.name;
    return name == null ? `#${index}` : `#${index} ${cut(name, 28)}`;
  };
  const rows = shown.map((pair) => [
    nameOf(pair.charger),
    partnerText(pair, nameOf),
    pair.distanceM === null ? '--' : figure(pair.distanceM, 3),
  ]);
  const columns: Column[] = [
    { title: 'charger' },
    { title: 'docking point' },
    { title: 'apart in the drawing m', align: 'right' },
  ];
  const lines = [
    `${title(`Charging stations (${about.length})`)}: which two belong together is ${colourMark('HINWEIS')}, metres ${colourMark(mark)}`,
    renderTable(columns, rows),
    `One pair was measured, four times: ${measuredOnce.value} ${measuredOnce.unit ?? ''} (${colourMark(measuredOnce.mark)}). Whether that holds for any other is not known (${colourMark('OFFEN')} overlays.charging-pair-distance-constant).`,
  ];
  if (shown.length < about.length) lines.push(moreText(about.length - shown.length, '--all, --json'));
  return lines;
}

function partnerText({ dockingPoint, named }: Pair, nameOf: (index: number) => string): string {
  if (dockingPoint !== null) return nameOf(dockingPoint);
  return chalk.yellow(
    named === null ? 'missing: the charger names none' : `missing: the charger names ${cut(named, 36)}`,
  );
}

function codeLines({ data, isComplete }: View): string[] {
  const used = new Set(data.features.flatMap(({ codes }) => codes.map(({ field, number }) => `${field} ${number}`)));
  const codes = data.codes.filter(({ field, number }) => used.has(`${field} ${number}`));
  if (codes.length === 0) return [];
  const shown = isComplete ? codes : codes.slice(0, MOST_NUMBERS);
  const columns: Column[] = [
    { title: 'number' },
    { title: 'drawings', align: 'right' },
    { title: 'mark' },
    { title: 'read as' },
    { title: 'source' },
    { title: 'fact' },
  ];
  const rows = shown.flatMap(({ field, number, count, readings, disagreement }) => {
    const head = [`${field} ${number ?? '(no whole number)'}`, String(count)];
    if (readings.length === 0) return [[...head, colourMark('OFFEN'), 'nobody knows', '', '']];
    const lines = readings.map(({ meaning, mark, source, fact, here }, at) => [
      ...(at === 0 ? head : ['', '']),
      colourMark(mark),
      meaningText(meaning, readings),
      here === null ? source : `${here.verdict} here by ${cut(here.who, 30)}, ${here.when}; ${source}`,
      fact,
    ]);
    return disagreement === null ? lines : [...lines, ['', '', '', '', chalk.dim('the two differ:'), disagreement]];
  });
  const lines = [`${title(`Numbers (${codes.length})`)}: every reading; drawings counted on the whole map`];
  lines.push(renderTable(columns, rows));
  if (shown.length < codes.length) lines.push(moreText(codes.length - shown.length, '--all, --json'));
  return lines;
}

function iconLines({ icons, filter }: Data): string[] {
  if (icons.withBoth === 0 || filter !== null) return [];
  const { withBoth, withOffset, offsetDeg } = icons;
  return [
    `${title('Icons')}: ${withOffset} of ${counted(withBoth, 'drawing')} with both angles ${withOffset === 1 ? 'has its' : 'have their'} iconYaw ${offsetDeg} degrees from yaw: reproducible (${colourMark('BELEGT')}), unexplained (${colourMark('OFFEN')}).`,
  ];
}

function carriedLines({ data, isComplete }: View): string[] {
  const { members, more } = data.carried;
  if (members.length === 0 || data.filter !== null) return [];
  const shown = isComplete ? members : members.slice(0, MOST_ROWS);
  const rows = shown.map(({ name, in: where, count, types }) => [
    cut(name, 40),
    where,
    String(count),
    types.join(', '),
  ]);
  const columns: Column[] = [
    { title: 'name' },
    { title: 'in' },
    { title: 'drawings', align: 'right' },
    { title: 'written as' },
  ];
  const lines = [
    `${title(`Carried through (${members.length + more})`)}: gw gives them no meaning and changes nothing about them`,
    renderTable(columns, rows),
  ];
  const left = members.length - shown.length + more;
  if (left > 0) lines.push(moreText(left, '--all, --json'));
  return lines;
}

// ── what is known, and what nobody knows ─────────────────────────────────────────────────────────────────────────

function knownLines({ known }: Data, group: Data['known'][number]['group'], heading: string): string[] {
  const lines = [title(heading)];
  for (const { mark, statement, fact, found, here, group: own } of known) {
    if (own !== group) continue;
    const verdict = here === null ? '' : `, ${here.verdict} here by ${cut(here.who, 30)}, ${here.when}`;
    lines.push(`${colourMark(mark, true)}${statement} ${chalk.dim(`(${fact}${verdict})`)}`);
    lines.push(`${INDENT}${printable(found)}`);
  }
  return lines;
}

// ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────

const markColours: Readonly<Record<Mark, (text: string) => string>> = {
  BELEGT: chalk.green,
  HINWEIS: chalk.cyan,
  VORSICHT: chalk.yellow,
  OFFEN: chalk.magenta,
};

function colourMark(mark: Mark, isPadded = false): string {
  return markColours[mark](isPadded ? mark.padEnd(INDENT.length) : mark);
}

function title(text: string): string {
  return chalk.bold(text);
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

function moreText(count: number, ways: string): string {
  return chalk.dim(`and ${count.toLocaleString('en')} more: ${ways}`);
}

/** Figures of a map are small; a broken one may have hundreds of digits. */
function figure(value: number, digits: number): string {
  return Math.abs(value) < 1e9 ? value.toFixed(digits) : value.toExponential(3);
}

/** Text from outside on one line of its own length. */
function cut(text: string, most: number): string {
  const characters = [...text.slice(0, most * 4)];
  return printable(characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text);
}
