import type { Basis } from './basis.ts';
import { type Mark, markRank } from './mark.ts';

/** A value together with how well it is known. */
export interface Known<T, M extends Mark = Mark, B extends Basis = Basis> {
  readonly value: T;
  readonly mark: M;
  /** What the mark rests on: shown wherever the mark is. */
  readonly basis: B;
  /** Where it is from: `specification, 'Angles'`, `vendor, S1 WebSocket page`, `measured here`. */
  readonly source: string;
  /** SI unit or 'degrees', 'radians', 'percent'; absent for names, numbers of kinds and structures. */
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

/** A person's explicit choice, made here: named in the site file, typed at a prompt, touched on the tablet. */
export interface Chosen<T> {
  readonly value: T;
  readonly mark: 'CHOSEN';
  /** Where the choice was made: `site file, stations.A`, `command line`. */
  readonly source: string;
}

export function chosen<T>(value: T, source: string): Chosen<T> {
  return { value, mark: 'CHOSEN', source };
}

/** A vendor's HINWEIS that was measured on this very device, with this very software, and written down. */
export interface VerifiedHere<T> {
  readonly value: T;
  readonly mark: 'VERIFIED';
  readonly source: string;
  readonly serial: string;
  readonly software: string;
}

/** Seen on a device. What is only stated, or was seen on a simulator, moves nothing. */
export const actionableBases = ['measured', 'here'] as const satisfies readonly Basis[];
type ActionableBasis = (typeof actionableBases)[number];

/**
 * What may lead to movement. A VORSICHT or OFFEN value does not fit this type, nor does an unverified HINWEIS or a
 * BELEGT that nobody measured on a device; the gate checks the same again at run time.
 */
export type Actionable<T> = Known<T, 'BELEGT', ActionableBasis> | Chosen<T> | VerifiedHere<T>;

/** Of two statements about the same thing the one with the higher mark wins; the other is kept as a disagreement. */
export function stronger<A extends Known<unknown>, B extends Known<unknown>>(a: A, b: B): A | B {
  return markRank[b.mark] < markRank[a.mark] ? b : a;
}
