import { afterEach, describe, expect, it } from 'vitest';
import { createTelemetryReports } from '../../../src/lib/cloud/reporting/reporting.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { createMemoryOutbox } from './memory-outbox.ts';

let ending = new AbortController();
afterEach(() => {
  ending.abort();
  ending = new AbortController();
});

function started(values: (atMs: number) => Record<string, unknown> = () => ({ a: 1 })) {
  const fake = createFakeClock();
  const startMs = fake.monotonicMs();
  let pausedMs = 0;
  const clock = { ...fake, monotonicMs: () => fake.monotonicMs() + pausedMs };
  const memory = createMemoryOutbox();
  const reports = createTelemetryReports({
    ...{ topic: 't', intervalS: 10, outbox: memory.outbox, clock, log: silentLog },
    values: () => values(clock.monotonicMs() - startMs),
  });
  const done = reports.run(ending.signal);
  return {
    ...{ ...memory, clock: fake, reports, done },
    /** The machine sleeps: time passes, and no timer fires. */
    pause: (ms: number) => {
      pausedMs += ms;
    },
  };
}

describe('telemetry', () => {
  it('is published at once and then at its interval, without drift', async () => {
    const atMs: number[] = [];
    const { clock, of, reports } = started((at) => {
      atMs.push(at);
      return { a: 1 };
    });
    for (let i = 0; i < 100; i += 1) await clock.advance(1_009);
    expect(atMs).toEqual([0, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000, 80_000, 90_000, 100_000]);
    expect(of('telemetry')[0]).toMatchObject({ class: 'telemetry', topic: 't', body: { a: 1 } });
    expect(reports.view()).toEqual({ intervalS: 10, accepted: 11, skipped: 0, trouble: null });
  });

  it('is not made up for after a pause, and the skipped messages are counted', async () => {
    const atMs: number[] = [];
    const { clock, pause, reports } = started((at) => {
      atMs.push(at);
      return { a: 1 };
    });
    await clock.advance(5_000);
    pause(35_000);
    await clock.advance(20_000);
    expect(atMs).toEqual([0, 45_000, 50_000, 60_000]);
    expect(reports.view()).toEqual({ intervalS: 10, accepted: 4, skipped: 3, trouble: null });
  });

  it('is skipped while the outbox refuses it, and goes on afterwards', async () => {
    const { clock, refuse, reports, of } = started();
    await clock.advance(1);
    refuse(new GwError('OUTBOX_REFUSED', 'The outbox is full.'));
    await clock.advance(30_000);
    expect(reports.view()).toEqual({ intervalS: 10, accepted: 1, skipped: 3, trouble: 'The outbox is full.' });
    refuse(null);
    await clock.advance(10_000);
    expect(reports.view()).toEqual({ intervalS: 10, accepted: 2, skipped: 3, trouble: null });
    expect(of('telemetry')).toHaveLength(2);
  });

  it('does not pile up while the disk does not answer', async () => {
    const { clock, holdUntil, reports, of } = started();
    await clock.advance(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    holdUntil(promise);
    await clock.advance(100_000);
    expect(reports.view()).toMatchObject({ accepted: 1, skipped: 9 });
    resolve();
    await clock.advance(0);
    expect(of('telemetry')).toHaveLength(2);
  });

  it('survives values that cannot be made', async () => {
    const { clock, reports } = started(() => {
      throw new Error('no values');
    });
    await clock.advance(20_000);
    expect(reports.view()).toMatchObject({ accepted: 0, skipped: 3, trouble: 'no values' });
  });

  it('ends with its signal and leaves no timer', async () => {
    const { clock, done } = started();
    await clock.advance(15_000);
    ending.abort();
    await done;
    expect(clock.pending).toBe(0);
  });
});
