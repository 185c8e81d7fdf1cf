import type { MoveOutcome } from './model.ts';

/** Measured meanings of `fail_reason`. */
const measuredFailReasons: Readonly<Record<number, string>> = {
  103: 'invalid_charge_dock; measured when target_ori was sent in degrees instead of radians',
};

/**
 * `fail_reason 103 (…)`: the number of the chassis, its measured meaning, and the text of the chassis.
 * @source specification, 'Errors'
 */
function explainFailReason(failReason: number | null, text: string | null): string {
  if (failReason === null) return 'without a fail_reason';
  const meaning = measuredFailReasons[failReason];
  const words = text === null || text === '' ? undefined : `chassis text '${text}'`;
  const known = [meaning, words].filter((part) => part !== undefined);
  return known.length > 0 ? `fail_reason ${failReason} (${known.join('; ')})` : `fail_reason ${failReason}`;
}

/**
 * A success that names a reason of its failure contradicts itself. 0 is none.
 * @source Project decision: by the vendor (HINWEIS) `fail_reason` counts only for a failed move
 */
export function isDoubtfulSuccess(state: string | null, failReason: number | null): boolean {
  return state === 'succeeded' && failReason !== null && failReason !== 0;
}

export function succeeded(moveId: number | null, tookMs: number): MoveOutcome {
  return { moveId, state: 'succeeded', failReason: null, failReasonText: null, reason: null, arrival: null, tookMs };
}

export function failed(
  moveId: number | null,
  failReason: number | null,
  failReasonText: string | null,
  tookMs: number,
): MoveOutcome {
  const reason = `The chassis reports the move as failed: ${explainFailReason(failReason, failReasonText)}.`;
  return { moveId, state: 'failed', failReason, failReasonText, reason, arrival: null, tookMs };
}

export function ended(
  state: 'failed' | 'cancelled' | 'unknown',
  moveId: number | null,
  reason: string,
  tookMs: number,
): MoveOutcome {
  return { moveId, state, failReason: null, failReasonText: null, reason, arrival: null, tookMs };
}
