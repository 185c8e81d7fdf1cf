import { type Alert, type ChassisSnapshot, type JudgedCondition, judgeCondition } from '../../chassis/index.ts';
import type { Note } from '../../pages/index.ts';

/** At most this many alerts are named. */
const MAX_ALERTS = 3;

/** Reported conditions that prevent operation. */
export function conditionProblems({ values }: ChassisSnapshot): readonly Note[] {
  return judgeCondition(values).flatMap((condition) =>
    condition.verdict === 'wrong' ? [problem(condition, values)] : [],
  );
}

/** Conditions without a current value; none when all were reported. */
export function conditionGaps({ values }: ChassisSnapshot): readonly Note[] {
  const open = judgeCondition(values).filter(({ verdict }) => verdict === 'not-checked');
  return open.length === 0 ? [] : [{ code: 'not-checked', conditions: open.map(({ id }) => id) }];
}

function problem({ id, state }: JudgedCondition, { wheels, battery, alerts }: ChassisSnapshot['values']): Note {
  const percent = battery.status === 'received' ? battery.value.percent : 0;
  switch (id) {
    case 'emergency-stop':
      return { code: 'emergency-stop' };
    case 'control-mode':
      if (state === 'wheels-released') return { code: 'wheels-released' };
      return { code: 'control-mode', mode: wheels.status === 'received' ? wheels.value.controlMode : '' };
    case 'positioning':
      return { code: 'positioning', state };
    case 'battery':
      return { code: 'battery', isCritical: state === 'critical', percent };
    case 'power':
      return { code: 'battery-contradictory', percent };
    case 'alerts': {
      const active = alerts.status === 'received' ? alerts.value : [];
      return {
        code: 'alerts',
        alerts: active.slice(0, MAX_ALERTS).map(alertText),
        more: Math.max(0, active.length - MAX_ALERTS),
      };
    }
  }
}

/** Quality of the localisation; 'missing' and 'unknown' are not checked. */
export function positioningState({ values }: ChassisSnapshot): string {
  return judgeCondition(values).find(({ id }) => id === 'positioning')?.state ?? 'missing';
}

/** `7005: position lost`; the text is the robot's own. */
export function alertText({ code, message }: Pick<Alert, 'code' | 'message'>): string {
  return message === '' ? `${code}` : `${code}: ${message}`;
}
