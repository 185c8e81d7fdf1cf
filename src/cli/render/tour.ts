import chalk from 'chalk';
import type { TourRun } from '../../lib/toolkit/tour-run.result.ts';
import { printable, renderVerdict } from '../output.ts';

/** `gw tour run` */
export function renderTourRun({ tour, state, stations, findings, tookMs }: TourRun): string {
  const name = printable(tour);
  const wrong = findings.some(({ verdict }) => verdict === 'wrong');
  const first =
    state === 'succeeded' && !wrong
      ? `Tour ${name} ${chalk.green('succeeded')}, and the robot stands where it says.`
      : state === 'succeeded'
        ? `Tour ${name} ended, but ${chalk.red.bold('the robot does not stand where it should')}.`
        : `Tour ${name} ${chalk.red.bold(state === 'running' ? 'has not ended yet: the robot drives on' : state)}.`;
  const lines = [first, '', chalk.dim(stations.map(printable).join(' -> '))];
  for (const { verdict, title, detail, remedy } of findings) {
    lines.push(`${renderVerdict(verdict)} ${title}: ${printable(detail)}`);
    if (remedy !== null) lines.push(`     ${printable(remedy)}`);
  }
  lines.push('', chalk.dim(`took ${(tookMs / 1000).toFixed(1)} s`));
  return lines.join('\n');
}
