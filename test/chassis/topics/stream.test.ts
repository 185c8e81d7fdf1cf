import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { openTopicStream, type TopicMessage, type TopicStream } from '../../../src/lib/chassis/index.ts';
import { type Clock, systemClock } from '../../../src/lib/lifecycle/index.ts';
import { type Dialer, directDialer } from '../../../src/lib/net/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { createPacedClock } from '../../lifecycle/paced-clock.ts';
import { slowDialer } from '../../net/slow-dialer.ts';
import { isFull } from '../../properties.ts';
import { answeringPeer, closedPort, failureOf, fakeChassis, httpAnswer, type Peer, rawPeer, until } from '../peers.ts';

/** Of the streams, and of what their peers send by the clock. */
const time = createPacedClock();
const TOPICS = ['/tracked_pose', '/battery_state'];

interface Listening {
  readonly stream: TopicStream;
  readonly messages: TopicMessage[];
  readonly complaints: () => string[];
}

async function listenTo(
  peer: Pick<Peer, 'endpoint'>,
  more: { listForm?: boolean; signal?: AbortSignal; dialer?: Dialer; clock?: Clock } = {},
): Promise<Listening> {
  const messages: TopicMessage[] = [];
  const stream = await openTopicStream({
    endpoint: peer.endpoint,
    ...{ dialer: directDialer, clock: time, topics: TOPICS, listForm: true, ...more },
    onMessage: (message) => messages.push(message),
  });
  const complaints = () => messages.flatMap((message) => (message.kind === 'complaint' ? [message.what] : []));
  return { stream, messages, complaints };
}

/** A peer that opens the WebSocket correctly and then gives the raw connection to the test. */
async function bareWebSocket(then: (socket: Socket) => void, before = ''): Promise<Peer> {
  return rawPeer((socket) => {
    socket.once('data', (data) => {
      const key = /sec-websocket-key: (.+)\r\n/i.exec(data.toString())?.[1] ?? '';
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      socket.write(
        `${before}HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
      );
      then(socket);
    });
  });
}

describe('enabling topics', () => {
  it('uses one message with a list where the chassis supports it, otherwise one message each', async () => {
    await using chassis = await fakeChassis();
    using list = (await listenTo(chassis, { listForm: true })).stream;
    await until(() => list.enabled?.length === 2);
    expect(chassis.received).toEqual([{ enable_topic: TOPICS }]);
    chassis.received.length = 0;
    using single = (await listenTo(chassis, { listForm: false })).stream;
    await until(() => single.enabled?.length === 2);
    expect(chassis.received).toEqual([{ enable_topic: '/tracked_pose' }, { enable_topic: '/battery_state' }]);
  });

  it('can be undone', async () => {
    await using chassis = await fakeChassis();
    using stream = (await listenTo(chassis)).stream;
    stream.disable(['/battery_state']);
    await until(() => stream.enabled?.length === 1);
    expect(stream.enabled).toEqual(['/tracked_pose']);
    stream.enable(['/alerts']);
    await until(() => stream.enabled?.includes('/alerts') === true);
  });

  it('reports a topic that is missing in the acknowledgement', async () => {
    await using chassis = await fakeChassis();
    chassis.unknownTopics = ['/battery_state'];
    const { stream, complaints } = await listenTo(chassis);
    using _stream = stream;
    await until(() => complaints().length > 0);
    expect(complaints()).toEqual(['the chassis did not enable /battery_state']);
  });

  it('reports a missing acknowledgement', async () => {
    await using peer = await bareWebSocket((socket) => {
      const timer = time.every(100, () => socket.write(Buffer.from([0x8a, 0])));
      socket.on('close', () => timer[Symbol.dispose]());
    });
    const { stream, messages } = await listenTo(peer);
    using _stream = stream;
    await until(() => messages.length > 0);
    expect(messages).toEqual([{ kind: 'complaint', what: 'the chassis acknowledged no topic', isLate: true }]);
  });
});

describe('a received message', () => {
  it('is data; a fault in it is a complaint that does not end the stream', async () => {
    await using chassis = await fakeChassis();
    const { stream, messages, complaints } = await listenTo(chassis);
    using _stream = stream;
    await until(() => messages.filter((message) => message.kind === 'data').length === 2);
    chassis.publish('not JSON');
    chassis.publish('{"topic":"/tracked_pose","pos":[1,2],"ori":NaN}');
    chassis.publish('{"topic":"/tracked_pose","pos":[1,2]}');
    chassis.publish(Buffer.from([1, 2, 3]));
    chassis.publish({ topic: '/tracked_pose', pos: [3, 4], ori: -90 });
    await until(() => messages.at(-1)?.kind === 'data');
    expect(messages.at(-1)).toMatchObject({ topic: '/tracked_pose', data: { pos: [3, 4], ori: -90 } });
    expect(complaints()).toEqual([
      'malformed message: the answer is not JSON: it contains "not"',
      'malformed message: the answer contains NaN, which is no JSON number',
      '/tracked_pose: ori: expected number, received undefined',
      'binary message on a text-only stream',
    ]);
  });

  it.each<[string, number[]]>([
    ['a continuation of nothing', [0x80, 1, 0x61]],
    ['a new message inside a message', [0x01, 1, 0x61, 0x81, 1, 0x61]],
    ['reserved bits', [0xf1, 1, 0x61]],
    ['an unknown kind of frame', [0x83, 0]],
    ['a masked frame', [0x81, 0x81, 0, 0, 0, 0, 0x61]],
    ['text that is not UTF-8', [0x81, 2, 0xff, 0xfe]],
    ['a message larger than 16 MiB', [0x81, 127, 0, 0, 0, 0, 4, 0, 0, 0]],
  ])('that is %s ends the stream with a reason, even as the first bytes', async (_, bytes) => {
    await using peer = await bareWebSocket((socket) => socket.write(Buffer.from(bytes)));
    const { stream, complaints } = await listenTo(peer);
    const end = await stream.ended;
    expect(end.failure).toBe('bad-answer');
    expect(end.detail).toContain('WebSocket protocol error');
    expect(complaints()).toEqual([end.detail]);
  });

  it('may be any bytes without an exception', { tags: 'property' }, async () => {
    for (let round = 0; round < (isFull ? 20 : 4); round += 1) {
      const bytes = Buffer.from(Array.from({ length: 200 }, (_, i) => (i * 7919 + round * 104_729) % 251));
      await using peer = await bareWebSocket((socket) => socket.end(bytes));
      const { stream } = await listenTo(peer);
      expect(['bad-answer', 'cut']).toContain((await stream.ended).failure);
    }
  });
});

describe('the end of a stream', () => {
  it('is reported as cut when the connection is closed', async () => {
    await using chassis = await fakeChassis();
    const { stream } = await listenTo(chassis);
    for (const socket of chassis.sockets) socket.destroy();
    expect((await stream.ended).failure).toBe('cut');
  });

  it.each([
    [1012, 'service restart'],
    [1001, 'going away'],
  ])('is reported with its code %i when the peer sends a close frame and leaves TCP open', async (code, name) => {
    await using peer = await bareWebSocket((socket) => {
      const close = frame(8, Buffer.from([code >> 8, code & 0xff]));
      socket.write(close);
      // It goes on sending, as a proxy may.
      const timer = time.every(100, () => socket.write(frame(1, '{}')));
      socket.on('close', () => timer[Symbol.dispose]());
    });
    const { stream } = await listenTo(peer);
    const detail = `the chassis closed the topic stream (code ${code}, ${name})`;
    expect(await stream.ended).toEqual({ failure: 'cut', detail });
  });

  it('names a message that is compressed without negotiation', async () => {
    await using peer = await bareWebSocket((socket) => socket.write(Buffer.from([0xc1, 1, 0x61])));
    const { detail, failure } = await (await listenTo(peer)).stream.ended;
    expect([failure, detail]).toEqual([
      'bad-answer',
      'WebSocket protocol error (compressed message, although no compression was negotiated)',
    ]);
  });

  it('is reported as silent within two seconds when the cable is cut without a TCP reset', async () => {
    await using peer = await bareWebSocket((socket) => socket.pause());
    const { stream } = await listenTo(peer);
    const beganMs = time.monotonicMs();
    expect((await stream.ended).failure).toBe('silent');
    const tookMs = time.monotonicMs() - beganMs;
    expect(tookMs).toBeGreaterThan(1_000);
    expect(tookMs).toBeLessThan(2_000);
  });

  it('is not taken for silence where a slow link alone holds everything back', async () => {
    await using chassis = await fakeChassis();
    const { stream, messages } = await listenTo(chassis, { dialer: slowDialer() });
    let ended = false;
    void stream.ended.then(() => {
      ended = true;
    });
    for (const socket of chassis.sockets) socket.pause();
    await time.sleep(2_000);
    expect(ended).toBe(false);
    for (const socket of chassis.sockets) socket.resume();
    const before = messages.length;
    chassis.publish({ topic: '/tracked_pose', pos: [1, 2], ori: 90 });
    await until(() => messages.length > before);
    // With a chassis that is silent it ends nevertheless: 1.4 s, and three times 400 ms for the link.
    for (const socket of chassis.sockets) socket.pause();
    expect(await stream.ended).toMatchObject({ failure: 'silent', detail: expect.stringContaining('for 2.6 s') });
  });

  it('does not occur while the chassis merely has nothing to publish', async () => {
    await using chassis = await fakeChassis();
    const { stream } = await listenTo(chassis);
    using _stream = stream;
    expect(await Promise.race([stream.ended, time.sleep(2_500)])).toBeUndefined();
  });

  it('does not occur while one large message is in transit', async () => {
    await using peer = await bareWebSocket((socket) => {
      socket.write(Buffer.from([0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]));
      const timer = time.every(200, () => socket.write('x'));
      socket.on('close', () => timer[Symbol.dispose]());
    });
    const { stream } = await listenTo(peer);
    using _stream = stream;
    expect(await Promise.race([stream.ended, time.sleep(2_500)])).toBeUndefined();
  });

  it('follows the abort signal at once, and leaves no connection', async () => {
    await using chassis = await fakeChassis();
    const ending = new AbortController();
    const { stream } = await listenTo(chassis, { signal: ending.signal });
    ending.abort();
    expect((await stream.ended).failure).toBe('other');
    await until(() => chassis.sockets.size === 0);
  });
});

describe('opening', () => {
  it('fails with a named reason: closed port, no answer, a page, a redirect', async () => {
    expect(await failureOf(listenTo({ endpoint: await closedPort() }))).toMatchObject({
      code: 'CHASSIS_NOT_CONNECTED',
      failure: 'refused',
      tried: { address: '127.0.0.1', action: 'WebSocket /ws/v2/topics' },
    });
    await using silent = await rawPeer(() => {});
    const beganMs = time.monotonicMs();
    expect(await failureOf(listenTo(silent))).toMatchObject({ code: 'CHASSIS_NOT_CONNECTED', failure: 'no-answer' });
    expect(time.monotonicMs() - beganMs).toBeLessThan(2_000);
    await using page = await answeringPeer(httpAnswer('<html>'));
    expect((await failureOf(listenTo(page))).message).toContain('WebSocket upgrade answered with status 200');
    await using redirect = await answeringPeer(httpAnswer('', { location: 'http://127.0.0.1/' }, '301 Moved'));
    expect((await failureOf(listenTo(redirect))).message).toContain(
      'redirect of the topic stream to "http://127.0.0.1/" refused',
    );
    await using foreign = await answeringPeer('SSH-2.0-OpenSSH_9.2\r\n');
    expect((await failureOf(listenTo(foreign))).code).toBe('CHASSIS_BAD_ANSWER');
    await using wrongKey = await answeringPeer(
      'HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n',
    );
    expect((await failureOf(listenTo(wrongKey))).message).toContain('Invalid Sec-WebSocket-Accept header');
  });

  const upgraded = (...headers: string[]) =>
    `${['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', ...headers].join('\r\n')}\r\n\r\n`;
  it.each<[string, string | Buffer, RegExp, RegExp]>([
    // The device information is read before: a chassis that starts would answer 503 to that.
    ['a 503', httpAnswer('', {}, '503 Busy'), /refused with status 503, although HTTP/, /Close other programs/],
    ['101 without Upgrade', upgraded('Sec-WebSocket-Accept: x'), /status 101 without an Upgrade header/, /proxy/],
    ['101 with another protocol', upgraded('Upgrade: h2c'), /answered with Upgrade: "h2c"/, /proxy/],
    [
      'forced compression',
      upgraded('Upgrade: websocket', 'Sec-WebSocket-Extensions: permessage-deflate'),
      /extension "permessage-deflate" forced, which gw did not offer/,
      /compression/,
    ],
    [
      'two lengths',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
      /malformed HTTP response: Duplicate Content-Length/,
      /proxy/,
    ],
  ])('fails with the name of what was answered: %s', async (_, bytes, expected, remedy) => {
    await using peer = await answeringPeer(bytes);
    const error = await failureOf(listenTo(peer));
    expect(error).toMatchObject({
      code: 'CHASSIS_BAD_ANSWER',
      message: expect.stringMatching(expected),
      tried: { port: peer.endpoint.port, action: 'WebSocket /ws/v2/topics' },
    });
    expect(error.remedy).toMatch(remedy);
  });

  it('fails as closed where the connection is ended without an answer, and as cut where it is reset', async () => {
    await using closing = await rawPeer((socket) => socket.once('data', () => socket.end()));
    expect(await failureOf(listenTo(closing))).toMatchObject({ code: 'CHASSIS_NOT_CONNECTED', failure: 'closed' });
    await using resetting = await rawPeer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await failureOf(listenTo(resetting))).toMatchObject({ code: 'CHASSIS_NOT_CONNECTED', failure: 'cut' });
  });

  it('accepts 100 Continue before the upgrade, which is a response of its own', async () => {
    await using peer = await bareWebSocket(() => {}, 'HTTP/1.1 100 Continue\r\n\r\n');
    using stream = (await listenTo(peer)).stream;
    expect(stream.enabled).toBeNull();
  });

  it('is interrupted by the abort signal', async () => {
    await using silent = await rawPeer(() => {});
    const ending = new AbortController();
    const opening = failureOf(listenTo(silent, { signal: ending.signal }));
    await until(() => silent.sockets.size === 1);
    ending.abort();
    expect((await opening).code).toBe('INTERRUPTED');
    await until(() => silent.sockets.size === 0);
  });
});

/** One whole frame as a server sends it, unmasked. */
function frame(opcode: number, payload: Buffer | string): Buffer {
  const bytes = Buffer.from(payload);
  const head = Buffer.from([0x80 | opcode, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(bytes.length, 6);
  return bytes.length < 126
    ? Buffer.concat([Buffer.from([0x80 | opcode, bytes.length]), bytes])
    : Buffer.concat([head, bytes]);
}

/** Sends the same bytes repeatedly, as fast as they are read. */
function flooding(bytes: Buffer): Promise<Peer> {
  const blob = Buffer.concat(Array.from({ length: Math.max(1, Math.floor(262_144 / bytes.length)) }, () => bytes));
  return bareWebSocket((socket) => {
    const pump = () => {
      if (!socket.destroyed && socket.write(blob)) setImmediate(pump);
    };
    socket.on('drain', pump);
    pump();
  });
}

describe('a chassis that sends more than can be read', () => {
  const others = (): [string, Buffer][] => [
    ['tiny garbage', frame(1, 'x')],
    ['empty messages', frame(1, '')],
    ['binary messages', frame(2, Buffer.alloc(1))],
    ['messages of a megabyte of objects', frame(1, `{"topic":"/alerts","alerts":[${'{},'.repeat(349_000)}{}]}`)],
    ['pings', frame(9, '')],
  ];
  it.each<[string, Buffer]>([
    ['poses', frame(1, '{"topic":"/tracked_pose","pos":[1,2],"ori":90}')],
    ...(isFull ? others() : []),
  ])(
    'of %s is disconnected with a reason, and the event loop stays responsive',
    { tags: 'large' },
    async (_, bytes) => {
      await using peer = await flooding(bytes);
      let turns = 0;
      using _counting = systemClock.every(20, () => {
        turns += 1;
      });
      // A flood depends on the speed of this machine, so this time is real.
      const { stream, complaints } = await listenTo(peer, { clock: systemClock });
      const end = await stream.ended;
      expect(end).toMatchObject({ failure: 'bad-answer', isFlood: true });
      expect(end.detail).toMatch(/^topic stream flooded: \d+ messages, [\d.]+ MB within [\d.]+ s/);
      expect(complaints()).toContain('topic stream flooded: the chassis sent more than gw can read');
      // Some timers fired meanwhile.
      expect(turns).toBeGreaterThan(5);
    },
  );

  it('is not one that publishes a large map among its poses: every pose arrives, in order', {
    tags: 'property',
  }, async () => {
    const map = frame(
      1,
      `{"topic":"/map/info","name":"EG","uid":"u","map_version":1,"overlays_version":1,"overlays":[${'{},'.repeat(isFull ? 900_000 : 90_000)}{}]}`,
    );
    await using peer = await bareWebSocket((socket) => {
      for (let i = 0; i < 300; i += 1) {
        socket.write(frame(1, `{"topic":"/tracked_pose","pos":[${i},0],"ori":90}`));
        if (i % 100 === 50) socket.write(map);
      }
    });
    const { stream, messages, complaints } = await listenTo(peer);
    using _stream = stream;
    const poses = () => messages.flatMap((one) => (one.kind === 'data' && one.topic === '/tracked_pose' ? [one] : []));
    await until(() => poses().length === 300);
    expect(poses().map(({ data }) => data.pos[0])).toEqual(Array.from({ length: 300 }, (_, i) => i));
    const kinds = messages.flatMap((one) => (one.kind === 'data' ? [one.topic] : []));
    expect([kinds[51], kinds.filter((kind) => kind === '/map/info').length]).toEqual(['/map/info', 3]);
    expect(complaints().filter((what) => !what.includes('acknowledge'))).toEqual([]);
  });

  it('is a round trip where it answers a ping of gw, and no other pong is', async () => {
    await using chassis = await fakeChassis();
    using measured = (await listenTo(chassis)).stream;
    await until(() => measured.roundTripMs() !== null);
    expect(measured.roundTripMs()).toBeGreaterThanOrEqual(0);
    expect(measured.roundTripMs()).toBeLessThan(5_000);
    await using stranger = await bareWebSocket((socket) => {
      const timer = time.every(50, () => socket.write(Buffer.concat([frame(10, ''), frame(10, 'x')])));
      socket.on('close', () => timer[Symbol.dispose]());
    });
    using other = (await listenTo(stranger)).stream;
    await time.sleep(1_500);
    expect(other.roundTripMs()).toBeNull();
  });

  it('has only its newest ping answered, not each of them', async () => {
    const answered: Buffer[] = [];
    await using peer = await bareWebSocket((socket) => {
      socket.on('data', (data) => answered.push(data));
      for (let i = 0; i < 500; i += 1) socket.write(frame(9, `ping ${i}`));
    });
    const { stream } = await listenTo(peer);
    using _stream = stream;
    /** The payloads of the client's frames; they are masked (RFC 6455, 5.3). */
    const pongs = () => {
      const bytes = Buffer.concat(answered);
      const found: string[] = [];
      for (let at = 0; at + 6 <= bytes.length; ) {
        const length = (bytes[at + 1] ?? 0) & 0x7f;
        const mask = bytes.subarray(at + 2, at + 6);
        const text = bytes.subarray(at + 6, at + 6 + length).map((byte, i) => byte ^ (mask[i % 4] ?? 0));
        if (((bytes[at] ?? 0) & 0x0f) === 10) found.push(Buffer.from(text).toString());
        at += 6 + length;
      }
      return found;
    };
    await until(() => pongs().at(-1) === 'ping 499');
    expect(pongs().length).toBeLessThan(100);
  });
});

describe('backpressure on the chassis', () => {
  it('pauses it: nothing more is read from the connection until the received messages are processed', async () => {
    const message = frame(1, `{"topic":"/unasked","text":"${'x'.repeat(1024 * 1024)}"}`);
    const count = 32;
    await using peer = await bareWebSocket((socket) => {
      for (let i = 0; i < count; i += 1) socket.write(message);
    });
    let taken: Socket | undefined;
    const dialer: typeof directDialer = {
      ...directDialer,
      async dial(endpoint, options) {
        const socket = await directDialer.dial(endpoint, options);
        taken = socket as Socket;
        return socket;
      },
    };
    // No time passes, so the time budget of the chassis does not grow.
    const clock = createFakeClock({ startMs: 1_000_000 });
    using _stream = await openTopicStream({
      ...{ endpoint: peer.endpoint, dialer, clock, topics: TOPICS, listForm: true },
      onMessage: () => {},
    });
    await until(() => taken?.isPaused() === true);
    const rounds = async () => {
      for (let round = 0; round < 100; round += 1) await new Promise((resolve) => setImmediate(resolve));
      return taken?.bytesRead ?? 0;
    };
    // A read that had begun is completed.
    const before = await rounds();
    expect(await rounds()).toBe(before);
    expect(before).toBeLessThan((count / 2) * message.length);
  });
});
