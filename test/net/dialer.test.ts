import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createDirectDialer } from '../../src/lib/net/dialer.ts';
import { freePort } from '../free-port.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { shared } from '../lifecycle/shared.ts';
import { listening } from '../listening.ts';
import { startProcess } from '../process.ts';

/** A listener whose queue holds two connections. */
const LISTEN = `
const [port, host] = process.argv.slice(1);
require('net').createServer((s) => s.on('error', () => {})).listen({ port: +port, host, backlog: 1 }, () => console.log('listening'));
`;

/** A listener whose queue is full: the kernel drops what would connect, as a lost network does, until it accepts again. */
async function deaf(port: number, host: string) {
  const program = startProcess(process.execPath, ['-e', LISTEN, '--', `${port}`, host]);
  await program.untilOutput('listening');
  program.child.kill('SIGSTOP');
  const fillers = [1, 2].map(() => connect({ host, port }).on('error', () => {}));
  await Promise.all(fillers.map((filler) => once(filler, 'connect')));
  return {
    accept: () => program.child.kill('SIGCONT'),
    async [Symbol.asyncDispose]() {
      for (const filler of fillers) filler.destroy();
      program.child.kill('SIGCONT');
      await program[Symbol.asyncDispose]();
    },
  };
}

async function accepting(host: string, port = 0) {
  const server = createServer((socket) => socket.resume());
  const running = await listening(server, port, host);
  const connections = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  return { ...running, connections };
}

const DEAD = '127.0.0.3';
const port = await freePort();
shared(await deaf(port, DEAD));

const clock = createFakeClock();
const named = (...addresses: string[]) =>
  createDirectDialer({ clock, lookup: async () => addresses.map((address) => ({ address })) });

/** The connection, or the error, after so much time. */
async function dial(dialer: ReturnType<typeof named>, timeoutMs: number, passesMs: number, to = port) {
  const dialled = dialer.dial({ host: 'broker.example', port: to }, { timeoutMs }) as Promise<Socket>;
  dialled.catch(() => {});
  await clock.advance(passesMs);
  return await dialled;
}

async function end(stream: Socket): Promise<void> {
  stream.destroy();
  await once(stream, 'close');
}

describe('a name with several addresses', () => {
  it.each([
    ['first', ['127.0.0.2', DEAD]],
    ['last', [DEAD, '127.0.0.2']],
  ])('is reached by its slow address, the %s, when the other is dead', async (_, order) => {
    await using slow = await deaf(port, '127.0.0.2');
    const dialled = named(...order).dial({ host: 'broker.example', port }, { timeoutMs: 15_000 });
    // Both are tried by then; the next SYN, which the kernel sends a second after the first, is answered.
    await clock.advance(250);
    slow.accept();
    const stream = (await dialled) as Socket;
    expect(stream.remoteAddress).toBe('127.0.0.2');
    stream.destroy();
  });

  it('is reached past addresses that refuse, and keeps no other connection', async () => {
    await using first = await accepting('127.0.0.4');
    await using second = await accepting('127.0.0.5', first.port);
    const stream = await dial(named('127.0.0.2', '::1', '127.0.0.4', '127.0.0.5'), 15_000, 0, first.port);
    expect(stream.remoteAddress).toBe('127.0.0.4');
    expect(await second.connections()).toBe(0);
    await end(stream);
  });

  it('is tried alternately by its families, beginning with the first', async () => {
    await using last = await accepting('127.0.0.4');
    await using _next = await accepting('::1', last.port);
    const stream = await dial(named('127.0.0.2', '127.0.0.4', '::1'), 15_000, 0, last.port);
    expect(stream.remoteAddress).toBe('::1');
    await end(stream);
  });

  it('is reached by the addresses at hand when a query is never answered, and is not asked for when they are given', async () => {
    await using server = await accepting('127.0.0.4');
    const half = createDirectDialer({
      clock,
      lookup: async (_host, record) => (record === 'A' ? [{ address: '127.0.0.4' }] : new Promise(() => {})),
    });
    await end(await dial(half, 15_000, 250, server.port));
    const unasked = createDirectDialer({ clock, lookup: () => expect.fail('a second query') });
    const known = { timeoutMs: 15_000, addresses: ['127.0.0.4'] };
    await end((await unasked.dial({ host: 'broker.example', port: server.port }, known)) as Socket);
  });

  it('leaves no attempt behind, whether another one connects or none', async () => {
    await using server = await accepting('127.0.0.4', port);
    const sockets = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
    const before = sockets();
    (await dial(named(DEAD, '127.0.0.4'), 15_000, 250)).destroy();
    await expect(dial(named(DEAD), 50, 50)).rejects.toMatchObject({ failure: 'no-answer' });
    await expect.poll(async () => [sockets() <= before, await server.connections()]).toEqual([true, 0]);
    expect(clock.pending).toBe(0);
  });

  it('fails as its first address when none connects, within its time, and at once when aborted', async () => {
    const refused = { failure: 'refused', tried: { address: 'broker.example', port } };
    await expect(dial(named('127.0.0.2', '::1', '127.0.0.4'), 15_000, 0)).rejects.toMatchObject(refused);
    const silent = { failure: 'no-answer', tried: { forMs: 700 } };
    await expect(dial(named('127.0.0.2', DEAD), 700, 700)).rejects.toMatchObject(silent);
    await expect(dial(named(), 15_000, 0)).rejects.toMatchObject({ failure: 'unknown-name' });
    const unknown = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));
    const unnamed = createDirectDialer({ clock, lookup: unknown });
    await expect(dial(unnamed, 15_000, 0)).rejects.toMatchObject({ failure: 'unknown-name' });
    const never = createDirectDialer({ clock, lookup: () => new Promise(() => {}) });
    // No packet was sent to the host, so that no firewall is to blame.
    await expect(dial(never, 50, 50)).rejects.toMatchObject({ failure: 'no-name-server' });
    const ending = new AbortController();
    const dialled = named(DEAD, DEAD).dial({ host: 'x', port }, { timeoutMs: 60_000, signal: ending.signal });
    ending.abort(new Error('over'));
    await expect(dialled).rejects.toThrow('over');
  });
});
