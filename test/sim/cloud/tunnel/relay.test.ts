import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { until } from '../../raw-client.ts';
import {
  clientToken,
  connectBoth,
  connectSide,
  dataFrame,
  framed,
  frames,
  hex,
  startTunnel,
  type TestTunnel,
} from './client.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const { startSsh, dataHello, streamResetSsh, connectionResetSsh2 } = frames;
const body = (text: string) => framed(hex(text)).toString('hex');

async function pair(services?: readonly string[], about: Parameters<typeof connectBoth>[1] = {}) {
  const world = await startTunnel({}, services);
  return Object.assign(world, await connectBoth(world, about));
}
async function newSource({ service, tunnelId }: TestTunnel) {
  const { sourceToken } = await service.rotate(tunnelId, 'source');
  return connectSide(service, 'source', { token: sourceToken ?? '' });
}

describe('frames', () => {
  it('are relayed unchanged and in order, both ways', async () => {
    await using w = await pair();
    for (const frame of [startSsh, dataHello, connectionResetSsh2]) w.source.send(frame);
    expect((await w.destination.untilBytes(44)).toString('hex')).toBe(startSsh + dataHello + connectionResetSsh2);
    for (const frame of [dataHello, dataHello, streamResetSsh]) w.destination.send(frame);
    expect((await w.source.untilBytes(51)).toString('hex')).toBe(dataHello + dataHello + streamResetSsh);
    expect(w.violations).toEqual([]);
  });

  it('are relayed however a client cuts them into messages', async () => {
    await using w = await pair();
    const all = hex(startSsh + dataHello + dataHello);
    for (const byte of all) w.source.send(Uint8Array.of(byte));
    expect(await w.destination.untilBytes(all.length)).toEqual(all);
  });

  it('begin a new message behind a STREAM_START', async () => {
    await using w = await pair();
    w.source.send(startSsh + dataHello + dataHello + startSsh + dataHello);
    await w.destination.untilBytes(2 * 13 + 3 * 20);
    const messages = w.destination.messages.slice(1).map((message) => message.toString('hex'));
    expect(messages).toEqual([startSsh, dataHello + dataHello + startSsh, dataHello]);
  });

  it('keep bytes and order, in messages within the limit', async () => {
    await using w = await pair();
    const sent = Array.from({ length: 60 }, (_, i) => {
      const data = dataFrame(randomBytes(i % 7 === 0 ? 64_512 : 1 + ((i * 37) % 900)));
      return i % 9 === 0 ? Buffer.concat([hex(startSsh), data]) : data;
    });
    // Three frames in a message, two of which may be long.
    for (let i = 0; i < sent.length; i += 2) w.source.send(Buffer.concat(sent.slice(i, i + 2)));
    const all = Buffer.concat(sent);
    expect(sha256(await w.destination.untilBytes(all.length))).toBe(sha256(all));
    expect(Math.max(...w.destination.messages.map(({ length }) => length))).toBeLessThanOrEqual(131_076);
  });

  it('without a receiver are dropped, and a STREAM_START without a destination is reset', async () => {
    await using world = await startTunnel();
    const source = await world.connect('source');
    source.send(startSsh + dataHello);
    expect((await source.untilBytes(11)).toString('hex')).toBe(streamResetSsh);
    const destination = await world.connect('destination');
    source.send(dataHello);
    expect((await destination.untilBytes(20)).toString('hex')).toBe(dataHello);
  });
});

describe('a message that a side must not send', () => {
  it.each([
    ['STREAM_START from the destination', 'destination', startSsh],
    ['CONNECTION_START from the destination', 'destination', body('080610012a035353483802')],
    ['SERVICE_IDS', 'source', frames.serviceIdsSsh],
    ['SESSION_RESET', 'destination', body('0804')],
    ['the stream id 0', 'source', body('08022a035353483801')],
    ['a negative stream id', 'source', body('080210ffffffffffffffffff012a035353483801')],
    ['DATA before a start', 'source', dataHello],
    ['DATA of another service', 'source', startSsh + body('0801100122016f2a01423801')],
    ['DATA without a service after a start with one', 'source', startSsh + body('0801100122016f')],
    ['DATA with a service after a start without one', 'source', `${frames.startV1}${dataHello}`],
    ['CONNECTION_START before a start', 'source', frames.connectionStartA2],
    ['CONNECTION_START without a connection id', 'source', startSsh + body('080610012a03535348')],
    ['a type of 0', 'source', body('10012a03535348')],
    ['an empty message', 'destination', '0000'],
    ['an unknown type', 'source', body('08631001')],
    ['an unknown field', 'source', body('080210012a0353534838014001')],
    ['bytes that are no message', 'destination', '0003ffffff'],
  ] as const)('%s: the service closes that connection, and the other side stays', async (_, side, sent) => {
    await using w = await pair();
    w[side].send(sent);
    expect((await w[side].untilClosed()).code).toBe(1008);
    expect(w.violations).toHaveLength(1);
    expect(w.service.list()).toMatchObject([{ status: 'OPEN', [side]: { connected: false } }]);
    expect(w[side === 'source' ? 'destination' : 'source'].closed()).toBeNull();
  });

  it('a payload above 64512 bytes: what came before is relayed', async () => {
    await using w = await pair();
    w.source.send(startSsh);
    w.source.send(Buffer.concat([dataFrame(Buffer.alloc(64_512)), dataFrame(Buffer.alloc(64_513))]));
    expect(await w.source.untilClosed()).toEqual({ code: 1008, reason: 'a payload of 64513 bytes' });
    const relayed = Buffer.concat([hex(startSsh), dataFrame(Buffer.alloc(64_512)), hex(streamResetSsh)]);
    expect(sha256(await w.destination.untilBytes(relayed.length))).toBe(sha256(relayed));
  });

  it('DATA of a destination that has received no start on this connection', async () => {
    await using w = await pair(undefined, { destination: { clientToken } });
    w.source.send(startSsh);
    await w.destination.untilBytes(13);
    w.destination.ws.terminate();
    await w.source.untilBytes(11);
    const again = await w.connect('destination', { clientToken });
    again.send(dataHello);
    expect((await again.untilClosed()).code).toBe(1008);
  });

  it('a text message, and one above 131076 bytes', async () => {
    await using w = await pair();
    w.source.ws.send('text');
    expect(await w.source.untilClosed()).toEqual({ code: 1003, reason: 'a text message' });
    w.destination.send(Buffer.alloc(131_077));
    expect((await w.destination.untilClosed()).code).toBe(1009);
  });

  it('is not an unknown type that may be ignored, nor a second start, nor a reset of an unknown stream', async () => {
    await using w = await pair();
    const ignorable = body('086310011801');
    const sent = [ignorable, startSsh, startSsh, connectionResetSsh2, streamResetSsh, streamResetSsh].join('');
    w.source.send(sent);
    expect((await w.destination.untilBytes(hex(sent).length)).toString('hex')).toBe(sent);
    expect(w.violations).toEqual([]);
  });

  it('is none without service ids: version 1', async () => {
    await using w = await pair();
    const data = body('0801100122016f');
    w.source.send(frames.startV1 + data);
    await w.destination.untilBytes(15);
    w.destination.send(data);
    expect((await w.source.untilBytes(9)).toString('hex')).toBe(data);
    // A new source of version 3 may follow it.
    const next = await newSource(w);
    next.send(startSsh);
    await w.destination.untilBytes(15 + 6 + 13);
    w.destination.send(dataHello);
    expect((await next.untilBytes(20)).toString('hex')).toBe(dataHello);
  });
});

describe('a lost or replaced connection', () => {
  it.each([
    ['source', 'destination'],
    ['destination', 'source'],
  ] as const)('of the %s resets the active streams at the %s', async (lost, other) => {
    await using w = await pair(['SSH', 'A']);
    w.source.send(startSsh + body('080210072a01413805'));
    await w.destination.untilBytes(13 + 11);
    const before = w[other].bytes().length;
    w[lost].ws.terminate();
    const bytes = await w[other].untilBytes(before + 11 + 9);
    expect(bytes.subarray(before).toString('hex')).toBe(streamResetSsh + body('080310072a0141'));
    expect(w.service.list()[0]?.[lost]).toMatchObject({ connected: false, connects: 1 });
  });

  it('resets no stream that has ended', async () => {
    await using w = await pair();
    w.source.send(startSsh + streamResetSsh);
    await w.destination.untilBytes(13 + 11);
    w.source.ws.terminate();
    await until(() => w.service.list()[0]?.source.connected === false);
    (await newSource(w)).send(startSsh);
    expect((await w.destination.untilBytes(37)).toString('hex')).toBe(startSsh + streamResetSsh + startSsh);
  });

  it('is replaced by a second valid one: close frame to the first, reset to the peer, SERVICE_IDS to the new one', async () => {
    await using w = await pair(undefined, { destination: { clientToken } });
    w.source.send(startSsh);
    await w.destination.untilBytes(13);
    const second = await w.connect('destination', { clientToken });
    expect(await w.destination.untilClosed()).toMatchObject({ code: 1000 });
    expect((await w.source.untilBytes(11)).toString('hex')).toBe(streamResetSsh);
    expect(second.messages).toHaveLength(1);
    w.source.send(startSsh + dataHello);
    expect((await second.untilBytes(33)).toString('hex')).toBe(startSsh + dataHello);
    expect(w.service.list()[0]?.destination).toMatchObject({ connected: true, connects: 2 });
  });
});

describe('the memory of the service', () => {
  const frame = dataFrame(randomBytes(60_000));
  // More than the buffers of the operating system on both ways.
  const COUNT = 400;

  /** Sends until the service has stopped reading: what is left does not become less for many rounds of the loop. */
  async function flood(sender: Awaited<ReturnType<typeof connectSide>>): Promise<void> {
    for (let i = 0; i < COUNT; i += 1) sender.send(frame);
    let left = Number.POSITIVE_INFINITY;
    for (let rounds = 0; rounds < 500; rounds += 1) {
      await new Promise(setImmediate);
      if (sender.ws.bufferedAmount < left) rounds = 0;
      left = sender.ws.bufferedAmount;
    }
    expect(left).toBeGreaterThan(10 * frame.length);
  }

  it.each([
    ['source', 'destination'],
    ['destination', 'source'],
  ] as const)(
    'is bounded while the %s sends and the %s reads nothing; nothing is lost',
    { tags: 'large' },
    async (from, to) => {
      await using w = await pair();
      w.source.send(startSsh);
      await w.destination.untilBytes(13);
      const skip = w[to].bytes().length;
      w[to].ws.pause();
      await flood(w[from]);
      // Read again: every byte arrives.
      w[to].ws.resume();
      const bytes = await w[to].untilBytes(skip + COUNT * frame.length);
      expect(sha256(bytes.subarray(skip))).toBe(sha256(Buffer.concat(Array(COUNT).fill(frame))));
    },
  );

  it('is freed when the stalled side is lost, and the other side is read again', { tags: 'large' }, async () => {
    await using w = await pair();
    w.source.send(startSsh);
    await w.destination.untilBytes(13);
    w.destination.ws.pause();
    await flood(w.source);
    w.destination.ws.terminate();
    expect((await w.source.untilBytes(11)).toString('hex')).toBe(streamResetSsh);
    await until(() => w.source.ws.bufferedAmount === 0);
    w.source.ws.ping('still read');
    await until(() => w.source.pongs.includes('still read'));
  });
});
