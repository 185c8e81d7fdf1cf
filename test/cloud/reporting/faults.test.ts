import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PresentFault } from '../../../src/lib/cloud/index.ts';
import { createFaultReports, MAX_RAISED } from '../../../src/lib/cloud/reporting/faults.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { runs } from '../../properties.ts';
import { settled } from '../../story/in-flight.ts';
import { createMemoryOutbox } from './memory-outbox.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-faults-'));
});
afterEach(() => {
  rmSync(dir, { recursive: true, force: true });
});

const path = () => join(dir, 'state', 'cloud-faults.json');
const alert = (code: number): PresentFault => ({
  ...{ key: `alert.${code}`, text: `alert ${code}`, number: code, mark: 'HINWEIS' },
});

async function opened(memory = createMemoryOutbox(), clock = createFakeClock({ settled })) {
  let present: readonly PresentFault[] = [];
  let unchecked: readonly string[] = [];
  let ids = 0;
  const make = () =>
    createFaultReports({
      ...{ topic: 'f', path: path(), outbox: memory.outbox, clock, log: silentLog },
      faults: () => ({ present, unchecked }),
      newId: () => `fault-${++ids}`,
    });
  const ticks: Promise<void>[] = [];
  let reports = make();
  await reports.load();
  return {
    ...memory,
    clock,
    view: () => reports.view(),
    bodies: () => memory.of('fault').map(({ body }) => body),
    events: () => memory.of('fault').map(({ body }) => `${body.event} ${body.key} ${body.faultId}`),
    /** The faults of the next seconds. */
    async over(seconds: number, faults: readonly PresentFault[], starts: readonly string[] = []) {
      [present, unchecked] = [faults, starts];
      for (let i = 0; i < seconds; i += 1) {
        await clock.advance(1_000);
        await reports.tick();
      }
    },
    async restart() {
      reports = make();
      await reports.load();
    },
    /** Waits for the reports of `hungFor`, which write their file in real time. */
    ended: () => Promise.all(ticks),
    /** Seconds in which a report that has begun does not end. */
    async hungFor(seconds: number, faults: readonly PresentFault[], starts: readonly string[] = []) {
      [present, unchecked] = [faults, starts];
      for (let i = 0; i < seconds; i += 1) {
        await clock.advance(1_000);
        ticks.push(reports.tick());
        await settled();
      }
    },
  };
}

describe('a fault', () => {
  it('is raised once and cleared once, with the number of the chassis and the same id', async () => {
    const { over, bodies, of } = await opened();
    await over(90, [alert(1024)]);
    await over(5, []);
    expect(bodies()).toEqual([
      {
        ...{ event: 'raised', faultId: 'fault-1', key: 'alert.1024', text: 'alert 1024', number: 1024 },
        mark: 'HINWEIS',
      },
      {
        ...{ event: 'cleared', faultId: 'fault-1', key: 'alert.1024', number: 1024, mark: 'HINWEIS' },
        ...{ occurrences: 1, goneAt: '2026-01-31T12:01:31.000Z' },
      },
    ]);
    expect(of('fault')[0]).toMatchObject({ class: 'fault', topic: 'f' });
  });

  it('that is short is raised at once and cleared a minute later', async () => {
    const { over, events, view } = await opened();
    await over(1, [alert(1)]);
    expect(events()).toEqual(['raised alert.1 fault-1']);
    await over(59, []);
    expect(events()).toHaveLength(1);
    expect(view().raised[0]).toMatchObject({ state: 'gone' });
    await over(1, []);
    expect(events()).toEqual(['raised alert.1 fault-1', 'cleared alert.1 fault-1']);
    expect(view().raised).toEqual([]);
  });

  it('that flaps has one pair of messages a minute, with the number of its occurrences', async () => {
    const { over, bodies } = await opened();
    for (let i = 0; i < 29; i += 1) {
      await over(1, [alert(1)]);
      await over(1, []);
    }
    await over(10, []);
    expect(bodies().map(({ event, occurrences }) => [event, occurrences])).toEqual([
      ['raised', undefined],
      ['cleared', 29],
    ]);
  });

  it('that cannot be checked is not cleared, and a new one is still raised', async () => {
    const { over, events, view } = await opened();
    await over(1, [alert(1)]);
    await over(300, [], ['alert.']);
    expect(events()).toEqual(['raised alert.1 fault-1']);
    expect(view().raised[0]?.state).toBe('not-checked');
    // Other keys are checked all the same.
    await over(1, [{ ...alert(2), key: 'chassis.not-connected' }], ['alert.']);
    expect(events()).toHaveLength(2);
    await over(1, []);
    expect(events()[2]).toBe('cleared alert.1 fault-1');
  });

  it('is not raised again by a restart, and cleared after it', async () => {
    const { over, events, bodies, restart } = await opened();
    await over(10, [alert(1), alert(2)]);
    await restart();
    await over(70, [alert(1)]);
    expect(events()).toEqual(['raised alert.1 fault-1', 'raised alert.2 fault-2', 'cleared alert.2 fault-2']);
    await over(61, []);
    expect(bodies().at(-1)).toMatchObject({ event: 'cleared', faultId: 'fault-1', occurrences: 1 });
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  it('that vanishes for the first seconds after a restart is not cleared and raised', async () => {
    const { over, events, restart } = await opened();
    await over(100, [alert(1)]);
    await restart();
    await over(20, []);
    await over(100, [alert(1)]);
    expect(events()).toEqual(['raised alert.1 fault-1']);
  });

  it('whose message may have been accepted before a crash is repeated with the same id', async () => {
    const { over, events, restart } = await opened();
    await over(1, [alert(1)]);
    // As the file is between its first write and the answer of the outbox.
    const text = readFileSync(path(), 'utf8');
    writeFileSync(path(), text.replace('"raised"', '"raising"'));
    await restart();
    await over(1, [alert(1)]);
    expect(events()).toEqual(['raised alert.1 fault-1', 'raised alert.1 fault-1']);
    // The same for a clear: it is repeated first, and the fault that is present again has a new id.
    writeFileSync(path(), text.replace('"raised"', '"clearing"'));
    await restart();
    await over(2, [alert(1)]);
    expect(events().slice(2)).toEqual(['cleared alert.1 fault-1', 'raised alert.1 fault-2']);
  });

  it('is given to the outbox again after a refusal, in order', async () => {
    const { over, events, refuse, view } = await opened();
    refuse(new GwError('FILE_UNWRITABLE', 'No space left.'));
    await over(5, [alert(1)]);
    await over(5, []);
    expect(view()).toMatchObject({ trouble: 'No space left.', raised: [{ key: 'alert.1', state: 'gone' }] });
    refuse(null);
    await over(70, []);
    expect(events()).toEqual(['raised alert.1 fault-1', 'cleared alert.1 fault-1']);
    expect(view().trouble).toBeNull();
  });

  it('is reported without the file, and the view says that it is not saved until it is', async () => {
    writeFileSync(join(dir, 'state'), '');
    const { over, events, view } = await opened();
    await over(2, [alert(1)]);
    expect(events()).toEqual(['raised alert.1 fault-1']);
    expect(view().trouble).toContain('not a folder');
    rmSync(join(dir, 'state'));
    await over(11, [alert(1)]);
    expect(view().trouble).toBeNull();
    expect(JSON.parse(readFileSync(path(), 'utf8')).faults).toHaveLength(1);
  });

  it.each(['', '{', '{"format":"gw/cloud-faults/1","faults":[{"key":1}]}', '{"format":"other","faults":[]}'])(
    'is raised again when the file holds %o, and the view says so at first',
    async (text) => {
      const { over, events, restart, view } = await opened();
      await over(1, [alert(1)]);
      writeFileSync(path(), text);
      await restart();
      expect(view().trouble).toContain('cannot be read');
      await over(1, [alert(1)]);
      expect(events()).toEqual(['raised alert.1 fault-1', 'raised alert.1 fault-2']);
      expect(view().trouble).toBeNull();
    },
  );

  it('that is present again is shown as present while its clear is being written, and is raised anew after it', async () => {
    const { over, hungFor, ended, holdUntil, bodies, events, view } = await opened();
    await over(61, [alert(1)]);
    const hold = Promise.withResolvers<void>();
    holdUntil(hold.promise);
    await hungFor(3, []);
    expect(view().raised).toMatchObject([{ faultId: 'fault-1', state: 'gone' }]);
    await hungFor(3, [alert(1)]);
    expect(view().raised).toMatchObject([{ faultId: 'fault-1', state: 'present' }]);
    await hungFor(2, [], ['alert.']);
    expect(view().raised).toMatchObject([{ faultId: 'fault-1', state: 'not-checked' }]);
    // Short, and over before the clear is accepted: the cloud gets it all the same.
    await hungFor(2, []);
    hold.resolve();
    holdUntil(null);
    await ended();
    expect(view().raised).toMatchObject([{ faultId: 'fault-2', state: 'gone' }]);
    await over(70, []);
    expect(events()).toEqual([
      'raised alert.1 fault-1',
      'cleared alert.1 fault-1',
      'raised alert.1 fault-2',
      'cleared alert.1 fault-2',
    ]);
    // The clear says what was known when it was made.
    expect(bodies()[1]).toMatchObject({ occurrences: 1, goneAt: '2026-01-31T12:01:02.000Z' });
  });

  it('is never missing from the view while it is present, over its clear', async () => {
    const { over, refuse, view } = await opened();
    await over(61, [alert(1)]);
    refuse(new GwError('OUTBOX_REFUSED', 'full'));
    await over(2, []);
    refuse(null);
    for (let second = 0; second < 20; second += 1) {
      await over(1, [alert(1)]);
      expect(view().raised).toMatchObject([{ key: 'alert.1', state: 'present' }]);
    }
  });

  it('says the same in each repetition of its clear, also after a restart', async () => {
    const { over, bodies, refuse, restart } = await opened();
    await over(61, [alert(1)]);
    refuse(new GwError('FILE_UNWRITABLE', 'No space left.'));
    await over(30, []);
    await restart();
    refuse(null);
    await over(30, []);
    expect(bodies()[1]).toMatchObject({ event: 'cleared', occurrences: 1, goneAt: '2026-01-31T12:01:02.000Z' });
    expect(bodies()).toHaveLength(2);
  });

  it('has trouble in the view while the disk or the outbox does not answer, and none afterwards', async () => {
    const { over, hungFor, ended, holdUntil, view } = await opened();
    await over(1, []);
    const hold = Promise.withResolvers<void>();
    holdUntil(hold.promise);
    await hungFor(10, [alert(1)]);
    expect(view().trouble).toBeNull();
    await hungFor(2, [alert(1)]);
    expect(view().trouble).toBe('The disk or the outbox has not answered for 11 s.');
    hold.resolve();
    await ended();
    expect(view().trouble).toBeNull();
  });

  it('beyond the limit is counted and not reported', async () => {
    const { over, events, view } = await opened();
    const all = Array.from({ length: MAX_RAISED + 3 }, (_, i) => alert(i));
    await over(2, all);
    expect(events()).toHaveLength(MAX_RAISED);
    expect(view().unreported).toBe(3);
    await over(70, []);
    expect(events()).toHaveLength(2 * MAX_RAISED);
    expect(view()).toMatchObject({ unreported: 0, raised: [] });
  });

  it('is neither raised nor cleared while the faults cannot be determined', async () => {
    const memory = createMemoryOutbox();
    const clock = createFakeClock();
    let isBroken = false;
    const reports = createFaultReports({
      ...{ topic: 'f', path: path(), outbox: memory.outbox, clock, log: silentLog },
      faults: () => {
        if (isBroken) throw new Error('no state');
        return { present: [alert(1)], unchecked: [] };
      },
    });
    expect(reports.view().trouble).toContain('not read yet');
    await reports.load();
    await reports.tick();
    isBroken = true;
    await clock.advance(100_000);
    await reports.tick();
    expect(reports.view()).toMatchObject({ trouble: 'no state', raised: [{ state: 'not-checked' }] });
    expect(memory.of('fault')).toHaveLength(1);
  });

  it('has messages that alternate, over any sequence of faults, failures and restarts', {
    tags: 'property',
  }, async () => {
    const step = fc.oneof(
      fc.record({ seconds: fc.integer({ min: 1, max: 80 }), present: fc.boolean(), isUnchecked: fc.boolean() }),
      fc.constantFrom('refuse', 'accept', 'restart'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        rmSync(path(), { force: true });
        const { over, bodies, refuse, restart } = await opened();
        for (const each of steps) {
          if (each === 'restart') await restart();
          else if (each === 'refuse') refuse(new GwError('OUTBOX_REFUSED', 'full'));
          else if (each === 'accept') refuse(null);
          else await over(each.seconds, each.present ? [alert(1)] : [], each.isUnchecked ? ['alert.'] : []);
        }
        refuse(null);
        await over(130, []);
        const events = bodies().map(({ event, faultId }) => `${event} ${faultId}`);
        const ids = [...new Set(bodies().map(({ faultId }) => faultId))];
        expect(events).toEqual(ids.flatMap((id) => [`raised ${id}`, `cleared ${id}`]));
      }),
      { numRuns: runs(25) },
    );
  });
});
