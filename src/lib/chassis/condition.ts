import type { Alert, Battery, LiveValue, LiveValues, Positioning, StaleReason, Wheels } from './model.ts';
import { positionObstacle } from './obstacles.ts';

/** The conditions the robot reports about its ability to work, with their states. */
interface States {
  'emergency-stop': 'pressed' | 'not-pressed';
  'control-mode': 'auto' | 'not-auto' | 'wheels-released' | 'unreadable' | 'unknown';
  positioning: 'reliable' | 'lost' | 'poor' | 'inactive' | 'mapping' | 'unreadable' | 'unknown';
  battery: 'enough' | 'low' | 'critical' | 'doubtful';
  power: 'known' | 'contradictory' | 'unknown' | 'doubtful';
  alerts: 'none' | 'active' | 'without-level';
}
export type ConditionId = keyof States;
export const conditionIds = [
  'emergency-stop',
  'control-mode',
  'positioning',
  'battery',
  'power',
  'alerts',
] as const satisfies readonly ConditionId[];

/** Why there is no current value. */
export type NotChecked = 'not-received' | 'rejected' | StaleReason;

interface Judged<S extends string> {
  readonly state: S;
  readonly verdict: 'ok' | 'wrong' | 'not-checked';
}
/** One judged condition; with verdict 'not-checked' `missing` says why no current value is available. */
type Condition = {
  readonly [Id in ConditionId]: Judged<States[Id]> & { readonly id: Id; readonly missing: null };
}[ConditionId];
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

function judge<Id extends ConditionId, T>(
  id: Id,
  live: LiveValue<T>,
  by: (value: T) => Judged<States[Id]>,
): JudgedCondition {
  const missing = missingReason(live);
  const judged = live.status === 'received' ? by(live.value) : null;
  const isJudged = missing === null || (missing === 'newer-rejected' && judged?.verdict === 'wrong');
  if (judged === null || !isJudged) {
    return { id, state: 'missing', verdict: 'not-checked', missing: missing ?? 'not-received' };
  }
  return { id, ...judged, missing: null } as JudgedCondition;
}

/** Why a live value is not current; null when it is. */
export function missingReason(live: LiveValue<unknown>): NotChecked | null {
  if (live.status === 'not-received') return live.rejected === undefined ? 'not-received' : 'rejected';
  return live.stale ? (live.staleReason ?? 'too-old') : null;
}

const ok = <S extends string>(state: S): Judged<S> => ({ state, verdict: 'ok' });
const wrong = <S extends string>(state: S): Judged<S> => ({ state, verdict: 'wrong' });
const notChecked = <S extends string>(state: S): Judged<S> => ({ state, verdict: 'not-checked' });

function stopOf({ emergencyStopPressed }: Wheels): Judged<States['emergency-stop']> {
  return emergencyStopPressed ? wrong('pressed') : ok('not-pressed');
}

function controlModeOf({ controlMode, wheelsReleased }: Wheels): Judged<States['control-mode']> {
  if (controlMode === 'manual' || controlMode === 'remote') return wrong('not-auto');
  if (controlMode !== 'auto') return notChecked('unknown');
  if (wheelsReleased === null) return notChecked('unreadable');
  return wheelsReleased === true ? wrong('wheels-released') : ok('auto');
}

function positioningOf(positioning: Positioning): Judged<States['positioning']> {
  const { state, quality } = positioning;
  switch (positionObstacle(positioning)?.kind) {
    case 'position-lost':
      return wrong(state === 'inactive' ? 'inactive' : 'lost');
    case 'mapping':
      return wrong('mapping');
    case 'position-poor':
      return wrong('poor');
  }
  if (quality === null) return notChecked('unreadable');
  return state === 'positioning' ? ok('reliable') : notChecked('unknown');
}

function batteryOf({ percent, orPercent }: Battery): Judged<States['battery']> {
  if (percent < CRITICAL_BATTERY_PERCENT) return wrong('critical');
  if (percent < LOW_BATTERY_PERCENT) return wrong('low');
  return orPercent === undefined ? ok('enough') : notChecked('doubtful');
}

function powerOf({ percent, orPercent, status }: Battery): Judged<States['power']> {
  if (!knownPowerStates.includes(status)) return notChecked('unknown');
  if (status !== 'full') return ok('known');
  if (percent < MIN_FULL_PERCENT) return wrong('contradictory');
  return orPercent === undefined ? ok('known') : notChecked('doubtful');
}

/** Warnings and undocumented levels count as faults; only alerts of level `none` leave it not checked. */
function alertsOf(alerts: readonly Alert[]): Judged<States['alerts']> {
  if (alerts.length === 0) return ok('none');
  return alerts.every(({ level }) => level === 'none') ? notChecked('without-level') : wrong('active');
}
