import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { GwError } from '../../src/lib/error/index.ts';
import { parseListeningSockets, readListeningSockets } from '../../src/lib/net/index.ts';
import { listening } from '../listening.ts';

const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';

describe('the listening sockets', () => {
  it('are those in state LISTEN, with address and port in canonical form', () => {
    const text = `${head}   0: 0100007F:1436 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   1: 00000000:1435 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2 1
   2: 0100007F:1436 0100007F:D4C2 01 00000000:00000000 00:00000000 00000000     0        0 3 1
`;
    expect(parseListeningSockets(text)).toEqual([
      { address: '127.0.0.1', port: 5174 },
      { address: '0.0.0.0', port: 5173 },
    ]);
  });

  it('are parsed from the table of IPv6 too', () => {
    const line = (local: string) =>
      `   0: ${local}:1435 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1\n`;
    const text = [
      '00000000000000000000000000000000',
      '00000000000000000000000001000000',
      '0000000000000000FFFF00000100007F',
      'B80D0120000000000000000007000000',
    ].map(line);
    const expected = ['::', '::1', '::ffff:7f00:1', '2001:db8::7'];
    expect(parseListeningSockets(head + text.join('')).map(({ address }) => address)).toEqual(expected);
  });

  it.runIf(process.platform === 'linux')('of this machine are found while they listen', async () => {
    const server = await listening(createServer());
    const { port } = server;
    expect(await readListeningSockets()).toContainEqual({ address: '127.0.0.1', port });
    await server[Symbol.asyncDispose]();
    expect((await readListeningSockets()).some((socket) => socket.port === port)).toBe(false);
  });

  it('are an error with the tried paths when the tables are missing', async () => {
    const error = (await readListeningSockets(['/proc/none']).catch((reason: unknown) => reason)) as GwError;
    expect(error.remedy).toContain('/proc/none');
  });
});
