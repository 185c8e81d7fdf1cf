import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ClockReading, compareClocks, judgeOffset } from '../../src/lib/net/index.ts';

const reading = (host: string, behindMs: number, uncertainMs = 600, addresses = [`${host}-address`]): ClockReading => ({
  ...{ host, addresses, behindMs, uncertainMs },
});

describe('what several endpoints say of the clock of this machine', () => {
  it('is nothing of none, and not decided by one, whose own clock may be wrong', () => {
    expect(compareClocks([])).toEqual({ kind: 'none' });
    expect(compareClocks([reading('a', 0)])).toMatchObject({ kind: 'one' });
  });

  it.each([
    ['one name in two spellings', [reading('Time.example', 0), reading('time.EXAMPLE', 0, 600, ['other'])]],
    ['two names of one address', [reading('a', 0, 600, ['x', 'y']), reading('b', 0, 600, ['z', 'y'])]],
  ])('is that of one endpoint with %s', (_what, readings) => {
    expect(compareClocks(readings)).toMatchObject({ kind: 'one' });
  });

  it('is not decided where two disagree, whatever the majority says, and names both', () => {
    const readings = [reading('a', 100), reading('b', 200), reading('c', 90_000)];
    expect(compareClocks(readings)).toMatchObject({ kind: 'disagree', readings: [{ host: 'a' }, { host: 'c' }] });
  });

  it('is agreed on with a range that holds both', () => {
    expect(compareClocks([reading('a', 1_000, 500), reading('b', 2_000, 700)])).toEqual({
      ...{ kind: 'agreed', behindMs: 1_600, uncertainMs: 1_100, hosts: ['a', 'b'] },
    });
  });

  const offMs = fc.integer({ min: -200_000, max: 200_000 });
  const server = fc.record({
    uncertainMs: fc.integer({ min: 500, max: 10_000 }),
    part: fc.double({ min: -1, max: 1, noNaN: true }),
    /** Of the clock of that server. */
    wrongMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: offMs }),
  });

  it('is never right while the clock is more than a minute off, as long as one of them has the right time', {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(offMs, fc.array(server, { minLength: 1, maxLength: 5 }), (trueMs, servers) => {
        const readings = servers.map(({ uncertainMs, part, wrongMs }, index) =>
          reading(`h${index}`, Math.round(trueMs + wrongMs + part * (uncertainMs - 1)), uncertainMs),
        );
        const together = compareClocks(readings);
        if (together.kind !== 'agreed' || servers.every(({ wrongMs }) => wrongMs !== 0)) return;
        if (judgeOffset(together) === 'right') expect(Math.abs(trueMs)).toBeLessThanOrEqual(60_000);
        if (judgeOffset(together) === 'wrong') expect(Math.abs(trueMs)).toBeGreaterThan(60_000);
      }),
      { numRuns: 1_000 },
    );
  });
});
