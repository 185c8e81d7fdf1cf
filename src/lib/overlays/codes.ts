import {
  type DeviceEvidence,
  disagreementsAbout,
  type FactId,
  factById,
  markHere,
  markRank,
  tableOf,
} from '../evidence/index.ts';
import { isRecord } from '../json/index.ts';
import { codeFields } from './kinds.ts';
import type { CodeBook, CodeField, CodeMeaning, Reading } from './model.ts';

/** The type observed as stations A, B and C. @source specification, 'Map and overlays' (VORSICHT) */
const ASSUMED_POINT_TYPE = 11;
/** The observed direction. @source specification, 'Map and overlays' */
const OBSERVED_DIRECTION = 3;
/** The term of the vendor's table. */
const NO_GO_ZONE = 'no-go zone';
/** Bounds a recorded meaning, which tables and pictures show. */
const MAX_MEANING_CHARS = 60;

/**
 * The meanings of the numbers of features, from the ledger and from the evidence records of this device (null: device
 * unknown, no records). A number without a meaning gets a reading with meaning null.
 */
export function createCodeBook(device: DeviceEvidence | null): CodeBook {
  const cache = new Map(codeFields.map((field) => [field, new Map<number, CodeMeaning>()]));
  return {
    meaning(field, number) {
      const meaning = cache.get(field)?.get(number) ?? meaningOf(field, number, device);
      cache.get(field)?.set(number, meaning);
      return meaning;
    },
  };
}

function meaningOf(field: CodeField, number: number, device: DeviceEvidence | null): CodeMeaning {
  const readings = readingsOf[field](number, device).sort((a, b) => orderOf(a) - orderOf(b));
  return { field, number, ...markOf(readings), readings, disagreement: disagreementAmong(readings) };
}

const readingsOf: Readonly<Record<CodeField, (number: number, device: DeviceEvidence | null) => Reading[]>> = {
  type(number, device) {
    const named = inTable('vendor.overlays.point-types', number, device);
    const assumed = number === ASSUMED_POINT_TYPE ? [asStated('overlays.point-type-11', device)] : [];
    const open = measured('overlays.point-kind-numbers', device, inRecordedTable(number), number);
    return named === null || open.meaning !== null ? [...assumed, ...orNone(named), open] : [...assumed, named];
  },
  lineType(number, device) {
    const named = inTable('vendor.overlays.line-types', number, device);
    return named === null ? [open('overlays.lane-fields')] : [named];
  },
  regionType(number, device) {
    const named = inTable('vendor.overlays.region-types', number, device);
    const noGo = measured('overlays.no-go-region-type', device, (value) =>
      Number(asWords(value) ?? Number.NaN) === number ? NO_GO_ZONE : null,
    );
    const other = measured('overlays.other-region-types', device, inRecordedTable(number), number);
    const isNoGo = named?.meaning === NO_GO_ZONE;
    return [
      ...orNone(named),
      ...(isNoGo || noGo.meaning !== null ? [noGo] : []),
      ...(other.meaning !== null || (!isNoGo && noGo.meaning === null) ? [other] : []),
    ];
  },
  direction(number, device) {
    // A record about 3 does not apply to other numbers.
    return [
      number === OBSERVED_DIRECTION
        ? measured('overlays.lane-direction-3', device, asWords)
        : open('overlays.lane-direction-3'),
    ];
  },
  startType: (number, device) => [measured('overlays.start-end-type-meaning', device, inTableOrWords(number), number)],
  endType: (number, device) => [measured('overlays.start-end-type-meaning', device, inTableOrWords(number), number)],
};

/** The vendor's meaning of a number; null when the vendor's table does not hold it. */
function inTable(id: FactId, number: number, device: DeviceEvidence | null): Reading | null {
  const { value, source } = factById(id);
  const table = tableOf(value);
  const key = String(number);
  if (!table || !Object.hasOwn(table, key)) return null;
  return { meaning: String(table[key]), fact: id, source, ...markOnDevice(id, device, number) };
}

/** A fact whose value is the meaning. */
function asStated(id: FactId, device: DeviceEvidence | null): Reading {
  const { value, source } = factById(id);
  return { meaning: String(value), fact: id, source, ...markOnDevice(id, device) };
}

/** A reading without a meaning. */
function open(id: FactId): Reading {
  const { mark, basis, source } = factById(id);
  return { meaning: null, mark, basis, fact: id, source, here: null };
}

/** An open question that may have been measured on this device. `read` extracts the meaning from the record. */
function measured(
  id: FactId,
  device: DeviceEvidence | null,
  read: (value: unknown) => string | null,
  entry?: number,
): Reading {
  const { verdict, record } = markHere(id, device, entry);
  const meaning = verdict === 'verified' && record !== null ? read(record.value) : null;
  return meaning === null ? open(id) : { ...open(id), meaning, ...markOnDevice(id, device, entry) };
}

function markOnDevice(
  id: FactId,
  device: DeviceEvidence | null,
  entry?: number,
): Pick<Reading, 'mark' | 'basis' | 'here'> {
  const { mark, basis, verdict, record } = markHere(id, device, entry);
  if (verdict === 'as-marked' || record === null) return { mark, basis, here: null };
  return { mark, basis, here: { verdict, who: record.who, when: record.when } };
}

function inRecordedTable(number: number): (value: unknown) => string | null {
  return (value) => {
    const table = isRecord(value) ? value : {};
    return Object.hasOwn(table, String(number)) ? asWords(Reflect.get(table, String(number))) : null;
  };
}

function inTableOrWords(number: number): (value: unknown) => string | null {
  return (value) => asWords(value) ?? inRecordedTable(number)(value);
}

function asWords(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.slice(0, MAX_MEANING_CHARS).toWellFormed() : null;
}

function orNone(reading: Reading | null): Reading[] {
  return reading === null ? [] : [reading];
}

/** Best mark first, readings contradicted on this device last. */
function orderOf({ mark, here }: Reading): number {
  return markRank[mark] + (here?.verdict === 'contradicted' ? 10 : 0);
}

function markOf(readings: readonly Reading[]): Pick<CodeMeaning, 'mark' | 'basis'> {
  const named = readings.filter(({ meaning, here }) => meaning !== null && here?.verdict !== 'contradicted');
  const verified = named.filter(({ here }) => here?.verdict === 'verified');
  const [best, ...others] = verified.length > 0 ? verified : named;
  if (best === undefined) return { mark: 'OFFEN', basis: 'not-shown' };
  const decisive = others.every(({ meaning }) => meaning === best.meaning) ? best : (others.at(-1) ?? best);
  return { mark: decisive.mark, basis: decisive.basis };
}

function disagreementAmong(readings: readonly Reading[]): string | null {
  const named = readings.filter(({ meaning }) => meaning !== null).map(({ fact }) => fact);
  const found = named
    .flatMap((fact) => disagreementsAbout(fact))
    .find(({ between }) => between.every((fact) => named.includes(fact)));
  return found?.id ?? null;
}
