import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { until } from '../../raw-client.ts';
import { connectBoth, connectSide, dataFrame, framed, frames, hex, type Side, startTunnel } from './client.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const { startSsh, dataHello, streamResetSsh, connectionResetSsh2 } = frames;
const clientToken = '0f8fad5b-d9cb-469f-a165-70867728950e';

describe('frames', () => {
  it('are relayed unchanged and in order, both ways', async () => {
    await using world = await startTunnel();
    const { source, destination } = await connectBoth(world);
    for (const frame of [startSsh, dataHello, connectionResetSsh2]) source.send(frame);
    expect((await destination.untilBytes(44)).toString('hex')).toBe(startSsh + dataHello + connectionResetSsh2);
    for (const frame of [dataHello, dataHello, streamResetSsh]) destination.send(frame);
    expect((await source.untilBytes(51)).toString('hex')).toBe(dataHello + dataHello + streamResetSsh);
    expect(world.violations).toEqual([]);
  });

  it('are relayed however a client cuts them into messages', async () => {
    await using world = await startTunnel();
    const { source, destination } = await connectBoth(world);
    const all = hex(startSsh + dataHello + dataHello);
    for (const byte of all) source.send(Uint8Array.of(byte));
    expect(await destination.untilBytes(all.length)).toEqual(all);
  });

  it('begin a new message behind a STREAM_START', async () => {
    await using world = await startTunnel();
    const { source, destination } = await connectBoth(world);
    source.send(startSsh + dataHello + dataHello + startSsh + dataHello);
    await destination.untilBytes(2 * 13 + 3 * 20);
    expect(destination.messages.slice(1).map((message) => message.toString('hex'))).toEqual([
      startSsh,
      dataHello + dataHello + startSsh,
      dataHello,
    ]);
  });

  it('keep bytes and order, in messages within the limit', async () => {
    await using world = await startTunnel();
    const { source, destination } = await connectBoth(world);
    const sent = Array.from({ length: 60 }, (_, i) => {
      const data = dataFrame(randomBytes(i % 7 === 0 ? 64_512 : 1 + ((i * 37) % 900)));
      return i % 9 === 0 ? Buffer.concat([hex(startSsh), data]) : data;
    });
    // Three frames in a message, two of which may be long.
    for (let i = 0; i < sent.length; i += 2) source.send(Buffer.concat(sent.slice(i, i + 2)));
    const all = Buffer.concat(sent);
    expect(sha256(await destination.untilBytes(all.length))).toBe(sha256(all));
    expect(destination.bytes().length).toBe(all.length);
    expect(Math.max(...destination.messages.map(({ length }) => length))).toBeLessThanOrEqual(131_076);
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
  const body = (text: string) => framed(hex(text)).toString('hex');
  const start = startSsh;
  it.each([
    ['STREAM_START from the destination', 'destination', startSsh],
    ['CONNECTION_START from the destination', 'destination', body('080610012a035353483802')],
    ['SERVICE_IDS', 'source', frames.serviceIdsSsh],
    ['SESSION_RESET', 'destination', body('0804')],
    ['the stream id 0', 'source', body('08022a035353483801')],
    ['a negative stream id', 'source', body('080210ffffffffffffffffff012a035353483801')],
    ['DATA before a start', 'source', dataHello],
    ['DATA of another service', 'source', start + body('0801100122016f2a01423801')],
    ['DATA without a service after a start with one', 'source', start + body('0801100122016f')],
    ['DATA with a service after a start without one', 'source', `${frames.startV1}${dataHello}`],
    ['CONNECTION_START before a start', 'source', frames.connectionStartA2],
    ['CONNECTION_START without a connection id', 'source', start + body('080610012a03535348')],
    ['a type of 0', 'source', body('10012a03535348')],
    ['an empty message', 'destination', '0000'],
    ['an unknown type', 'source', body('08631001')],
    ['an unknown field', 'source', body('080210012a0353534838014001')],
    ['bytes that are no message', 'destination', '0003ffffff'],
  ] as const)('%s: the service closes that connection, and the other side stays', async (_, side: Side, sent) => {
    await using world = await startTunnel();
    const { source, destination } = await connectBoth(world);
    const [guilty, other] = side === 'source' ? [source, destination] : [destination, source];
    guilty.send(sent);
    expect((await guilty.untilClosed()).code).toBe(1008);
    expect(world.violations).toHaveLength(1);
    expect(world.service.list()[0]?.[side].connected).toBe(false);
    expect(other.closed()).toBeNull();
    expect(world.service.list()[0]?.status).toBe('OPEN');
  });

  it('a payload above 64512 bytes: what came before is relayed', async () => {
    await using world = await startTunnel();
    const { source, destination } = await connectBoth(world);
    source.send(startSsh);
    source.send(Buffer.concat([dataFrame(Buffer.alloc(64_512)), dataFrame(Buffer.alloc(64_513))]));
    expect(await source.untilClosed()).toEqual({ code: 1008, reason: 'a payload of 64513 bytes' });
    const relayed = Buffer.concat([hex(startSsh), dataFrame(Buffer.alloc(64_512)), hex(streamResetSsh)]);
    expect(sha256(await destination.untilBytes(relayed.length))).toBe(sha256(relayed));
  });

  it('DATA of a destination that has received no start on this connection', async () => {
    await using world = await startTunnel();
    const { source, destination } = await connectBoth(world, { destination: { clientToken } });
    source.send(startSsh);
    await destination.untilBytes(13);
    destination.ws.terminate();
    await source.untilBytes(11);
    const again = await world.connect('destination', { clientToken });
    again.send(dataHello);
    expect((await again.untilClosed()).code).toBe(1008);
  });

  it('a text message, and one above 131076 bytes', async () => {
    await using world = await startTunnel();
    const { source, destination } = await connectBoth(world);
    source.ws.send('text');
    expect(await source.untilClosed()).toEqual({ code: 1003, reason: 'a text message' });
    destination.send(Buffer.alloc(131_077));
    expect((await destination.untilClosed()).code).toBe(1009);
  });

  it('is not an unknown type that may be ignored, nor a second start, nor a reset of an unknown stream', async () => {
    await using world = await startTunnel();
    const { source, destination } = await connectBoth(world);
    const ignorable = framed(hex('086310011801')).toString('hex');
    const sent = [ignorable, startSsh, startSsh, connectionResetSsh2, streamResetSsh, streamResetSsh].join('');
    source.send(sent);
    expect((await destination.untilBytes(hex(sent).length)).toString('hex')).toBe(sent);
    expect(world.violations).toEqual([]);
  });

  it('is none without service ids: version 1', async () => {
    await using world = await startTunnel();
    const { source, destination } = await connectBoth(world);
    const data = framed(hex('0801100122016f')).toString('hex');
    source.send(frames.startV1 + data);
    await destination.untilBytes(15);
    destination.send(data);
    expect((await source.untilBytes(9)).toString('hex')).toBe(data);
    // A new source of version 3 may follow it.
    const { sourceToken } = await world.service.rotate(world.tunnelId, 'source');
    const next = await connectSide(world.service, 'source', { token: sourceToken ?? '' });
    next.send(startSsh);
    await destination.untilBytes(15 + 6 + 13);
    destination.send(dataHello);
    expect((await next.untilBytes(20)).toString('hex')).toBe(dataHello);
  });
});

describe('a lost or replaced connection', () => {
  it.each(['source', 'destination'] as const)('of the %s resets the active streams at the other side', async (side) => {
    await using world = await startTunnel({}, ['SSH', 'A']);
    const { source, destination } = await connectBoth(world);
    const startA = framed(hex('080210072a01413805')).toString('hex');
    source.send(startSsh + startA);
    await destination.untilBytes(13 + 11);
    const [lost, other] = side === 'source' ? [source, destination] : [destination, source];
    const before = other.bytes().length;
    lost.ws.terminate();
    const resetA = framed(hex('080310072a0141')).toString('hex');
    const bytes = await other.untilBytes(before + 11 + 9);
    expect(bytes.subarray(before).toString('hex')).toBe(streamResetSsh + resetA);
    expect(world.service.list()[0]?.[side]).toMatchObject({ connected: false, connects: 1 });
  });

  it('resets no stream that has ended', async () => {
    await using world = await startTunnel();
    const { source, destination } = await connectBoth(world);
    source.send(startSsh + streamResetSsh);
    await destination.untilBytes(13 + 11);
    source.ws.terminate();
    await until(() => world.service.list()[0]?.source.connected === false);
    const { sourceToken } = await world.service.rotate(world.tunnelId, 'source');
    (await connectSide(world.service, 'source', { token: sourceToken ?? '' })).send(startSsh);
    expect((await destination.untilBytes(37)).toString('hex')).toBe(startSsh + streamResetSsh + startSsh);
  });

  it('is replaced by a second valid one: close frame to the first, reset to the peer, SERVICE_IDS to the new one', async () => {
    await using world = await startTunnel();
    const { source, destination } = await connectBoth(world, { destination: { clientToken } });
    source.send(startSsh);
    await destination.untilBytes(13);
    const second = await world.connect('destination', { clientToken });
    expect(await destination.untilClosed()).toMatchObject({ code: 1000 });
    expect((await source.untilBytes(11)).toString('hex')).toBe(streamResetSsh);
    expect(second.messages).toHaveLength(1);
    source.send(startSsh + dataHello);
    expect((await second.untilBytes(33)).toString('hex')).toBe(startSsh + dataHello);
    expect(world.service.list()[0]?.destination).toMatchObject({ connected: true, connects: 2 });
  });
});

describe('the memory of the service', () => {
  it.each(['source', 'destination'] as const)(
    'is bounded while the %s sends and the other side reads nothing; nothing is lost afterwards',
    async (from) => {
      await using world = await startTunnel();
      const { source, destination } = await connectBoth(world);
      source.send(startSsh);
      await destination.untilBytes(13);
      const [sender, reader] = from === 'source' ? [source, destination] : [destination, source];
      const skip = reader.bytes().length;
      reader.ws.pause();
      const frame = dataFrame(randomBytes(60_000));
      // More than the buffers of the operating system on both ways.
      const count = 400;
      for (let i = 0; i < count; i++) sender.send(frame);
      await new Promise((resolve) => setTimeout(resolve, 300));
      // The service has stopped reading.
      expect(sender.ws.bufferedAmount).toBeGreaterThan(10 * frame.length);
      // Read again: every byte arrives.
      reader.ws.resume();
      const bytes = await reader.untilBytes(skip + count * frame.length);
      const expected = createHash('sha256');
      for (let i = 0; i < count; i++) expected.update(frame);
      expect(sha256(bytes.subarray(skip))).toBe(expected.digest('hex'));
    },
  );

  it('is freed when the stalled side is lost, and the other side is read again', async () => {
    await using world = await startTunnel();
    const { source, destination } = await connectBoth(world);
    source.send(startSsh);
    await destination.untilBytes(13);
    destination.ws.pause();
    for (let i = 0; i < 400; i++) source.send(dataFrame(Buffer.alloc(60_000)));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(source.ws.bufferedAmount).toBeGreaterThan(600_000);
    destination.ws.terminate();
    expect((await source.untilBytes(11)).toString('hex')).toBe(streamResetSsh);
    await until(() => source.ws.bufferedAmount === 0);
    source.ws.ping('still read');
    await until(() => source.pongs.includes('still read'));
  });
});
