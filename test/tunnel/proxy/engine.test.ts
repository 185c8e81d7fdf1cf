import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { freePort } from '../../free-port.ts';
import { runs } from '../../properties.ts';
import { anyMessage, message, requestTypes } from '../wire/messages.ts';
import { echoWorld, engineWorld } from './engine-world.ts';
import { dataOf, neverConnects, rounds, type Sent, target, until, untilFull } from './world.ts';

const text = (words: string) => new TextEncoder().encode(words);
const start = (about: Partial<Sent> = {}): Sent => ({
  type: 'stream-start',
  streamId: 1,
  serviceId: 'web',
  connectionId: 1,
  ...about,
});
const open = (connectionId: number, about: Partial<Sent> = {}): Sent => ({
  ...start({ connectionId, ...about }),
  type: 'connection-start',
});
const data = (words: string, connectionId = 1, about: Partial<Sent> = {}): Sent => ({
  ...start({ connectionId, ...about }),
  type: 'data',
  payload: text(words),
});

describe('the rules of the destination', () => {
  test('STREAM_START opens a connection; data sent at once, before it is connected, arrives', async () => {
    await using world = await echoWorld();
    world.receive(start(), data('hello '), data('world'));
    await until('echo', () => dataOf(world.sent).toString() === 'hello world');
    expect(world.words()).toEqual([]);
    expect(world.counts).toMatchObject({ open: 1, connections: 1, bytesIn: 11, bytesOut: 11 });
  });

  test.each([
    ['another id', 2],
    ['the same id', 1],
  ])('STREAM_START with %s while one is active drops its connections and starts', async (_, streamId) => {
    await using world = await echoWorld();
    world.receive(start(), open(2));
    await until('both', () => world.sockets.length === 2);
    world.receive(start({ streamId }), data('new', 1, { streamId }));
    await until('echo', () => dataOf(world.sent).toString() === 'new');
    await until('old ones closed', () => world.counts.open === 1);
    world.receive(data('late', 2, { streamId }));
    expect(world.words()).toEqual([]);
    expect(dataOf(world.sent).toString()).toBe('new');
    expect(world.sockets[2]?.destroyed).toBe(false);
  });

  test('CONNECTION_START opens another connection, also with a jump of the id and when no other is open', async () => {
    await using world = await echoWorld();
    world.receive(start({ connectionId: 7, streamId: 3 }));
    world.receive({ type: 'connection-reset', streamId: 3, serviceId: 'web', connectionId: 7 });
    await world.idle();
    world.receive(open(4_000_000_000, { streamId: 3 }), data('x', 4_000_000_000, { streamId: 3 }));
    await until('echo', () => dataOf(world.sent, 4_000_000_000).toString() === 'x');
    expect(world.words()).toEqual([]);
  });

  test('CONNECTION_START of a stream that is not active, or before any, is ignored', async () => {
    await using world = await echoWorld();
    world.receive(open(1), start({ streamId: 5 }), open(2, { streamId: 4 }));
    expect(world.counts.connections).toBe(1);
    expect(world.words()).toEqual([]);
    expect(world.notes).toHaveLength(1);
  });

  test('CONNECTION_START with an open id closes both and sends CONNECTION_RESET', async () => {
    await using world = await echoWorld();
    world.receive(start(), open(2), open(2));
    expect(world.words()).toEqual(['connection-reset web/1/2']);
    await until('one is left', () => world.counts.open === 1);
    world.receive(data('still', 1), data('gone', 2));
    await until('echo', () => dataOf(world.sent).toString() === 'still');
    expect(dataOf(world.sent, 2)).toHaveLength(0);
  });

  test.each([
    ['version 3: CONNECTION_RESET, and the empty stream stays', start(), ['connection-reset web/1/1']],
    ['version 2: STREAM_RESET', start({ connectionId: 0 }), ['stream-reset web/1/0']],
    ['version 1: STREAM_RESET without a service', start({ connectionId: 0, serviceId: '' }), ['stream-reset /1/0']],
  ])('a local connection that fails on STREAM_START, %s', async (_, begin, words) => {
    const port = await freePort();
    await using world = engineWorld(() => connect({ host: '127.0.0.1', port }));
    world.receive(begin, { ...begin, type: 'data', payload: text('lost') });
    await until('reset', () => world.sent.length > 0);
    await world.idle();
    expect(world.words()).toEqual(words);
    expect(world.notes).toEqual(['a connection to the target could not be established']);
  });

  test('after a failed STREAM_START the stream takes CONNECTION_START', async () => {
    await using echo = await target();
    const port = await freePort();
    let isUp = false;
    await using world = engineWorld(() => (isUp ? echo.connect() : connect({ host: '127.0.0.1', port })));
    world.receive(start());
    await until('reset', () => world.sent.length > 0);
    isUp = true;
    world.receive(open(2), data('now', 2));
    await until('echo', () => dataOf(world.sent, 2).toString() === 'now');
  });

  test('a local connection that fails on CONNECTION_START resets that one only', async () => {
    await using echo = await target();
    const port = await freePort();
    let isUp = true;
    await using world = engineWorld(() => (isUp ? echo.connect() : connect({ host: '127.0.0.1', port })));
    world.receive(start());
    isUp = false;
    world.receive(open(2));
    await until('reset', () => world.sent.length > 0);
    world.receive(data('alive'));
    await until('echo', () => dataOf(world.sent).toString() === 'alive');
    expect(world.words()).toEqual(['connection-reset web/1/2']);
  });

  test('a target that does not answer is given up after the timeout, and holds up no other connection', async () => {
    await using echo = await target();
    let isSilent = true;
    await using world = engineWorld(() => (isSilent ? neverConnects() : echo.connect()), {
      limits: { connectMs: 300 },
    });
    world.receive(start(), data('waits'));
    isSilent = false;
    world.receive(open(2), data('passes', 2));
    await until('echo', () => dataOf(world.sent, 2).toString() === 'passes');
    expect(world.words()).toEqual([]);
    await world.clock.advance(300);
    await until('reset', () => world.words().includes('connection-reset web/1/1'));
  });

  test('DATA with another stream, an unknown connection or a service of others is dropped', async () => {
    await using world = await echoWorld({ services: ['web', 'log'] });
    world.receive(start(), data('a', 1, { streamId: 2 }), data('b', 9), data('c', 1, { serviceId: 'log' }));
    world.receive(data('d', 1, { serviceId: 'root' }), data('e', 1, { serviceId: '' }), data('right'));
    await until('echo', () => dataOf(world.sent).toString() === 'right');
    expect(world.words()).toEqual([]);
    expect(world.counts.bytesIn).toBe(5);
    expect(world.notes).toHaveLength(1);
  });

  test('STREAM_RESET writes what waits, closes all connections of the service, and no other', async () => {
    const got: string[] = [];
    await using sink = await target((socket) => socket.on('data', (bytes) => got.push(bytes.toString())));
    await using world = engineWorld(sink.connect, { services: ['web', 'log'] });
    world.receive(start({ serviceId: 'log' }), start(), data('last words'), open(2));
    world.receive({ type: 'stream-reset', streamId: 1, serviceId: 'web' });
    await until('one is left', () => world.counts.open === 1);
    await until('last words', () => got.join('') === 'last words');
    world.receive(data('dropped'), open(3));
    expect(world.counts.connections).toBe(3);
    expect(world.words()).toEqual([]);
  });

  test('STREAM_RESET and CONNECTION_RESET without a match are ignored, and none is answered', async () => {
    await using world = await echoWorld();
    world.receive({ type: 'stream-reset', streamId: 1, serviceId: 'web' });
    world.receive(start(), { type: 'stream-reset', streamId: 2, serviceId: 'web' });
    world.receive({ type: 'connection-reset', streamId: 1, serviceId: 'web', connectionId: 2 });
    world.receive({ type: 'connection-reset', streamId: 2, serviceId: 'web', connectionId: 1 });
    world.receive(data('alive'));
    await until('echo', () => dataOf(world.sent).toString() === 'alive');
    expect(world.words()).toEqual([]);
  });

  test.each(['connection-reset', 'session-reset'] as const)(
    '%s writes what waits, and closes; its echo is tolerated',
    async (type) => {
      const got: string[] = [];
      await using sink = await target((socket) => socket.on('data', (bytes) => got.push(bytes.toString())));
      await using world = engineWorld(sink.connect);
      const reset: Sent = { ...start(), type };
      world.receive(start(), data('last words'), reset, reset);
      await world.idle();
      await until('last words', () => got.join('') === 'last words');
      expect(world.sent).toEqual([]);
    },
  );

  test('SESSION_RESET closes every stream and awaits new ones', async () => {
    await using world = await echoWorld({ services: ['web', 'log'] });
    world.receive(start(), start({ serviceId: 'log' }), { type: 'session-reset' });
    await world.idle();
    world.receive(data('dropped'), start(), data('again'));
    await until('echo', () => dataOf(world.sent).toString() === 'again');
    expect(world.words()).toEqual([]);
  });

  test('a connection id that is used again, while the old connection still writes its rest, is another connection', async () => {
    const got = new Map<number, string>();
    await using echo = await target((socket) => {
      const index = echo.sockets.indexOf(socket);
      socket.on('data', (bytes) => {
        got.set(index, (got.get(index) ?? '') + bytes.toString());
        socket.write(bytes);
      });
    });
    await using world = engineWorld(echo.connect);
    world.receive(start(), data('old'));
    world.receive({ type: 'connection-reset', streamId: 1, serviceId: 'web', connectionId: 1 });
    world.receive(open(1), data('new'));
    await until('both', () => got.size === 2);
    await until('old one closed', () => world.counts.open === 1);
    await until('echo', () => dataOf(world.sent).length > 0);
    expect([...got.values()].toSorted()).toEqual(['new', 'old']);
    expect(dataOf(world.sent).toString()).toBe('new');
    expect(world.words()).toEqual([]);
  });

  test('a connection id that is used again after the end of the target is another connection', async () => {
    await using page = await target((socket) => socket.once('data', (bytes) => socket.end(bytes)));
    await using world = engineWorld(page.connect);
    world.receive(start(), data('one'));
    await until('reset', () => world.words().length === 1);
    world.receive(open(1), data('two'));
    await until('second reset', () => world.words().length === 2);
    expect(world.words()).toEqual(['connection-reset web/1/1', 'connection-reset web/1/1']);
    expect(dataOf(world.sent).toString()).toBe('onetwo');
    await world.idle();
  });

  test('SERVICE_IDS again: the same set in another order is accepted, another one ends the session', async () => {
    await using world = engineWorld(neverConnects, { services: ['web', 'log'] });
    const ids = (...availableServiceIds: string[]) =>
      world.engine.receive(message({ type: 'service-ids', availableServiceIds }));
    expect(ids('log', 'web')).toBeNull();
    expect(ids('web')).toMatchObject({ kind: 'configuration' });
    expect(ids('web', 'log', 'ssh')).toMatchObject({ kind: 'configuration' });
    expect(ids()).toMatchObject({ kind: 'configuration' });
  });

  test.each([
    ['none', []],
    ['another', ['ssh']],
    ['fewer', ['web']],
    ['more', ['web', 'log', 'ssh']],
    ['as many, but others', ['web', 'web']],
  ])('SERVICE_IDS with %s', (_, availableServiceIds) => {
    const world = engineWorld(neverConnects, { services: ['web', 'log'], isReady: false });
    expect(world.engine.receive(message({ type: 'service-ids', availableServiceIds }))?.kind).toBe('configuration');
    expect(world.engine.isReady()).toBe(false);
  });

  test('nothing but SERVICE_IDS may come first', () => {
    const world = engineWorld(neverConnects, { isReady: false });
    expect(world.engine.receive(message({ ...start(), ignorable: true }))?.kind).toBe('protocol');
    expect(world.engine.receive(message({ type: 'session-reset' }))?.kind).toBe('protocol');
    expect(world.engine.receive(message({ type: 'unknown', typeNumber: 90 }))?.kind).toBe('protocol');
    expect(world.engine.receive(message({ type: 'unknown', typeNumber: 90, ignorable: true }))).toBeNull();
    expect(world.counts.connections).toBe(0);
  });

  test('an unknown type is ignored when it may be, and resets its stream otherwise', async () => {
    await using world = await echoWorld({ services: ['web', 'log'] });
    world.receive(start(), start({ serviceId: 'log' }));
    world.receive({ ...start(), type: 'unknown', typeNumber: 42, ignorable: true });
    world.receive({ type: 'unknown', typeNumber: 43 }, { ...start({ streamId: 9 }), type: 'unknown', typeNumber: 44 });
    expect(world.words()).toEqual([]);
    world.receive({ ...start(), type: 'unknown', typeNumber: 45 });
    expect(world.words()).toEqual(['stream-reset web/1/0']);
    await until('one is left', () => world.counts.open === 1);
    world.receive(data('other', 1, { serviceId: 'log' }));
    await until('echo', () => dataOf(world.sent, 1, 'log').toString() === 'other');
  });

  test('STREAM_START for a service that is not in the list is answered with STREAM_RESET', () => {
    const world = engineWorld(neverConnects, { services: ['web', 'log'] });
    world.receive(start({ serviceId: 'ssh' }), start({ serviceId: 'WEB' }), start({ serviceId: '127.0.0.1:22' }));
    world.receive(start({ serviceId: '', connectionId: 0, streamId: 4 }));
    expect(world.words()).toEqual([
      'stream-reset ssh/1/0',
      'stream-reset WEB/1/0',
      'stream-reset 127.0.0.1:22/1/0',
      'stream-reset /4/0',
    ]);
    expect(world.counts.connections).toBe(0);
  });

  test('the end of the target sends the rest and then CONNECTION_RESET', async () => {
    await using page = await target((socket) => socket.end(Buffer.alloc(300_000, 7)));
    await using world = engineWorld(page.connect);
    world.receive(start());
    await until('reset', () => world.words().length > 0);
    expect(world.words()).toEqual(['connection-reset web/1/1']);
    expect(world.sent.at(-1)?.type).toBe('connection-reset');
    expect(dataOf(world.sent)).toHaveLength(300_000);
    expect(Math.max(...world.sent.map(({ payload }) => payload.length))).toBeLessThanOrEqual(32_768);
    await world.idle();
  });

  test('a target that resets the connection', async () => {
    await using rude = await target((socket) => socket.once('data', () => socket.resetAndDestroy()));
    await using world = engineWorld(rude.connect);
    world.receive(start(), data('x'));
    await until('reset', () => world.words().length > 0);
    expect(world.words()).toEqual(['connection-reset web/1/1']);
  });

  test('orderly shutdown resets every open stream', async () => {
    await using world = await echoWorld({ services: ['web', 'log'] });
    world.receive(start(), open(2), start({ serviceId: 'log', streamId: 8 }));
    await world.engine.shutDown();
    expect(world.words()).toEqual(['stream-reset web/1/0', 'stream-reset log/8/0']);
    expect(world.counts.open).toBe(0);
  });
});

describe('versions', () => {
  test.each([
    ['1', { serviceId: '', connectionId: 0 }],
    ['2', { serviceId: 'web', connectionId: 0 }],
  ])('version %s is answered in its format', async (_, ids) => {
    await using echo = await target((socket) => socket.once('data', (bytes) => socket.end(bytes)));
    await using world = engineWorld(echo.connect);
    world.receive(start(ids), data('old', 0, ids));
    await until('reset', () => world.words().length > 0);
    expect(world.sent).toEqual([
      message({ type: 'data', streamId: 1, payload: text('old'), ...ids }),
      message({ type: 'stream-reset', streamId: 1, ...ids }),
    ]);
    world.receive(data('dropped', 0, ids), start({ ...ids, streamId: 2 }), data('new', 0, { ...ids, streamId: 2 }));
    await until('second', () => world.words().length > 1);
    expect(world.words()[1]).toBe(`stream-reset ${ids.serviceId}/2/0`);
  });

  test('CONNECTION_START in a stream of version 2 resets the stream, since it cannot be refused otherwise', async () => {
    await using world = await echoWorld();
    world.receive(start({ connectionId: 0 }), open(2));
    expect(world.words()).toEqual(['stream-reset web/1/0']);
    await world.idle();
  });

  test('each stream is answered in the format of its own start', async () => {
    await using world = await echoWorld({ services: ['web', 'log'] });
    world.receive(start(), start({ serviceId: 'log', connectionId: 0 }));
    world.receive(data('3'), data('2', 0, { serviceId: 'log' }));
    await until('both', () => world.sent.length === 2);
    expect(dataOf(world.sent, 1, 'web').toString()).toBe('3');
    expect(dataOf(world.sent, 0, 'log').toString()).toBe('2');
  });
});

describe('limits', () => {
  test('floods of STREAM_START open no more sockets than allowed', async () => {
    await using world = await echoWorld();
    for (let streamId = 1; streamId <= 5_000; streamId += 1) world.receive(start({ streamId }));
    expect(world.counts.open).toBeLessThanOrEqual(128);
    await until('at most one is left', () => world.counts.open <= 1);
    world.receive(start({ streamId: 6_000 }), data('alive', 1, { streamId: 6_000 }));
    await until('echo', () => dataOf(world.sent).toString() === 'alive');
  });

  test('connections per service and in total', async () => {
    await using world = await echoWorld({
      services: ['web', 'log'],
      limits: { connectionsPerService: 3, connectionsTotal: 4 },
    });
    world.receive(start(), open(2), open(3), open(4));
    expect(world.words()).toEqual(['connection-reset web/1/4']);
    const log = { serviceId: 'log' };
    world.receive(start(log), open(2, log));
    expect(world.words()).toEqual(['connection-reset web/1/4', 'connection-reset log/1/2']);
    world.receive({ type: 'connection-reset', streamId: 1, serviceId: 'web', connectionId: 2 });
    await until('room', () => world.counts.open === 3);
    world.receive(open(9), data('fits', 9));
    await until('echo', () => dataOf(world.sent, 9).toString() === 'fits');
  });

  test('a target that does not read loses its connection at the limit, and no other does', async () => {
    await using mixed = await target((socket) => {
      if (mixed.sockets.length === 1) socket.pause();
      else socket.pipe(socket);
    });
    await using world = engineWorld(mixed.connect, { limits: { queueBytes: 1_000_000 } });
    world.receive(start());
    await until('first', () => mixed.sockets.length === 1);
    world.receive(open(2));
    const payload = new Uint8Array(60_000);
    for (let count = 0; count < 1_000 && world.words().length === 0; count += 1) {
      world.receive({ ...data(''), payload });
      await rounds(1);
    }
    expect(world.words()).toEqual(['connection-reset web/1/1']);
    world.receive(data('alive', 2));
    await until('echo', () => dataOf(world.sent, 2).toString() === 'alive');
  });

  test('single bytes count with their overhead', () => {
    const world = engineWorld(neverConnects, { limits: { queueBytes: 100_000 } });
    world.receive(start());
    let count = 0;
    for (; world.words().length === 0; count += 1) world.receive(data('x'));
    expect(count).toBeLessThan(250);
  });

  test('the longest queue is reset when all of them together are too long', async () => {
    const world = engineWorld(neverConnects, { limits: { queueTotalBytes: 500_000 } });
    world.receive(start(), open(2), open(3));
    const write = (size: number, connectionId: number) =>
      world.receive({ ...data('', connectionId), payload: new Uint8Array(size) });
    for (let count = 0; count < 4; count += 1) write(60_000, 2);
    for (let count = 0; count < 3; count += 1) write(60_000, 3);
    expect(world.words()).toEqual([]);
    write(60_000, 1);
    write(60_000, 1);
    expect(world.words()).toEqual(['connection-reset web/1/2']);
    await world.engine.destroy();
  });

  test('a stalled WebSocket pauses the target, and nothing is lost when it goes on', async () => {
    const size = 20_000_000;
    const sentByTarget = Buffer.alloc(size, 'abcdefghijk');
    await using source = await target((socket) => socket.end(sentByTarget));
    await using world = engineWorld(source.connect);
    world.unsent = 2_000_000;
    world.receive(start());
    await untilFull('full', () => source.sockets[0]?.writableLength ?? 0);
    expect(world.counts.bytesOut).toBe(0);
    // Above the half it stays paused.
    world.unsent = 600_000;
    world.engine.sent();
    expect(world.counts.bytesOut).toBe(0);
    world.unsent = 0;
    world.engine.sent();
    await until('end', () => world.words().length === 1);
    expect(dataOf(world.sent).equals(sentByTarget)).toBe(true);
  });

  test('50 connections take turns', async () => {
    await using source = await target((socket) => socket.end(Buffer.alloc(100_000)));
    await using world = engineWorld(source.connect);
    world.unsent = 2_000_000;
    world.receive(start());
    for (let id = 2; id <= 50; id += 1) world.receive(open(id));
    await until('all', () => source.sockets.length === 50);
    await rounds();
    const messagesOf = () => {
      const counts = new Map<number, number>();
      for (const { type, connectionId } of world.sent)
        if (type === 'data') counts.set(connectionId, (counts.get(connectionId) ?? 0) + 1);
      return counts;
    };
    // One message at a time passes.
    world.unsent = 0;
    for (let count = 0; count < 100; count += 1) {
      world.engine.sent();
      await rounds(1);
      if (world.sent.length >= 50) break;
    }
    await until('every one', () => messagesOf().size === 50);
    const first50 = new Set(world.sent.slice(0, 50).map(({ connectionId }) => connectionId));
    expect(first50.size).toBe(50);
    await until('ends', () => world.words().length === 50);
    expect([...messagesOf().keys()].every((id) => dataOf(world.sent, id).length === 100_000)).toBe(true);
  });
});

test('any messages in any order: nothing throws, nothing is sent for a stream that is not active, all sockets close', {
  tags: 'property',
}, async () => {
  await using echo = await target();
  const ids = { streamId: fc.integer({ min: 1, max: 2 }), connectionId: fc.nat({ max: 3 }) };
  const likely = fc
    .record({
      type: fc.constantFrom(...requestTypes),
      serviceId: fc.constantFrom('web', 'log', '', 'ssh'),
      payload: fc.uint8Array({ maxLength: 20 }),
      ...ids,
    })
    .map((each) => message(each as Sent));
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ arbitrary: likely, weight: 8 }, anyMessage), { maxLength: 60 }),
      async (messages) => {
        await using world = engineWorld(echo.connect, { services: ['web', 'log'] });
        for (const each of messages) world.engine.receive(each);
        await rounds(1);
        for (const { streamId, type } of world.sent) {
          expect(['data', 'connection-reset', 'stream-reset']).toContain(type);
          expect(streamId).toBeGreaterThan(0);
        }
        expect(world.counts.open).toBeLessThanOrEqual(256);
      },
    ),
    { numRuns: runs(60) },
  );
});
