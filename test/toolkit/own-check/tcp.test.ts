import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { type Dialer, directDialer } from '../../../src/lib/net/index.ts';
import { checkTcp } from '../../../src/lib/toolkit/own-check/tcp.ts';
import { closedPort, context, listening } from './peers.ts';

const of = (port: number) => ({ host: '127.0.0.1', port, timeoutS: 2 });

test('a port that accepts connections is reachable, from this machine', async () => {
  const port = await listening(createServer());
  expect(await checkTcp(directDialer, of(port), context)).toMatchObject({
    reachable: true,
    failure: null,
    from: 'from this machine',
    detail: `127.0.0.1:${port} accepts connections, from this machine`,
  });
});

test('a port on which nothing listens is not reachable, with the reason', async () => {
  const found = await checkTcp(directDialer, of(await closedPort()), context);
  expect(found).toMatchObject({ reachable: false, failure: 'refused' });
});

test('a port that does not answer is not reachable after the timeout', async () => {
  const silent: Dialer = {
    way: 'direct',
    dial: (endpoint, options) => directDialer.dial({ ...endpoint, host: '127.0.0.1' }, { ...options, timeoutMs: 0 }),
  };
  expect(await checkTcp(silent, of(await closedPort()), context)).toMatchObject({ reachable: false });
});

test('through an SSH host it says so', async () => {
  const port = await listening(createServer());
  const via: Dialer = { ...directDialer, way: 'via it@gateway' };
  expect(await checkTcp(via, of(port), context)).toMatchObject({ from: 'through it@gateway' });
});

test('an interruption is no result', async () => {
  const stop = AbortSignal.abort(new Error('stop'));
  await expect(checkTcp(directDialer, of(1), { ...context, signal: stop })).rejects.toThrow('stop');
});
