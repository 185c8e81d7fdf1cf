import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conclude, type Deciding, isPassed } from '../../src/lib/toolkit/verdict.ts';
import { forAll } from './kit.ts';

const verdicts = ['ok', 'wrong', 'not-checked', 'not-decided', 'not-applicable'] as const;
const line = fc.record<Deciding>(
  { verdict: fc.constantFrom(...verdicts), need: fc.constantFrom('needed', 'optional') },
  { requiredKeys: ['verdict'] },
);
const strict = { acceptUndecided: false };
const lenient = { acceptUndecided: true };

describe('the verdict of a check', () => {
  it('is ok only when a needed line is, and none is wrong, not checked or not decided', { tags: 'property' }, () => {
    forAll(fc.array(line), (lines) => {
      const needed = lines.filter(({ need }) => need !== 'optional').map(({ verdict }) => verdict);
      const isOk = needed.includes('ok') && needed.every((one) => one === 'ok' || one === 'not-applicable');
      expect(conclude(lines) === 'ok').toBe(isOk);
      expect(conclude(lines) === 'wrong').toBe(needed.includes('wrong'));
    });
  });

  it('of nothing, and of lines that all do not concern this machine, is not ok', () => {
    expect(conclude([])).toBe('not-checked');
    expect(conclude([{ verdict: 'not-applicable' }])).toBe('not-checked');
    expect(conclude([{ verdict: 'ok', need: 'optional' }])).toBe('not-checked');
  });

  it('tells a line that does not concern this machine from one that was not checked', () => {
    expect(conclude([{ verdict: 'ok' }, { verdict: 'not-applicable' }])).toBe('ok');
    expect(conclude([{ verdict: 'ok' }, { verdict: 'not-checked' }])).toBe('not-checked');
    expect(conclude([{ verdict: 'ok' }, { verdict: 'not-decided' }])).toBe('not-checked');
  });

  it('that is open passes only when that is accepted, and one that is wrong never', () => {
    const passing = (options: typeof strict) => verdicts.filter((verdict) => isPassed(verdict, options));
    expect(passing(strict)).toEqual(['ok', 'not-applicable']);
    expect(passing(lenient)).toEqual(['ok', 'not-checked', 'not-decided', 'not-applicable']);
  });
});
