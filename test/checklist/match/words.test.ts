import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { excerptText, inWords, keyWords } from '../../../src/lib/checklist/match/excerpt.ts';
import { parsePath, pathWords } from '../../../src/lib/checklist/match/path.ts';
import { expectationText } from '../../../src/lib/checklist/run/outcome.ts';
import { forAll } from '../../toolkit/kit.ts';

describe('what a person reads of a checklist', () => {
  it.each([
    ['findings[id=operator-password].verdict', "'ok'", 'operator-password: ok'],
    ['counts.wrong', '0', 'counts wrong: 0'],
    ['pose.ageMs', 'at most 3000', 'pose age (ms): at most 3000'],
    ['topics[topic=/tracked_pose].rate.value', 'at least 1', '/tracked_pose rate: at least 1'],
    ['setUp.atLastConnection', "'as-profile'", 'set up at last connection: as-profile'],
    ['redLine', 'null', 'red line: none'],
    ['complete', 'true', 'complete: yes'],
    ['verdict', "one of 'ok', 'not-checked'", 'verdict: one of ok, not-checked'],
    ['checks[0].state', "'a'", 'checks number 1 state: a'],
  ])('is %s, expected %s, in words', (path, expected, text) => {
    expect(expectationText({ path, expected })).toBe(text);
  });

  it('has no JSON for a structure: a finding by title and detail, a list by its items', () => {
    expect(excerptText({ id: 'x', title: 'ADB port', detail: 'open' })).toBe('ADB port: open');
    expect(excerptText({ ageMs: 3, isOpen: true, of: { a: null } })).toBe('age (ms) 3, is open yes, of (a none)');
    expect(excerptText([1, 'two', []])).toBe('1, two, (an empty list)');
    expect(excerptText({})).toBe('nothing');
  });

  it('is one bounded line for any value, and never throws', { tags: 'property' }, () => {
    forAll(fc.anything(), (value) => {
      const text = inWords(excerptText(value));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
      expect(text).not.toMatch(/[\u0000-\u001f\u007f]/);
      expect(text.length).toBeLessThanOrEqual(210);
    });
  });

  it('names every part of a path but what is implied', { tags: 'property' }, () => {
    forAll(fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 5 }), (keys) => {
      const words = pathWords(parsePath(keys.join('.')) ?? []).split(' ');
      const implied = keys.length > 1 && /^(verdict|value)$/.test(keys.at(-1) ?? '');
      expect(words).toEqual(implied ? keys.slice(0, -1) : keys);
    });
    expect(keyWords('rateHz')).toBe('rate (Hz)');
  });
});
