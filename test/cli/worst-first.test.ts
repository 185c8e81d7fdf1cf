import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findingsLines, groupsWorstFirst, worstFirst } from '../../src/cli/output.ts';

const line = fc.record({
  verdict: fc.constantFrom('ok', 'wrong', 'not-checked', 'not-applicable'),
  need: fc.constantFrom('needed', 'optional'),
  at: fc.nat(),
});
const isOpen = ({ verdict }: { verdict: string }) => verdict === 'wrong' || verdict === 'not-checked';

describe('lines with verdicts', () => {
  it('begin with what is wrong, then open, and keep every line and the order inside', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const numbered = lines.map((one, at) => ({ ...one, at }));
        const sorted = worstFirst(numbered);
        expect(sorted.toSorted((a, b) => a.at - b.at)).toEqual(numbered);
        for (const [n, one] of sorted.entries()) {
          const next = sorted[n + 1];
          if (next === undefined) continue;
          if (isOpen(next)) expect(isOpen(one)).toBe(true);
          if (next.verdict === 'wrong' && next.need === 'needed')
            expect([one.verdict, one.need]).toEqual(['wrong', 'needed']);
          if (one.verdict === next.verdict && one.need === next.need) expect(one.at).toBeLessThan(next.at);
        }
      }),
    );
  });

  it('in groups: nothing that is fine stands before what is open, in whichever group', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.array(fc.array(line), { maxLength: 4 }), (all) => {
        const groups = all.map((lines, n) => ({ title: `group ${n}`, lines }));
        const shown = groupsWorstFirst(groups, ({ verdict }) => [`= ${verdict}`]);
        const verdicts = shown.join('\n').match(/(?<== )[a-z-]+/g) ?? [];
        expect(verdicts).toHaveLength(all.flat().length);
        const open = verdicts.map((verdict) => isOpen({ verdict }));
        expect(open).toEqual(open.toSorted((a, b) => Number(b) - Number(a)));
      }),
    );
  });

  it('have the remedy below their finding', () => {
    const finding = (title: string, verdict: 'ok' | 'wrong', remedy: string | null) => {
      return { title, verdict, remedy, detail: 'd' };
    };
    const lines = findingsLines([finding('A', 'ok', null), finding('B', 'wrong', 'Mend B.')], 'do next: ');
    expect(lines.map(stripVTControlCharacters)).toEqual(['FAIL B: d', '     do next: Mend B.', 'ok   A: d']);
  });
});
