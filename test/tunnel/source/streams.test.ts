import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { proxyLimits } from '../../../src/lib/tunnel/link/index.ts';
import { createSourceStreams } from '../../../src/lib/tunnel/source/streams.ts';
import { encodeFrame } from '../../../src/lib/tunnel/wire/codec.ts';
import { isFull } from '../../properties.ts';
import { client, createWorld, type World } from '../relay-world.ts';
import { type Frame, kinds, unpack } from '../second-opinion/codec.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

const message = { typeNumber: 0, streamId: 0, ignorable: false, payload: new Uint8Array(), connectionId: 0 };

/** Streams of one service over a wire that keeps what is sent until the test takes it. */
async function setUp(limits = proxyLimits) {
  const sent: Frame[] = [];
  const held: boolean[] = [];
  let pending = 0;
  let highest = 0;
  const streams = createSourceStreams({ services: ['web'], clock: systemClock, limits, onEvent: () => {} });
  const engine = streams.engine({
    unsentBytes: () => pending,
    setHeld: (isHeld) => void held.push(isHeld),
    send(message) {
      const bytes = encodeFrame(message);
      sent.push(unpack(Buffer.from(bytes).subarray(2)));
      pending += bytes.length;
      highest = Math.max(highest, pending);
    },
  });
  engine.receive({ ...message, type: 'service-ids', typeNumber: 5, serviceId: '', availableServiceIds: ['web'] });
  const { port } = await world.service((socket) => streams.accept('web', socket));
  world.onClose(() => engine.destroy());
  return {
    engine,
    held,
    port,
    sent,
    highest: () => highest,
    /** What waits in the WebSocket is gone. */
    take() {
      pending = 0;
      engine.sent();
    },
  };
}

test('what waits in the WebSocket is bounded, whatever 10 clients write; all of it arrives in order', {
  tags: 'property',
}, async () => {
  const { port, sent, highest, take } = await setUp();
  const whole = randomBytes(isFull ? 3_000_000 : 300_000);
  const clients = Array.from({ length: 10 }, () => client(port));
  for (const { socket } of clients) socket.write(whole);
  const bytesOf = (id: number) => sent.filter(({ type, connection }) => type === kinds.data && connection === id);
  for (let bytes = 0; bytes < 10 * whole.length; ) {
    await new Promise((resolve) => setImmediate(resolve));
    take();
    bytes = sent.reduce((sum, { payload }) => sum + payload.length, 0);
  }
  expect(highest()).toBeGreaterThan(proxyLimits.unsentPauseBytes);
  expect(highest()).toBeLessThanOrEqual(proxyLimits.unsentPauseBytes + proxyLimits.chunkBytes + 100);
  for (let id = 1; id <= 10; id += 1) {
    expect(Buffer.concat(bytesOf(id).map(({ payload }) => payload)).equals(whole)).toBe(true);
  }
});

test('more clients than allowed are reset, and nothing is sent for them', async () => {
  const { port, sent } = await setUp({ ...proxyLimits, connectionsPerService: 2 });
  const clients = [client(port), client(port), client(port)];
  await Promise.race(clients.map(({ ended }) => ended));
  await expect.poll(() => clients.filter(({ socket }) => socket.destroyed)).toHaveLength(1);
  expect(sent.map(({ type, connection }) => [type, connection])).toEqual([
    [kinds.streamStart, 1],
    [kinds.connectionStart, 2],
  ]);
});

test('too much for all clients together resets the one that reads least', async () => {
  const { port, engine, sent } = await setUp({ ...proxyLimits, queueTotalBytes: 600_000 });
  const [one, two] = [client(port), client(port)];
  await expect.poll(() => sent.length).toBe(2);
  for (const { socket } of [one, two]) socket.pause();
  const ids = { streamId: 1, serviceId: 'web', availableServiceIds: [] };
  const common = { ...message, ...ids, type: 'data', typeNumber: 1 } as const;
  const data = (connectionId: number, size: number) =>
    engine.receive({ ...common, payload: Buffer.alloc(size), connectionId });
  data(2, 1_000);
  // More than the kernel takes of a client that does not read.
  for (let at = 0; at < 3_000 && sent.length === 2; at += 1) {
    data(1, 16_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(sent.slice(2)).toEqual([
    expect.objectContaining({ type: kinds.connectionReset, stream: 1, service: 'web', connection: 1 }),
  ]);
  two.socket.resume();
  expect(await two.until(1_000)).toHaveLength(1_000);
});
