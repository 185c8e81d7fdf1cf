import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../json/index.ts';
import type { Basis, Fact, FactValue, Mark } from './fact.ts';
import { type FactId, factById, isDisagreement } from './ledger.ts';
import type { EvidenceRecord } from './record.ts';
import type { DeviceEvidence } from './reliance.ts';

/**
 * The device of a record, relative to the present device.
 * - here: this serial number with this software; only these count.
 * - expired: this serial number with another software, so it must be verified again.
 * - foreign: another device.
 * - not-checked: this serial number, but its present software is unknown.
 */
export const recordScopes = ['here', 'expired', 'foreign', 'not-checked'] as const;
export type RecordScope = (typeof recordScopes)[number];

/** Verdict of the records of a device on a fact. */
export const hereVerdicts = ['as-marked', 'verified', 'contradicted'] as const;
type HereVerdict = (typeof hereVerdicts)[number];

export interface MarkHere {
  /** Mark of the fact on this device: BELEGT where it was verified, otherwise the mark of the ledger. */
  readonly mark: Mark;
  /** Basis of that mark: `here` where a record raised it, `simulated` for a record made on a simulator. */
  readonly basis: Basis;
  readonly verdict: HereVerdict;
  /** The deciding record; null without one. */
  readonly record: EvidenceRecord | null;
  /** The newest record of this device with another software, if no record decides. */
  readonly expired: EvidenceRecord | null;
}

/**
 * Mark of a fact on this device, for display. The newest record about this serial number and this software decides. A HINWEIS is raised by a record that confirms it; VORSICHT and OFFEN only by a measured value,
 * which `true`, `false` and `null` are not. Orders that move the robot must not use this: `relianceOn` is stricter.
 *
 * `entry` is a key of a fact that is a table. A record covers it when its value is `true`, `false` or `null` (the whole
 * table), or a table with that key. Throws EVIDENCE_UNKNOWN.
 */
export function markHere(
  factId: FactId | (string & {}),
  device: DeviceEvidence | null,
  entry?: string | number,
): MarkHere {
  const fact = factById(factId);
  const newest = (scope: RecordScope) =>
    device?.records.findLast(
      (record) =>
        record.fact === fact.id &&
        scopeOf(record, device) === scope &&
        compareWithFact(record.value, fact, entry) !== 'undecided',
    ) ?? null;
  const record = newest('here');
  const { mark, basis } = fact;
  if (record === null) return { mark, basis, verdict: 'as-marked', record, expired: newest('expired') };
  return compareWithFact(record.value, fact, entry) === 'holds'
    ? { mark: 'BELEGT', basis: basisOfRecord(record), verdict: 'verified', record, expired: null }
    : { mark, basis, verdict: 'contradicted', record, expired: null };
}

/** A record made on a simulator must be recognisable by its basis. */
function basisOfRecord({ simulated }: Pick<EvidenceRecord, 'simulated'>): Extract<Basis, 'here' | 'simulated'> {
  return simulated === true ? 'simulated' : 'here';
}

export function scopeOf(
  record: Pick<EvidenceRecord, 'serial' | 'software' | 'simulated'>,
  { serial, software, simulated }: Pick<DeviceEvidence, 'serial' | 'software' | 'simulated'>,
): RecordScope {
  if (!serial) return 'not-checked';
  if (record.serial !== serial || (record.simulated === true && simulated === false)) return 'foreign';
  if (!software) return 'not-checked';
  return record.software === software ? 'here' : 'expired';
}

/** Verdict of a recorded value on a fact, or on one entry of it. */
export type Comparison = 'holds' | 'differs' | 'undecided';

/**
 * A value is undecided when it decides nothing: part of a table about the whole, a table without the key, a bare yes or no
 * about an assumed fact, any value about a disagreement.
 */
export function compareWithFact(value: EvidenceRecord['value'], fact: Fact, entry?: string | number): Comparison {
  if (isDisagreement(fact)) return 'undecided';
  const table = tableOf(fact.value);
  if (entry === undefined) return table ? compareTable(value, table) : compareOne(value, fact.value, fact.mark);
  const key = String(entry);
  if (table && !Object.hasOwn(table, key)) return 'undecided';
  const known = table ? table[key] : fact.value;
  if (!isTable(value)) return compareOne(value, table && !isBare(value) ? table : known, fact.mark);
  return Object.hasOwn(value, key) ? compareOne(value[key], known, fact.mark) : 'undecided';
}

/** `known` undefined: the ledger gives no value, so there is nothing from which a measured one could differ. */
function compareOne(value: unknown, known: unknown, mark: Mark): Comparison {
  const isWeak = mark === 'VORSICHT' || mark === 'OFFEN';
  if (value === true) return isWeak ? 'undecided' : 'holds';
  // A fact without a claim cannot be contradicted.
  if (value === false || value === null) return mark === 'OFFEN' ? 'undecided' : 'differs';
  return known === undefined || isDeepStrictEqual(value, known) ? 'holds' : 'differs';
}

function compareTable(value: EvidenceRecord['value'], table: Table): Comparison {
  if (value === true) return 'holds';
  if (!isTable(value)) return 'differs';
  const keys = Object.keys(table);
  const holds = (key: string) => value[key] === true || isDeepStrictEqual(value[key], table[key]);
  const given = keys.filter((key) => Object.hasOwn(value, key));
  if (!given.every(holds)) return 'differs';
  return given.length === keys.length ? 'holds' : 'undecided';
}

type Table = Readonly<Record<string, unknown>>;

/** The entries of a fact that is a table; undefined when it is none. */
export function tableOf(value: FactValue | undefined): Table | undefined {
  return isTable(value) ? value : undefined;
}

function isTable(value: unknown): value is Table {
  return isRecord(value);
}

function isBare(value: unknown): boolean {
  return value === true || value === false || value === null;
}
