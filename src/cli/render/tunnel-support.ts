import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type { TunnelEnd } from '../../lib/toolkit/tunnel/end.result.ts';
import type { TunnelSessions } from '../../lib/toolkit/tunnel/sessions.result.ts';
import type { TunnelStatus } from '../../lib/toolkit/tunnel/status.result.ts';
import { ageText, printable, renderTable, right } from '../output.ts';

type Running = NonNullable<TunnelStatus['running']>;

// ── gw tunnel status ────────────────────────────────────────────────────────────────────────────────────────────

const parts = ['Part', 'State'];

/** `gw tunnel status` */
export function renderTunnelStatus(view: TunnelStatus): string {
  const { running, records, lastRefused, lastEnded, cloud } = view;
  const remedy = view.remedy ?? (view.status === 'waiting' ? cloud.remedy : null);
  const rows = [
    ...(running === null ? [] : sessionRows(running)),
    ['records', recordsText(records)],
    ['last ended', lastText(lastEnded)],
    ['last refused', lastText(lastRefused)],
    ['cloud link', `${cloud.status}: ${printable(cloud.detail)}`],
  ];
  return [
    statusLine(view),
    ...(remedy === null ? [] : [`  do next  ${printable(remedy)}`]),
    '',
    renderTable(parts, rows),
  ].join('\n');
}

function statusLine({ status, detail, running, records, cloud }: TunnelStatus): string {
  switch (status) {
    case 'running':
      return chalk.yellow.bold(
        running === null ? 'A support session is running.' : `A support session is running: ${runningText(running)}.`,
      );
    case 'waiting':
      if (records.status === 'failing') {
        return chalk.red.bold('No support session, and none can start: the records cannot be written.');
      }
      return cloud.status === 'connected'
        ? 'No support session. A request from the cloud would be handled.'
        : chalk.yellow(`No support session, and none can be opened: the cloud link is ${cloud.status}.`);
    case 'not-configured':
      return 'No remote support: the running gateway has no cloud.tunnel in its site file.';
    case 'not-checked':
      return chalk.yellow(`not checked: ${printable(detail)}`);
  }
}

function runningText({ services, forMs, leftMs, ...report }: Running) {
  const names = services.map(printable).join(', ');
  return `${names}, ${tunnelText(report)}, for ${ageText(forMs)}, ends within ${ageText(leftMs)}`;
}

function tunnelText({ state, reportAgeMs }: Pick<Running, 'state' | 'reportAgeMs'>): string {
  switch (state) {
    case 'connected':
      return 'connected';
    case 'connecting':
      return 'NOT connected at the moment';
    case 'not-checked':
      return `tunnel NOT CHECKED (no report of its proxy for ${ageText(reportAgeMs)})`;
  }
}

function sessionRows({ session, since, services, state, reportAgeMs, open, connections }: Running): string[][] {
  const total = connections === null ? '' : `, ${connections} since the start`;
  const age = state === 'not-checked' ? ` (${ageText(reportAgeMs)} ago)` : '';
  return [
    ['session', printable(session)],
    ['since', printable(since)],
    ['services', services.map(printable).join(', ')],
    ['tunnel', tunnelText({ state, reportAgeMs })],
    ['open connections', open === null ? 'not reported yet' : `${open}${total}${age}`],
  ];
}

function recordsText({ status, detail, notSentYet }: TunnelStatus['records']): string {
  const waiting = notSentYet === null ? 'not checked' : notSentYet === 0 ? 'none' : String(notSentYet);
  const text = `${status}: ${printable(detail)} Waiting for the outbox: ${waiting}.`;
  return status === 'failing' ? chalk.red(text) : text;
}

function lastText(last: TunnelStatus['lastRefused'] | TunnelStatus['lastEnded']): string {
  if (last === null) return 'none since the start of gw';
  return `${printable(last.at)}  ${last.reason}: ${printable(last.detail)}`;
}

// ── gw tunnel end ───────────────────────────────────────────────────────────────────────────────────────────────

/** `gw tunnel end` */
export function renderTunnelEnd({ ended, status, session, running }: TunnelEnd): string {
  const isSame = session !== null && session.session === running?.session;
  if (isSame) return chalk.red.bold(`NOT ENDED: the support session ${printable(session.session)} still runs.`);
  const other = running === null ? [] : [chalk.yellow.bold(`Another session runs meanwhile: ${runningText(running)}.`)];
  if (!ended) {
    const first =
      status === 'not-configured' ? 'No support session: remote support is not configured.' : 'No support session ran.';
    return [first, ...other].join('\n');
  }
  const what =
    session === null
      ? 'Support session ended.'
      : `Support session ended: ${session.services.map(printable).join(', ')}, after ${ageText(session.forMs)}.`;
  const id = session === null ? [] : [`  session  ${printable(session.session)}`];
  return [what, ...id, ...other].join('\n');
}

// ── gw tunnel sessions ──────────────────────────────────────────────────────────────────────────────────────────

const columns = ['Begin', 'End', right('Duration'), 'Result', 'Services', 'Detail'];

/** `gw tunnel sessions` */
export function renderTunnelSessions({ sessions, hasMore, running }: TunnelSessions): string {
  if (sessions === null) return 'No cloud, so there are no support sessions.';
  const count = sessions.filter(({ kind }) => kind === 'session').length;
  const refused = sessions.length - count;
  const counts = `${plural(count, 'support session')} and ${plural(refused, 'refusal')}`;
  const lines = [
    sessions.length === 0
      ? 'No support session and no refusal in the records.'
      : `${counts}${hasMore ? ', the newest; older ones with a higher --limit' : ''}${running === null ? '; none runs now.' : '; one runs now.'}`,
  ];
  if (sessions.length > 0) lines.push('', renderTable(columns, sessions.map(rowOf(running))));
  return lines.join('\n');
}

function rowOf(running: string | null) {
  return (entry: NonNullable<TunnelSessions['sessions']>[number]): string[] => {
    const services = entry.services.map(printable).join(', ') || 'none';
    if (entry.kind === 'refused') {
      return [printable(entry.at), '', '', chalk.yellow(`refused: ${entry.reason}`), services, printable(entry.detail)];
    }
    const { at, end, session } = entry;
    if (end === null) {
      const state = session === running ? chalk.yellow.bold('running') : chalk.red('no end in the records');
      return [printable(at), '', '', state, services, printable(session)];
    }
    const duration = end.durationS === null ? 'unknown' : ageText(end.durationS * 1_000);
    return [printable(at), printable(end.at), duration, end.reason, services, printable(end.detail)];
  };
}
