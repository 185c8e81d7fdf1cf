import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Outbox, OutgoingMessage } from '../../../src/lib/cloud/outbox/model.ts';
import { type OutboxOptions, openOutbox } from '../../../src/lib/cloud/outbox/outbox.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { settled } from '../../story/in-flight.ts';
import { until } from '../../waiting.ts';
import { fresh } from '../fresh.ts';
import { createPublisher } from './publisher.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gw-outbox-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const freshPath = () => join(mkdtempSync(join(scratch, 'o-')), 'outbox', 'outbox.db');

function open(options: Partial<OutboxOptions> = {}): Promise<Outbox> {
  return openOutbox({
    ...{
      path: freshPath(),
      serial: 'SN1',
      recordTopic: 'gw/SN1/records',
      shadowTopic: 'gw/SN1/shadow/update',
      maxBytes: 4_000_000,
    },
    maxPerSecond: 1_000_000,
    clock: still,
    log: silentLog,
    ...options,
  });
}

const fault = (n: number): OutgoingMessage => ({ class: 'fault', topic: 'gw/SN1/faults', body: { n } });
const telemetry = (n: number): OutgoingMessage => ({ class: 'telemetry', topic: 'gw/SN1/telemetry', body: { n } });
const record = (n: number): OutgoingMessage => ({ class: 'record', topic: 'gw/SN1/records', body: { n } });
const refused = (text: RegExp) =>
  expect.objectContaining({ code: 'OUTBOX_REFUSED', message: expect.stringMatching(text) });
const unwritable = (text: RegExp) =>
  expect.objectContaining({ code: 'FILE_UNWRITABLE', message: expect.stringMatching(text) });

/** Of a test that does not advance it for itself. */
const still = createFakeClock({ settled });

/** Drains until the end of the scope. */
function draining(outbox: Outbox, publisher: ReturnType<typeof createPublisher>) {
  const end = new AbortController();
  const ended = outbox.drain(publisher, end.signal);
  ended.catch(() => {});
  return {
    ended,
    async [Symbol.asyncDispose]() {
      end.abort();
      await ended.catch(() => {});
    },
  };
}

const it = test.extend('outbox', fresh(open));

describe('the outbox', () => {
  it('makes the envelope, keeps messages through an end of gw, and numbers without gaps', async () => {
    const path = freshPath();
    const wall = new Date('2026-03-01T08:00:00Z');
    const first = await open({ path, clock: createFakeClock({ wall, settled }) });
    const accepted = await Promise.all([first.append(fault(1)), first.append(telemetry(1)), first.append(fault(2))]);
    expect(accepted.map(({ seq }) => seq)).toEqual([1, 1, 2]);
    expect(first.view()).toMatchObject({
      status: 'open',
      kept: { record: 0, fault: 2, shadow: 0, telemetry: 1 },
      ...{ accepted: 3, oldestAt: wall.toISOString(), thinned: 0, remedy: null },
    });
    await first[Symbol.asyncDispose]();
    expect(first.view()).toMatchObject({ status: 'not-open', kept: null, bytes: null });
    await expect(first.append(fault(3))).rejects.toEqual(unwritable(/is closed/));

    await using second = await open({ path });
    expect(second.view()).toMatchObject({ status: 'open', kept: { fault: 2, telemetry: 1 }, accepted: 0 });
    expect(await second.append(fault(3))).toMatchObject({ seq: 3 });
    const publisher = createPublisher(true);
    {
      await using _drain = draining(second, publisher);
      await still.advance(2_000);
      expect(second.view().acknowledged).toBe(4);
    }
    expect(publisher.published[0]?.json).toEqual({
      ...{ id: accepted[0].id, seq: 1, at: wall.toISOString(), serial: 'SN1', n: 1 },
    });
    expect(publisher.published.map(({ json }) => json.seq)).toEqual([1, 2, 3, 1]);
    await still.advance(2_000);
    expect(second.view().kept).toEqual({ record: 0, fault: 0, shadow: 0, telemetry: 0 });
    expect(second.view().oldestAt).toBeNull();
  });

  it('is readable and writable by its owner only', async () => {
    const path = freshPath();
    await using outbox = await open({ path });
    await outbox.append(fault(1));
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(dirname(path))) {
      expect([name, statSync(join(dirname(path), name)).mode & 0o777]).toEqual([name, 0o600]);
    }
  });

  it('places the id where a fixed shape has it', async ({ outbox }) => {
    const body = { state: { reported: { version: '1.0' } } };
    const { id } = await outbox.append({
      ...{ class: 'shadow', topic: 'gw/SN1/shadow/update', body, idField: 'clientToken' },
    });
    const publisher = createPublisher(true);
    await using _drain = draining(outbox, publisher);
    await still.advance(2_000);
    expect(publisher.published[0]?.json).toEqual({ clientToken: id, ...body });
  });

  it('refuses messages that a broker rejects or that JSON cannot represent, and stores nothing of them', async ({
    outbox,
  }) => {
    const circle: Record<string, unknown> = {};
    circle.circle = circle;
    const cases: [Partial<OutgoingMessage>, RegExp][] = [
      // Two bytes each in UTF-8.
      [{ body: { text: 'ä'.repeat(65_000) } }, /payload has 13\d{4} bytes, more than the limit of 130048/],
      [{ topic: 'gw/SN1/'.padEnd(257, 'x') }, /topic has 257 bytes/],
      [{ topic: 'gw/ä/'.padEnd(256, 'x') }, /topic has 257 bytes/],
      [{ topic: 'gw/+/faults' }, /wildcard/],
      [{ topic: '' }, /empty/],
      [{ body: { seq: 1 } }, /field seq is one that the outbox adds/],
      [{ body: { clientToken: 'a' }, idField: 'clientToken' }, /field clientToken/],
      [{ body: { speed: Number.NaN } }, /no JSON values/],
      [{ body: { big: 1n } }, /no JSON values/],
      [{ body: circle }, /no JSON values/],
    ];
    for (const [part, text] of cases)
      await expect(outbox.append({ ...fault(1), ...part })).rejects.toEqual(refused(text));
    expect(outbox.view()).toMatchObject({ refused: cases.length, accepted: 0, kept: { fault: 0 } });
    // Just below the limit, with control characters that JSON writes with six.
    await outbox.append({ ...fault(1), body: { text: '\u0001'.repeat(21_600) } });
    expect(await outbox.append(fault(2))).toMatchObject({ seq: 2 });
  });

  it('refuses when it is full of messages that are not thinned', async () => {
    await using outbox = await open({ maxBytes: 1_000_000 });
    const large = { ...fault(1), body: { text: 'x'.repeat(100_000) } };
    const results = await Promise.allSettled(Array.from({ length: 12 }, () => outbox.append(large)));
    const why = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(why.length).toBeGreaterThan(3);
    expect(why[0]).toEqual(refused(/the outbox is full \(1000000 bytes\)/));
    expect(outbox.view()).toMatchObject({ status: 'open', kept: { fault: 12 - why.length }, thinned: 0 });
  });

  it('thins telemetry when it is full, and sends one record about it', async () => {
    const clock = createFakeClock({ settled });
    await using outbox = await open({ maxBytes: 1_000_000, clock });
    const body = { text: 'x'.repeat(2_000) };
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 60 }, () => outbox.append({ ...telemetry(1), body })));
    }
    const { thinned } = outbox.view();
    expect(thinned).toBeGreaterThan(100);
    const publisher = createPublisher(true);
    await using _drain = draining(outbox, publisher);
    await clock.advance(10);
    expect(outbox.view().kept?.telemetry).toBe(600 - (thinned ?? 0));
    await clock.advance(60_000);
    expect(outbox.view().kept).toMatchObject({ telemetry: 0, record: 0 });
    const records = publisher.published.filter(({ topic }) => topic === 'gw/SN1/records');
    expect(records.map(({ json }) => json)).toEqual([
      expect.objectContaining({ kind: 'telemetry-thinned', count: thinned, fromSeq: 1, toSeq: thinned, seq: 1 }),
    ]);
  });
});

describe('a drain', () => {
  it('sends the most important class first, in order, with at most 50 messages in flight', async ({ outbox }) => {
    const publisher = createPublisher();
    await Promise.all(Array.from({ length: 60 }, (_, n) => outbox.append(telemetry(n))));
    await outbox.append(fault(1));
    await using _drain = draining(outbox, publisher);
    await still.advance(2_000);
    expect(publisher.published.length).toBe(50);
    expect(publisher.published.map(({ topic, json }) => [topic, json.seq]).slice(0, 3)).toEqual([
      ['gw/SN1/faults', 1],
      ['gw/SN1/telemetry', 1],
      ['gw/SN1/telemetry', 2],
    ]);
    // It waits for no other message: the next place is its.
    await outbox.append(record(1));
    publisher.published[10]?.acknowledge();
    await still.advance(2_000);
    expect(publisher.published[50]?.topic).toBe('gw/SN1/records');
    expect(publisher.published).toHaveLength(51);
  });

  it('wakes when a message is appended', async ({ outbox }) => {
    const publisher = createPublisher(true);
    await using _drain = draining(outbox, publisher);
    for (let n = 1; n <= 3; n += 1) {
      await outbox.append(n === 2 ? record(n) : fault(n));
      await still.advance(2_000);
      expect(publisher.published.length).toBe(n);
    }
  });

  it('sends again from the first that was not acknowledged, the same bytes', async () => {
    const path = freshPath();
    const outbox = await open({ path });
    await Promise.all(Array.from({ length: 5 }, (_, n) => outbox.append(fault(n))));
    const first = createPublisher();
    const { ended } = draining(outbox, first);
    await still.advance(2_000);
    expect(first.published.length).toBe(5);
    for (const index of [0, 1, 3]) first.published[index]?.acknowledge();
    await still.advance(2_000);
    expect(outbox.view().acknowledged).toBe(3);
    first.published[2]?.fail(new Error('connection lost'));
    await expect(ended).rejects.toThrow('connection lost');
    // A PUBACK that was under way counts too.
    first.published[4]?.acknowledge();
    await still.advance(2_000);
    expect(outbox.view().kept?.fault).toBe(1);

    const second = createPublisher(true);
    await using _drain = draining(outbox, second);
    await still.advance(2_000);
    expect(second.published.map(({ text }) => text)).toEqual([first.published[2]?.text]);
    await outbox[Symbol.asyncDispose]();
    await using again = await open({ path });
    expect(again.view().kept?.fault).toBe(0);
  });

  it('publishes at most so many messages in any second', async () => {
    const clock = createFakeClock({ settled });
    await using outbox = await open({ clock, maxPerSecond: 20 });
    await Promise.all(Array.from({ length: 90 }, (_, n) => outbox.append(telemetry(n))));
    const times: number[] = [];
    const publisher = createPublisher(true);
    const timed = {
      publish(topic: string, payload: Uint8Array) {
        times.push(clock.monotonicMs());
        return publisher.publish(topic, payload);
      },
    };
    const end = new AbortController();
    const ended = outbox.drain(timed, end.signal);
    await clock.advance(10);
    expect(times.length).toBeGreaterThan(0);
    for (let round = 0; round < 800 && times.length < 90; round += 1) await clock.advance(10);
    end.abort();
    await ended;
    expect(times).toHaveLength(90);
    for (const from of times) {
      expect(times.filter((at) => at >= from && at < from + 1_000).length).toBeLessThanOrEqual(20);
    }
    // Not slower than a tenth below the limit either.
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeLessThan(90_000 / 17);
  });

  it('rejects when no PUBACK is received on an open connection', async () => {
    const clock = createFakeClock({ settled });
    await using outbox = await open({ clock });
    await outbox.append(fault(1));
    const publisher = createPublisher();
    const { ended } = draining(outbox, publisher);
    await clock.advance(10);
    expect(publisher.published.length).toBe(1);
    await clock.advance(29_000);
    expect(outbox.view().kept?.fault).toBe(1);
    await clock.advance(2_000);
    await expect(ended).rejects.toMatchObject({ code: 'CLOUD_NO_ANSWER' });
    expect(outbox.view().acknowledged).toBe(0);
  });

  it('begins when the one before it has ended, and not at all when it was aborted meanwhile', async ({ outbox }) => {
    await outbox.append(fault(1));
    const [first, second, third] = [createPublisher(), createPublisher(true), createPublisher(true)];
    const one = draining(outbox, first);
    await still.advance(2_000);
    expect(first.published.length).toBe(1);
    const two = draining(outbox, second);
    await using _three = draining(outbox, third);
    const end = two[Symbol.asyncDispose]();
    await one[Symbol.asyncDispose]();
    await end;
    await still.advance(2_000);
    expect(third.published.length).toBe(1);
    expect(second.published).toEqual([]);
    await outbox.append(fault(2));
    await still.advance(2_000);
    expect(third.published.length).toBe(2);
  });

  /** A broker that ends the connection when it receives a message with this number, acknowledging all before. */
  const strict = (rejected: number, received: number[], onEnd: () => void = () => {}) => {
    let isEnded = false;
    return {
      async publish(_topic: string, payload: Uint8Array) {
        const { n } = JSON.parse(Buffer.from(payload).toString()) as { n: number };
        if (n === rejected) {
          isEnded = true;
          onEnd();
        }
        if (isEnded) throw new Error('connection lost');
        received.push(n);
      },
    };
  };

  it.each([
    ['by the publisher', false],
    ['by the signal of the connection', true],
  ])(
    'holds a message back that ends every connection (known %s), says so, and sends the others',
    async (_, isSignal) => {
      const clock = createFakeClock({ settled });
      await using outbox = await open({ clock });
      for (let n = 1; n <= 6; n += 1) await outbox.append(fault(n));
      const received: number[] = [];
      const end = new AbortController();
      for (let attempt = 0; attempt < 30 && received.length < 5; attempt += 1) {
        const connection = new AbortController();
        const publisher = strict(3, received, () => isSignal && connection.abort());
        outbox.drain(publisher, AbortSignal.any([end.signal, connection.signal])).catch(() => {});
        await clock.advance(1_000);
      }
      expect(received).toEqual([1, 2, 4, 5, 6]);
      expect(outbox.view()).toMatchObject({
        kept: { fault: expect.any(Number) },
        detail: expect.stringMatching(/1 held back: the connection ended each time it was sent/),
        remedy: expect.stringMatching(/broker/),
      });
      // After an hour it is sent again; by then the broker accepts it.
      end.abort();
      const publisher = createPublisher(true);
      await using _drain = draining(outbox, publisher);
      await outbox.append(fault(7));
      await clock.advance(10);
      expect(publisher.published.length).toBe(1);
      await clock.advance(3_601_000);
      await clock.advance(10);
      expect(publisher.published.map(({ json }) => json.n)).toEqual([7, 3]);
      expect(outbox.view()).toMatchObject({ remedy: null });
    },
  );

  it('holds nothing back when every message is lost, or when there is only one', async ({ outbox }) => {
    for (let n = 1; n <= 3; n += 1) await outbox.append(fault(n));
    const first: number[] = [];
    for (let attempt = 0; attempt < 40; attempt += 1) {
      let sent: number | null = null;
      const lossy = {
        async publish(_topic: string, payload: Uint8Array) {
          sent ??= (JSON.parse(Buffer.from(payload).toString()) as { n: number }).n;
          throw new Error('connection lost');
        },
      };
      await expect(outbox.drain(lossy, new AbortController().signal)).rejects.toThrow('connection lost');
      if (sent !== null) first.push(sent);
    }
    expect(new Set(first)).toEqual(new Set([1, 2]));
    expect(outbox.view().detail).not.toMatch(/held back/);
    const publisher = createPublisher(true);
    await using _drain = draining(outbox, publisher);
    await still.advance(2_000);
    expect(publisher.published.map(({ json }) => json.n).toSorted()).toEqual([1, 2, 3]);
  });
});

describe('the outbox on a failing disk', () => {
  it('opens, refuses with the reason, and recovers by itself', async () => {
    const path = freshPath();
    const clock = createFakeClock({ settled });
    // The folder cannot be made below a file.
    writeFileSync(dirname(path), '');
    await using outbox = await open({ path, clock });
    expect(outbox.view()).toMatchObject({ status: 'failing', kept: null, bytes: null, remedy: expect.any(String) });
    await expect(outbox.append(fault(1))).rejects.toEqual(unwritable(/cannot be written to/));
    rmSync(dirname(path));
    await clock.advance(5_000);
    // The first request to a new thread is not seen in flight.
    await until(
      () => outbox.view().status,
      (status) => status === 'open',
    );
    expect(await outbox.append(fault(1))).toMatchObject({ seq: 1 });
  });

  it('refuses a folder that is a link to one of another user', async () => {
    const path = freshPath();
    const elsewhere = mkdtempSync(join(scratch, 'open-'));
    mkdirSync(join(elsewhere, 'x'), { mode: 0o777 });
    rmSync(dirname(path), { recursive: true, force: true });
    symlinkSync(join(elsewhere, 'x'), dirname(path));
    chmodSync(join(elsewhere, 'x'), 0o777);
    await using outbox = await open({ path, clock: createFakeClock({ settled }) });
    expect(outbox.view()).toMatchObject({ status: 'failing', detail: expect.stringMatching(/other users may write/) });
    await expect(outbox.append(fault(1))).rejects.toEqual(unwritable(/other users may write/));
    expect(readdirSync(join(elsewhere, 'x'))).toEqual([]);
  });

  it.each([
    ['a damaged', 'this is no database, but longer than a header of one: '.repeat(100)],
    ['an empty', ''],
  ])('sets %s file aside, says so in view and log, and keeps what can be read', async (_what, content) => {
    const path = freshPath();
    const before = await open({ path });
    await before.append(fault(1));
    await before[Symbol.asyncDispose]();
    writeFileSync(path, content);
    const logged: [object, string][] = [];
    const log = { ...silentLog, error: (fields: object, text: string) => void logged.push([fields, text]) };
    await using outbox = await open({ path, log });
    expect(await outbox.append(fault(2))).toMatchObject({ seq: 1 });
    const [aside] = readdirSync(dirname(path)).filter((name) => name.includes('.corrupt-'));
    expect(outbox.view()).toMatchObject({
      status: 'open',
      detail: expect.stringMatching(/The file was damaged .*; 0 of its messages were still readable/),
      remedy: expect.stringContaining(aside ?? 'no file'),
    });
    expect(logged).toEqual([
      [expect.objectContaining({ salvaged: 0 }), 'outbox: damaged database set aside, a new one begun'],
    ]);
  });
});
