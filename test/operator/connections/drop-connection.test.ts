import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { dropConnection } from '../../../src/lib/operator/connections/connection.ts';
import { until } from '../../waiting.ts';

/** Both ends of one connection. The client reads nothing. */
async function connectionPair() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  client.pause();
  const [near] = (await once(server, 'connection')) as [Socket];
  near.on('error', () => {});
  return {
    near,
    client,
    [Symbol.dispose]() {
      client.destroy();
      server.close();
    },
  };
}

/** Sockets of this process; leaked ones are visible only here. */
function openSockets(): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
    } catch {
      return false;
    }
  }).length;
}

const states: readonly (readonly [string, (socket: Socket) => void])[] = [
  ['without any output', () => {}],
  ['with an unread answer', (socket) => void socket.write(Buffer.alloc(8_000_000))],
  ['whose end was sent in this turn', (socket) => void socket.end()],
  ['that was ended after an answer', (socket) => void socket.end('x')],
  ['that was ended after an unread answer', (socket) => void socket.end(Buffer.alloc(8_000_000))],
];

describe('a connection', () => {
  it.each(states)('%s is closed when it is dropped, and its descriptor with it', async (_, prepare) => {
    const before = openSockets();
    using pair = await connectionPair();
    prepare(pair.near);
    const closed = once(pair.near, 'close');
    dropConnection(pair.near);
    await closed;
    pair.client.resume();
    if (!pair.client.closed) await once(pair.client, 'close');
    pair[Symbol.dispose]();
    expect(await until(openSockets, (open) => open <= before)).toBe(before);
  });

  it('that was ended some turns ago is closed as well', async () => {
    using pair = await connectionPair();
    pair.near.end('x');
    await once(pair.near, 'finish');
    const closed = once(pair.near, 'close');
    dropConnection(pair.near);
    await closed;
  });
});
