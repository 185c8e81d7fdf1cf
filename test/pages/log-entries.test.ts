import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLog } from '../../src/lib/pages/service/log-entries.ts';

const entry = (change: object) => ({
  ...{ time: '2026-01-01T10:00:00.000Z', level: 'info', message: 'tour started' },
  ...{ fields: { tour: 'a', count: 2, wrong: null }, count: 1, lastTime: '2026-01-01T10:00:00.000Z', lastFields: null },
  ...change,
});

describe('the log of the technician page', () => {
  it('has the newest first, a repeated event at its last time, with the fields of the last', () => {
    const log = readLog({
      entries: [
        entry({ message: 'repeated', count: 7, lastTime: '2026-01-01T12:00:00.000Z', lastFields: { tour: 'b' } }),
        entry({ message: 'older', lastTime: '2026-01-01T10:30:00.000Z', level: 'error' }),
        entry({ message: 'newer', lastTime: '2026-01-01T11:00:00.000Z', level: 'warn' }),
      ],
    });
    expect(log.map(({ message, level, count, details }) => [message, level, count, details])).toEqual([
      ['repeated', 'info', 7, 'tour: b'],
      ['newer', 'warn', 1, 'tour: a, count: 2, wrong: null'],
      ['older', 'error', 1, 'tour: a, count: 2, wrong: null'],
    ]);
  });

  it('of the same time has the later one first, and holds at most 100', () => {
    const log = readLog({ entries: Array.from({ length: 500 }, (_, at) => entry({ message: `${at}` })) });
    expect([log.length, log[0]?.message, log.at(-1)?.message]).toEqual([100, '499', '400']);
  });

  it('whatever it is, is read without a fault, within its bounds', { tags: 'property' }, () => {
    const any = fc.anything({ withBigInt: false });
    const message = fc.string({ maxLength: 600 });
    const others = {
      ...{ time: any, lastTime: fc.oneof(fc.string(), any), level: any, fields: any, lastFields: any, count: any },
    };
    const one = fc.record({ message, ...others }, { requiredKeys: ['message'] });
    // As JSON brings it.
    const answer = fc.oneof(any, fc.record({ entries: fc.oneof(any, fc.array(fc.oneof(one, any))) }));
    fc.assert(
      fc.property(answer, (data) => {
        for (const { message, details, level, count } of readLog(JSON.parse(JSON.stringify(data) ?? 'null'))) {
          expect(Math.max(message.length, details.length)).toBeLessThanOrEqual(400);
          expect(['error', 'warn', 'info']).toContain(level);
          expect(count).toBeGreaterThanOrEqual(1);
        }
      }),
    );
  });
});
