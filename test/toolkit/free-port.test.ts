import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { tryPort } from '../../src/lib/toolkit/free-port.ts';

describe('a free port', () => {
  it('is closed again when it is returned', async () => {
    const port = await tryPort('127.0.0.1', 0);
    expect(port).toBeGreaterThan(0);
    const [error] = await once(connect(port ?? 0, '127.0.0.1'), 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('is not one that another socket has', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    expect(await tryPort('127.0.0.1', port)).toBeUndefined();
    server.close();
    await once(server, 'close');
    expect(await tryPort('127.0.0.1', port)).toBe(port);
  });
});
