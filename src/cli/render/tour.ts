import chalk from 'chalk';
import type { TourRun } from '../../lib/toolkit/tour/run.result.ts';
import { printable, renderVerdict } from '../output.ts';
import { endedHeadline } from './drive-end.ts';

/** `gw tour run` */
export function renderTourRun(run: TourRun): string {
  const { stations, findings, tookMs } = run;
  const lines = [headline(run), '', chalk.dim(stations.map(printable).join(' -> '))];
  for (const { verdict, title, detail, remedy } of findings) {
    lines.push(`${renderVerdict(verdict)} ${title}: ${printable(detail)}`);
    if (remedy !== null) lines.push(`     ${printable(remedy)}`);
  }
  lines.push('', chalk.dim(`took ${(tookMs / 1000).toFixed(1)} s`));
  return lines.join('\n');
}

function headline(run: TourRun): string {
  const { tour, state, findings } = run;
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
  return endedHeadline(`tour ${name}`, run);
}
