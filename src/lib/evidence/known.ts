import type { Basis, Mark } from './fact.ts';
import { type FactId, factById } from './ledger.ts';

/** A value with its evidence. */
export interface Known<T, M extends Mark = Mark, B extends Basis = Basis> {
  readonly value: T;
  readonly mark: M;
  /** Basis of the mark: shown wherever the mark is. */
  readonly basis: B;
  /** Source: `specification, 'Angles'`, `vendor, S1 WebSocket page`, `measured here`. */
  readonly source: string;
  /** SI unit or 'degrees', 'radians', 'percent'; absent for names, type numbers and structures. */
  readonly unit?: string;
}

export function known<T, M extends Mark, B extends Basis>(
  value: T,
  mark: M,
  basis: B,
  source: string,
  unit?: string,
): Known<T, M, B> {
  return unit === undefined ? { value, mark, basis, source } : { value, mark, basis, source, unit };
}

/** A person's explicit choice, made here: in the site file, at a prompt, on the tablet. */
export interface Chosen<T> {
  readonly value: T;
  readonly mark: 'CHOSEN';
  /** Where the choice was made: `site file, stations.A`, `command line`. */
  readonly source: string;
}

export function chosen<T>(value: T, source: string): Chosen<T> {
  return { value, mark: 'CHOSEN', source };
}

/** A vendor's HINWEIS that was measured on this device with this software, and recorded. */
export interface VerifiedHere<T> {
  readonly value: T;
  readonly mark: 'VERIFIED';
  readonly source: string;
  readonly serial: string;
  readonly software: string;
}

/** Bases that allow movement: measured on a device. Stated or simulated values do not. */
export const actionableBases = ['measured', 'here'] as const satisfies readonly Basis[];
type ActionableBasis = (typeof actionableBases)[number];

/**
 * Values that may lead to movement. VORSICHT and OFFEN values do not fit this type, nor does an unverified HINWEIS or a
 * BELEGT that was not measured on a device; the gate checks the same at run time.
 */
export type Actionable<T> = Known<T, 'BELEGT', ActionableBasis> | Chosen<T> | VerifiedHere<T>;

/** Mark, basis and source of a fact of the ledger, for a value whose meaning depends on it. */
export function citeFact(id: FactId, unit?: string): Omit<Known<unknown>, 'value'> {
  const { mark, basis, source } = factById(id);
  return { mark, basis, source: `${source} (${id})`, ...(unit !== undefined && { unit }) };
}
