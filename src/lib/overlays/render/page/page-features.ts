import { factById } from '../../../evidence/index.ts';
import { type Markup, markup, type Part } from '../../../markup/index.ts';
import { plural } from '../../../text/index.ts';
import { cornersOf } from '../../diff/shape-change.ts';
import { areaOfZoneM2, lengthM } from '../../geometry.ts';
import { hasOffset } from '../../inspect/survey.ts';
import type { Code, CodeBook, Feature, FeatureAngle, FeatureKind, Inspection } from '../../model.ts';
import { figure, oneLine } from '../lines.ts';
import { kindWords, readingTexts } from '../wording.ts';
import { rulesByFeature } from './census.ts';
import { type Column, link, MAX_ROWS, markBadge, more, nameAndId, section, table, written } from './page-tables.ts';

const kinds: readonly FeatureKind[] = ['point', 'zone', 'lane', 'other'];

/** The features with a row, by kind. */
export function featureRows({ selected }: Inspection): ReadonlyMap<FeatureKind, readonly Feature[]> {
  return new Map(kinds.map((kind) => [kind, selected.filter((feature) => feature.kind === kind).slice(0, MAX_ROWS)]));
}

/** One table per kind, with the columns of that kind. `shapes`: the features with an anchor on the map. */
export function featureSections(
  inspection: Inspection,
  rowsOf: ReadonlyMap<FeatureKind, readonly Feature[]>,
  shapes: ReadonlySet<number>,
): readonly Markup[] {
  const { selected, codeBook } = inspection;
  const rulesOf = rulesByFeature(inspection);
  const number: Column<Feature> = {
    head: '#',
    cell: ({ index }) => link('m', index, shapes),
  };
  const name: Column<Feature> = { head: 'Name', cell: (feature) => nameCell(feature) };
  const findingCell: Column<Feature> = {
    head: 'Findings',
    cell: ({ index }) =>
      [...(rulesOf.get(index) ?? [])].map((rule, at) => markup`${at > 0 ? ', ' : null}<code>${rule}</code>`),
  };
  const own = (field: string): Column<Feature> => ({
    head: markup`<code>${field}</code>`,
    short: field,
    cell: ({ code }) => (code === null ? markup`<small>none</small>` : codeCell(code, codeBook)),
  });
  const others: Column<Feature> = {
    head: 'Other numbers',
    short: 'Other',
    cell: (feature) => otherCodes(feature, codeBook),
  };
  const place = (axis: 0 | 1, word: string): Column<Feature> => ({
    head: markup`${word} <small>m</small>`,
    short: `${word} (m)`,
    isNumber: true,
    cell: ({ shape }) => (shape.kind === 'point' ? figure(shape.at[axis], 3) : null),
  });
  const yaw: Column<Feature> = {
    head: markup`yaw <small>° ${markBadge(factById('angles.overlay-yaw'))}</small>`,
    short: 'yaw (°)',
    isNumber: true,
    cell: ({ yaw: angle }) => angleCell(angle),
  };
  const icon: Column<Feature> = {
    head: markup`iconYaw <small>° ${markBadge(factById('angles.overlay-icon-yaw'))}</small>`,
    short: 'iconYaw (°)',
    isNumber: true,
    cell: (feature) => iconCell(feature, inspection.survey.icons.offsetDeg),
  };
  const tables: readonly (readonly [FeatureKind, string, readonly Column<Feature>[]])[] = [
    ['point', 'Points', [number, name, place(0, 'x'), place(1, 'y'), yaw, own('type'), others, icon, findingCell]],
    [
      'zone',
      'Zones',
      [
        number,
        name,
        own('regionType'),
        {
          head: markup`Area <small>m²</small>`,
          short: 'Area (m²)',
          isNumber: true,
          cell: ({ shape }) => (shape.kind === 'zone' ? figure(areaOfZoneM2(shape), 2) : null),
        },
        corners,
        others,
        yaw,
        findingCell,
      ],
    ],
    [
      'lane',
      'Lanes',
      [
        number,
        name,
        own('lineType'),
        {
          head: markup`Length <small>m</small>`,
          short: 'Length (m)',
          isNumber: true,
          cell: ({ shape }) => (shape.kind === 'lane' ? figure(lengthM(shape.line), 2) : null),
        },
        corners,
        others,
        yaw,
        findingCell,
      ],
    ],
    [
      'other',
      'Other features, carried through',
      [
        number,
        name,
        {
          head: 'Geometry',
          cell: ({ shape }) =>
            shape.kind === 'other'
              ? shape.type === null
                ? markup`<small>none</small>`
                : oneLine(shape.type, 40)
              : null,
        },
        others,
        findingCell,
      ],
    ],
  ];
  return tables.flatMap(([kind, title, columns]) => {
    const rows = rowsOf.get(kind) ?? [];
    if (rows.length === 0) return [];
    const count = selected.filter((feature) => feature.kind === kind).length;
    return [
      section(`${kind}s`, title, plural(count, kindWords[kind].toLowerCase()), [
        table(columns, rows, ({ index }) => `d${index}`),
        more(count - rows.length, 'rows', 'csv'),
      ]),
    ];
  });
}

const corners: Column<Feature> = {
  head: 'Corners',
  isNumber: true,
  cell: ({ shape }) => {
    if (shape.kind === 'zone') return cornersOf(shape).length;
    if (shape.kind === 'lane') return shape.line.length;
    return shape.kind === 'broken' ? markup`<small>${oneLine(shape.problem, 80)}</small>` : null;
  },
};

function nameCell({ name, id, shape }: Feature): Part {
  const broken =
    shape.kind === 'broken' && shape.expected === 'point'
      ? markup`<br/><small>${oneLine(shape.problem, 80)}</small>`
      : null;
  return markup`${nameAndId(name, id)}${broken}`;
}

function codeCell(code: Code, codeBook: CodeBook): Part {
  if (code.number === null) return markup`<code>${written(code.written)}</code> <small>not a whole number</small>`;
  const texts = readingTexts(codeBook.meaning(code.field, code.number)).map(
    ({ sign, basis, text }, at) => markup`${at > 0 ? ' · ' : null}${markBadge({ mark: sign, basis })} ${text}`,
  );
  return markup`<strong>${code.number}</strong> ${texts}`;
}

function otherCodes({ code, codes }: Feature, codeBook: CodeBook): Part {
  return codes
    .filter((other) => other !== code)
    .map(
      (other, at) => markup`${at > 0 ? markup`<br/>` : null}<code>${other.field}</code> ${codeCell(other, codeBook)}`,
    );
}

function angleCell(angle: FeatureAngle | null): Part {
  if (angle === null) return null;
  return angle.deg === null
    ? markup`<code>${written(angle.written)}</code> <small>not a number</small>`
    : figure(angle.deg, 2);
}

function iconCell(feature: Feature, offsetDeg: number): Part {
  if (feature.iconYaw === null) return null;
  return hasOffset(feature, offsetDeg)
    ? markup`${angleCell(feature.iconYaw)}<br/><small>yaw ${offsetDeg < 0 ? '−' : '+'} ${Math.abs(offsetDeg)}</small>`
    : angleCell(feature.iconYaw);
}
