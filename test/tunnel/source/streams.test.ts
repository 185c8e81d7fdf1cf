import { createHash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { proxyLimits } from '../../../src/lib/tunnel/link/index.ts';
import { createSourceStreams } from '../../../src/lib/tunnel/source/streams.ts';
import type { TunnelMessage } from '../../../src/lib/tunnel/wire.ts';
import { client, createWorld, type World } from '../second-opinion/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

type Sent = Partial<TunnelMessage> & Pick<TunnelMessage, 'type'>;

/** Streams of one service over a wire that keeps what is sent until the test takes it. */
async function setUp(limits = proxyLimits) {
  const sent: Sent[] = [];
  let pending = 0;
  let highest = 0;
  const streams = createSourceStreams({ services: ['web'], clock: systemClock, limits, onEvent: () => {} });
  streams.attach({
    pendingBytes: () => pending,
    send(message) {
      sent.push({ ...message, ...(message.payload && { payload: Buffer.from(message.payload) }) });
      pending += message.payload?.length ?? 0;
      highest = Math.max(highest, pending);
    },
  });
  const { port } = await world.service((socket) => streams.accept('web', socket));
  world.onClose(() => streams.detach());
  return {
    streams,
    port,
    sent,
    highest: () => highest,
    /** What waits in the WebSocket is gone. */
    take() {
      pending = 0;
      streams.sent();
    },
  };
}

test('what waits in the WebSocket is bounded, whatever 10 clients write; all of it arrives in order', async () => {
  const { port, sent, highest, take } = await setUp();
  const whole = randomBytes(3_000_000);
  const clients = Array.from({ length: 10 }, () => client(port));
  for (const { socket } of clients) socket.write(whole);
  const bytesOf = (id: number) => sent.filter(({ type, connectionId }) => type === 'data' && connectionId === id);
  await expect
    .poll(
      () => {
        take();
        return sent.reduce((sum, { payload }) => sum + (payload?.length ?? 0), 0);
      },
      { interval: 1 },
    )
    .toBe(10 * whole.length);
  expect(highest()).toBeGreaterThan(proxyLimits.unsentPauseBytes);
  expect(highest()).toBeLessThanOrEqual(proxyLimits.unsentPauseBytes + proxyLimits.chunkBytes);
  const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  for (let id = 1; id <= 10; id += 1) {
    expect(hash(Buffer.concat(bytesOf(id).map(({ payload }) => payload as Uint8Array)))).toBe(hash(whole));
  }
});

test('more clients than allowed are reset, and nothing is sent for them', async () => {
  const { port, sent } = await setUp({ ...proxyLimits, connectionsPerService: 2 });
  const clients = [client(port), client(port), client(port)];
  await Promise.race(clients.map(({ ended }) => ended));
  await expect.poll(() => clients.filter(({ socket }) => socket.destroyed)).toHaveLength(1);
  expect(sent.map(({ type, connectionId }) => [type, connectionId])).toEqual([
    ['stream-start', 1],
    ['connection-start', 2],
  ]);
});

test('too much for all clients together resets the one that reads least', async () => {
  const { port, streams, sent } = await setUp({ ...proxyLimits, queueTotalBytes: 600_000 });
  const [one, two] = [client(port), client(port)];
  await expect.poll(() => sent.length).toBe(2);
  for (const { socket } of [one, two]) socket.pause();
  const message = { typeNumber: 1, streamId: 1, ignorable: false, serviceId: 'web', availableServiceIds: [] };
  const data = (connectionId: number, size: number) =>
    streams.handle({ ...message, type: 'data', payload: Buffer.alloc(size), connectionId });
  data(2, 1_000);
  // More than the kernel takes of a client that does not read.
  for (let at = 0; at < 3_000 && sent.length === 2; at += 1) {
    data(1, 16_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(sent.slice(2)).toEqual([{ type: 'connection-reset', streamId: 1, serviceId: 'web', connectionId: 1 }]);
  two.socket.resume();
  expect(await two.until(1_000)).toHaveLength(1_000);
});
