import chalk from 'chalk';
import type {
  SimCloudCancel,
  SimCloudJob,
  SimCloudJobs,
  SimCloudReceived,
  SimCloudRelease,
  SimCloudRestart,
  SimCloudSend,
  SimCloudStop,
  SimTunnel,
  SimTunnelBrowse,
  SimTunnelClose,
  SimTunnelList,
  SimTunnelOpen,
  SimTunnelPage,
  SimTunnelRotate,
} from '../../lib/sim/control/control.result.ts';
import type { SimEvent, SimFault } from '../../lib/sim/sim.result.ts';
import { plural, shorten } from '../../lib/text/index.ts';
import { page, printable, renderTable, right, spanText } from '../output.ts';

/** One line of `gw sim`; `ready` closes the list of parts. */
export function renderSimEvent(event: SimEvent): string {
  const row = (part: string, text: string) => `${part.padEnd(10)}${text}`;
  switch (event.event) {
    case 'listening':
      return row(event.part, event.url);
    case 'waiting':
      return row('waiting', `for ${event.what}: ${Math.floor(event.ms / 1_000)} s`);
    case 'note':
      return row('note', printable(event.text));
    case 'boot':
      return row('chassis', event.state === 'booting' ? 'starting: 503 except for the boot progress' : 'started');
    case 'fault':
      return row('fault', `${event.name} ${event.on ? chalk.yellow('on') : 'off'}`);
    case 'ready': {
      const { chassis, sitePath, passwordPath, codePath } = event;
      return page(
        row('robot', `serial ${chassis.serial}, software ${chassis.software}`),
        passwordPath !== null && row('password', `in ${printable(passwordPath)}`),
        codePath !== null && row('code', `in ${printable(codePath)}`),
        [row('site', printable(sitePath)), chalk.green('ready')],
      );
    }
    case 'fleet': {
      const { robots, firstSerial, lastSerial, to } = event;
      const serials = robots === 1 ? firstSerial : `${firstSerial} to ${lastSerial}`;
      return row('fleet', `${plural(robots, 'neighbour')} (${serials}), UDP to ${to.host}:${to.port}`);
    }
    case 'ended':
      return 'ended';
  }
}

/** `gw sim fault` */
export function renderSimFault({ dir, changed, note, faults }: SimFault): string {
  const where = dir === null ? '' : ` in ${printable(dir)}`;
  if (changed !== null) {
    const effect = faults.find(({ name }) => name === changed.name)?.effect ?? '';
    const first = `${changed.name} is ${changed.on ? 'on' : 'off'}${where}.`;
    return changed.on ? [first, effect, ...(note === undefined ? [] : [chalk.yellow(note)])].join('\n') : first;
  }
  const on = faults.filter((fault) => fault.on === true).map(({ name }) => name);
  const first =
    dir === null
      ? 'No simulator is running; the states are unknown.'
      : on.length === 0
        ? `No fault is on${where}.`
        : `On${where}: ${on.join(', ')}.`;
  const rows = faults.map((fault) => [fault.name, fault.on === null ? '--' : fault.on ? 'on' : 'off', fault.effect]);
  return `${first}\n\n${renderTable(['fault', 'state', 'effect'], rows)}`;
}

const MAX_SHOWN_CHARACTERS = 200;
const JOB_WAITS = 'the job waits until it asks';

/** `gw sim cloud stop` */
export function renderSimCloudStop({ serial, id, topic, connected }: SimCloudStop): string {
  return [
    `Stop published for ${printable(serial)}; whether the device received it is not checked.`,
    connectedLine(connected, 'the message waits only in a session with a subscription to it'),
    `${'id'.padEnd(7)}${printable(id)}`,
    `${'topic'.padEnd(7)}${printable(topic)}`,
  ].join('\n');
}

/** `gw sim cloud release` */
export function renderSimCloudRelease({ job, connected, waited, ended }: SimCloudRelease): string {
  const name = `Job ${printable(job.jobId)} for ${printable(job.serial)}`;
  if (!waited) return `${name} is queued; its result is not checked.\n${connectedLine(connected, JOB_WAITS)}`;
  const first = ended
    ? `${name} has ended: ${colouredStatus(job)}.`
    : chalk.yellow(`${name} has not ended within the timeout: ${job.status}.`);
  return [first, ...(ended ? [] : [connectedLine(connected, JOB_WAITS)]), '', historyTable(job)].join('\n');
}

/** `gw sim cloud send` */
export function renderSimCloudSend({ topic, bytes, retain }: SimCloudSend): string {
  const how = retain ? ', retained' : '';
  return `Published ${plural(bytes, 'byte')} on ${printable(topic)}${how}; whether a device received it is not checked.`;
}

/** `gw sim cloud received` */
export function renderSimCloudReceived({ topic, kept, matching, messages }: SimCloudReceived): string {
  const where = topic === null ? '' : ` on ${printable(topic)}`;
  if (messages.length === 0) {
    const others = topic === null ? '' : `; ${plural(kept, 'message')} on all topics`;
    return `No message received${where}${others}.`;
  }
  const shown = messages.length < matching ? `, the last ${messages.length} shown` : '';
  const rows = messages.map(({ at, client, topic: own, qos, bytes, text }) => [
    at,
    printable(client),
    printable(own),
    String(qos),
    String(bytes),
    text === null ? '(not UTF-8)' : shortened(text),
  ]);
  const columns = ['received', 'client', 'topic', right('QoS'), right('bytes'), 'payload'];
  return `${plural(matching, 'message')} received${where}${shown}.\n\n${renderTable(columns, rows)}`;
}

/** `gw sim cloud restart` */
export function renderSimCloudRestart({ dir, connections }: SimCloudRestart): string {
  const ended = connections === 0 ? 'no client was connected' : `${plural(connections, 'connection')} ended`;
  return `The broker in ${printable(dir)} was restarted and accepts connections; ${ended}.`;
}

/** `gw sim cloud jobs` */
export function renderSimCloudJobs({ jobs }: SimCloudJobs): string {
  if (jobs.length === 0) return 'No job.';
  const open = jobs.filter(({ status }) => status === 'QUEUED' || status === 'IN_PROGRESS').length;
  const rows = jobs.map((job) => [
    printable(job.jobId),
    printable(job.serial),
    String(job.executionNumber),
    job.status,
    job.updatedAt,
    detailsText(job.statusDetails),
  ]);
  const columns = ['job', 'serial', right('execution'), 'status', 'changed', 'details'];
  return `${plural(jobs.length, 'job')}, ${open} not ended.\n\n${renderTable(columns, rows)}`;
}

/** `gw sim cloud cancel` */
export function renderSimCloudCancel({ job }: SimCloudCancel): string {
  const before = job.history.at(-2)?.status;
  const first = `Job ${printable(job.jobId)} of ${printable(job.serial)} is cancelled.`;
  return before === 'IN_PROGRESS' ? `${first}\nIt was in progress: the device may still be working on it.` : first;
}

function connectedLine(wasConnected: boolean, otherwise: string): string {
  return wasConnected ? 'The device was connected.' : chalk.yellow(`The device was not connected: ${otherwise}.`);
}

function colouredStatus({ status }: SimCloudJob): string {
  return status === 'SUCCEEDED' ? chalk.green(status) : chalk.red.bold(status);
}

function historyTable({ history }: SimCloudJob): string {
  const rows = history.map(({ at, status, statusDetails }) => [at, status, detailsText(statusDetails)]);
  return renderTable(['changed', 'status', 'details'], rows);
}

function detailsText(details: Readonly<Record<string, string>>): string {
  return shortened(
    Object.entries(details)
      .map(([key, value]) => `${key}: ${value}`)
      .join(', '),
  );
}

function shortened(text: string): string {
  return shorten(printable(text), MAX_SHOWN_CHARACTERS);
}

const MAX_BODY_CHARACTERS = 120;

const WAITING = 'the notification waits only in a session with a subscription to it';

/** `gw sim tunnel open` */
export function renderSimTunnelOpen(data: SimTunnelOpen): string {
  const { tunnelId, serial, leftMs, services, region } = data.tunnel;
  return page(
    `Tunnel ${printable(tunnelId)} for ${printable(serial)} is open, ${spanText(Math.ceil(leftMs / 1_000) * 1_000)} left; whether the device received the notification is not checked.`,
    connectedLine(data.connected, WAITING),
    `services  ${services.map(printable).join(', ')}`,
    `region    ${printable(region)}`,
    tokenLines(data, data.sourceToken),
    '',
    connectLines(data),
  );
}

/** `gw sim tunnel rotate` */
export function renderSimTunnelRotate(data: SimTunnelRotate): string {
  const { tunnel, side, sourceToken, connected } = data;
  const which = side === 'all' ? 'source and destination have new tokens' : `the ${side} has a new token`;
  const sent = connected === null ? '' : '; whether the device received the notification is not checked';
  return page(
    `Tunnel ${printable(tunnel.tunnelId)}: ${which}, the old one is refused${sent}.`,
    connected !== null && connectedLine(connected, WAITING),
    sourceToken !== null && tokenLines(data, sourceToken),
  );
}

/** `gw sim tunnel close` */
export function renderSimTunnelClose({ tunnel }: SimTunnelClose): string {
  return `Tunnel ${printable(tunnel.tunnelId)} for ${printable(tunnel.serial)} is closed at the service; whether connected sides received the close frame is not checked.`;
}

/** `gw sim tunnel list` */
export function renderSimTunnelList({ tunnels, handshakes }: SimTunnelList): string {
  const open = tunnels.filter(({ status }) => status === 'OPEN').length;
  const columns = ['tunnel', 'serial', 'services', 'status', 'left', 'source', 'destination'];
  const rows = handshakes.map(({ at, mode, status, reason }) => [
    at,
    mode ?? '(invalid)',
    String(status),
    status === 101 ? 'connected' : shorten(printable(reason), MAX_BODY_CHARACTERS),
  ]);
  return page(
    tunnels.length === 0 ? 'No tunnel.' : `${plural(tunnels.length, 'tunnel')}, ${open} open.`,
    tunnels.length > 0 && ['', renderTable(columns, tunnels.map(tunnelRow))],
    rows.length > 0 && ['', renderTable(['handshake', 'mode', 'status', 'answer'], rows)],
  );
}

/** `gw sim tunnel browse` */
export function renderSimTunnelBrowse({ tunnelId, service, opened, problem, pages }: SimTunnelBrowse): string {
  const way = `through tunnel ${printable(tunnelId)}, service ${printable(service)}`;
  const last = opened ? ['', 'The tunnel was opened for this and is closed.'] : [];
  if (problem !== null) {
    return [chalk.red.bold(`FAILED: no page requested ${way}: ${printable(problem)}.`), ...last].join('\n');
  }
  const answered = pages.filter((page) => page.problem === null).length;
  const count = `${answered} of ${plural(pages.length, 'request')} answered ${way}`;
  const first = answered === pages.length ? `${count}.` : chalk.red.bold(`FAILED: ${count}.`);
  return [first, ...pages.flatMap(pageLines), ...last].join('\n');
}

function pageLines({ path, status, problem, headers, bytes, title, lines, tookMs }: SimTunnelPage): readonly string[] {
  const name = `GET ${printable(path)}`;
  const took = `${plural(bytes, 'byte')} in ${Math.round(tookMs)} ms`;
  const answer = status === null ? 'no answer' : `${status}, ${took}`;
  const incomplete = problem === null ? '' : chalk.red(` (${printable(problem)})`);
  return [
    '',
    `${name}: ${answer}${incomplete}`,
    ...Object.entries(headers).map(([key, value]) => `  ${key}: ${shorten(printable(value), MAX_BODY_CHARACTERS)}`),
    ...(title === null ? [] : [`  title: ${shorten(printable(title), MAX_BODY_CHARACTERS)}`]),
    ...lines.map((line) => `  | ${shorten(printable(line), MAX_BODY_CHARACTERS)}`),
  ];
}

function tunnelRow({ tunnelId, serial, services, status, closedBy, leftMs, source, destination }: SimTunnel) {
  const ends = { person: 'CLOSED by a person', lifetime: 'CLOSED, lifetime over' } as const;
  return [
    printable(tunnelId),
    printable(serial),
    services.map(printable).join(', '),
    closedBy === null ? status : ends[closedBy],
    closedBy === null ? spanText(Math.ceil(leftMs / 1_000) * 1_000) : '',
    source.connected ? 'connected' : 'disconnected',
    destination.connected ? 'connected' : 'disconnected',
  ];
}

function tokenLines({ host, port, caFile }: Pick<SimTunnelOpen, 'host' | 'port' | 'caFile'>, token: string) {
  return [
    `service   wss://${printable(host)}:${port}`,
    `CA file   ${printable(caFile)}`,
    '',
    'Source token, a secret. Pass it in the environment as GW_TUNNEL_TOKEN, not as an argument:',
    token,
  ];
}

/** What a technician types next; the token is typed without echo. */
function connectLines({ host, port, caFile, tunnel: { services, region } }: SimTunnelOpen): readonly string[] {
  const names = services.map((name) => `--service ${printable(name)}`).join(' ');
  const where = `--tunnel-host ${printable(host)} --tunnel-port ${port} --ca-file ${printable(caFile)}`;
  return [
    'Then connect, and type the token when asked:',
    `gw tunnel connect ${names} ${where} --region ${printable(region)}`,
  ];
}
