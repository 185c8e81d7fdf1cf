import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InboundMessage } from '../../src/lib/cloud/gate/model.ts';
import { createRequester } from '../../src/lib/cloud/gate/requester.ts';
import { createSeen, MAX_SEEN } from '../../src/lib/cloud/gate/seen.ts';
import { createInbound, type InboundOptions } from '../../src/lib/cloud/inbound.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { runs } from '../properties.ts';
import { messageOf, serial, topics } from './gate/context.ts';

type Acts = 'onStop' | 'onTunnelNotification' | 'offer' | 'record' | 'onAnswer';

/** The inbound side with actors that only record their calls. */
function inboundWith(more: Partial<InboundOptions> = {}) {
  const calls: [Acts, ...unknown[]][] = [];
  const clock = createFakeClock();
  const logged: [string, unknown][] = [];
  const write = (fields: object, message: string) => void logged.push([message, fields]);
  const log = { debug: write, info: write, warn: write, error: write };
  const call =
    (name: Acts) =>
    (...args: unknown[]) => {
      calls.push([name, ...args]);
      return Promise.resolve();
    };
  const published: { topic: string; token: string }[] = [];
  const requester = createRequester({
    clock,
    connection: () => ({
      ended: new AbortController().signal,
      path: 'direct',
      async publish(topic, payload) {
        published.push({ topic, token: JSON.parse(new TextDecoder().decode(payload)).clientToken });
      },
    }),
  });
  const inbound = createInbound({
    ...{ serial, topics, requester, clock, log },
    // Never written: a folder that cannot exist.
    seen: createSeen({ stateDir: '/dev/null/state', clock, log }),
    agent: { offer: call('offer') },
    reporting: { requestOf: () => null, onAnswer: call('onAnswer') },
    record: call('record'),
    onStop: call('onStop'),
    onTunnelNotification: call('onTunnelNotification'),
    ...more,
  });
  return { inbound, calls, logged, requester, published, clock };
}

const job = { jobId: 'j1', status: 'QUEUED', queuedAt: 1, lastUpdatedAt: 1, versionNumber: 1, executionNumber: 1 };
const notification = { clientAccessToken: 'T', clientMode: 'destination', region: 'eu-central-1', services: ['A'] };

/** Foreign bytes of every kind: near misses of valid messages, any JSON, any bytes. */
const payloads = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.json().map((text) => new TextEncoder().encode(text)),
  fc
    .constantFrom({ id: 'a1', reason: 'x' }, { execution: job }, notification, { clientToken: 't', timestamp: 1 })
    .chain((valid) =>
      fc
        .record({ key: fc.constantFrom(...Object.keys(valid), 'extra'), value: fc.jsonValue(), keep: fc.boolean() })
        .map(({ key, value, keep }) =>
          new TextEncoder().encode(JSON.stringify(keep ? valid : { ...valid, [key]: value })),
        ),
    ),
);
const anyTopic = fc.oneof(
  fc.constantFrom(
    topics.stop,
    topics.tunnels,
    topics.storageAnswer,
    ...['notify-next', 'start-next/accepted', 'j1/get/accepted', 'j1/update/rejected'].map(
      (end) => `${topics.jobs}/${end}`,
    ),
    ...['update/accepted', 'update/rejected', 'update/delta', 'get/accepted'].map((end) => `${topics.shadow}/${end}`),
  ),
  fc.constantFrom(...Object.values(topics)),
  fc.string({ maxLength: 60 }),
  fc.constantFrom('gw/SN0002/stop', 'gw/SN0001/stop/', '$SYS/x', 'gw/+/stop'),
);
const messages: fc.Arbitrary<InboundMessage> = fc.record({
  ...{ topic: anyTopic, payload: payloads, retain: fc.boolean(), dup: fc.boolean() },
  packetId: fc.option(fc.integer({ min: 1, max: 9 })),
  oversizedBytes: fc.constantFrom(null, null, null, 200_000),
});

describe('what is received', () => {
  it('reaches nothing but the stop, the release agent, the tunnel, and the asker of an answer, each from its own topic', {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(fc.array(messages, { maxLength: 20 }), (received) => {
        const { inbound, calls } = inboundWith();
        let before = 0;
        for (const message of received) {
          void inbound.receive(message);
          const made = calls.slice(before).map(([name]) => name);
          before = calls.length;
          // Nothing was asked for, so that no answer is one.
          expect(made).not.toContain('onAnswer');
          if (made.length === 0) continue;
          if (message.topic !== topics.stop) {
            expect(message.retain).toBe(false);
            expect(message.oversizedBytes).toBeNull();
          }
          const expected = {
            // Its record follows when it is known whether the stop is saved.
            [topics.stop]: ['onStop'],
            [topics.tunnels]: ['onTunnelNotification'],
            [`${topics.jobs}/notify-next`]: ['offer'],
          }[message.topic];
          expect(made).toEqual(expected);
        }
        const { stops, releases, tunnelNotifications, answers, discarded } = inbound.view();
        const sum = Object.values(discarded).reduce((total, count) => total + count, 0);
        // Every message was counted once.
        expect(stops + releases + tunnelNotifications + answers + sum).toBe(received.length);
        expect(answers).toBe(0);
      }),
      { numRuns: runs(500) },
    );
  });

  it('stops for every new message, and once for all its retained and redelivered copies', { tags: 'property' }, () => {
    const packetId = fc.integer({ min: 1, max: 2 });
    const copy = fc.record({
      text: fc.constantFrom('{"id":"a"}', '{"id":"a","n":1}', 'stop', ''),
      flags: fc.oneof(
        fc.record({ packetId: fc.option(packetId) }),
        fc.record({ packetId, dup: fc.constant(true) }),
        fc.record({ packetId, retain: fc.constant(true), dup: fc.boolean() }),
      ),
    });
    fc.assert(
      fc.property(fc.array(copy, { maxLength: 30 }), (copies) => {
        const { inbound, calls } = inboundWith();
        const contents = new Set<string>();
        const deliveries = new Set<string>();
        for (const { text, flags } of copies) {
          const message = messageOf(topics.stop, text, flags);
          const delivery = `${message.packetId}-${text}`;
          const isOld = (message.retain && contents.has(text)) || (message.dup && deliveries.has(delivery));
          const before = calls.filter(([name]) => name === 'onStop').length;
          void inbound.receive(message);
          const stopped = calls.filter(([name]) => name === 'onStop').length - before;
          expect(stopped).toBe(isOld ? 0 : 1);
          contents.add(text);
          if (stopped > 0 && message.packetId !== null) deliveries.add(delivery);
        }
      }),
      { numRuns: runs(500) },
    );
  });

  it('counts, logs and records a new message with the content of an earlier stop', async () => {
    const { inbound, calls, logged, clock } = inboundWith();
    for (let n = 1; n <= 3; n += 1) {
      void inbound.receive(messageOf(topics.stop, { id: 'stop-1' }, { packetId: n }));
      await clock.advance(0);
    }
    void inbound.receive(messageOf(topics.stop, { id: 'stop-2' }, { packetId: 4 }));
    await clock.advance(0);
    expect(inbound.view()).toMatchObject({ stops: 4, stopsOfKnownContent: 2, discarded: { duplicate: 0 } });
    const received = logged.filter(([text]) => text === 'stop received from the cloud').map(([, fields]) => fields);
    expect(received.map((fields) => 'isContentKnown' in (fields as object))).toEqual([false, true, true, false]);
    expect(calls.filter(([name]) => name === 'record')).toHaveLength(4);
  });

  it('acts on a retained stop again once so many others came that it is no longer remembered', async () => {
    const { inbound, clock } = inboundWith();
    const retained = () => void inbound.receive(messageOf(topics.stop, 'first', { retain: true }));
    const others = async (count: number) => {
      for (let n = 0; n < count; n += 1) void inbound.receive(messageOf(topics.stop, `other ${n}`));
      await clock.advance(0);
    };
    retained();
    await others(MAX_SEEN - 1);
    retained();
    expect(inbound.view()).toMatchObject({ stops: MAX_SEEN, discarded: { duplicate: 1 } });
    await others(MAX_SEEN);
    retained();
    expect(inbound.view()).toMatchObject({ stops: 2 * MAX_SEEN + 1, discarded: { duplicate: 1 } });
  });

  it('recognises no delivery of an earlier session, whose packet identifiers are free for other messages', async () => {
    const disk = Promise.withResolvers<void>();
    let isDiskFull = false;
    const { inbound, clock } = inboundWith({ onStop: () => (isDiskFull ? disk.promise : Promise.resolve()) });
    const receive = (packetId: number, dup: boolean) =>
      void inbound.receive(messageOf(topics.stop, 'stop', { packetId, dup }));
    receive(1, false);
    await clock.advance(0);
    isDiskFull = true;
    receive(2, false);
    inbound.onNewSession();
    // Other stops, the first deliveries of which were lost.
    receive(1, true);
    receive(2, true);
    expect(inbound.view()).toMatchObject({ stops: 4, discarded: { duplicate: 0 } });
    disk.resolve();
    await clock.advance(0);
    receive(1, true);
    receive(2, true);
    expect(inbound.view()).toMatchObject({ stops: 4, discarded: { duplicate: 2 } });
    inbound.onNewSession();
    isDiskFull = false;
    receive(2, true);
    expect(inbound.view().stops).toBe(5);
  });

  const shapes = ['', '{}', 'stop', '{"command":"stop"}', '{"id":7}', '["a"]', '\u0000\u0001', ' '.repeat(5_000)];

  it.each(shapes)('stops by %j, records what it is recognised by, and logs no byte of it', async (payload) => {
    const { inbound, calls, logged, clock } = inboundWith({
      record: (body) => void calls.push(['record', body]) as never,
    });
    await inbound.receive(messageOf(topics.stop, payload));
    await clock.advance(0);
    const content = createHash('sha256').update(payload).digest('hex');
    expect(calls).toEqual([
      ['onStop', { id: null }],
      ['record', { kind: 'stop-executed', stopId: null, content, reason: null, by: null, saved: true }],
    ]);
    expect(inbound.view()).toMatchObject({ stops: 1, unsavedStops: 0 });
    expect(logged.find(([text]) => text === 'stop received from the cloud')?.[1]).toEqual({
      ...{ audit: true, id: null, form: expect.any(String), bytes: payload.length },
    });
  });

  it('stops anew for each new message without an id, also while the one before is not saved', () => {
    const { inbound } = inboundWith({ onStop: () => new Promise(() => {}) });
    for (let n = 1; n <= 3; n += 1) void inbound.receive(messageOf(topics.stop, 'stop', { packetId: n }));
    expect(inbound.view()).toMatchObject({ stops: 3, discarded: { duplicate: 0 } });
  });

  it('acts once on a message without an id that is delivered again, and acknowledges no delivery before it is saved', async () => {
    const latched = Promise.withResolvers<void>();
    let stops = 0;
    const { inbound, clock } = inboundWith({
      onStop() {
        stops += 1;
        return latched.promise;
      },
    });
    const ended: string[] = [];
    const receive = (name: string, flags: Partial<InboundMessage>) =>
      void Promise.resolve(inbound.receive(messageOf(topics.stop, 'stop', flags))).then(() => ended.push(name));
    receive('first', { packetId: 3 });
    receive('again', { packetId: 3, dup: true });
    receive('retained', { packetId: 9, retain: true });
    await clock.advance(0);
    expect([stops, ended]).toEqual([1, []]);
    latched.resolve();
    await clock.advance(0);
    expect(ended).toEqual(['first', 'again', 'retained']);
    // A person has cleared it meanwhile: what comes again of it does nothing.
    receive('again', { packetId: 3, dup: true });
    receive('retained', { packetId: 10, retain: true });
    expect(stops).toBe(1);
    // Another one, the first delivery of which was lost.
    receive('next', { packetId: 4, dup: true });
    expect(stops).toBe(2);
  });

  it('acts on a stop before anything else is done about it, and holds its acknowledgement until it is saved', async () => {
    const [latched, recorded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { inbound, calls, clock } = inboundWith({
      onStop: () => latched.promise,
      record: (body) => {
        calls.push(['record', body]);
        return recorded.promise;
      },
    });
    const ended: string[] = [];
    const receive = (name: string, dup = false) =>
      void inbound.receive(messageOf(topics.stop, { id: 'a1' }, { dup }))?.then(() => ended.push(name));
    receive('first');
    await clock.advance(2_999);
    expect([calls, inbound.view().unsavedStops, inbound.troubles()]).toEqual([[], 0, []]);
    await clock.advance(1);
    const content = createHash('sha256').update('{"id":"a1"}').digest('hex');
    const body = { kind: 'stop-executed', stopId: 'a1', content, reason: null, by: null, saved: false };
    expect(calls).toEqual([['record', body]]);
    expect(inbound.view().unsavedStops).toBe(1);
    expect(inbound.troubles()).toMatchObject([{ kind: 'stop-not-saved', detail: expect.stringContaining('1 stop') }]);
    // Delivered again on a next connection: not executed again, and not acknowledged either.
    receive('again', true);
    expect(inbound.view()).toMatchObject({ stops: 1, discarded: { duplicate: 1 } });
    recorded.resolve();
    await clock.advance(10_000);
    expect(ended).toEqual([]);
    latched.resolve();
    await clock.advance(0);
    expect(ended).toEqual(['first', 'again']);
    expect([inbound.view().unsavedStops, inbound.troubles()]).toEqual([0, []]);
    // From here on it is remembered, without a wait.
    expect(inbound.receive(messageOf(topics.stop, { id: 'a1' }, { dup: true }))).toBeUndefined();
    expect(calls).toHaveLength(1);
  });

  it('has the record of a saved stop at once, and acknowledges nothing before it is on the disk', async () => {
    const recorded = Promise.withResolvers<void>();
    const { inbound, calls, clock } = inboundWith({
      record: (body) => {
        calls.push(['record', body]);
        return recorded.promise;
      },
    });
    let isOver = false;
    void inbound.receive(messageOf(topics.stop, { id: 'a1' }))?.then(() => {
      isOver = true;
    });
    await clock.advance(0);
    expect(calls[1]).toMatchObject(['record', { stopId: 'a1', saved: true }]);
    expect(isOver).toBe(false);
    recorded.resolve();
    await clock.advance(0);
    expect(isOver).toBe(true);
  });

  it('never acknowledges a stop whose record is refused: delivered again it counts as new', async () => {
    let isRefusing = true;
    const { inbound, calls, logged, clock } = inboundWith({
      record: () => (isRefusing ? Promise.reject(new Error('too many')) : Promise.resolve()),
    });
    let ended = 0;
    const receive = (dup = false) =>
      void inbound.receive(messageOf(topics.stop, { id: 'a1' }, { dup }))?.then(() => (ended += 1));
    receive();
    await clock.advance(0);
    expect(logged.map(([text]) => text)).toContainEqual(expect.stringContaining('not acknowledged'));
    isRefusing = false;
    receive(true);
    await clock.advance(0);
    expect(ended).toBe(1);
    expect(calls.map(([name]) => name)).toEqual(['onStop', 'onStop']);
  });

  it('is answered for the stop even when the actor throws, and the next message is acted on', () => {
    let calls = 0;
    const { inbound } = inboundWith({
      onStop() {
        calls += 1;
        throw new Error('motion');
      },
    });
    expect(() => inbound.receive(messageOf(topics.stop, { id: 'a1' }))).not.toThrow();
    // It was not acted on, so it is not acknowledged, and the redelivery is no duplicate.
    void inbound.receive(messageOf(topics.stop, { id: 'a1' }, { dup: true }));
    expect(calls).toBe(2);
  });

  it('passes a repeated tunnel notification on as one, so that its refusal is recorded', () => {
    const { inbound, calls } = inboundWith();
    for (let n = 0; n < 3; n += 1) void inbound.receive(messageOf(topics.tunnels, notification));
    expect(calls.map(([name, , isRepeated]) => `${name} ${isRepeated}`)).toEqual([
      'onTunnelNotification false',
      'onTunnelNotification true',
      'onTunnelNotification true',
    ]);
    expect(inbound.view()).toMatchObject({ tunnelNotifications: 3, discarded: { duplicate: 0 } });
  });

  it('gives an answer to the one who asked, once', async () => {
    const { inbound, requester, published } = inboundWith();
    const asked = requester.ask(
      { kind: 'job-start', topic: `${topics.jobs}/start-next`, body: {} },
      { signal: new AbortController().signal },
    );
    expect(published.length).toBe(1);
    const clientToken = published[0]?.token;
    const answer = () => messageOf(`${topics.jobs}/start-next/accepted`, { clientToken, timestamp: 1, execution: job });
    void inbound.receive(answer());
    expect(await asked).toMatchObject({ kind: 'job', execution: { jobId: 'j1' } });
    void inbound.receive(answer());
    expect(inbound.view()).toMatchObject({ answers: 1, discarded: { duplicate: 1 } });
  });

  it('never writes a payload to the log, also not that of a tunnel notification', () => {
    const secret = 'c0ffee5ec2e7';
    const { inbound, logged } = inboundWith();
    void inbound.receive(messageOf(topics.tunnels, { ...notification, clientAccessToken: secret }));
    void inbound.receive(messageOf(topics.tunnels, { ...notification, clientAccessToken: secret, port: 22 }));
    for (const field of ['clientMode', 'region', 'services']) {
      const token = `${secret}-${field}`;
      const value = field === 'services' ? ['A', token] : token;
      void inbound.receive(messageOf(topics.tunnels, { ...notification, clientAccessToken: token, [field]: value }));
    }
    void inbound.receive(messageOf(topics.stop, `{"id":"${secret}`));
    void inbound.receive(
      messageOf(topics.storageAnswer, { clientToken: 't', url: `https://x.example/a?sig=${secret}` }),
    );
    expect(logged.length).toBeGreaterThan(2);
    expect(JSON.stringify(logged)).not.toContain(secret);
  });
});
