import { isLoopback } from '../../../net/index.ts';
import type { OwnedSocket } from '../../../net/probe/index.ts';
import { HEARTBEAT_PORT, READ_ONLY_PORT, type Site } from '../../../site/index.ts';
import type { NetworkLine, NetworkSocket } from '../network.result.ts';
import { judgeSshAddress, type RobotAddresses } from './ssh-listener.ts';

/** @source specification, 'Cloud and other network paths' */
export const SSH_PORT = 22;

type Allowance = Pick<Site, 'operator' | 'network'>;

/** Judges each open socket by the rules of the platform and the site file. */
export function judgeSockets(
  sockets: readonly OwnedSocket[],
  site: Allowance,
  robot: RobotAddresses = null,
): NetworkSocket[] {
  const judged = sockets.map(({ protocol, address, port, owners }): NetworkSocket => {
    const reach = isLoopback(address) ? 'this-machine' : 'other-machines';
    return {
      protocol,
      address,
      port,
      processes: [...owners],
      reach,
      ...allowance({ protocol, address, port, reach }, site, robot),
    };
  });
  const byPlace = new Map(judged.map((socket) => [`${socket.protocol} ${socket.address} ${socket.port}`, socket]));
  // Several processes may share one address and port, each with a socket of its own.
  for (const socket of judged) {
    const kept = byPlace.get(`${socket.protocol} ${socket.address} ${socket.port}`);
    if (kept === undefined || kept === socket) continue;
    for (const process of socket.processes) {
      if (!kept.processes.some(({ pid }) => pid === process.pid)) kept.processes.push(process);
    }
  }
  const order = (socket: NetworkSocket) =>
    `${socket.allowedBy === null ? 0 : 1} ${socket.reach === 'other-machines' ? 0 : 1} ${socket.protocol}`;
  return [...byPlace.values()].sort((a, b) => order(a).localeCompare(order(b)) || a.port - b.port);
}

function allowance(
  { protocol, address, port, reach }: Pick<NetworkSocket, 'protocol' | 'address' | 'port' | 'reach'>,
  { operator, network }: Allowance,
  robot: RobotAddresses,
): Pick<NetworkSocket, 'allowedBy' | 'why'> {
  if (protocol === 'tcp' && port === READ_ONLY_PORT) {
    return reach === 'this-machine'
      ? { allowedBy: 'platform', why: 'the read-only socket' }
      : { allowedBy: null, why: 'the read-only socket must be bound to loopback only' };
  }
  if (reach === 'this-machine') return { allowedBy: 'loopback', why: 'not reachable from other machines' };
  if (protocol === 'tcp' && port === SSH_PORT) {
    const { verdict, why } = judgeSshAddress(address, robot);
    return { allowedBy: verdict === 'ok' ? 'platform' : verdict === 'wrong' ? null : 'not-checked', why };
  }
  if (protocol === 'tcp' && port === operator.port) return { allowedBy: 'platform', why: 'the operator server' };
  if (protocol === 'udp' && port === HEARTBEAT_PORT) return { allowedBy: 'platform', why: 'the heartbeat' };
  const agreed = network.alsoListening.find((one) => one.protocol === protocol && one.port === port);
  return agreed === undefined
    ? { allowedBy: null, why: 'not in the rules of the platform, not in network.alsoListening of the site file' }
    : { allowedBy: 'site-file', why: agreed.why };
}

/** One summary line, one each for the read-only socket and SSH, and one for each socket that is not allowed. */
export function socketLines(sockets: readonly NetworkSocket[] | null): NetworkLine[] {
  if (sockets === null) {
    return [
      inwardLine('listening', 'Only allowed sockets are open', {
        verdict: 'not-checked',
        detail: 'the list of open sockets cannot be read',
        remedy: 'Run this on the gateway (Linux).',
      }),
    ];
  }
  // These TCP ports have lines of their own.
  const hasOwnLine = ({ protocol, port }: NetworkSocket) =>
    protocol === 'tcp' && (port === READ_ONLY_PORT || port === SSH_PORT);
  const refused = sockets.filter(({ allowedBy }) => allowedBy === null);
  const others = refused.filter((socket) => !hasOwnLine(socket));
  const isUndecided = sockets.some(({ allowedBy }) => allowedBy === 'not-checked');
  const reachable = sockets.filter(({ reach }) => reach === 'other-machines');
  const summary = inwardLine('listening', 'Only allowed sockets are open', {
    verdict: refused.length > 0 ? 'wrong' : isUndecided ? 'not-checked' : 'ok',
    ...(refused.length > 0 && { remedy: 'See the lines of the single sockets below.' }),
    detail:
      reachable.length === 0
        ? 'no port is open for other machines'
        : `open for other machines: ${[...new Set(reachable.map((socket) => `${socket.protocol} ${socket.port}`))].join(', ')}`,
  });
  return [summary, readOnlyLine(sockets), sshLine(sockets), ...others.map(forbiddenSocketLine)];
}

function sshLine(sockets: readonly NetworkSocket[]): NetworkLine {
  const title = 'SSH listens in the robot segment only';
  const own = sockets.filter(({ protocol, port }) => protocol === 'tcp' && port === SSH_PORT);
  const wrong = own.filter(({ allowedBy }) => allowedBy === null);
  if (wrong.length > 0) {
    return inwardLine('ssh', title, {
      verdict: 'wrong',
      detail: wrong.map((socket) => `${socket.why}: ${boundText(socket)}`).join('; '),
      remedy:
        'Set ListenAddress in /etc/ssh/sshd_config (ListenStream of ssh.socket with systemd) to the address of this gateway in the robot segment, and restart SSH from a session on that address.',
    });
  }
  const unknown = own.find(({ allowedBy }) => allowedBy === 'not-checked');
  if (unknown !== undefined) {
    return inwardLine('ssh', title, {
      verdict: 'not-checked',
      detail: `${unknown.why}; ${boundText(unknown)}`,
      remedy: 'Set network.gateway in the site file to the address of this gateway in the robot segment.',
    });
  }
  if (own.length === 0) {
    return inwardLine('ssh', `SSH does not listen on port ${SSH_PORT}`, {
      verdict: 'ok',
      detail: 'nothing listens there',
    });
  }
  const detail = own.map(({ address }) => `bound to ${address}`).join(', ');
  return inwardLine('ssh', title, { verdict: 'ok', detail });
}

function readOnlyLine(sockets: readonly NetworkSocket[]): NetworkLine {
  const title = 'The read-only socket listens on loopback only';
  const own = sockets.filter(({ protocol, port }) => protocol === 'tcp' && port === READ_ONLY_PORT);
  const open = own.filter(({ allowedBy }) => allowedBy === null);
  if (own.length === 0) {
    return inwardLine('read-only', title, {
      verdict: 'not-checked',
      detail: `port ${READ_ONLY_PORT} is closed; gw serve does not run here`,
    });
  }
  if (open.length === 0) {
    return inwardLine('read-only', title, {
      verdict: 'ok',
      detail: `bound to ${own.map(({ address }) => address).join(', ')}`,
    });
  }
  return inwardLine('read-only', title, {
    verdict: 'wrong',
    detail: `${open.map(boundText).join('; ')}`,
    remedy: 'Disconnect this gateway from the network and stop that program: it is not the operator server of gw.',
  });
}

function forbiddenSocketLine(socket: NetworkSocket): NetworkLine {
  const { protocol, address, port } = socket;
  return inwardLine(`open.${protocol}.${port}.${address}`, `${protocol.toUpperCase()} ${port} is not open`, {
    verdict: 'wrong',
    detail: boundText(socket),
    remedy:
      'Stop the program or bind it to 127.0.0.1. If the gateway needs it, add it to network.alsoListening of the site file with the reason.',
  });
}

function boundText({ address, processes }: NetworkSocket): string {
  const who = processes.map(({ name, pid }) => `${name} (process ${pid})`).join(', ');
  return `bound to ${address} by ${who === '' ? 'an unknown process; run as root and outside of containers to see it' : who}`;
}

function inwardLine(
  id: string,
  title: string,
  { verdict, detail, remedy = null }: Pick<NetworkLine, 'verdict' | 'detail'> & { readonly remedy?: string | null },
): NetworkLine {
  return {
    id: `inward.${id}`,
    title,
    section: 'inward',
    seenFrom: 'gateway',
    need: 'needed',
    tried: null,
    spec: 'Cloud and other network paths',
    verdict,
    detail,
    remedy,
    ask: null,
  };
}
