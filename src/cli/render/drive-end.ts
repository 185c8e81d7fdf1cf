import chalk from 'chalk';
import type { Finding } from '../../lib/toolkit/finding.result.ts';

/**
 * First line of a drive or tour that did not succeed. The cancel of a move, and its reported end, do not prove that the
 * robot stands: only the finding of that name does.
 */
export function endedHeadline(
  what: string,
  { state, interrupted, findings }: { state: string; interrupted: boolean; findings: readonly Finding[] },
): string {
  const standstill = findings.find(({ id }) => id === 'standstill')?.verdict;
  const isConfirmed = state === 'stopped' || !interrupted;
  const ended = interrupted ? `Interrupted: ${what} was ended` : `${sentence(what)} ${chalk.red.bold(state)}`;
  const end = isConfirmed ? ended : `Interrupted, and the end of ${what} is not confirmed`;
  switch (standstill) {
    case 'ok':
      return isConfirmed
        ? `${end}; the robot stands.`
        : `${end}: the robot stands now, and ${alarming('MAY DRIVE ON')}.`;
    case 'wrong':
      return `${end}, but ${alarming('THE ROBOT IS STILL MOVING')}: press its emergency stop.`;
    default:
      return `${end}, but ${alarming('THE ROBOT MAY STILL BE MOVING')}: it was not seen to stand.`;
  }
}

const alarming = chalk.red.bold;
const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
