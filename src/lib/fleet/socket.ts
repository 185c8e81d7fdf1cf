import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { GwError, systemReason } from '../error/index.ts';
import { HEARTBEAT_PORT } from '../site/index.ts';
import { BROADCAST_ADDRESS } from './wire.ts';

type OnDatagram = (bytes: Buffer, from: RemoteInfo) => void;

/**
 * Opens the heartbeat port on all addresses, shared with other programs: a broadcast reaches all of them, a unicast datagram
 * only the one that opened it last. Throws PORT_IN_USE.
 */
export async function openHeartbeatPort(onDatagram: OnDatagram): Promise<Socket> {
  return await bound(ANY, true, onDatagram);
}

/**
 * Opens the port beside a `gw serve` of this machine without taking its datagrams: for broadcasts only. Without another
 * program on the port, for everything. Throws PORT_IN_USE.
 */
export async function openBesideOthers(
  onDatagram: OnDatagram,
): Promise<{ readonly socket: Socket; readonly receives: 'everything' | 'broadcasts' }> {
  const isAlone = await bound(ANY, false, () => {}).then(
    async (socket) => {
      await closeSocket(socket);
      return true;
    },
    () => false,
  );
  if (isAlone) return { socket: await openHeartbeatPort(onDatagram), receives: 'everything' };
  return { socket: await openBroadcastsOnly(onDatagram), receives: 'broadcasts' };
}

/** Opens the port for broadcasts only. Throws PORT_IN_USE. */
export async function openBroadcastsOnly(onDatagram: OnDatagram): Promise<Socket> {
  return await bound(BROADCAST_ADDRESS, true, onDatagram);
}

export function closeSocket(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.close(() => resolve()));
}

/** An address, and for a broadcast the address of the outgoing interface. */
export interface Destination {
  readonly to: string;
  readonly from: string | null;
}

export function destinations(options: {
  readonly broadcast: boolean;
  readonly unicast: readonly string[];
}): Destination[] {
  const sources = options.broadcast ? broadcastSources() : [];
  return [
    ...sources.map((from) => ({ to: BROADCAST_ADDRESS, from })),
    ...options.unicast.map((to) => ({ to, from: null })),
  ];
}

/** One IPv4 address of every interface except loopback. */
export function broadcastSources(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => {
    const source = addresses?.find(({ family, internal }) => family === 'IPv4' && !internal);
    return source === undefined ? [] : [source.address];
  });
}

/**
 * Sends one datagram from a socket of its own, on another port. A broadcast leaves by the interface whose address its
 * socket is bound to. The socket is connected, so that its port, which is not in the platform's list of open ports,
 * receives no datagrams. Rejects with the error of the operating system; resolved does not mean received.
 */
export async function sendDatagram(
  bytes: Uint8Array,
  { to, from }: Destination,
  port: number = HEARTBEAT_PORT,
): Promise<void> {
  const socket = createSocket('udp4');
  // Without a listener an interface that is removed between two steps would end the daemon.
  socket.on('error', () => {});
  try {
    socket.bind({ address: from ?? ANY, port: 0, exclusive: true });
    await once(socket, 'listening');
    if (from !== null) socket.setBroadcast(true);
    socket.connect(port, to);
    await once(socket, 'connect');
    await new Promise<void>((resolve, reject) => {
      socket.send(bytes, (error) => (error === null ? resolve() : reject(error)));
    });
  } finally {
    await closeSocket(socket);
  }
}

/** Sends one datagram from an open socket; otherwise as {@link sendDatagram}. */
export function sendBy(socket: Socket, bytes: Uint8Array, to: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(bytes, port, to, (error) => (error === null ? resolve() : reject(error)));
  });
}

const ANY = '0.0.0.0';

async function bound(address: string, reuseAddr: boolean, onDatagram: OnDatagram): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', reuseAddr });
  socket.on('message', onDatagram);
  try {
    socket.bind({ address, port: HEARTBEAT_PORT, exclusive: true });
    await once(socket, 'listening');
    return socket;
  } catch (cause) {
    socket.close();
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError(
      'PORT_IN_USE',
      `Heartbeat port UDP ${HEARTBEAT_PORT} cannot be opened (${systemReason({ code })}).`,
      {
        tried: { address, port: HEARTBEAT_PORT },
        cause,
      },
    );
  }
}
