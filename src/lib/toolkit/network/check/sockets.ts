import { isLoopback } from '../../../net/index.ts';
import type { OwnedSocket } from '../../../net/probe/index.ts';
import { HEARTBEAT_PORT, READ_ONLY_PORT, type Site } from '../../../site/index.ts';
import type { NetworkLine, NetworkSocket } from '../network.result.ts';
import { networkLine, type Outcome } from './plans.ts';
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
  // Several processes may share one address and port, each with a socket of its own.
  const byPlace = Map.groupBy(judged, ({ protocol, address, port }) => `${protocol} ${address} ${port}`);
  const merged = [...byPlace.values()].flatMap(([first, ...more]) => {
    if (first === undefined) return [];
    const processes = new Map(
      [first, ...more].flatMap((one) => one.processes.map((process) => [process.pid, process])),
    );
    return [{ ...first, processes: [...processes.values()] }];
  });
  const order = (socket: NetworkSocket) =>
    `${socket.allowedBy === null ? 0 : 1} ${socket.reach === 'other-machines' ? 0 : 1} ${socket.protocol}`;
  return merged.sort((a, b) => order(a).localeCompare(order(b)) || a.port - b.port);
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
  const line = (id: string, title: string, outcome: Outcome) => networkLine('inward', `inward.${id}`, title, outcome);
  const [listening, title] = ['listening', 'Only allowed sockets are open'];
  if (sockets === null) {
    const detail = 'the list of open sockets cannot be read';
    return [line(listening, title, { verdict: 'not-checked', detail, remedy: 'Run this on the gateway (Linux).' })];
  }
  const at = (port: number) => sockets.filter((socket) => socket.protocol === 'tcp' && socket.port === port);
  const [readOnly, ssh] = [at(READ_ONLY_PORT), at(SSH_PORT)];
  const isSshClosed = ssh.length === 0;
  // These TCP ports have lines of their own.
  const others = refusedOf(sockets).filter((socket) => !readOnly.includes(socket) && !ssh.includes(socket));
  return [
    line(listening, title, judgeAll(sockets)),
    line('read-only', 'The read-only socket listens on loopback only', judgeReadOnly(readOnly)),
    isSshClosed
      ? line('ssh', `SSH does not listen on port ${SSH_PORT}`, { verdict: 'ok', detail: 'nothing listens there' })
      : line('ssh', 'SSH listens in the robot segment only', judgeSsh(ssh)),
    ...others.map((socket) =>
      line(
        `open.${socket.protocol}.${socket.port}.${socket.address}`,
        `${socket.protocol.toUpperCase()} ${socket.port} is not open`,
        {
          verdict: 'wrong',
          detail: boundText(socket),
          remedy:
            'Stop the program or bind it to 127.0.0.1. If the gateway needs it, add it to network.alsoListening of the site file with the reason.',
        },
      ),
    ),
  ];
}

function refusedOf(sockets: readonly NetworkSocket[]): NetworkSocket[] {
  return sockets.filter(({ allowedBy }) => allowedBy === null);
}

function judgeAll(sockets: readonly NetworkSocket[]): Outcome {
  const reachable = sockets.filter(({ reach }) => reach === 'other-machines');
  const ports = [...new Set(reachable.map((socket) => `${socket.protocol} ${socket.port}`))].join(', ');
  const detail = ports === '' ? 'no port is open for other machines' : `open for other machines: ${ports}`;
  if (refusedOf(sockets).length > 0) {
    return { verdict: 'wrong', detail, remedy: 'Each wrong socket has a line of its own, with what to do.' };
  }
  return { verdict: sockets.some(({ allowedBy }) => allowedBy === 'not-checked') ? 'not-checked' : 'ok', detail };
}

function judgeSsh(own: readonly NetworkSocket[]): Outcome {
  const wrong = refusedOf(own);
  if (wrong.length > 0) {
    return {
      verdict: 'wrong',
      detail: wrong.map((socket) => `${socket.why}: ${boundText(socket)}`).join('; '),
      remedy:
        'Set ListenAddress in /etc/ssh/sshd_config (ListenStream of ssh.socket with systemd) to the address of this gateway in the robot segment, and restart SSH from a session on that address.',
    };
  }
  const unknown = own.find(({ allowedBy }) => allowedBy === 'not-checked');
  if (unknown === undefined) {
    return { verdict: 'ok', detail: own.map(({ address }) => `bound to ${address}`).join(', ') };
  }
  return {
    verdict: 'not-checked',
    detail: `${unknown.why}; ${boundText(unknown)}`,
    remedy: 'Set network.gateway in the site file to the address of this gateway in the robot segment.',
  };
}

function judgeReadOnly(own: readonly NetworkSocket[]): Outcome {
  if (own.length === 0) {
    return { verdict: 'not-checked', detail: `port ${READ_ONLY_PORT} is closed; gw serve does not run here` };
  }
  const open = refusedOf(own);
  if (open.length === 0) return { verdict: 'ok', detail: `bound to ${own.map(({ address }) => address).join(', ')}` };
  return {
    verdict: 'wrong',
    detail: open.map(boundText).join('; '),
    remedy: 'Disconnect this gateway from the network and stop that program: it is not the operator server of gw.',
  };
}

function boundText({ address, processes }: NetworkSocket): string {
  const who = processes.map(({ name, pid }) => `${name} (process ${pid})`).join(', ');
  return `bound to ${address} by ${who === '' ? 'an unknown process; run as root and outside of containers to see it' : who}`;
}
