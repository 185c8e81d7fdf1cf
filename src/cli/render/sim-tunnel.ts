import chalk from 'chalk';
import type {
  SimTunnel,
  SimTunnelBrowse,
  SimTunnelClose,
  SimTunnelList,
  SimTunnelOpen,
  SimTunnelPage,
  SimTunnelRotate,
} from '../../lib/sim/control/tunnel.result.ts';
import { plural, shorten } from '../../lib/text/index.ts';
import { printable, renderTable } from '../output.ts';

const MAX_BODY_CHARACTERS = 120;

/** `gw sim tunnel open` */
export function renderSimTunnelOpen({ tunnel, sourceToken, connected, ...place }: SimTunnelOpen): string {
  const { tunnelId, serial, leftMs, services, region } = tunnel;
  return [
    `Tunnel ${printable(tunnelId)} for ${printable(serial)} is open, ${durationText(leftMs)} left; whether the device received the notification is not checked.`,
    connectedLine(connected, 'the notification waits only in a session with a subscription to it'),
    `services  ${services.map(printable).join(', ')}`,
    `region    ${printable(region)}`,
    ...placeLines(place),
    ...tokenLines(sourceToken),
  ].join('\n');
}

/** `gw sim tunnel rotate` */
export function renderSimTunnelRotate({ tunnel, side, sourceToken, connected, ...place }: SimTunnelRotate): string {
  const which = side === 'all' ? 'source and destination have new tokens' : `the ${side} has a new token`;
  const sent = connected === null ? '' : '; whether the device received the notification is not checked';
  return [
    `Tunnel ${printable(tunnel.tunnelId)}: ${which}, the old one is refused${sent}.`,
    ...(connected === null ? [] : [connectedLine(connected, 'the notification waits only in a session with a subscription to it')]),
    ...(sourceToken === null ? [] : [...placeLines(place), ...tokenLines(sourceToken)]),
  ].join('\n');
}

/** `gw sim tunnel close` */
export function renderSimTunnelClose({ tunnel }: SimTunnelClose): string {
  return `Tunnel ${printable(tunnel.tunnelId)} for ${printable(tunnel.serial)} is closed at the service; whether connected sides received the close frame is not checked.`;
}

/** `gw sim tunnel list` */
export function renderSimTunnelList({ tunnels, handshakes }: SimTunnelList): string {
  const open = tunnels.filter(({ status }) => status === 'OPEN').length;
  const first = tunnels.length === 0 ? 'No tunnel.' : `${plural(tunnels.length, 'tunnel')}, ${open} open.`;
  const parts = [first];
  if (tunnels.length > 0) {
    const columns = ['tunnel', 'serial', 'services', 'status', 'left', 'source', 'destination'];
    parts.push(renderTable(columns, tunnels.map(tunnelRow)));
  }
  if (handshakes.length > 0) {
    const columns = ['handshake', 'mode', 'status', 'answer'];
    const rows = handshakes.map(({ at, mode, status, reason }) => [
      at,
      mode ?? '(invalid)',
      String(status),
      status === 101 ? 'connected' : shorten(printable(reason), MAX_BODY_CHARACTERS),
    ]);
    parts.push(renderTable(columns, rows));
  }
  return parts.join('\n\n');
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
    closedBy === null ? durationText(leftMs) : '',
    source.connected ? 'connected' : 'disconnected',
    destination.connected ? 'connected' : 'disconnected',
  ];
}

function placeLines({ host, port, caFile }: Pick<SimTunnelOpen, 'host' | 'port' | 'caFile'>): readonly string[] {
  return [`service   wss://${printable(host)}:${port}`, `CA file   ${printable(caFile)}`];
}

function tokenLines(token: string): readonly string[] {
  return ['', 'Source token, a secret. Pass it in the environment as GW_TUNNEL_TOKEN, not as an argument:', token];
}

function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
