import { basename } from 'node:path';
import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type {
  TunnelConnectEvent,
  TunnelEnd,
  TunnelSessions,
  TunnelStatus,
} from '../../lib/toolkit/tunnel/tunnel.result.ts';
import type { TunnelAudit } from '../../lib/tunnel/audit/audit.result.ts';
import { ageText, printable, renderTable, renderVerdict, right, worstFirst } from '../output.ts';

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
  const text = `${status === 'not-checked' ? 'not checked' : status}: ${printable(detail)} Waiting for the outbox: ${waiting}.`;
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

type Ready = Extract<TunnelConnectEvent, { event: 'ready' }>;
type Closed = Extract<TunnelConnectEvent, { event: 'closed' }>;

/** `gw tunnel connect` */
export function renderTunnelConnect(event: TunnelConnectEvent): string {
  if (event.event === 'ready') return readyText(event);
  if (event.event === 'ended') return endedText(event);
  return `${event.at}  ${changeText(event)}`;
}

function readyText({ host, port, channelId, listeners, region }: Ready): string {
  const [first, ...others] = listeners;
  const channel = channelId === null ? '' : `, channel ${printable(channelId)}`;
  const lines = [
    `Open ${first?.url} in a browser: read-only page of the robot, through the tunnel.`,
    ...others.map(({ service, url }) => `  service ${printable(service)}: ${url}`),
    `Connected to the tunnel service ${printable(host)}:${port}${channel}.`,
    region.status === 'ok'
      ? `Region: ${printable(region.detail)}.`
      : chalk.yellow(`Region not checked: ${printable(region.detail)}.`),
    chalk.yellow("Robot's side not checked: whether it is connected shows with its first answer."),
    'Every user of this machine can open these ports until the command ends with Ctrl-C.',
  ];
  return lines.join('\n');
}

function changeText(event: Exclude<TunnelConnectEvent, { event: 'ready' | 'ended' }>): string {
  switch (event.event) {
    case 'reconnected':
      return "connected to the tunnel service again, the ports are the same; robot's side not checked";
    case 'lost': {
      const retry = `next attempt in ${ageText(event.retryInMs)}`;
      const text = printable(event.detail);
      return event.wasReady
        ? chalk.yellow(`connection to the tunnel service lost, all connections ended: ${text}; ${retry}`)
        : chalk.yellow(`not connected: ${text}; ${retry}`);
    }
    case 'opened':
      return `${printable(event.service)}: connection ${event.connection} opened here (${event.open} open)`;
    case 'answered':
      return chalk.green(`${printable(event.service)}: the robot's side answers`);
    case 'no-answer':
      return chalk.yellow(
        `${printable(event.service)}: no answer for ${ageText(event.forMs)}; the robot's side may not be connected: see \`gw tunnel status\` on the gateway`,
      );
    case 'closed':
      return closedText(event);
  }
}

function closedText({ service, connection, open, reason, bytesUp, bytesDown }: Closed): string {
  const counts = `${bytesDown} bytes received, ${bytesUp} sent, ${open} open`;
  const start = `${printable(service)}: connection ${connection}`;
  switch (reason) {
    case 'local':
      return `${start} closed here (${counts})`;
    case 'remote':
      return bytesDown === 0
        ? chalk.yellow(
            `${start} closed by the robot's side without an answer: its read-only page may not run (${counts})`,
          )
        : `${start} closed by the robot's side (${counts})`;
    case 'reset':
      return chalk.yellow(`${start} ended: the robot's side or the tunnel service reset the whole service (${counts})`);
    case 'stalled':
      return chalk.yellow(`${start} ended: the program here does not read (${counts})`);
    case 'lost':
      return `${start} ended with the connection to the tunnel service (${counts})`;
  }
}

function endedText(event: Extract<TunnelConnectEvent, { event: 'ended' }>): string {
  const { reason, detail, connections, bytesUp, bytesDown, reconnects } = event;
  const what = reason === 'interrupted' ? 'Tunnel ended here.' : `Tunnel ended: ${printable(detail)}`;
  const counts = [
    plural(connections, 'connection'),
    `${bytesDown} bytes received`,
    `${bytesUp} sent`,
    plural(reconnects, 'reconnect'),
  ].join(', ');
  return `${what} ${counts}.`;
}

/** The first findings; --json and the report have more. */
const MAX_ROWS = 50;

/** `gw tunnel audit` */
export function renderTunnelAudit(data: TunnelAudit): string {
  const { checks, findings, information, report } = data;
  const blocks = [
    firstLine(data),
    worstFirst(checks)
      .map(
        ({ verdict, title, text }) => `${renderVerdict(verdict)} ${title}${text === '' ? '' : `: ${printable(text)}`}`,
      )
      .join('\n'),
    findings.length === 0 ? '' : findingTable(data),
    remedies(data),
    information.map((line) => `- ${printable(line)}`).join('\n'),
    report === null ? '' : `Report: ${printable(report.path)} (${report.format}, ${report.bytes} bytes)`,
  ];
  return blocks.filter((block) => block !== '').join('\n\n');
}

function firstLine(data: TunnelAudit): string {
  const { verdict, local, counts, firstBroken, firstSeq, lastSeq, sessions, cloud, checks, serial, recordsPath } = data;
  const robot = `${serial === null ? 'Robot not known' : `Robot ${printable(serial)}`}, ${printable(recordsPath)}.`;
  const range = firstSeq === 1 ? `1 to ${lastSeq}` : `${firstSeq} to ${lastSeq}, earlier ones are not present`;
  switch (verdict) {
    case 'ok':
      return `${chalk.green('ok')}: ${plural(sessions, 'support session')}, no finding, records ${range}. The copy of the cloud is the same. ${robot}`;
    case 'not-decided': {
      const open = checks.filter((check) => check.verdict === 'not-checked');
      const found =
        lastSeq === null ? 'no finding' : `${plural(sessions, 'support session')}, no finding, records ${range}`;
      // Several checks may be open for one reason; that there is no copy of the cloud has a sentence of its own.
      const reasons = new Set(open.filter(({ detail }) => detail !== 'no-cloud').map(({ text }) => text));
      const why = reasons.size === 0 ? '' : `: ${printable([...reasons].join('; '))}`;
      const same = local === 'ok' ? ' The copy of the cloud is the same.' : '';
      const compared =
        cloud === null ? ' Not compared with the copy of the cloud: a complete rewriting would not show.' : same;
      return `${chalk.yellow('Not decided')}: ${found}; ${open.length} of ${checks.length} checks not made${why}.${compared} ${robot}`;
    }
    case 'findings': {
      const count = counts.reduce((sum, one) => sum + one.count, 0);
      const first = firstBroken === null ? '' : ` First broken line of the chain: ${printable(placeOf(firstBroken))}.`;
      return `${chalk.red.bold(`FAILED: ${plural(count, 'finding')}.`)}${first} ${robot}`;
    }
  }
}

function placeOf({ file, line }: { readonly file: string | null; readonly line: number | null }): string {
  if (file === null) return '--';
  return line === null ? basename(file) : `${basename(file)}:${line}`;
}

function findingTable({ findings, notListed }: TunnelAudit): string {
  const rows = findings.slice(0, MAX_ROWS).map((finding) => {
    const { seq, session, sentence } = finding;
    return [placeOf(finding), seq === null ? '--' : String(seq), session ?? '--', sentence].map(printable);
  });
  const left = findings.length - rows.length + notListed;
  const table = renderTable(['place', 'record', 'session', 'finding'], rows);
  return left === 0 ? table : `${table}\n${left} more findings: see --out or --json.`;
}

/** Each once, with the kinds of findings it is for. */
function remedies({ findings }: TunnelAudit): string {
  const byRemedy = new Map<string, Set<string>>();
  for (const { title, remedy } of findings) {
    const titles = byRemedy.get(remedy) ?? new Set();
    byRemedy.set(remedy, titles.add(title));
  }
  return [...byRemedy]
    .map(([remedy, titles]) => `${[...titles].join(', ')}\n     do next: ${printable(remedy)}`)
    .join('\n');
}
