import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  changesOf,
  createShadowReports,
  type State,
  shadowState,
  wholeState,
} from '../../../src/lib/cloud/reporting/shadow.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { settled } from '../../story/in-flight.ts';
import { until } from '../../waiting.ts';
import { createMemoryOutbox } from './memory-outbox.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-shadow-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

async function opened(memory = createMemoryOutbox()) {
  const clock = createFakeClock();
  let state: State = { gw: '1.0.0', stop: { latched: false } };
  const make = () =>
    createShadowReports({
      ...{ topic: 's/update', path: join(dir, 'cloud-shadow.json'), outbox: memory.outbox, clock, log: silentLog },
      state: () => state,
    });
  const ticks: Promise<void>[] = [];
  let reports = make();
  await reports.load();
  return {
    ...memory,
    clock,
    sent: () => memory.of('shadow').map(({ body }) => (body.state as { reported: State }).reported),
    reports: () => reports,
    answer: (id: string, answer: Parameters<typeof reports.onAnswer>[1]) => reports.onAnswer(id, answer),
    /** The state of the next seconds; the broker acknowledges at once. */
    async over(seconds: number, next: State = state) {
      state = next;
      for (let i = 0; i < seconds; i += 1) {
        await clock.advance(1_000);
        await reports.tick();
        memory.drain();
      }
    },
    /** Seconds without a connection. */
    async cutFor(seconds: number, next: (second: number) => State) {
      for (let i = 0; i < seconds; i += 1) {
        state = next(i);
        await clock.advance(1_000);
        await reports.tick();
      }
    },
    /** Waits for the updates of `hungFor`, which write their file in real time. */
    ended: () => Promise.all(ticks),
    /** Seconds in which an update that has begun does not end. */
    async hungFor(seconds: number, next: State = state) {
      state = next;
      for (let i = 0; i < seconds; i += 1) {
        await clock.advance(1_000);
        ticks.push(reports.tick());
        await settled();
      }
    },
    async restart(next: State = state) {
      state = next;
      reports = make();
      await reports.load();
    },
  };
}

const accepted = (version: number) => ({ kind: 'shadow', version }) as const;
const rejected = (code: number) => ({ kind: 'rejected', rejected: { code, message: 'no' } }) as const;

describe('the shadow', () => {
  it('gets the whole state first, then only what has changed', async () => {
    const { over, sent, of } = await opened();
    await over(3);
    await over(10, { gw: '1.0.0', stop: { latched: true, by: 'x' } });
    await over(10, { gw: '1.0.0', stop: { latched: true } });
    await over(10, { stop: { latched: true } });
    expect(sent()).toEqual([
      { gw: '1.0.0', stop: { latched: false } },
      { stop: { latched: true, by: 'x' } },
      { stop: { by: null } },
      { gw: null },
    ]);
    // Its id is the client token, so that the answer is recognised.
    expect(of('shadow')[0]).toMatchObject({ class: 'shadow', topic: 's/update', idField: 'clientToken' });
    expect(Object.keys(of('shadow')[0]?.body ?? {})).toEqual(['state']);
  });

  it('gets at most one update in 5 s', async () => {
    const { over, sent } = await opened();
    for (let i = 0; i < 60; i += 1) await over(1, { n: i });
    expect(sent().length).toBeGreaterThan(9);
    expect(sent().length).toBeLessThanOrEqual(13);
  });

  it('gets one update after a long cut, with the state of its end', async () => {
    const { over, cutFor, sent } = await opened();
    await over(10, { n: 0 });
    await cutFor(3_600, (second) => ({ n: second }));
    expect(sent()).toHaveLength(2);
    await over(10, { n: 9 });
    expect(sent()).toHaveLength(3);
    expect(sent()[2]).toEqual({ n: 9 });
  });

  it('gets the whole state after a restart, and the removal of keys that a new version does not have', async () => {
    const { over, sent, restart } = await opened();
    await over(10, { a: 1, old: { b: 1 }, part: { c: 1, d: 2 } });
    await restart({ a: 1, part: { c: 1 } });
    await over(10);
    expect(sent()[1]).toEqual({ a: 1, old: null, part: { c: 1, d: null } });
  });

  it('is not sent while the outbox is not open or refuses, and is afterwards', async () => {
    const { over, sent, setOpen, refuse, reports } = await opened();
    setOpen(false);
    await over(20);
    expect(reports().view()).toMatchObject({ status: 'not-sent', detail: 'The outbox is not open.' });
    setOpen(true);
    refuse(new GwError('OUTBOX_REFUSED', 'full'));
    await over(20);
    expect(reports().view()).toMatchObject({ status: 'not-sent', detail: 'full' });
    expect(sent()).toEqual([]);
    refuse(null);
    await over(20);
    expect(sent()).toHaveLength(1);
    expect(reports().view().status).toBe('not-answered');
  });

  it('shows the version of the newest answer and drops older ones', async () => {
    const { over, answer, reports } = await opened();
    await over(10);
    await over(10, { n: 1 });
    expect(reports().view()).toMatchObject({ status: 'not-answered', version: null });
    answer('m2', accepted(8));
    expect(reports().view()).toMatchObject({ status: 'accepted', version: 8 });
    answer('m1', accepted(7));
    expect(reports().view().version).toBe(8);
    // A token answers once, and only a known one.
    answer('m2', accepted(9));
    answer('m9', accepted(10));
    expect(reports().view().version).toBe(8);
  });

  it('shows a rejection and is sent again as a whole, later each time', async () => {
    const { over, answer, reports, sent } = await opened();
    await over(10);
    await over(10, { gw: '1.0.0', stop: { latched: true } });
    answer('m2', rejected(413));
    expect(reports().view()).toMatchObject({
      status: 'rejected',
      rejected: { code: 413, message: 'no', at: '2026-01-31T12:00:20.000Z' },
    });
    await over(58);
    expect(sent()).toHaveLength(2);
    await over(3);
    expect(sent()[2]).toEqual({ gw: '1.0.0', stop: { latched: true } });
    answer('m3', rejected(500));
    await over(115);
    expect(sent()).toHaveLength(3);
    await over(6);
    expect(sent()).toHaveLength(4);
    expect(reports().view().status).toBe('rejected');
    answer('m4', accepted(3));
    expect(reports().view()).toMatchObject({ status: 'accepted', version: 3, rejected: null });
  });

  it('is sent as a whole when an update is rejected while the next one is being written', async () => {
    const { over, hungFor, holdUntil, ended, answer, reports, sent } = await opened();
    await over(10, { a: 1, b: 1 });
    answer('m1', accepted(1));
    await over(10, { a: 2, b: 1 });
    const hold = Promise.withResolvers<void>();
    holdUntil(hold.promise);
    await hungFor(1, { a: 2, b: 2 });
    answer('m2', rejected(500));
    hold.resolve();
    holdUntil(null);
    await ended();
    await over(1);
    expect(sent()).toEqual([{ a: 1, b: 1 }, { a: 2 }, { b: 2 }]);
    // The service has accepted b, and does not have the new a.
    answer('m3', accepted(2));
    expect(reports().view()).toMatchObject({ status: 'rejected', version: 2 });
    await over(61);
    expect(sent()[3]).toEqual({ a: 2, b: 2 });
    answer('m4', accepted(3));
    expect(reports().view()).toMatchObject({ status: 'accepted', version: 3, rejected: null });
  });

  it('stays rejected while only later changes are accepted', async () => {
    const { over, answer, reports, sent } = await opened();
    await over(10, { a: 1, b: 1 });
    await over(6, { a: 2, b: 1 });
    await over(6, { a: 2, b: 2 });
    answer('m2', rejected(500));
    answer('m3', accepted(2));
    expect(reports().view().status).toBe('rejected');
    await over(61);
    expect(sent().at(-1)).toEqual({ a: 2, b: 2 });
  });

  it('is due as a whole again when the outbox refuses the whole', async () => {
    const { over, answer, refuse, sent } = await opened();
    await over(10, { a: 1, b: 1 });
    await over(6, { a: 2, b: 1 });
    answer('m2', rejected(500));
    refuse(new GwError('OUTBOX_REFUSED', 'full'));
    await over(70);
    refuse(null);
    await over(20);
    expect(sent().at(-1)).toEqual({ a: 2, b: 1 });
  });

  it('shows the version of the newest update also after the service has begun a new document', async () => {
    const { over, answer, reports } = await opened();
    await over(10);
    answer('m1', accepted(800));
    await over(10, { n: 1 });
    answer('m2', accepted(1));
    expect(reports().view()).toMatchObject({ status: 'accepted', version: 1 });
  });

  it('is not shown as sent before it has left the outbox', async () => {
    const { cutFor, over, reports } = await opened();
    await cutFor(10, () => ({ n: 1 }));
    expect(reports().view()).toMatchObject({
      status: 'not-answered',
      detail: expect.stringContaining('in the outbox'),
    });
    await over(1);
    expect(reports().view()).toMatchObject({ status: 'not-answered', detail: expect.stringMatching(/^Sent/) });
  });

  it('is not shown as accepted while the disk or the outbox does not answer', async () => {
    const { over, hungFor, holdUntil, answer, reports } = await opened();
    await over(10);
    answer('m1', accepted(1));
    const hold = Promise.withResolvers<void>();
    holdUntil(hold.promise);
    await hungFor(12, { n: 1 });
    expect(reports().view()).toMatchObject({
      status: 'not-sent',
      detail: 'The disk or the outbox has not answered for 11 s.',
    });
    hold.resolve();
    await until(
      () => reports().view().status,
      (status) => status === 'not-answered',
    );
  });

  it('is not shown as sent while the state that was sent before is not read', () => {
    const { outbox } = createMemoryOutbox();
    const path = join(dir, 'cloud-shadow.json');
    const clock = createFakeClock();
    const unread = createShadowReports({ topic: 's', path, outbox, clock, log: silentLog, state: () => ({}) });
    expect(unread.view()).toMatchObject({ status: 'not-sent', detail: 'What was sent before is not read yet.' });
  });

  it('recognises the answer to an update of before the restart', async () => {
    const { over, restart, reports, answer } = await opened();
    await over(10);
    await restart();
    expect(reports().requestOf('m1')).toEqual({ kind: 'shadow-update', topic: 's/update', state: 'pending' });
    expect(reports().requestOf('m2')).toBeNull();
    answer('m1', accepted(4));
    expect(reports().view().version).toBe(4);
    expect(reports().requestOf('m1')?.state).toBe('answered');
  });

  it('is not sent when it is larger than a shadow, and the view says so', async () => {
    const { over, reports, sent } = await opened();
    await over(10, { text: 'x'.repeat(9_000) });
    expect(sent()).toEqual([]);
    expect(reports().view()).toMatchObject({ status: 'not-sent', detail: expect.stringContaining('8000') });
    await over(20, { text: 'x' });
    expect(sent()).toEqual([{ text: 'x' }]);
  });

  it.each(['', '[]', '{"format":"gw/cloud-shadow/1","sent":[],"pending":[]}'])(
    'starts with a file of %o',
    async (text) => {
      writeFileSync(join(dir, 'cloud-shadow.json'), text);
      const { over, sent } = await opened();
      await over(2);
      expect(sent()).toHaveLength(1);
    },
  );
});

describe('the changes of a state', () => {
  /** As a shadow service merges an update. */
  function merge(document: State, update: State): State {
    const merged: Record<string, unknown> = { ...document };
    for (const [key, value] of Object.entries(update)) {
      const before = merged[key];
      if (value === null) delete merged[key];
      else if (isObject(value)) merged[key] = merge(isObject(before) ? before : {}, value);
      else merged[key] = value;
    }
    return merged;
  }
  const isObject = (value: unknown): value is State =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const key = fc.constantFrom('a', 'b', 'c', 'constructor', 'toString');
  const value = fc.letrec<{ value: unknown; state: State }>((tie) => ({
    state: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    value: fc.oneof(
      { maxDepth: 3 },
      fc.integer(),
      fc.constantFrom(null, undefined, Number.NaN, 'text', true),
      fc.array(fc.integer(), { maxLength: 2 }),
      tie('state'),
    ),
  }));

  it('lead from the one to the other, and so does the whole state', { tags: 'property' }, () => {
    fc.assert(
      fc.property(value.state, value.state, (one, other) => {
        const [from, to] = [shadowState(one), shadowState(other)];
        const changes = changesOf(from, to);
        expect(merge(from, changes ?? {})).toEqual(to);
        expect(merge(from, wholeState(from, to))).toEqual(to);
        expect(changesOf(to, to)).toBeNull();
      }),
    );
  });
});
