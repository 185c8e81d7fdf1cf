import chalk from 'chalk';
import type { HeartbeatCheck } from '../../lib/toolkit/heartbeat-check.result.ts';
import { printable, renderVerdict } from '../output.ts';

/** `gw heartbeat check` */
export function renderHeartbeatCheck({ heard, expected, findings, counts, tookMs }: HeartbeatCheck): string {
  const of = expected.length === 0 ? '' : ` of ${expected.length}`;
  const robots = `${heard.length}${of} other ${heard.length === 1 && of === '' ? 'robot' : 'robots'} heard`;
  const first =
    counts.wrong === 0
      ? `${chalk.green('Nothing is wrong')}: ${robots}.`
      : `${chalk.red.bold(`${counts.wrong} ${counts.wrong === 1 ? 'thing' : 'things'} wrong`)}: ${robots}.`;
  const lines = findings.flatMap(({ verdict, title, detail, remedy }) => [
    `${renderVerdict(verdict)} ${printable(title)}: ${printable(detail)}`,
    ...(remedy === null ? [] : [`     do next: ${printable(remedy)}`]),
  ]);
  return [first, '', ...lines, '', chalk.dim(`listened for ${(tookMs / 1000).toFixed(1)} s`)].join('\n');
}
