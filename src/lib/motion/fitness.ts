import type { Alert, LiveValues } from '../chassis/index.ts';

/** The levels that close nothing (vendor SDK, HINWEIS). Any other, also an unknown one, counts as an error. Project decision. */
const mildLevels: readonly string[] = ['warning', 'none'];
/**
 * 'no progress' (vendor, HINWEIS): the robot waits in front of an obstacle, and its chassis continues or ends the move
 * itself. Project decision: it cancels no move.
 */
const NO_PROGRESS = 1008;

/** The active alerts that close the gate for drives, without those that a person passes by their numbers. */
export function closingAlerts({ alerts }: LiveValues, although: readonly number[] = []): readonly Alert[] {
  if (alerts.status !== 'received') return [];
  return alerts.value.filter(({ code, level }) => !mildLevels.includes(level) && !although.includes(code));
}

/**
 * Why the robot must not drive, by its alerts and its control mode, one sentence each. Vendor values (HINWEIS) only add
 * refusals, so a value not received is not judged. A control mode cannot be passed.
 */
export function unfitness(values: LiveValues, although: readonly number[] = []): readonly string[] {
  const { wheels } = values;
  const isManual = wheels.status === 'received' && wheels.value.controlMode !== 'auto';
  return [
    ...(isManual ? [`The robot is in control mode '${wheels.value.controlMode}', so it executes no move orders.`] : []),
    ...closingAlerts(values, although).map(
      (alert) => `The robot reports ${alertText(alert)}; a person who has judged it may pass it by its number.`,
    ),
  ];
}

/** What ends a running drive, as a clause; null where nothing does. */
export function unfitUnderWay(values: LiveValues, although: readonly number[]): string | null {
  const { wheels } = values;
  if (wheels.status === 'received' && wheels.value.controlMode !== 'auto') {
    return `the control mode of the robot is '${wheels.value.controlMode}'`;
  }
  const [alert] = closingAlerts(values, [...although, NO_PROGRESS]);
  return alert === undefined ? null : `the robot reports ${alertText(alert)}`;
}

function alertText({ code, level, message }: Alert): string {
  const text = message === '' ? '' : `: ${message}`;
  return level === 'error' ? `error ${code}${text}` : `alert ${code} of the unknown level '${level}'${text}`;
}
