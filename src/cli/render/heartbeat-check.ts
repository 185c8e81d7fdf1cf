import chalk from 'chalk';
import type { HeartbeatCheck } from '../../lib/toolkit/heartbeat-check.result.ts';
import type { HeartbeatSend } from '../../lib/toolkit/heartbeat-send.result.ts';
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

/** `gw heartbeat send` */
export function renderHeartbeatSend({ serial, times, ways }: HeartbeatSend): string {
  const failed = ways.filter(({ failure }) => failure !== null).length;
  const beats = times === 1 ? 'A test beat was' : `${times} test beats were`;
  const first =
    failed === 0 ? `${beats} sent as ${serial}.` : chalk.red.bold(`${failed} of ${ways.length} ways failed.`);
  const lines = ways.map(
    ({ to, from, sent, failure }) =>
      `${renderVerdict(failure === null ? 'ok' : 'wrong')} ${to}${from === null ? '' : ` from ${from}`}: ${sent} sent${failure === null ? '' : `, ${printable(failure)}`}`,
  );
  return [
    first,
    '',
    ...lines,
    '',
    'Sent is not arrived: look at lastTest in GET /api/nachbarn of the robot, or run `gw heartbeat sniff` beside it.',
  ].join('\n');
}
