import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { type Dialer, directDialer } from '../../../src/lib/net/index.ts';
import { checkTcp } from '../../../src/lib/toolkit/own-check/tcp.ts';
import { closedPort, context, listening, toolkit } from './peers.ts';

const look = (port: number, dialer: Dialer = directDialer, signal = context.signal) =>
  checkTcp({ ...toolkit(), dialer }, { host: '127.0.0.1', port, timeoutS: 2 }, { ...context, signal });

test('a port that accepts connections is reachable, from this machine', async () => {
  const port = await listening(createServer());
  expect(await look(port)).toMatchObject({
    reachable: true,
    failure: null,
    from: 'from this machine',
    detail: `127.0.0.1:${port} accepts connections, from this machine`,
  });
});

test('a port on which nothing listens is not reachable, with the reason', async () => {
  const found = await look(await closedPort());
  expect(found).toMatchObject({ reachable: false, failure: 'refused' });
});

test('a port that does not answer is not reachable after the timeout', async () => {
  const silent: Dialer = {
    way: 'direct',
    dial: (endpoint, options) => directDialer.dial({ ...endpoint, host: '127.0.0.1' }, { ...options, timeoutMs: 0 }),
  };
  expect(await look(await closedPort(), silent)).toMatchObject({ reachable: false });
});

test('through an SSH host it says so', async () => {
  const port = await listening(createServer());
  const via: Dialer = { ...directDialer, way: 'via it@gateway' };
  expect(await look(port, via)).toMatchObject({ from: 'through it@gateway' });
});

test('an interruption is no result', async () => {
  const stop = AbortSignal.abort(new Error('stop'));
  await expect(look(1, directDialer, stop)).rejects.toThrow('stop');
});
