import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createDirectDialer } from '../../src/lib/net/dialer.ts';
import { startProcess } from '../process.ts';

/** Listeners on one port of several loopback addresses. Each queue holds two connections. */
const LISTEN = `
const [port, ...hosts] = process.argv.slice(1);
const servers = hosts.map((host) => require('net').createServer((s) => s.on('error', () => {})).listen({ port: +port, host, backlog: 1 }));
Promise.all(servers.map((s) => require('events').once(s, 'listening'))).then(() => console.log('listening'));
`;

/** Listeners whose queue is full: the kernel drops what would connect, as a lost network does, until it accepts again. */
async function deaf(port: number, ...hosts: string[]) {
  const program = startProcess(process.execPath, ['-e', LISTEN, '--', `${port}`, ...hosts]);
  await program.untilOutput('listening');
  program.child.kill('SIGSTOP');
  const fillers: Socket[] = [];
  for (const host of [...hosts, ...hosts]) {
    const filler = connect({ host, port }).on('error', () => {});
    await once(filler, 'connect');
    fillers.push(filler);
  }
  return {
    accept: () => program.child.kill('SIGCONT'),
    async [Symbol.asyncDispose]() {
      for (const filler of fillers) filler.destroy();
      program.child.kill('SIGCONT');
      await program[Symbol.asyncDispose]();
    },
  };
}

async function listening(host: string, port = 0) {
  const server = createServer((socket) => socket.resume().on('error', () => {}));
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return {
    port: (server.address() as { port: number }).port,
    connections: () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count))),
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

async function freePort(): Promise<number> {
  await using server = await listening('127.0.0.1');
  return server.port;
}

const named = (...addresses: string[]) => createDirectDialer(async () => addresses.map((address) => ({ address })));

describe('a name with several addresses', () => {
  it.each([['first'], ['last']])('is reached by its slow address, the %s, when the other is dead', async (place) => {
    const port = await freePort();
    await using slow = await deaf(port, '127.0.0.2');
    await using _dead = await deaf(port, '127.0.0.3');
    const order = place === 'first' ? ['127.0.0.2', '127.0.0.3'] : ['127.0.0.3', '127.0.0.2'];
    const dialled = named(...order).dial({ host: 'broker.example', port }, { timeoutMs: 15_000 });
    // Its next SYN, a second after the first, is answered.
    await sleep(600);
    slow.accept();
    const stream = (await dialled) as Socket;
    expect(stream.remoteAddress).toBe('127.0.0.2');
    stream.destroy();
  });

  it('is reached past addresses that refuse, and keeps no other connection', async () => {
    await using first = await listening('127.0.0.4');
    await using second = await listening('127.0.0.5', first.port);
    const dialer = named('127.0.0.2', '::1', '127.0.0.4', '127.0.0.5');
    const stream = (await dialer.dial({ host: 'broker.example', port: first.port }, { timeoutMs: 15_000 })) as Socket;
    expect(stream.remoteAddress).toBe('127.0.0.4');
    expect(await second.connections()).toBe(0);
    stream.destroy();
    await once(stream, 'close');
  });

  it('is tried alternately by its families, beginning with the first', async () => {
    await using last = await listening('127.0.0.4');
    await using _next = await listening('::1', last.port);
    const dialer = named('127.0.0.2', '127.0.0.4', '::1');
    const stream = (await dialer.dial({ host: 'broker.example', port: last.port }, { timeoutMs: 15_000 })) as Socket;
    expect(stream.remoteAddress).toBe('::1');
    stream.destroy();
    await once(stream, 'close');
  });

  it('leaves no attempt behind, whether another one connects or none', async () => {
    await using server = await listening('127.0.0.4');
    await using _dead = await deaf(server.port, '127.0.0.3');
    const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
    const before = sockets();
    const endpoint = { host: 'broker.example', port: server.port };
    const stream = (await named('127.0.0.3', '127.0.0.4').dial(endpoint, { timeoutMs: 15_000 })) as Socket;
    stream.destroy();
    await expect(named('127.0.0.3').dial(endpoint, { timeoutMs: 50 })).rejects.toMatchObject({ failure: 'no-answer' });
    await expect.poll(async () => [sockets() <= before, await server.connections()]).toEqual([true, 0]);
  });

  it('fails as its first address when none connects, within its time, and at once when aborted', async () => {
    const port = await freePort();
    await using _dead = await deaf(port, '127.0.0.3');
    const dial = (dialer: ReturnType<typeof named>, timeoutMs: number, signal?: AbortSignal) =>
      dialer.dial({ host: 'broker.example', port }, { timeoutMs, ...(signal && { signal }) });
    const refused = { failure: 'refused', tried: { address: 'broker.example', port } };
    await expect(dial(named('127.0.0.2', '::1', '127.0.0.4'), 15_000)).rejects.toMatchObject(refused);
    await expect(dial(named('127.0.0.2', '127.0.0.3'), 700)).rejects.toMatchObject({ failure: 'no-answer' });
    await expect(dial(named(), 15_000)).rejects.toMatchObject({ failure: 'unknown-name' });
    const unknown = createDirectDialer(() => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })));
    await expect(dial(unknown, 15_000)).rejects.toMatchObject({ failure: 'unknown-name' });
    await expect(
      dial(
        createDirectDialer(() => new Promise(() => {})),
        50,
      ),
    ).rejects.toMatchObject({ failure: 'no-answer' });
    const ending = new AbortController();
    const dialled = dial(named('127.0.0.3', '127.0.0.3'), 60_000, ending.signal);
    ending.abort(new Error('over'));
    await expect(dialled).rejects.toThrow('over');
  });
});
