import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../../src/lib/cloud/gate/gate.ts';
import {
  type Decision,
  type DiscardReason,
  discardReasons,
  type InboundMessage,
  type OwnRequest,
  type RequestKind,
} from '../../../src/lib/cloud/gate/model.ts';
import { MAX_DEPTH } from '../../../src/lib/cloud/gate/payload.ts';
import { subscribedFilters } from '../../../src/lib/cloud/topics.ts';
import { isFull, runs } from '../../properties.ts';
import { anyCharacter } from '../../text/units.ts';
import { contextOf, messageOf, serial, topics, withRequest } from './context.ts';

const encode = (text: string) => new TextEncoder().encode(text);
const token = '3b9f2f3e-0000-4000-8000-000000000000';
const execution = {
  ...{ jobId: 'j1', status: 'QUEUED', queuedAt: 1_700_000_000, lastUpdatedAt: 1_700_000_000_123, versionNumber: 1 },
  executionNumber: 1,
};
const notification = {
  ...{ clientAccessToken: 'T'.repeat(700), clientMode: 'destination', region: 'eu-central-1', services: ['A'] },
};
const stop = (payload: unknown, changes = {}) => decide(messageOf(topics.stop, payload), contextOf(changes));
const release = (given: unknown, changes = {}) =>
  decide(messageOf(`${topics.jobs}/notify-next`, { execution: given }), contextOf(changes));
const notified = (given: unknown, changes = {}) => decide(messageOf(topics.tunnels, given), contextOf(changes));
const discarded = (reason: DiscardReason): Decision => ({ kind: 'discard', reason });
const ask = (kind: RequestKind, topic: string, payload: object, state: OwnRequest['state'] = 'pending') =>
  decide(
    messageOf(`${topic}${kind === 'storage' ? '/answer' : '/accepted'}`, { clientToken: token, ...payload }),
    contextOf(withRequest(token, { kind, topic, state })),
  );

const seen = (...contents: string[]) => ({ hasSeenStop: (content: string) => contents.includes(content) });
const sha = (text: string) => createHash('sha256').update(text).digest('hex');
const unread = { kind: 'stop', stop: { id: null } };

describe('a stop', () => {
  it('passes with its texts on one line and shortened', () => {
    expect(stop({ id: 'a', reason: 'fire\nalarm\u0007\u202e', by: 'x'.repeat(300) })).toMatchObject({
      ...{ kind: 'stop', stop: { id: 'a', reason: 'fire alarm', by: 'x'.repeat(120) }, form: 'documented' },
    });
    expect(stop({ id: 'a', reason: 'y'.repeat(3_000) })).toMatchObject({ stop: { reason: 'y'.repeat(200) } });
  });

  it('is not prevented by anything beside its id', () => {
    const expectBare = (payload: unknown) => {
      const decision = stop(payload);
      expect(decision).toMatchObject({ kind: 'stop', form: 'documented' });
      expect(decision).toHaveProperty('stop', { id: 'a' });
    };
    for (const reason of [5, null, {}, [], true, '', ' \n']) expectBare({ id: 'a', reason, by: reason });
    expectBare({ id: 'a', other: { deep: [1, 2] } });
    expectBare('\ufeff{"id":"a"}');
    expectBare('{"id":"a","__proto__":{"id":"b"},"constructor":1,"n":1e999}');
    expect(stop('{"id":"a","reason":"\\ud800"}')).toMatchObject({ stop: { id: 'a', reason: '\ufffd' } });
  });

  it.each([
    ['nothing', '', 'empty'],
    ['an empty object', '{}', 'no-id'],
    ['a word', 'stop', 'not-json'],
    ['a word in JSON', '"stop"', 'no-id'],
    ['another object', '{"command":"stop"}', 'no-id'],
    ['a number as id', '{"id":7}', 'no-id'],
    ['no id', '{"reason":7}', 'no-id'],
    ['a list', '["a"]', 'no-id'],
    ['an id of the prototype', '{"__proto__":{"id":"a"}}', 'no-id'],
    ['a lone surrogate as id', '{"id":"\\ud800"}', 'no-id'],
    ['an id with a control character', '{"id":"a\\n"}', 'no-id'],
    ['an id of 65 characters', JSON.stringify({ id: 'a'.repeat(65) }), 'no-id'],
    ['an empty id', '{"id":""}', 'no-id'],
    ['the serial number as id, which names the robot', JSON.stringify({ id: serial }), 'no-id'],
    ['null', 'null', 'no-id'],
    ['a number', '1', 'no-id'],
    ['two texts', '{"id":"a"}{"id":"a"}', 'not-json'],
    ['a key twice, one of them escaped', '{"id":"a","\\u0069d":"b"}', 'not-json'],
    ['a comment', '{"id":"a"} // now', 'not-json'],
    ['a cut text', '{"id":"a"', 'not-json'],
    ['a NUL at its end', '{"id":"a"}\u0000', 'not-json'],
    ['too deep a nesting', `{"id":"a","x":${'['.repeat(MAX_DEPTH)}${']'.repeat(MAX_DEPTH)}}`, 'too-deep'],
    ['more bytes than are read', `{"id":"a"}${' '.repeat(4_096)}`, 'oversized'],
  ] as const)('is also one with %s, recognised by its content', (_, payload, form) => {
    const content = sha(payload);
    expect(stop(payload)).toEqual({ ...unread, form, content, delivery: `1-${content}`, isContentKnown: false });
  });

  it('keeps its texts without an id', () => {
    expect(stop({ id: 7, reason: 'fire', by: 'control centre' })).toMatchObject({
      stop: { id: null, reason: 'fire', by: 'control centre' },
    });
  });

  it('is one in any bytes: another encoding, an overlong form, a surrogate in UTF-8', () => {
    for (const bytes of [
      new Uint8Array(Buffer.from('\ufeff{"id":"a"}', 'utf16le')),
      new Uint8Array([...encode('{"id":'), 0xc0, 0xa2, ...encode('a"}')]),
      new Uint8Array([...encode('{"id":"a","r":"'), 0xed, 0xa0, 0x80, ...encode('"}')]),
    ]) {
      expect(stop(bytes)).toMatchObject({ ...unread, form: 'not-json' });
    }
  });

  it('is one whose payload was not kept; its size stands for its content', () => {
    const message = messageOf(topics.stop, '', { oversizedBytes: 200_000 });
    const expected = { ...unread, form: 'oversized', content: 'bytes-200000', delivery: '1-bytes-200000' };
    expect(decide(message, contextOf())).toMatchObject(expected);
    expect(decide({ ...message, retain: true }, contextOf(seen('bytes-200001')))).toMatchObject(expected);
    expect(decide({ ...message, retain: true }, contextOf(seen('bytes-200000')))).toMatchObject(discarded('duplicate'));
  });

  it('is read at the deepest permitted nesting', () => {
    const nested = (levels: number) => `{"id":"a","x":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    expect(stop(nested(MAX_DEPTH - 1))).toMatchObject({ stop: { id: 'a' }, form: 'documented' });
    expect(stop(nested(1_900))).toMatchObject({ ...unread, form: 'too-deep' });
  });

  const shapes = ['{"id":"a1"}', '{"id":"a1","reason":"fire alarm"}', '', 'stop', '{}'];

  it.each(shapes)('is one in every new message, also with an id and a content of before: %j', (text) => {
    const all = contextOf({ hasSeenStop: () => true, hasSeenDelivery: () => true });
    for (const packetId of [1, 7, null]) {
      expect(decide(messageOf(topics.stop, text, { packetId }), all)).toMatchObject({
        kind: 'stop',
        isContentKnown: true,
      });
    }
  });

  it.each(shapes)('acts once as a retained message, by its content: %j', (text) => {
    const of = (flags: Partial<InboundMessage>, payload = text) =>
      decide(messageOf(topics.stop, payload, flags), contextOf(seen(sha(text))));
    expect(of({ retain: true })).toEqual({ ...discarded('duplicate'), repeats: sha(text) });
    expect(of({ retain: true, packetId: null })).toMatchObject(discarded('duplicate'));
    expect(of({ retain: true }, `${text} `)).toMatchObject({ kind: 'stop', isContentKnown: false });
  });

  it('under an id of before, retained, with another content is another stop', () => {
    const [one, other] = [1, 2].map((at) => JSON.stringify({ id: 'stop', at }));
    const context = contextOf(seen(sha(one ?? '')));
    const kinds = [one, other].map((text) => decide(messageOf(topics.stop, text, { retain: true }), context).kind);
    expect(kinds).toEqual(['discard', 'stop']);
  });

  it.each(shapes)('is recognised in a redelivery by content and packet identifier together: %j', (text) => {
    const context = contextOf({ hasSeenStop: () => true, hasSeenDelivery: (one) => one === `7-${sha(text)}` });
    const of = (flags: Partial<InboundMessage>, payload = text) =>
      decide(messageOf(topics.stop, payload, { packetId: 7, dup: true, ...flags }), context);
    expect(of({})).toEqual({ ...discarded('duplicate'), repeats: `7-${sha(text)}` });
    // The first delivery of another stop was lost.
    expect(of({ packetId: 8 }).kind).toBe('stop');
    expect(of({ packetId: null }).kind).toBe('stop');
    expect(of({}, `${text} `).kind).toBe('stop');
    // The identifier is in use again.
    expect(of({ dup: false }).kind).toBe('stop');
  });
});

describe('a release', () => {
  it('passes with the fields of the job service only, and its document as it came', () => {
    const jobDocument = { schema: 'x', package: { url: 'u' }, n: [1] };
    expect(release({ ...execution, jobDocument, approximateSecondsBeforeTimedOut: 5, other: 1 })).toEqual({
      kind: 'release',
      execution: { ...execution, jobDocument },
    });
    expect(release({ ...execution, thingName: serial, statusDetails: { phase: 'x' }, startedAt: 2 })).toEqual({
      kind: 'release',
      execution: { ...execution, thingName: serial, statusDetails: { phase: 'x' }, startedAt: 2 },
    });
    expect(release({ ...execution, startedAt: null, thingName: null, statusDetails: null })).toEqual({
      kind: 'release',
      execution,
    });
  });

  it.each([
    ['a serial that only begins like this one', { thingName: `${serial}1` }, 'misaddressed'],
    ['another case of this serial', { thingName: serial.toLowerCase() }, 'misaddressed'],
    ['a thing name that is no text', { thingName: [serial] }, 'wrong-type'],
    ['a job id that is a path', { jobId: '../x' }, 'wrong-type'],
    ['a job id that is a topic wildcard', { jobId: '+' }, 'wrong-type'],
    ['no job id', { jobId: undefined }, 'wrong-type'],
    ['a status in other letters', { status: 'queued' }, 'wrong-type'],
    ['an end', { status: 'SUCCEEDED' }, 'wrong-type'],
    ['a negative number', { executionNumber: -1 }, 'wrong-type'],
    ['a fraction', { versionNumber: 1.5 }, 'wrong-type'],
    ['a number in a text', { versionNumber: '1' }, 'wrong-type'],
    ['a time that is a date', { queuedAt: '2026-01-31' }, 'wrong-type'],
    ['details with a line end', { statusDetails: { a: 'x\ny' } }, 'wrong-type'],
    ['details that are a list', { statusDetails: ['x'] }, 'wrong-type'],
  ] as const)('is refused with %s', (_, changes, reason) => {
    expect(release({ ...execution, ...changes })).toEqual(discarded(reason));
  });

  it('is refused with a time that no double holds', () => {
    const text = JSON.stringify({ execution }).replace('1700000000,', '1e999,');
    expect(text).toContain('1e999');
    expect(decide(messageOf(`${topics.jobs}/notify-next`, text), contextOf())).toEqual(discarded('wrong-type'));
  });

  it.each([undefined, null, {}])('is no release with the execution %o: the queue is empty', (given) => {
    expect(release(given)).toEqual(discarded('empty-queue'));
  });

  it('is no empty queue with anything else in it', () => {
    for (const more of [{ command: 'open-door' }, { timestamp: 1, stop: true }, { execution: {}, jobDocument: {} }]) {
      const message = messageOf(`${topics.jobs}/notify-next`, JSON.stringify(more));
      expect(decide(message, contextOf())).toEqual(discarded('unknown-field'));
    }
    const empty = messageOf(`${topics.jobs}/notify-next`, '{"timestamp":1,"execution":{}}');
    expect(decide(empty, contextOf())).toEqual(discarded('empty-queue'));
  });

  it('is offered once per execution; a retry of the job is another one', () => {
    const hasSeenExecution = (jobId: string, number: number) => jobId === 'j1' && number === 1;
    expect(release(execution, { hasSeenExecution })).toEqual(discarded('duplicate'));
    expect(release({ ...execution, executionNumber: 2 }, { hasSeenExecution }).kind).toBe('release');
  });

  it('keeps no key that would become a prototype, at any depth of its document', () => {
    const text = `{"execution":${JSON.stringify(execution).slice(0, -1)},"jobDocument":{"a":{"__proto__":{"x":1},"b":2}}}}`;
    const decision = decide(messageOf(`${topics.jobs}/notify-next`, text), contextOf());
    expect(decision).toMatchObject({ execution: { jobDocument: { a: { b: 2 } } } });
    expect(JSON.stringify(decision)).not.toContain('__proto__');
  });
});

describe('a notification', () => {
  it('passes with its four fields', () => {
    expect(notified(notification)).toEqual({ kind: 'tunnel-notification', notification, isRepeated: false });
  });

  it.each([
    ['no service', { services: [] }, []],
    ['services left out', { services: undefined }, []],
    ['17 services', { services: Array.from({ length: 17 }, () => 'A') }, Array.from({ length: 17 }, () => 'A')],
  ])('passes with %s, so that its refusal is recorded', (_, changes, services) => {
    expect(notified({ ...notification, ...changes })).toMatchObject({
      kind: 'tunnel-notification',
      notification: { services },
    });
  });

  it('passes as a repeated one when its token was received before', () => {
    const hasSeenNotification = (token: string) => token === notification.clientAccessToken;
    expect(notified(notification, { hasSeenNotification })).toMatchObject({ notification, isRepeated: true });
    expect(notified({ ...notification, clientAccessToken: 'U' }, { hasSeenNotification })).toMatchObject({
      isRepeated: false,
    });
  });

  it.each([
    ['an empty token', { clientAccessToken: '' }],
    ['a token with a line end', { clientAccessToken: 'a\nb' }],
    ['a token of 4097 characters', { clientAccessToken: 'a'.repeat(4_097) }],
    ['no mode', { clientMode: undefined }],
    ['a region that is a host', { region: 'x.example.com' }],
    ['a service that is a number', { services: ['A', 22] }],
    ['services in a text', { services: 'A' }],
  ])('is refused with %s', (_, changes) => {
    expect(notified({ ...notification, ...changes })).toEqual(discarded('wrong-type'));
  });

  it('is refused with one more field', () => {
    expect(notified({ ...notification, constructor: 1 })).toEqual(discarded('unknown-field'));
  });
});

describe('an answer', () => {
  it('is matched by the token and the topic of its request', () => {
    expect(ask('job-start', `${topics.jobs}/start-next`, { execution })).toEqual({
      kind: 'answer',
      clientToken: token,
      answer: { kind: 'job', execution },
    });
    expect(ask('job-get', `${topics.jobs}/j1/get`, {})).toMatchObject({ answer: { kind: 'job', execution: null } });
    expect(ask('job-update', `${topics.jobs}/j1/update`, { executionState: { x: 1 } })).toMatchObject({
      answer: { kind: 'job-updated' },
    });
    expect(ask('shadow-update', `${topics.shadow}/update`, { version: 3, state: {} })).toMatchObject({
      answer: { kind: 'shadow', version: 3 },
    });
  });

  it('with an unknown token, another kind or another job was not asked for', () => {
    const message = messageOf(`${topics.jobs}/j1/get/accepted`, { clientToken: token, execution });
    const requests: (OwnRequest | null)[] = [
      null,
      { kind: 'job-update', topic: `${topics.jobs}/j1/update`, state: 'pending' },
      { kind: 'job-get', topic: `${topics.jobs}/j2/get`, state: 'pending' },
      // A request that has ended must not turn a message on another topic into a late answer.
      { kind: 'job-get', topic: `${topics.jobs}/j2/get`, state: 'ended' },
    ];
    for (const request of requests) {
      expect(decide(message, contextOf({ requestOf: () => request }))).toEqual(discarded('not-asked-for'));
    }
  });

  it('never is a release, even to a request for one that was not sent', () => {
    const message = messageOf(`${topics.jobs}/start-next/accepted`, { clientToken: token, execution });
    expect(decide(message, contextOf())).toEqual(discarded('not-asked-for'));
  });

  it('with the execution of another thing is misaddressed', () => {
    const other = { execution: { ...execution, thingName: 'SN0002' } };
    expect(ask('job-start', `${topics.jobs}/start-next`, other)).toEqual(discarded('misaddressed'));
  });

  it('that rejects reaches its request without an unusable message', () => {
    const topic = `${topics.jobs}/j1/update`;
    const context = contextOf(withRequest(token, { kind: 'job-update', topic, state: 'pending' }));
    const rejected = (payload: object) =>
      decide(messageOf(`${topic}/rejected`, { clientToken: token, ...payload }), context);
    expect(rejected({ code: 'VersionMismatch', message: 5 })).toMatchObject({
      answer: { kind: 'rejected', rejected: { code: 'VersionMismatch', message: '' } },
    });
    expect(rejected({ code: 409, message: 'a\u0000b'.repeat(400) })).toMatchObject({
      answer: { rejected: { code: 409, message: expect.stringMatching(/^(a b)+/) } },
    });
    expect(rejected({ code: { a: 1 } })).toEqual(discarded('wrong-type'));
  });

  it('of the storage is a URL or a reason, not both and not neither', () => {
    const url = 'https://storage.example.com/a?X-Sig=%2B';
    const storage = (payload: object) => ask('storage', topics.storage, payload);
    expect(storage({ url })).toMatchObject({ answer: { kind: 'storage', storage: { url } } });
    expect(storage({ error: 'no\u0007' })).toMatchObject({ answer: { storage: { error: 'no' } } });
    for (const payload of [
      {},
      { url, error: 'x' },
      { url: 'http://storage.example.com/' },
      { url: 'https://' },
      { url: `${url}\r\nX: 1` },
      { url: `${url} ` },
      { url, headers: { 'a b': 'c' } },
      { url, headers: { a: 'b\r\nc: d' } },
      { url, headers: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`h${i}`, 'x'])) },
      { error: 'x', headers: { a: 'b' } },
    ]) {
      expect(storage(payload), JSON.stringify(payload)).toEqual(discarded('wrong-type'));
    }
  });
});

describe('the gate', () => {
  const jsonish = fc.jsonValue({ maxDepth: 4 });
  const fieldNames = fc.constantFrom(
    ...['id', 'reason', 'by', 'execution', 'clientToken', 'version', 'code', 'message', 'url', 'headers', 'error'],
    ...['jobId', 'thingName', 'status', 'services', 'region', '__proto__', 'constructor', 'state', 'timestamp'],
  );
  const valid = fc.constantFrom<object>(
    { id: 'a1', reason: 'r', by: 'b' },
    notification,
    { timestamp: 1, execution: { ...execution, thingName: serial, jobDocument: { a: 1 }, statusDetails: { a: 'b' } } },
    { clientToken: token, version: 1, execution, code: 'X', message: 'm' },
    { clientToken: token, url: 'https://storage.example.com/x', headers: { a: 'b' } },
  );
  /** A valid message with some fields replaced, added or removed. */
  const mutated = fc
    .tuple(valid, fc.array(fc.tuple(fieldNames, fc.oneof(jsonish, fc.constant(undefined), fc.constant(token)))))
    .map(([message, changes]) => {
      const text = (value: unknown) => JSON.stringify(value) ?? 'null';
      const members = [...Object.entries(message), ...changes].map(([key, value]) => `${text(key)}:${text(value)}`);
      return encode(`{${members.join(',')}}`);
    });
  const payload = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    jsonish.map((value) => encode(JSON.stringify(value))),
    fc.string({ unit: anyCharacter }).map(encode),
    valid.map((value) => encode(JSON.stringify(value))),
    mutated,
    fc.tuple(mutated, fc.nat(), fc.nat(255)).map(([bytes, at, byte]) => bytes.with(at % bytes.length, byte)),
  );
  const filled = subscribedFilters(topics).map((filter) => filter.replace('+', 'j1'));
  const topic = fc.oneof(
    fc.constantFrom(...filled, ...Object.values(topics)),
    fc.constantFrom(...filled).map((each) => each.replace(serial, 'SN0002')),
    fc.constantFrom(
      ...subscribedFilters(topics),
      ...filled.map((each) => `${each}/`),
      ...filled.map((each) => `/${each}`),
    ),
    fc.string({ unit: anyCharacter }),
  );
  const requests = [
    { kind: 'job-start', topic: `${topics.jobs}/start-next` },
    { kind: 'job-get', topic: `${topics.jobs}/j1/get` },
    { kind: 'job-update', topic: `${topics.jobs}/j1/update` },
    { kind: 'shadow-update', topic: `${topics.shadow}/update` },
    { kind: 'storage', topic: topics.storage },
    { kind: 'storage', topic: `${topics.jobs}/start-next` },
  ] as const;
  const request = fc.option(
    fc
      .tuple(fc.constantFrom(...requests), fc.constantFrom<OwnRequest['state']>('pending', 'answered', 'ended'))
      .map(([own, state]) => ({ ...own, state })),
  );
  /** A valid message on its own topic, with a single change at most. */
  const paired = fc
    .tuple(
      fc.constantFrom<readonly [string, object]>(
        [topics.stop, { id: 'a1', reason: 'r', by: 'b' }],
        [topics.tunnels, notification],
        [`${topics.jobs}/notify-next`, { execution: { ...execution, jobDocument: { a: 1 } } }],
        [`${topics.jobs}/start-next/accepted`, { clientToken: token, execution }],
        [topics.storageAnswer, { clientToken: token, url: 'https://storage.example.com/x' }],
      ),
      fc.option(fc.tuple(fieldNames, fc.oneof(jsonish, fc.string({ unit: anyCharacter })))),
    )
    .map(([[on, given], change]) => ({
      topic: on,
      payload: encode(JSON.stringify(change === null ? given : Object.fromEntries([...Object.entries(given), change]))),
    }));
  const message = fc
    .record({
      on: fc.oneof(fc.record({ topic, payload }), paired),
      retain: fc.boolean(),
      dup: fc.boolean(),
      packetId: fc.option(fc.integer({ min: 1, max: 65_535 })),
      oversizedBytes: fc.option(fc.nat(), { freq: 2 }),
    })
    .map(({ on, ...flags }) => ({ ...on, ...flags }));
  const context = fc
    .tuple(request, fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean())
    .map(([own, stopSeen, deliverySeen, notificationSeen, executionSeen]) =>
      contextOf({
        requestOf: (asked) => (asked === token ? own : null),
        hasSeenStop: () => stopSeen,
        hasSeenDelivery: () => deliverySeen,
        hasSeenNotification: () => notificationSeen,
        hasSeenExecution: () => executionSeen,
      }),
    );

  /** Texts without control characters and lone surrogates, of limited length; numbers that are finite. */
  function expectClean(value: unknown): void {
    if (typeof value === 'string') {
      expect(value.isWellFormed()).toBe(true);
      expect(value).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      expect(value.length).toBeLessThanOrEqual(8_192);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, each] of Object.entries(value)) {
        // The release agent validates the document; nothing else reads it.
        if (key !== 'jobDocument') expectClean(each);
      }
    } else if (typeof value === 'number') expect(Number.isFinite(value)).toBe(true);
  }

  const allowedKeys: Readonly<Record<string, readonly string[]>> = {
    stop: ['id', 'reason', 'by'],
    'tunnel-notification': ['clientAccessToken', 'clientMode', 'region', 'services'],
    release: [
      ...['jobId', 'thingName', 'jobDocument', 'status', 'statusDetails', 'queuedAt', 'startedAt', 'lastUpdatedAt'],
      ...['versionNumber', 'executionNumber'],
    ],
  };

  it('never throws, and passes on nothing but validated fields of the five kinds', { tags: 'property' }, () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(message, context, (given, known) => {
        const decision = decide(given, known);
        kinds.add(decision.kind);
        switch (decision.kind) {
          case 'discard':
            expect(discardReasons).toContain(decision.reason);
            if (given.topic === topics.stop) expect(decision.reason).toBe('duplicate');
            return;
          case 'stop':
            expect(given.topic).toBe(topics.stop);
            if (decision.stop.id !== null) expect(decision.stop.id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
            expect(allowedKeys.stop).toEqual(expect.arrayContaining(Object.keys(decision.stop)));
            expectClean(decision);
            return;
          case 'tunnel-notification':
            expect(given.topic).toBe(topics.tunnels);
            expect(Object.keys(decision.notification).sort()).toEqual(allowedKeys['tunnel-notification']?.toSorted());
            break;
          case 'release':
            expect(given.topic).toBe(`${topics.jobs}/notify-next`);
            expect(allowedKeys.release).toEqual(expect.arrayContaining(Object.keys(decision.execution)));
            expect(decision.execution.thingName ?? serial).toBe(serial);
            break;
          case 'answer': {
            const own = known.requestOf(decision.clientToken);
            expect(own?.state).toBe('pending');
            expect(given.topic.startsWith(`${own?.topic}/`)).toBe(true);
          }
        }
        expect(given.retain).toBe(false);
        expect(given.oversizedBytes).toBeNull();
        expectClean(decision);
      }),
      { numRuns: runs(3_000, 1_500) },
    );
    const all = ['answer', 'discard', 'release', 'stop', 'tunnel-notification'];
    // Fewer cases do not reach every one of them with every seed.
    expect([...kinds].sort()).toEqual(isFull ? all : all.filter((kind) => kinds.has(kind)));
  });

  it('never lets a retained message pass, except for a stop', { tags: 'property' }, () => {
    fc.assert(
      fc.property(message, context, (given, known) => {
        fc.pre(given.topic !== topics.stop);
        expect(decide({ ...given, retain: true }, known)).toEqual(discarded('retained'));
      }),
    );
  });

  it('stops by any bytes on the stop topic, however they are delivered, unless they were received before', {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(message, (given) => {
        expect(decide({ ...given, topic: topics.stop }, contextOf()).kind).toBe('stop');
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('stops by every new message on the stop topic, whatever was received before', { tags: 'property' }, () => {
    fc.assert(
      fc.property(message, context, (given, known) => {
        const live = { ...given, topic: topics.stop, retain: false, dup: false };
        expect(decide(live, known).kind).toBe('stop');
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('recognises a stop that it has accepted, retained or delivered again, and no other one', {
    tags: 'property',
  }, () => {
    const id = fc.option(fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/));
    const any = fc.oneof(
      payload,
      id.map((given) => encode(JSON.stringify({ id: given, reason: 'r' }))),
    );
    fc.assert(
      fc.property(any, any, fc.integer({ min: 1, max: 65_535 }), (one, other, packetId) => {
        const first = decide(messageOf(topics.stop, one, { packetId }), contextOf());
        if (first.kind !== 'stop') throw new Error('not a stop');
        const known = contextOf({
          hasSeenStop: (content) => content === first.content,
          hasSeenDelivery: (delivery) => delivery === first.delivery,
        });
        const again = (bytes: Uint8Array, flags: Partial<InboundMessage>) =>
          decide(messageOf(topics.stop, bytes, { packetId, ...flags }), known).kind;
        expect([again(one, { retain: true }), again(one, { dup: true })]).toEqual(['discard', 'discard']);
        const second = decide(messageOf(topics.stop, other), contextOf());
        if (second.kind !== 'stop' || second.content === first.content) return;
        expect([again(other, { retain: true }), again(other, { dup: true })]).toEqual(['stop', 'stop']);
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('discards every topic that it has not subscribed to as misaddressed', { tags: 'property' }, () => {
    const matches = (filter: string, name: string) => {
      const [want, have] = [filter.split('/'), name.split('/')];
      return want.length === have.length && want.every((each, i) => each === '+' || each === have[i]);
    };
    fc.assert(
      fc.property(message, (given) => {
        fc.pre(!subscribedFilters(topics).some((filter) => matches(filter, given.topic)));
        expect(decide({ ...given, retain: false }, contextOf())).toEqual(discarded('misaddressed'));
      }),
    );
    for (const each of filled) {
      expect(decide(messageOf(each, '{}'), contextOf()), each).not.toEqual(discarded('misaddressed'));
    }
  });

  it.each(['+', '#', '', 'a b', '$next', 'j'.repeat(65), 'j1/x', 'ü'])('takes %o for no job id', (jobId) => {
    const own = { kind: 'job-get', topic: `${topics.jobs}/${jobId}/get`, state: 'pending' } as const;
    const message = messageOf(`${topics.jobs}/${jobId}/get/accepted`, { clientToken: token });
    expect(decide(message, contextOf(withRequest(token, own)))).toEqual(discarded('misaddressed'));
  });

  it('stops for every valid id, whatever else is in the message', { tags: 'property' }, () => {
    const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);
    fc.assert(
      fc.property(id, fc.dictionary(fc.string(), jsonish, { maxKeys: 5 }), (given, rest) => {
        const bytes = encode(JSON.stringify({ ...rest, id: given }));
        fc.pre(bytes.length <= 4_096);
        expect(decide(messageOf(topics.stop, bytes), contextOf())).toMatchObject({ kind: 'stop', stop: { id: given } });
      }),
    );
  });
});
