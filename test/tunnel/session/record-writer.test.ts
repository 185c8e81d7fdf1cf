import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import type { Records } from '../../../src/lib/tunnel/records/index.ts';
import type { RecordBody } from '../../../src/lib/tunnel/records/schema.ts';
import { createRecordWriter, MAX_WAITING_REFUSALS } from '../../../src/lib/tunnel/session/recording/record-writer.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { endOf, idOf, refusedOf } from '../records/bodies.ts';

const unwritable = new GwError('FILE_UNWRITABLE', 'no space');

function world() {
  const clock = createFakeClock();
  const errors: [string, object][] = [];
  const error = (fields: object, message: string) => void errors.push([message, fields]);
  const late: string[] = [];
  const onLateStart = ({ session }: { readonly session: string }) => void late.push(session);
  const log = { debug() {}, info() {}, warn() {}, error };
  const writer = createRecordWriter({ clock, log, onLateStart, onWritten() {} });
  const written: RecordBody[] = [];
  let isFailing = false;
  const records = {
    openSessions: () => [{ session: idOf(1), at: '2026-01-31T12:00:00.000Z' }],
    hasToken: () => false,
    notSentYet: () => 0,
    async append(body: RecordBody) {
      if (isFailing) throw unwritable;
      written.push(body);
      return { ...body, seq: written.length, at: '2026-01-31T12:00:00.000Z' };
    },
  } as unknown as Records;
  const fail = (is: boolean) => {
    isFailing = is;
  };
  return { clock, writer, records, written, errors, late, fail };
}

describe('the writer of session records', () => {
  it('keeps every end, and a bounded number of refusals, while the disk fails', async () => {
    const { clock, writer, records, written, errors, fail } = world();
    fail(true);
    const ending = new AbortController();
    const running = writer.run(records, ending.signal);
    for (let i = 0; i < MAX_WAITING_REFUSALS + 3; i += 1) writer.keep(refusedOf(i));
    for (let i = 0; i < 5; i += 1) writer.keep(endOf(i));
    await clock.advance(60_000);
    expect(written).toEqual([]);
    expect(errors.filter(([message]) => message.includes('is lost')).length).toBe(3);
    expect(errors.filter(([message]) => message.includes('is not written')).length).toBe(1);
    fail(false);
    await clock.advance(5_000);
    expect(written.filter(({ kind }) => kind === 'refused').length).toBe(MAX_WAITING_REFUSALS);
    expect(written.filter(({ kind }) => kind === 'end').length).toBe(5);
    await writer.settled();
    ending.abort();
    await running;
    expect(clock.pending).toBe(0);
  });

  it('writes an end of an earlier run of the service once', async () => {
    const { writer, records, written } = world();
    // Written meanwhile: only the second session has no end on the disk.
    writer.keep(endOf(0));
    writer.keep(endOf(1));
    const ending = new AbortController();
    const running = writer.run(records, ending.signal);
    await writer.settled();
    expect(written).toEqual([endOf(1)]);
    ending.abort();
    await running;
  });

  it('names what it could not write at its end', async () => {
    const { clock, writer, records, errors, fail } = world();
    fail(true);
    const ending = new AbortController();
    const running = writer.run(records, ending.signal);
    writer.keep(endOf(1));
    await clock.advance(1);
    ending.abort();
    await running;
    expect(errors.at(-1)).toEqual(['records of support sessions may not have been kept', { records: [endOf(1)] }]);
    expect(writer.view()).toMatchObject({ status: 'failing', notSentYet: null });
    expect(writer.hasEnd(idOf(1))).toBe(true);
  });
});
