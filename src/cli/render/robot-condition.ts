import chalk from 'chalk';
import { markText } from '../../lib/evidence/index.ts';
import type { RobotCondition } from '../../lib/toolkit/chassis/condition.result.ts';
import { ageText, printable, right } from '../output.ts';

export const conditionColumns = ['reported by the robot', 'value', 'mark', right('age'), 'source'];

/** One condition with its reported value, mark and source. */
export function conditionRow({ title, reported, missing }: RobotCondition): string[] {
  if (reported === null) return [title, missing === 'rejected' ? 'rejected' : 'not received', '--', '--', '--'];
  const { value, source, ageMs } = reported;
  return [title, printable(valueText(value)).slice(0, 60), markText(reported), ageText(ageMs), printable(source)];
}

function valueText(value: NonNullable<RobotCondition['reported']>['value']): string {
  if (typeof value === 'boolean') return value ? 'pressed' : 'not pressed';
  if (typeof value === 'number') return `${value.toFixed(0)} percent`;
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) {
    return value.length === 0 ? 'none' : value.map(({ code, level }) => `${code} ${level}`).join(', ');
  }
  const { state, reliable, quality } = value;
  return `${state}, ${reliable ? 'reliable' : 'NOT reliable'}${quality === undefined ? '' : `, quality ${quality ?? 'unreadable'}`}`;
}

/** `battery CRITICAL: 6 %, below 10 %` */
export function conditionText({ title, detail }: RobotCondition): string {
  return `${title.toLowerCase()} ${printable(detail)}`;
}

/** Faults reported by the robot, in one line; null without any. */
export function conditionHeadline(conditions: readonly RobotCondition[]): string | null {
  const wrong = conditions.filter(({ verdict }) => verdict === 'wrong');
  if (wrong.length === 0) return null;
  return chalk.red.bold(`The robot reports: ${wrong.map(conditionText).join('; ')}`);
}
