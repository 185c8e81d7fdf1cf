import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseOpenSockets, processName, readOpenSockets, socketInode } from '../../../src/lib/net/probe/index.ts';

const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const row = (local: string, state: string, inode: string) =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0 100\n`;

describe('the open sockets', () => {
  it('are listening TCP sockets and unconnected UDP sockets, with their inode', () => {
    const tcp = head + row('0100007F:1436', '0A', '4711') + row('0100007F:1436', '01', '4712');
    expect(parseOpenSockets(tcp, 'tcp')).toEqual([{ protocol: 'tcp', address: '127.0.0.1', port: 5174, inode: 4711 }]);
    const udp = head + row('00000000:B0F5', '07', '99') + row('0100007F:0035', '01', '100');
    expect(parseOpenSockets(udp, 'udp')).toEqual([{ protocol: 'udp', address: '0.0.0.0', port: 45301, inode: 99 }]);
    const six = head + row('00000000000000000000000000000000:0016', '0A', '7');
    expect(parseOpenSockets(six, 'tcp')).toEqual([{ protocol: 'tcp', address: '::', port: 22, inode: 7 }]);
  });

  it('are parsed from any text without a throw, with valid ports', { tags: 'property' }, () => {
    const cell = fc.oneof(
      fc.constantFrom('0100007F:1436', '0A', '07', '4711', '-1', '1e9', '00:0'),
      fc.string({ maxLength: 12 }),
    );
    const line = fc.array(cell, { maxLength: 14 }).map((cells) => cells.join(' '));
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 8 }),
        fc.constantFrom('tcp' as const, 'udp' as const),
        (lines, protocol) => {
          for (const socket of parseOpenSockets(['head', ...lines].join('\n'), protocol)) {
            expect(socket.port).toBeGreaterThanOrEqual(0);
            expect(socket.port).toBeLessThanOrEqual(65_535);
            expect(Number.isSafeInteger(socket.inode)).toBe(true);
          }
        },
      ),
    );
  });

  it('are parsed from every row that the kernel can write', { tags: 'property' }, () => {
    const rows = fc.record({
      port: fc.integer({ min: 0, max: 65_535 }),
      bytes: fc.uint8Array({ minLength: 4, maxLength: 4 }),
      inode: fc.nat(),
    });
    fc.assert(
      fc.property(rows, ({ port, bytes, inode }) => {
        const hex = [...bytes]
          .reverse()
          .map((byte) => byte.toString(16).padStart(2, '0').toUpperCase())
          .join('');
        const local = `${hex}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
        expect(parseOpenSockets(head + row(local, '0A', `${inode}`), 'tcp')).toEqual([
          { protocol: 'tcp', address: bytes.join('.'), port, inode },
        ]);
      }),
    );
  });

  it('of this machine are found with their process', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    const udp = createSocket('udp4');
    await once(server, 'listening');
    await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
    try {
      const address = server.address();
      const tcpPort = typeof address === 'object' ? address?.port : undefined;
      const sockets = await readOpenSockets();
      const mine = { owners: [expect.objectContaining({ pid: process.pid })], address: '127.0.0.1' };
      expect(sockets).toContainEqual(expect.objectContaining({ ...mine, protocol: 'tcp', port: tcpPort }));
      expect(sockets).toContainEqual(expect.objectContaining({ ...mine, protocol: 'udp', port: udp.address().port }));
    } finally {
      server.close();
      udp.close();
    }
  });
});

it('a link of a process to a socket has an inode, and no other link does', { tags: 'property' }, () => {
  expect(socketInode('socket:[4711]')).toBe(4711);
  for (const link of ['pipe:[4711]', '/tmp/socket:[1]', 'socket:[]', 'socket:[-1]', 'socket:[1', '']) {
    expect(socketInode(link)).toBeNull();
  }
  fc.assert(
    fc.property(fc.string({ maxLength: 30 }), (text) => {
      const inode = socketInode(text);
      expect(inode === null || `socket:[${text.slice(8, -1)}]` === text).toBe(true);
    }),
  );
});

describe('the name of a process', () => {
  it('is its program, and the script of an interpreter, but no other argument', () => {
    expect(processName('MainThread\n', '/usr/bin/node\0/opt/gw/bin/run.js\0serve\0')).toBe('node /opt/gw/bin/run.js');
    expect(processName('exporter\n', '/opt/exporter\0--token=abc\0')).toBe('exporter');
    expect(processName('MainThread\n', 'node\0-e\0secret\0')).toBe('node');
    expect(processName('sshd\n', 'sshd: /usr/sbin/sshd -D [listener] 0 of 10-100 startups\0')).toBe('sshd');
    expect(processName('kworker\n', '')).toBe('kworker');
  });

  it('is short, for any command line', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ maxLength: 400 }), (comm, cmdline) => {
        expect(processName(comm, cmdline).length).toBeLessThanOrEqual(100);
      }),
    );
  });
});
