import chalk from 'chalk';
import { plural } from '../../lib/text/index.ts';
import type { TunnelConnectEvent } from '../../lib/toolkit/tunnel/connect.result.ts';
import { ageText, printable } from '../output.ts';

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
