import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fillTemplate, parseTemplate } from '../../../src/lib/checklist/match/template.ts';

const filled = (text: string, value: unknown) => fillTemplate(parseTemplate(text) ?? [], value);

test('a word behind a number is in the plural but for one', () => {
  const text = '{maps} map(s), {n} accepted warning(s)';
  expect(filled(text, { maps: ['a'], n: 0 })).toBe('1 map, 0 accepted warnings');
  expect(filled(text, { maps: [], n: 1 })).toBe('0 maps, 1 accepted warning');
  expect(filled(text, { n: 2 })).toBe('(not there) maps, 2 accepted warnings');
  expect(filled('step(s) {n}', { n: 1 })).toBe('step(s) 1');
});

test('a value is shown as it came, also one that looks like a plural', { tags: 'property' }, () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z()]{0,9}$/), (value) => {
      expect(filled('<{v}>', { v: value })).toBe(`<${value}>`);
    }),
  );
});
