import { visible } from '../../markup/index.ts';
import { cornersOf } from '../diff/shape-change.ts';
import { lengthOfLaneM, onlyPlaceOf } from '../geometry.ts';
import type { Code, Feature, FeatureAngle, Inspection, Shape } from '../model.ts';
import { areaOfZoneM2 } from '../rules/rings.ts';
import { rulesByFeature } from './page/census.ts';
import { readingTexts } from './wording.ts';

/** Column names with units: the header line. */
export const csvColumns = [
  'index',
  'kind',
  'id',
  'name',
  'geometry',
  'xM',
  'yM',
  'lengthM',
  'areaM2',
  'corners',
  'yawDeg',
  'yawAsWritten',
  'iconYawDeg',
  'iconYawAsWritten',
  'codeField',
  'code',
  'codeAsWritten',
  'mark',
  'basis',
  'readings',
  'otherCodes',
  'findings',
] as const;

/**
 * The selected features as a table after RFC 4180: commas, CRLF, UTF-8, one header line. Angles and codes appear twice,
 * parsed and as written: `"90"` in quotes was a string in the map, 90 a number. A cell that a spreadsheet would evaluate
 * as a formula begins with an apostrophe.
 */
export function toCsv(inspection: Inspection): string {
  const { selected, codeBook } = inspection;
  const rulesOf = rulesByFeature(inspection);
  const textOf = (code: Code) =>
    code.number === null
      ? ''
      : readingTexts(codeBook.meaning(code.field, code.number))
          .map(({ sign, text }) => `${sign}: ${text}`)
          .join('; ');
  const rows = selected.map((feature) => {
    const { index, kind, id, name, shape, code, yaw, iconYaw } = feature;
    const at = onlyPlaceOf(shape);
    const cells: readonly (string | number | null | undefined)[] = [
      index,
      kind,
      id,
      name,
      geometryOf(shape),
      at?.[0],
      at?.[1],
      shape.kind === 'lane' ? rounded(lengthOfLaneM(shape)) : null,
      shape.kind === 'zone' ? rounded(areaOfZoneM2(shape)) : null,
      cornersIn(shape),
      yaw?.deg,
      asWritten(yaw),
      iconYaw?.deg,
      asWritten(iconYaw),
      code?.field,
      code?.number,
      asWritten(code),
      code === null || code.number === null ? null : codeBook.meaning(code.field, code.number).mark,
      code === null || code.number === null ? null : codeBook.meaning(code.field, code.number).basis,
      code && textOf(code),
      otherCodes(feature, textOf),
      [...(rulesOf.get(index) ?? [])].join('; '),
    ];
    return cells.map(cellOf).join(',');
  });
  return `${csvColumns.join(',')}\r\n${rows.map((row) => `${row}\r\n`).join('')}`;
}

/** Strings are foreign and made safe; numbers are computed by gw. */
function cellOf(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : '';
  const text = formulaSafe(visible(value));
  // Some parsers trim unquoted cells.
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Spreadsheets interpret these as the start of a formula, also after blanks; a plain number is none. */
function formulaSafe(text: string): string {
  if (!/^[\s\u00a0]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text)) return text;
  return /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? text : `'${text}`;
}

function asWritten(value: Code | FeatureAngle | null): string | null {
  return value === null ? null : (JSON.stringify(value.written) ?? null);
}

function otherCodes({ code, codes }: Feature, textOf: (code: Code) => string): string {
  return codes
    .filter((other) => other !== code)
    .map(
      (other) =>
        `${other.field} ${other.number ?? JSON.stringify(other.written)} (${textOf(other) || 'not a whole number'})`,
    )
    .join('; ');
}

function geometryOf(shape: Shape): string | null {
  if (shape.kind === 'other') return shape.type;
  return shape.kind === 'broken' ? `broken ${shape.expected}` : shape.kind;
}

/** Without the closing corner of a ring, as in a comparison; the places of a MultiPoint. */
function cornersIn(shape: Shape): number | null {
  const isSingle = shape.kind === 'point' && onlyPlaceOf(shape) !== null;
  const corners = cornersOf(shape).length;
  return isSingle || corners === 0 ? null : corners;
}

/** To 0.1 mm. */
function rounded(value: number | null): number | null {
  return value === null ? null : Number(value.toFixed(4));
}
