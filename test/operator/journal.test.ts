import { describe, expect, it } from 'vitest';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createJournal } from '../../src/lib/operator/index.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';

function setUp(options = {}) {
  const clock = createFakeClock({ startMs: 1_000_000 });
  return { clock, journal: createJournal(silentLog, clock, options) };
}

describe('the journal', () => {
  it('keeps audit entries separate, so that a flood of other events does not evict them', async () => {
    const { clock, journal } = setUp();
    journal.log.info({ audit: true, address: '10.0.0.5' }, 'signed in');
    journal.log.warn({ audit: true, address: '10.0.0.5' }, 'stop cleared');
    for (let n = 0; n < 2_000; n += 1) {
      journal.log.warn({ address: `10.1.${n % 200}.1`, tour: `${n}` }, 'tour not started');
      journal.log.warn({ audit: true, address: `10.1.${n % 200}.1`, reason: `${n}` }, 'stop requested');
      await clock.advance(11_000);
    }
    const kinds = new Set(journal.audit().map(({ message }) => message));
    expect(kinds).toEqual(new Set(['signed in', 'stop cleared', 'stop requested']));
    expect(journal.entries()).toHaveLength(500);
    expect(journal.entries().some(({ message }) => message === 'signed in')).toBe(false);
    expect(journal.audit().length).toBeLessThanOrEqual(52);
  });

  it('folds a flood into a few entries and one with the count, while it lasts', async () => {
    const { clock, journal } = setUp();
    for (let second = 0; second < 300; second += 1) {
      for (let n = 0; n < 50; n += 1) {
        journal.log.warn({ audit: true, address: '10.0.0.1', reason: `${second} ${n}` }, 'stop requested');
      }
      await clock.advance(1_000);
    }
    journal.flush();
    const entries = journal.audit();
    expect(entries).toHaveLength(6);
    expect(entries.reduce((sum, { count }) => sum + count, 0)).toBe(15_000);
    expect(entries.at(-1)).toMatchObject({
      ...{ message: 'stop requested', count: 14_995, fields: { address: '10.0.0.1' } },
      lastFields: { address: '10.0.0.1', reason: '299 49' },
    });
    const { lastTime = '', time = '' } = entries.at(-1) ?? {};
    expect(Date.parse(lastTime) - Date.parse(time)).toBeGreaterThan(280_000);
    expect(journal.entries()).toHaveLength(6);
  });

  it('folds identical events into one entry, also slow ones', async () => {
    const { clock, journal } = setUp();
    for (let n = 0; n < 100; n += 1) {
      journal.log.warn({ audit: true, address: '10.0.0.1', reason: 'STOPP' }, 'stop requested');
      await clock.advance(60_000);
    }
    expect(journal.audit()).toEqual([
      {
        ...{ time: '2026-01-31T12:00:00.000Z', lastTime: '2026-01-31T13:39:00.000Z', level: 'warn' },
        ...{
          message: 'stop requested',
          fields: { address: '10.0.0.1', reason: 'STOPP' },
          count: 100,
          lastFields: null,
          ageMs: 60_000,
        },
      },
    ]);
  });

  it('gives each entry an age that neither a clock set back nor a sleep of the machine makes shorter', async () => {
    const { clock, journal } = setUp();
    const began = clock.wall().getTime();
    const ages = () => journal.entries().map(({ ageMs }) => ageMs);
    journal.log.info({}, 'tour started');
    await clock.advance(3_600_000);
    expect(ages()).toEqual([3_600_000]);
    clock.setWall(new Date(began - 86_400_000));
    expect(ages()).toEqual([3_600_000]);
    // As after a suspend: the monotonic clock stood still.
    clock.setWall(new Date(began + 30_000_000));
    expect(ages()).toEqual([30_000_000]);
  });

  it('keeps single events unchanged, without debug, and truncates long texts', () => {
    const { journal } = setUp();
    journal.log.debug({}, 'looked');
    const long = (letter: string) => letter.repeat(5_000);
    journal.log.error({ error: new Error(long('x')), list: [long('y')], text: long('z') }, 'broke');
    journal.log.info({ tour: 'a' }, 'tour started');
    journal.log.info({ tour: 'b' }, 'tour started');
    const [broke, ...tours] = journal.entries();
    for (const key of ['error', 'list', 'text']) expect(String(broke?.fields[key])).toHaveLength(1_000);
    expect(tours.map(({ fields, count }) => [fields.tour, count])).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
    expect(journal.audit()).toEqual([]);
  });
});
