import { factById } from '../../../evidence/index.ts';
import { type Markup, markup, type Part } from '../../../markup/index.ts';
import { cornersOf } from '../../diff/shape-change.ts';
import { boundsOf, lengthOfLaneM, onlyPlaceOf } from '../../geometry.ts';
import { hasOffset } from '../../inspect/survey.ts';
import type { Code, CodeBook, Feature, FeatureAngle, FeatureKind, Inspection, Shape } from '../../model.ts';
import { areaOfZoneM2 } from '../../rules/rings.ts';
import { figure, oneLine } from '../lines.ts';
import { readingTexts } from '../wording.ts';
import { rulesByFeature } from './census.ts';
import {
  type Column,
  english,
  link,
  MAX_ROWS,
  markBadge,
  more,
  nameAndId,
  section,
  table,
  written,
} from './page-tables.ts';
import type { PageTexts } from './texts/catalogue.ts';

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
  t: PageTexts,
): readonly Markup[] {
  const corners = cornersColumn(t);
  const { selected, codeBook } = inspection;
  const rulesOf = rulesByFeature(inspection);
  const number: Column<Feature> = {
    head: '#',
    cell: ({ index }) => link('m', index, shapes),
  };
  const name: Column<Feature> = { head: t.head.name, cell: (feature) => nameCell(feature, t) };
  const findingCell: Column<Feature> = {
    head: t.title.findings,
    cell: ({ index }) =>
      [...(rulesOf.get(index) ?? [])].map((rule, at) => markup`${at > 0 ? ', ' : null}<code>${rule}</code>`),
  };
  const own = (field: string): Column<Feature> => ({
    head: markup`<code>${field}</code>`,
    short: field,
    cell: ({ code }) => (code === null ? markup`<small>${t.none}</small>` : codeCell(code, codeBook, t)),
  });
  const others: Column<Feature> = {
    head: t.head.otherNumbers,
    short: t.head.other,
    cell: (feature) => otherCodes(feature, codeBook, t),
  };
  const place = (axis: 0 | 1, word: string): Column<Feature> => ({
    head: markup`${word} <small>m</small>`,
    short: `${word} (m)`,
    isNumber: true,
    cell: ({ shape }) => placeText(shape, axis),
  });
  const yaw: Column<Feature> = {
    head: markup`yaw <small>° ${markBadge(factById('angles.overlay-yaw'), t)}</small>`,
    short: 'yaw (°)',
    isNumber: true,
    cell: ({ yaw: angle }) => angleCell(angle, t),
  };
  const icon: Column<Feature> = {
    head: markup`iconYaw <small>° ${markBadge(factById('angles.overlay-icon-yaw'), t)}</small>`,
    short: 'iconYaw (°)',
    isNumber: true,
    cell: (feature) => iconCell(feature, inspection.survey.icons.offsetDeg, t),
  };
  const tables: readonly (readonly [FeatureKind, string, readonly Column<Feature>[]])[] = [
    ['point', t.title.point, [number, name, place(0, 'x'), place(1, 'y'), yaw, own('type'), others, icon, findingCell]],
    [
      'zone',
      t.title.zone,
      [
        number,
        name,
        own('regionType'),
        {
          head: markup`${t.head.area} <small>m²</small>`,
          short: `${t.head.area} (m²)`,
          isNumber: true,
          cell: ({ shape }) => {
            const area = shape.kind === 'zone' ? areaOfZoneM2(shape) : null;
            return area === null ? null : figure(area, 2);
          },
        },
        corners,
        others,
        yaw,
        findingCell,
      ],
    ],
    [
      'lane',
      t.title.lane,
      [
        number,
        name,
        own('lineType'),
        {
          head: markup`${t.head.length} <small>m</small>`,
          short: `${t.head.length} (m)`,
          isNumber: true,
          cell: ({ shape }) => (shape.kind === 'lane' ? figure(lengthOfLaneM(shape), 2) : null),
        },
        corners,
        others,
        yaw,
        findingCell,
      ],
    ],
    [
      'other',
      t.title.other,
      [
        number,
        name,
        {
          head: t.head.geometry,
          cell: ({ shape }) =>
            shape.kind === 'other'
              ? shape.type === null
                ? markup`<small>${t.none}</small>`
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
      section(`${kind}s`, title, t.count[kind](count), [
        table(columns, rows, ({ index }) => `d${index}`),
        more(count - rows.length, 'rows', 'csv', t),
      ]),
    ];
  });
}

const cornersColumn = (t: PageTexts): Column<Feature> => ({
  head: t.head.corners,
  isNumber: true,
  cell: ({ shape }) => {
    if (shape.kind === 'zone' || shape.kind === 'lane') return cornersOf(shape).length;
    return shape.kind === 'broken' ? markup`<small>${english(oneLine(shape.problem, 80), t)}</small>` : null;
  },
});

/** Of a MultiPoint its extent: it has no single place. */
function placeText(shape: Shape, axis: 0 | 1): string | null {
  const place = onlyPlaceOf(shape);
  if (place !== null) return figure(place[axis], 3);
  const box = shape.kind === 'point' ? boundsOf(shape) : null;
  if (box === null) return null;
  const [from, to] = axis === 0 ? [box.minXM, box.maxXM] : [box.minYM, box.maxYM];
  return `${figure(from, 3)} … ${figure(to, 3)}`;
}

function nameCell({ name, id, shape }: Feature, t: PageTexts): Part {
  const broken =
    shape.kind === 'broken' && shape.expected === 'point'
      ? markup`<br/><small>${english(oneLine(shape.problem, 80), t)}</small>`
      : null;
  return markup`${nameAndId(name, id, t)}${broken}`;
}

function codeCell(code: Code, codeBook: CodeBook, t: PageTexts): Part {
  if (code.number === null) return markup`<code>${written(code.written)}</code> <small>${t.notWhole}</small>`;
  const texts = readingTexts(codeBook.meaning(code.field, code.number)).map(
    ({ sign, basis, text }, at) =>
      markup`${at > 0 ? ' · ' : null}${markBadge({ mark: sign, basis }, t)} ${english(text, t)}`,
  );
  return markup`<strong>${code.number}</strong> ${texts}`;
}

function otherCodes({ code, codes }: Feature, codeBook: CodeBook, t: PageTexts): Part {
  return codes
    .filter((other) => other !== code)
    .map(
      (other, at) =>
        markup`${at > 0 ? markup`<br/>` : null}<code>${other.field}</code> ${codeCell(other, codeBook, t)}`,
    );
}

function angleCell(angle: FeatureAngle | null, t: PageTexts): Part {
  if (angle === null) return null;
  return angle.deg === null
    ? markup`<code>${written(angle.written)}</code> <small>${t.notNumber}</small>`
    : figure(angle.deg, 2);
}

function iconCell(feature: Feature, offsetDeg: number, t: PageTexts): Part {
  if (feature.iconYaw === null) return null;
  return hasOffset(feature, offsetDeg)
    ? markup`${angleCell(feature.iconYaw, t)}<br/><small>yaw ${offsetDeg < 0 ? '−' : '+'} ${Math.abs(offsetDeg)}</small>`
    : angleCell(feature.iconYaw, t);
}
