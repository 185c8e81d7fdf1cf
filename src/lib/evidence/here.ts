import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../json/index.ts';
import type { Basis } from './basis.ts';
import type { Fact, FactValue } from './fact.ts';
import { type FactId, factById, isDisagreement } from './ledger.ts';
import type { Mark } from './mark.ts';
import type { EvidenceRecord } from './record.ts';
import type { DeviceEvidence } from './standing.ts';

/**
 * Whom a record is about, seen from one device.
 * - here: this serial number with this software; only these count.
 * - expired: this serial number with another software, so it has to be verified again.
 * - foreign: another device.
 * - not-checked: this serial number, and its software is not known now.
 */
export const recordScopes = ['here', 'expired', 'foreign', 'not-checked'] as const;
export type RecordScope = (typeof recordScopes)[number];

/** What the records of a device make of a fact. */
export const hereVerdicts = ['as-marked', 'verified', 'contradicted'] as const;
type HereVerdict = (typeof hereVerdicts)[number];

export interface MarkHere {
  /** How well the fact is known on this device: BELEGT where it was verified, otherwise the mark of the ledger. */
  readonly mark: Mark;
  /** What that mark rests on: where a record raised it, `here`, or `simulated` for a record made on a simulator. */
  readonly basis: Basis;
  readonly verdict: HereVerdict;
  /** The record that decided; null when none did. */
  readonly record: EvidenceRecord | null;
  /** The newest record of this device that would have decided, had the software not changed since. */
  readonly expired: EvidenceRecord | null;
}

/**
 * How well a fact is known on this very device, for showing it. The newest record about this serial number and this
 * software decides. A HINWEIS is raised by a record that confirms it; VORSICHT and OFFEN only by a measured value,
 * which `true`, `false` and `null` are not. No order that moves the robot may ask this: `standing` is stricter.
 *
 * `entry` is a key of a fact that is a table, a number of a kind. A record speaks about it when its value is `true`,
 * `false` or `null` (about the whole table), or a table with that key. Throws EVIDENCE_UNKNOWN.
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
        sayingOf(record.value, fact, entry) !== 'silent',
    ) ?? null;
  const record = newest('here');
  const { mark, basis } = fact;
  if (record === null) return { mark, basis, verdict: 'as-marked', record, expired: newest('expired') };
  return sayingOf(record.value, fact, entry) === 'holds'
    ? { mark: 'BELEGT', basis: basisOfRecord(record), verdict: 'verified', record, expired: null }
    : { mark, basis, verdict: 'contradicted', record, expired: null };
}

/** A simulator stands for nothing but itself, and whoever reads the mark must see that. */
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

/** What a recorded value says about a fact, or about one entry of it. */
export type Saying = 'holds' | 'differs' | 'silent';

/**
 * Silent is a value that decides nothing: a part of a table about the whole of it, a table about a key that it has
 * not, a bare yes or no about something that was never more than assumed, anything about a disagreement.
 */
export function sayingOf(value: EvidenceRecord['value'], fact: Fact, entry?: string | number): Saying {
  if (isDisagreement(fact)) return 'silent';
  const table = tableOf(fact.value);
  if (entry === undefined) return table ? sayingOfTable(value, table) : sayingOfOne(value, fact.value, fact.mark);
  const key = String(entry);
  if (table && !Object.hasOwn(table, key)) return 'silent';
  const known = table ? table[key] : fact.value;
  if (!isTable(value)) return sayingOfOne(value, table && !isBare(value) ? table : known, fact.mark);
  return Object.hasOwn(value, key) ? sayingOfOne(value[key], known, fact.mark) : 'silent';
}

/** `known` undefined: the ledger gives no value, so there is nothing from which a measured one could differ. */
function sayingOfOne(value: unknown, known: unknown, mark: Mark): Saying {
  const isWeak = mark === 'VORSICHT' || mark === 'OFFEN';
  if (value === true) return isWeak ? 'silent' : 'holds';
  // What nobody claims cannot fail to hold.
  if (value === false || value === null) return mark === 'OFFEN' ? 'silent' : 'differs';
  return known === undefined || isDeepStrictEqual(value, known) ? 'holds' : 'differs';
}

function sayingOfTable(value: EvidenceRecord['value'], table: Table): Saying {
  if (value === true) return 'holds';
  if (!isTable(value)) return 'differs';
  const keys = Object.keys(table);
  const holds = (key: string) => value[key] === true || isDeepStrictEqual(value[key], table[key]);
  const said = keys.filter((key) => Object.hasOwn(value, key));
  if (!said.every(holds)) return 'differs';
  return said.length === keys.length ? 'holds' : 'silent';
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
