import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { DialError, dialFailureOf, directDialer, isLoopback, reachEndpoint } from '../../src/lib/net/index.ts';
import { listening } from '../listening.ts';

async function accepting() {
  let accepted = 0;
  const server = createServer((socket) => {
    accepted += 1;
    socket.resume();
  });
  return { ...(await listening(server)), accepted: () => accepted };
}

describe('connecting to host and port', () => {
  it('reports its duration, and leaves no connection', async () => {
    await using server = await accepting();
    const endpoint = { host: '127.0.0.1', port: server.port };
    const expected = { reached: true, tookMs: expect.any(Number), localAddress: '127.0.0.1' };
    expect(await reachEndpoint(directDialer, endpoint, { timeoutMs: 1_000 })).toEqual(expected);
    await expect.poll(server.accepted).toBe(1);
  });

  it('fails as refused where nothing listens', async () => {
    const server = await accepting();
    await server[Symbol.asyncDispose]();
    const endpoint = { host: '127.0.0.1', port: server.port };
    const expected = { reached: false, failure: 'refused' };
    expect(await reachEndpoint(directDialer, endpoint, { timeoutMs: 1_000 })).toMatchObject(expected);
  });

  it('reports each kind of failure of a dialer, and throws other errors', async () => {
    const endpoint = { host: 'robot', port: 1 };
    for (const failure of ['no-route', 'no-answer', 'unknown-name', 'cut', 'other'] as const) {
      const dialer = { way: 'test', dial: () => Promise.reject(new DialError(failure, { address: 'robot' })) };
      expect(await reachEndpoint(dialer, endpoint, { timeoutMs: 10 })).toMatchObject({ reached: false, failure });
    }
    const broken = { way: 'test', dial: () => Promise.reject(new TypeError('bug')) };
    await expect(reachEndpoint(broken, endpoint, { timeoutMs: 10 })).rejects.toThrow(TypeError);
    await expect(
      reachEndpoint(directDialer, { host: '127.0.0.1', port: 1 }, { timeoutMs: 10, signal: AbortSignal.abort() }),
    ).rejects.toThrow();
  });

  it('classifies errors of the operating system', () => {
    const codes = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'ENOTFOUND', 'ECONNRESET', 'EWHATEVER'];
    const kinds = codes.map((code) => dialFailureOf(Object.assign(new Error(code), { code })));
    expect(kinds.join(' ')).toBe('refused no-route no-route no-answer unknown-name cut other');
    expect(dialFailureOf(undefined)).toBe('other');
  });
});

it('an address inside this machine is recognised in every form', () => {
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1']) {
    expect(isLoopback(address)).toBe(true);
  }
  for (const address of '192.0.2.7 0.0.0.0 :: 2001:db8::1 localhost  1127.0.0.1 ::ffff:192.0.2.1'.split(' ')) {
    expect(isLoopback(address)).toBe(false);
  }
});
