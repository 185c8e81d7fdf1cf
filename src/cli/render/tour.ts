import chalk from 'chalk';
import type { TourRun } from '../../lib/toolkit/tour/run.result.ts';
import { findingLines, printable, renderVerdict } from '../output.ts';
import { endedHeadline } from './drive-end.ts';
import { passedLine } from './motion.ts';

/** `gw tour run` */
export function renderTourRun(run: TourRun): string {
  const { stations, arrivals, findings, tookMs } = run;
  const lines = [headline(run), ...passedLine(run.although), '', chalk.dim(stations.map(printable).join(' -> '))];
  for (const { station, verdict, reason } of arrivals) {
    lines.push(`${renderVerdict(verdictOf(verdict))} ${printable(station)}: ${printable(reason)}`);
  }
  lines.push(...findings.flatMap((finding) => findingLines(finding)));
  lines.push('', chalk.dim(`took ${(tookMs / 1000).toFixed(1)} s`));
  return lines.join('\n');
}

function verdictOf(arrival: TourRun['arrivals'][number]['verdict']): 'ok' | 'wrong' | 'not-checked' {
  if (arrival === 'at-goal') return 'ok';
  return arrival === 'not-known' ? 'not-checked' : 'wrong';
}

function headline(run: TourRun): string {
  const { tour, state, interrupted, mayBeMoving, arrivals, findings } = run;
  const name = printable(tour);
  if (state === 'running') return `Tour ${name} ${chalk.red.bold('is not completed: the robot is still driving')}.`;
  if (state === 'succeeded') {
    if (findings.some(({ verdict }) => verdict === 'wrong')) {
      return `Tour ${name} ended, but ${chalk.red.bold('the reported final pose does not match')}.`;
    }
    const isCompared = findings.some(({ id, verdict }) => id === 'place' && verdict === 'ok');
    if (!isCompared) return `Tour ${name} ended; ${chalk.yellow('the final pose was not compared')}.`;
    return `Tour ${name} ${chalk.green('succeeded')}, and the reported final pose matches.`;
  }
  const missed = arrivals.find(({ verdict }) => verdict !== 'at-goal');
  if (missed !== undefined && !interrupted) {
    const why = `the chassis reports ${printable(missed.station)} reached, but ${chalk.red.bold(printable(missed.reason))}`;
    const stands = findings.some(({ id, verdict }) => id === 'standstill' && verdict === 'ok');
    if (stands && !mayBeMoving) return `Tour ${name} ${chalk.red.bold(state)}: ${why}.`;
    return `Tour ${name} ${state}, and ${chalk.red.bold('THE ROBOT MAY STILL BE MOVING')}: ${why}.`;
  }
  return endedHeadline(`tour ${name}`, run);
}
