import { describe, expect, it } from 'vitest';
import { isLatched, summary } from '../../bench/answers.ts';

describe('a stop', () => {
  it('counts as answered by a 200 that reports it latched', () => {
    expect(isLatched(200, '{"stop":{"latched":true,"saved":false}}')).toBe(true);
  });

  it.each([
    [200, '{"stop":{"latched":false}}'],
    [200, '{"stop":{"latched":"true"}}'],
    [200, '{"stop":null}'],
    [200, 'null'],
    [200, '{"stop":{"latched":tr'],
    [200, ''],
    [303, '{"stop":{"latched":true}}'],
    [429, '{"stop":{"latched":true}}'],
    [503, '{"error":{"code":"BUSY"}}'],
  ])('does not count as answered by %i %s', (status, text) => {
    expect(isLatched(status, text)).toBe(false);
  });
});

describe('the summary of a series of requests', () => {
  const fine = (ms: number) => ({ ok: true, ms, what: 'status 200' });

  it('counts a refusal as never answered, however fast it arrived', () => {
    const refused = { ok: false, ms: 0.4, what: 'ECONNRESET' };
    const sum = summary([...Array.from({ length: 98 }, () => fine(5)), refused, refused]);
    expect(sum).toMatchObject({ count: 100, p50: 5, failures: 2, why: { ECONNRESET: 2 } });
    expect(sum.p99).toBe(Number.POSITIVE_INFINITY);
    expect(sum.most).toBe(Number.POSITIVE_INFINITY);
  });

  it('excludes one in a hundred from p99, not from the maximum', () => {
    const sum = summary([...Array.from({ length: 99 }, () => fine(5)), fine(4_000)]);
    expect(sum).toMatchObject({ p99: 5, most: 4_000, failures: 0, why: {} });
  });

  it('is empty for no requests', () => {
    expect(summary([])).toEqual({ count: 0, p50: null, p99: null, most: null, failures: 0, why: {} });
  });
});
