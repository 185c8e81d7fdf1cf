import { describe, expect, it } from 'vitest';
import type { OutgoingMessage } from '../../src/lib/cloud/outbox/model.ts';
import { createRecords, MAX_WAITING } from '../../src/lib/cloud/records.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';

function world() {
  const clock = createFakeClock();
  const errors: [string, object][] = [];
  const error = (fields: object, message: string) => void errors.push([message, fields]);
  const records = createRecords({
    topic: 'gw/SN0001/records',
    clock,
    log: { debug() {}, info() {}, warn() {}, error },
  });
  const kept: OutgoingMessage[] = [];
  let trouble: Error | null = null;
  const outbox = {
    async append(message: OutgoingMessage) {
      if (trouble !== null) throw trouble;
      kept.push(message);
      return { id: 'x', seq: kept.length };
    },
  };
  const fail = (why: Error | null) => {
    trouble = why;
  };
  return { clock, errors, records, kept, outbox, fail };
}

describe('records for the cloud', () => {
  it('wait for the outbox and keep their order, through a disk that fails', async () => {
    const { clock, errors, records, kept, outbox, fail } = world();
    const added = records.add({ kind: 'stop-executed', stopId: '1' });
    let isAccepted = false;
    void added.then(() => {
      isAccepted = true;
    });
    fail(new GwError('FILE_UNWRITABLE', 'no space'));
    const ending = new AbortController();
    const running = records.run(outbox, ending.signal);
    void records.add({ kind: 'stop-executed', stopId: '2' });
    await clock.advance(20_000);
    expect([kept, isAccepted]).toEqual([[], false]);
    expect(errors.map(([message]) => message)).toEqual(['a record for the cloud waits for the outbox']);
    fail(null);
    await clock.advance(5_000);
    void records.add({ kind: 'stop-executed', stopId: '3' });
    await clock.advance(0);
    expect(kept.map(({ body }) => body.stopId)).toEqual(['1', '2', '3']);
    await added;
    expect(kept[0]).toMatchObject({ class: 'record', topic: 'gw/SN0001/records' });
    ending.abort();
    await running;
    expect(clock.pending).toBe(0);
  });

  it('are bounded in memory, with the count of the refused ones in the log, and named at the end', async () => {
    const { errors, records, outbox, fail } = world();
    for (let i = 0; i < MAX_WAITING; i += 1) void records.add({ kind: 'stop-executed', stopId: `s${i}` });
    await expect(records.add({ kind: 'stop-executed', stopId: 'more' })).rejects.toMatchObject({
      code: 'OUTBOX_REFUSED',
    });
    expect(errors).toEqual([
      ['a record for the cloud is not kept: too many wait for the outbox', { kind: 'stop-executed', lost: 1 }],
    ]);
    fail(new Error('never'));
    const ending = new AbortController();
    const running = records.run(outbox, ending.signal);
    ending.abort();
    await running;
    const [message, fields] = errors.at(-1) ?? [];
    expect(message).toBe('records for the cloud may not have been kept');
    expect((fields as { records: unknown[] }).records).toHaveLength(MAX_WAITING);
  });

  it('are named at the end also when the disk does not answer', async () => {
    const { errors, records } = world();
    void records.add({ kind: 'stop-executed', stopId: '1' });
    const ending = new AbortController();
    const running = records.run({ append: () => new Promise(() => {}) }, ending.signal);
    ending.abort();
    await running;
    expect(errors).toEqual([
      ['records for the cloud may not have been kept', { records: [{ kind: 'stop-executed', stopId: '1' }] }],
    ]);
  });
});
