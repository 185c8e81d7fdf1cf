import { type LiveValue, missingReason, type NotChecked } from '../../chassis/index.ts';
import type { Known } from '../../evidence/index.ts';
import { isFiniteThroughout } from './finite.ts';

/** Why there is no value. */
export type MissingReason =
  | NotChecked
  /** The chassis sent a number that is none. */
  | 'not-a-number'
  /** The unit of the heading is contradicted, or in doubt. */
  | 'unit-contradicted'
  | 'unit-in-doubt'
  /** Whether the charge is a share of 1 or a percentage. */
  | 'scale-in-doubt';

/** A value of the chassis as telemetry carries it. */
export interface Reported {
  /** Null unless it is current: the last known value is never sent as the present one. */
  readonly value: unknown;
  readonly unit: string | null;
  /** Null where nothing was received yet. */
  readonly mark: Known<unknown>['mark'] | null;
  readonly basis: Known<unknown>['basis'] | null;
  /** Since the last reception, by the monotonic clock; null where nothing was received. */
  readonly ageMs: number | null;
  /** Why the value is null; null where it is not. */
  readonly reason: MissingReason | null;
}

/** A part of a live value; `part` names it where the parts have marks of their own. */
export function report<T>(
  live: LiveValue<T>,
  pick: (value: T) => unknown,
  { unit = null, part, doubt = null }: { unit?: string | null; part?: string; doubt?: MissingReason | null } = {},
): Reported {
  if (live.status === 'not-received') {
    return { value: null, unit, mark: null, basis: null, ageMs: null, reason: missingReason(live) };
  }
  const { mark, basis } = (part === undefined ? undefined : live.parts?.[part]) ?? live;
  const evidence = { unit, mark, basis, ageMs: Number.isFinite(live.ageMs) ? live.ageMs : null };
  const reason = missingReason(live) ?? doubt;
  if (reason !== null) return { ...evidence, value: null, reason };
  const value = pick(live.value);
  if (!isFiniteThroughout(value)) return { ...evidence, value: null, reason: 'not-a-number' };
  return { ...evidence, value, reason: null };
}
