import { LOST_QUALITY } from './closing.ts';
import type { Alert, Battery, LiveValue, LiveValues, Positioning, StaleReason, Wheels } from './model.ts';

/** The conditions the robot reports about its ability to work. */
export const conditionIds = ['emergency-stop', 'control-mode', 'positioning', 'battery', 'power', 'alerts'] as const;
export type ConditionId = (typeof conditionIds)[number];

/** Why there is no current value. */
export type NotChecked = 'not-received' | 'rejected' | StaleReason;

type Cause =
  | { readonly id: 'emergency-stop'; readonly state: 'pressed' | 'not-pressed' }
  | { readonly id: 'control-mode'; readonly state: 'auto' | 'not-auto' | 'wheels-released' | 'unreadable' | 'unknown' }
  | {
      readonly id: 'positioning';
      readonly state: 'reliable' | 'lost' | 'poor' | 'inactive' | 'mapping' | 'unreadable' | 'unknown';
    }
  | { readonly id: 'battery'; readonly state: 'enough' | 'low' | 'critical' | 'doubtful' }
  | { readonly id: 'power'; readonly state: 'known' | 'contradictory' | 'unknown' | 'doubtful' }
  | { readonly id: 'alerts'; readonly state: 'none' | 'active' | 'without-level' };

/** One judged condition; with verdict 'not-checked' `missing` says why no current value is available. */
type Condition = Cause & { readonly verdict: 'ok' | 'wrong' | 'not-checked'; readonly missing: null };
interface MissingCondition {
  readonly id: ConditionId;
  readonly state: 'missing';
  readonly verdict: 'not-checked';
  readonly missing: NotChecked;
}
export type JudgedCondition = Condition | MissingCondition;

/** Percent. Project decision: below this no tour should begin. The vendor states no limits for its own alerts. */
export const LOW_BATTERY_PERCENT = 20;
/** Percent. Project decision: below this the robot may stop on its way. */
export const CRITICAL_BATTERY_PERCENT = 10;
/** Percent. Project decision: a battery status 'full' below this is contradictory. */
const MIN_FULL_PERCENT = 90;

/** `position_quality`, as in closing.ts. */
const POOR_QUALITY = 3;

const knownPowerStates: readonly string[] = ['charging', 'discharging', 'full'];

/**
 * Judges the reported conditions. A value that was not received or is stale is 'not-checked'; so is a state that no
 * vendor text names. What is wrong remains so after a rejected message, which may itself have said it (closing.ts).
 * @source topics and states: vendor description (HINWEIS); what counts as wrong: project decision
 */
export function judgeCondition(values: LiveValues): readonly JudgedCondition[] {
  const { wheels, positioning, battery, alerts } = values;
  return [
    judge('emergency-stop', wheels, stopOf),
    judge('control-mode', wheels, controlModeOf),
    judge('positioning', positioning, positioningOf),
    judge('battery', battery, batteryOf),
    judge('power', battery, powerOf),
    judge('alerts', alerts, alertsOf),
  ];
}

type Judged = Omit<Condition, 'missing' | 'id'> & Cause;

function judge<T>(id: ConditionId, live: LiveValue<T>, by: (value: T) => Judged): JudgedCondition {
  const missing = missingReason(live);
  const judged = live.status === 'received' ? by(live.value) : null;
  const isJudged = missing === null || (missing === 'newer-rejected' && judged?.verdict === 'wrong');
  if (judged === null || !isJudged) {
    return { id, state: 'missing', verdict: 'not-checked', missing: missing ?? 'not-received' };
  }
  return { ...judged, missing: null };
}

/** Why a live value is not current; null when it is. */
export function missingReason(live: LiveValue<unknown>): NotChecked | null {
  if (live.status === 'not-received') return live.rejected === undefined ? 'not-received' : 'rejected';
  return live.stale ? (live.staleReason ?? 'too-old') : null;
}

function stopOf({ emergencyStopPressed }: Wheels): Judged {
  const id = 'emergency-stop';
  return emergencyStopPressed
    ? { id, state: 'pressed', verdict: 'wrong' }
    : { id, state: 'not-pressed', verdict: 'ok' };
}

function controlModeOf({ controlMode, wheelsReleased }: Wheels): Judged {
  const id = 'control-mode';
  if (controlMode === 'manual' || controlMode === 'remote') return { id, state: 'not-auto', verdict: 'wrong' };
  if (controlMode !== 'auto') return { id, state: 'unknown', verdict: 'not-checked' };
  if (wheelsReleased === null) return { id, state: 'unreadable', verdict: 'not-checked' };
  return wheelsReleased === true
    ? { id, state: 'wheels-released', verdict: 'wrong' }
    : { id, state: 'auto', verdict: 'ok' };
}

function positioningOf({ state, reliable, quality }: Positioning): Judged {
  const id = 'positioning';
  if (state === 'inactive') return { id, state: 'inactive', verdict: 'wrong' };
  if (!reliable || quality === LOST_QUALITY) return { id, state: 'lost', verdict: 'wrong' };
  if (state === 'slam') return { id, state: 'mapping', verdict: 'wrong' };
  if (quality === null) return { id, state: 'unreadable', verdict: 'not-checked' };
  if (quality === POOR_QUALITY) return { id, state: 'poor', verdict: 'wrong' };
  return state === 'positioning'
    ? { id, state: 'reliable', verdict: 'ok' }
    : { id, state: 'unknown', verdict: 'not-checked' };
}

function batteryOf({ percent, orPercent }: Battery): Judged {
  const id = 'battery';
  if (percent < CRITICAL_BATTERY_PERCENT) return { id, state: 'critical', verdict: 'wrong' };
  if (percent >= LOW_BATTERY_PERCENT && orPercent !== undefined) {
    return { id, state: 'doubtful', verdict: 'not-checked' };
  }
  return percent < LOW_BATTERY_PERCENT
    ? { id, state: 'low', verdict: 'wrong' }
    : { id, state: 'enough', verdict: 'ok' };
}

function powerOf({ percent, orPercent, status }: Battery): Judged {
  const id = 'power';
  if (!knownPowerStates.includes(status)) return { id, state: 'unknown', verdict: 'not-checked' };
  const isContradicted = status === 'full' && percent < MIN_FULL_PERCENT;
  if (status === 'full' && !isContradicted && orPercent !== undefined) {
    return { id, state: 'doubtful', verdict: 'not-checked' };
  }
  return isContradicted ? { id, state: 'contradictory', verdict: 'wrong' } : { id, state: 'known', verdict: 'ok' };
}

/** Warnings and undocumented levels count as faults; only alerts of level `none` leave it not checked. */
function alertsOf(alerts: readonly Alert[]): Judged {
  const id = 'alerts';
  if (alerts.length === 0) return { id, state: 'none', verdict: 'ok' };
  return alerts.every(({ level }) => level === 'none')
    ? { id, state: 'without-level', verdict: 'not-checked' }
    : { id, state: 'active', verdict: 'wrong' };
}
