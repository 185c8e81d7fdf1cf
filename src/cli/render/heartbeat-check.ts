import chalk from 'chalk';
import type { HeartbeatCheck } from '../../lib/toolkit/heartbeat/check.result.ts';
import type { HeartbeatSend } from '../../lib/toolkit/heartbeat/send.result.ts';
import { DO_NEXT, findingLines, printable, renderVerdict } from '../output.ts';

/** `gw heartbeat check` */
export function renderHeartbeatCheck({
  verdict,
  received,
  expected,
  findings,
  counts,
  tookMs,
}: HeartbeatCheck): string {
  const of = expected.length === 0 ? '' : ` of ${expected.length}`;
  const robots = `${received.length}${of} other ${received.length === 1 && of === '' ? 'robot' : 'robots'} received`;
  const lines = findings.flatMap((finding) => findingLines(finding, DO_NEXT));
  const took = chalk.dim(`listened for ${(tookMs / 1000).toFixed(1)} s`);
  // The own lines do not prove arrival.
  const arrival =
    expected.length === 0
      ? []
      : ['Arrival of own heartbeats can be checked only at the other robots: run this check on each of them.'];
  return [`${headline(verdict, counts)}: ${robots}.`, '', ...lines, '', ...arrival, took].join('\n');
}

function headline(verdict: HeartbeatCheck['verdict'], { ok, wrong, notChecked }: HeartbeatCheck['counts']): string {
  const all = ok + wrong + notChecked;
  switch (verdict) {
    case 'ok':
      return chalk.green(`Heartbeat ok, ${ok} of ${all} checks`);
    case 'wrong':
      return chalk.red.bold(`FAILED: ${wrong} of ${all} heartbeat checks`);
    case 'not-checked':
      return chalk.yellow(`Not decided: ${notChecked} of ${all} heartbeat checks were not checked`);
  }
}

/** `gw heartbeat send` */
export function renderHeartbeatSend({ serial, times, ways }: HeartbeatSend): string {
  const failed = ways.filter(({ failure }) => failure !== null).length;
  const heartbeats = times === 1 ? '1 test heartbeat' : `${times} test heartbeats`;
  const first =
    failed === 0
      ? `${heartbeats} sent as ${serial}.`
      : chalk.red.bold(`FAILED: ${failed} of ${ways.length} destinations.`);
  const lines = ways.map(
    ({ to, from, sent, failure }) =>
      `${renderVerdict(failure === null ? 'ok' : 'wrong')} ${to}${from === null ? '' : ` from ${from}`}: ${sent} sent${failure === null ? '' : `, ${printable(failure)}`}`,
  );
  return [
    first,
    '',
    ...lines,
    '',
    'Sent does not mean received: check lastTest in GET /api/nachbarn of the robot, or run `gw heartbeat sniff` there.',
  ].join('\n');
}
