import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { portTableIn, readPortTable } from '../../src/lib/fleet/fleet.ts';

const head =
  '   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops';
const row = (address: string, drops: string) =>
  `  ${address}: ${address} 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 25632 2 0000000000000000 ${drops}`;

describe('the kernel statistics of the port', () => {
  it('are the drops of every socket on it, and the number of sockets open on every address', () => {
    const rows = [row('00000000:B0F5', '3'), row('FFFFFFFF:B0F5', '40'), row('00000000:B0F6', '500')];
    expect(portTableIn([head, ...rows, ''].join('\n'), 45301)).toEqual({ dropped: 43, openToAll: 1 });
    expect(portTableIn([head, ''].join('\n'), 45301)).toEqual({ dropped: 0, openToAll: 0 });
  });

  it('are unknown where the table has no such column, or is missing', () => {
    expect(portTableIn('sl local_address st\n0: 00000000:B0F5 07\n', 45301)).toBeNull();
    expect(portTableIn('', 45301)).toBeNull();
    expect(readPortTable('/nowhere')).toBeNull();
  });

  it('are two numbers or unknown for any text', { tags: 'property' }, () => {
    const texts = fc.oneof(
      fc.string(),
      fc.array(fc.string()).map((rows) => [head, ...rows].join('\n')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = portTableIn(text, 45301);
        expect(parsed?.dropped ?? 0).toBeGreaterThanOrEqual(0);
        expect(parsed?.openToAll ?? 0).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  it('match this kernel and a socket that is read too slowly', async () => {
    const socket = createSocket({ type: 'udp4', recvBufferSize: 2048 });
    socket.on('message', () => {});
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const { port } = socket.address();
    const sender = createSocket('udp4');
    // One turn of the event loop reads none of them.
    for (let nth = 0; nth < 500; nth += 1) sender.send(Buffer.alloc(400), port, '127.0.0.1');
    await new Promise<void>((resolve) => sender.send(Buffer.alloc(1), port, '127.0.0.1', () => resolve()));
    expect(portTableIn(readFileSync('/proc/net/udp', 'utf8'), port)?.dropped).toBeGreaterThan(100);
    sender.close();
    socket.close();
  });
});
