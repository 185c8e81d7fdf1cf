import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { GwError } from '../error/index.ts';
import { HEARTBEAT_PORT } from '../site/index.ts';
import { BROADCAST_ADDRESS } from './wire.ts';

type OnDatagram = (bytes: Buffer, from: RemoteInfo) => void;

/**
 * Opens the heartbeat port on all addresses, shared with other programs: a broadcast reaches all of them, a unicast datagram
 * only the one that opened it last. Throws PORT_IN_USE.
 */
export async function openHeartbeatPort(onDatagram: OnDatagram): Promise<Socket> {
  return (await bound(ANY, { reuseAddr: true }, onDatagram)).socket;
}

/**
 * Opens the port beside a `gw serve` of this machine without taking its datagrams: for broadcasts only. Without another
 * program on the port, for everything. Throws PORT_IN_USE.
 */
export async function openBesideOthers(
  onDatagram: OnDatagram,
): Promise<{ readonly socket: Socket; readonly receives: 'everything' | 'broadcasts' }> {
  const isAlone = await bound(ANY, { reuseAddr: false }, () => {}).then(
    async ({ socket }) => {
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
  return (await bound(BROADCAST_ADDRESS, { reuseAddr: true }, onDatagram)).socket;
}

export function closeSocket(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.close(() => resolve()));
}

const ANY = '0.0.0.0';

async function bound(
  address: string,
  { reuseAddr }: { readonly reuseAddr: boolean },
  onDatagram: OnDatagram,
): Promise<{ readonly socket: Socket }> {
  const socket = createSocket({ type: 'udp4', reuseAddr });
  socket.on('message', onDatagram);
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind({ address, port: HEARTBEAT_PORT, exclusive: true }, () => {
        socket.off('error', reject);
        resolve();
      });
    });
  } catch (cause) {
    socket.close();
    const { code } = cause as NodeJS.ErrnoException;
    throw new GwError('PORT_IN_USE', `Heartbeat port UDP ${HEARTBEAT_PORT} cannot be opened (${code}).`, {
      tried: { address, port: HEARTBEAT_PORT },
      cause,
    });
  }
  return { socket };
}
