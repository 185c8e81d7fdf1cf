import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFoldedLog, type Log, writeEvent } from '../../src/lib/lifecycle/index.ts';
import { createFakeClock } from './fake-clock.ts';

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

function setUp(startMs = 1_000_000) {
  const clock = createFakeClock({ startMs });
  const lines: Line[] = [];
  const keep = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, fields: fields as Line['fields'] });
  const to: Log = { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') };
  const log = createFoldedLog({ clock, emit: (event) => writeEvent(to, event) });
  return { clock, log, lines };
}

/** Events, with those that were folded. */
const counted = (lines: readonly Line[]) =>
  lines.reduce((sum, { fields }) => sum + (typeof fields.more === 'number' ? fields.more : 1), 0);
const messages = (lines: readonly Line[]) => lines.map(({ message }) => message);

describe('a log that folds what repeats', () => {
  it('emits the first five of a burst, and the number, first and last address of the rest', async () => {
    const { clock, log, lines } = setUp();
    for (let n = 0; n < 517; n += 1) {
      log.warn({ address: n === 516 ? '10.0.0.9' : '10.0.0.1', reason: `r${n}` }, 'stop requested');
    }
    expect(messages(lines)).toEqual(Array.from({ length: 6 }, () => 'stop requested'));
    expect(lines.at(-1)?.fields).toEqual({ address: '10.0.0.9', reason: 'r516' });
    await clock.advance(9_999);
    expect(lines).toHaveLength(6);
    await clock.advance(1);
    expect(lines.at(-1)).toEqual({
      level: 'warn',
      message: 'stop requested (511 more in 10 s)',
      fields: {
        ...{ address: '10.0.0.1', firstAddress: '10.0.0.1', lastAddress: '10.0.0.1' },
        ...{ reason: 'r515', more: 511, inMs: 10_000 },
      },
    });
  });

  it('writes one line in 10 s while a flood goes on, whatever its senders and texts are', async () => {
    const { clock, log, lines } = setUp();
    for (let second = 0; second < 600; second += 1) {
      for (let n = 0; n < 20; n += 1)
        log.warn({ address: `10.${second % 250}.0.${n}`, reason: `${second}` }, 'stop requested');
      await clock.advance(1_000);
    }
    expect(lines.length).toBeLessThanOrEqual(20 + 60);
    expect(counted(lines)).toBeGreaterThan(11_500);
  });

  it('shows a second address beside one that floods', () => {
    const { log, lines } = setUp();
    for (let n = 0; n < 100; n += 1) log.warn({ address: '10.0.0.1' }, 'stop requested');
    log.warn({ address: '10.0.0.2', reason: 'person in the way' }, 'stop requested');
    expect(lines.at(-1)?.fields).toEqual({ address: '10.0.0.2', reason: 'person in the way' });
  });

  it('resets after 10 s without events, not after 10 s of flood', async () => {
    const { clock, log, lines } = setUp();
    for (let n = 0; n < 6; n += 1) log.info({ address: 'a' }, 'x');
    await clock.advance(10_000);
    expect(messages(lines)).toEqual(['x', 'x', 'x', 'x', 'x', 'x (1 more in 10 s)']);
    log.info({ address: 'a' }, 'x');
    expect(lines).toHaveLength(7);
    log.info({ address: 'a' }, 'x');
    await clock.advance(9_999);
    for (let n = 0; n < 4; n += 1) log.info({ address: 'a' }, 'x');
    expect(lines).toHaveLength(11);
    await clock.advance(9_999);
    log.info({ address: 'a' }, 'x');
    expect(lines).toHaveLength(11);
  });

  it('keeps levels and messages apart, and emits pending folds at the end', () => {
    const { clock, log, lines } = setUp();
    for (let n = 0; n < 7; n += 1) {
      log.warn({}, 'x');
      log.error({}, 'x');
      log.error({}, 'y');
    }
    expect(lines).toHaveLength(15);
    log.flush();
    const expected = ['warn x (2 more in 0 s)', 'error x (2 more in 0 s)', 'error y (2 more in 0 s)'];
    expect(lines.slice(15).map(({ level, message }) => `${level} ${message}`)).toEqual(expected);
    expect(lines.at(-1)?.fields).toEqual({ more: 2, inMs: 0 });
    expect(clock.pending).toBe(0);
    log.flush();
    expect(lines).toHaveLength(18);
  });

  it('loses no event when its timer is late, as after a stall of the process', () => {
    let nowMs = 1_000_000;
    const clock = { monotonicMs: () => nowMs, after: () => ({ [Symbol.dispose]() {} }) };
    const counted: (number | null)[] = [];
    const log = createFoldedLog({ clock, emit: ({ fold }) => void counted.push(fold?.more ?? null) });
    for (let n = 0; n < 10; n += 1) log.warn({}, 'x');
    nowMs += 60_000;
    log.warn({}, 'x');
    log.flush();
    expect(counted).toEqual([null, null, null, null, null, 6]);
  });

  it('is bounded also for messages that are not constants', async () => {
    const { clock, log, lines } = setUp();
    for (let n = 0; n < 10_000; n += 1) log.warn({}, `message ${n}`);
    expect(lines.length).toBeLessThanOrEqual(261);
    await clock.advance(10_000);
    expect(lines.at(-1)?.message).toMatch(/^other events \(\d+ more in 10 s\)$/);
    await clock.advance(10_000);
    log.warn({}, 'another');
    expect(lines.at(-1)?.message).toBe('another');
  });

  it('accounts for every event: emitted plus folded ones are all of them', { tags: 'property' }, async () => {
    const event = fc.record({ kind: fc.constantFrom('a', 'b'), address: fc.constantFrom('1', '2', undefined) });
    const wait = { weight: 1, arbitrary: fc.integer({ min: 0, max: 15_000 }) };
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof({ weight: 8, arbitrary: event }, wait), { maxLength: 120 }), async (steps) => {
        const { clock, log, lines } = setUp(5_000_000);
        for (const step of steps) {
          if (typeof step === 'number') await clock.advance(step);
          else log.info({ ...(step.address !== undefined && { address: step.address }) }, step.kind);
        }
        log.flush();
        expect(counted(lines)).toBe(steps.filter((step) => typeof step !== 'number').length);
      }),
    );
  });
});
