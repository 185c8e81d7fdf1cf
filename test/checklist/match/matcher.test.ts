import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compileMatcher,
  lookUp,
  type Match,
  type MatcherProblem,
  matcherNames,
  parsePath,
} from '../../../src/lib/checklist/index.ts';
import { forAll, forAllOf } from '../../toolkit/kit.ts';

function match(raw: unknown, value: unknown): Match {
  const matcher = compileMatcher(raw, (problem) => {
    throw new RangeError(problem.expected);
  });
  if (!matcher) throw new RangeError('no matcher');
  const { verdict, found } = matcher.match({ exists: true, value });
  return { verdict, found };
}

function complaints(raw: unknown): MatcherProblem[] {
  const problems: MatcherProblem[] = [];
  const matcher = compileMatcher(raw, (problem) => problems.push(problem));
  expect(matcher === undefined).toBe(problems.length > 0);
  return problems;
}

describe('paths', () => {
  const value = {
    identity: { serial: 'S1' },
    checks: [{ id: 'a', verdict: 'ok' }, { id: 'b.c', verdict: 'wrong' }, { id: 'twin' }, { id: 'twin' }],
    topics: { '/tracked_pose': { rateHz: 5 } },
  };
  const at = (path: string) => {
    const parts = parsePath(path);
    if (!parts) throw new RangeError(path);
    return lookUp(value, parts);
  };

  test('keys, list positions, quoted keys and the one item with a field are found', () => {
    expect(at('identity.serial')).toEqual({ exists: true, value: 'S1' });
    expect(at('checks[1].verdict')).toEqual({ exists: true, value: 'wrong' });
    expect(at("topics['/tracked_pose'].rateHz")).toEqual({ exists: true, value: 5 });
    expect(at('checks[id=b.c].verdict')).toEqual({ exists: true, value: 'wrong' });
  });

  test('a missing value is reported by its path up to the missing part', () => {
    expect(at('identity.mac.vendor')).toEqual({ exists: false, missing: 'identity.mac' });
    expect(at('checks[9]')).toEqual({ exists: false, missing: 'checks[9]' });
    expect(at('checks[id=twin]')).toEqual({ exists: false, missing: 'checks[id=twin]' });
  });

  test('inherited properties are missing', () => {
    for (const path of [
      'constructor',
      'identity.toString',
      '__proto__',
      'checks.length',
      "identity['hasOwnProperty']",
    ]) {
      expect(at(path).exists).toBe(false);
    }
  });

  test('an invalid path is rejected', () => {
    for (const path of ['', '.a', 'a.', 'a..b', 'a[', 'a[x]', 'a b', 'a[-1]', "a['x]", 'a'.repeat(201)]) {
      expect(parsePath(path), path).toBeUndefined();
    }
  });

  test('any text is either rejected or resolved without an error', { tags: 'property' }, () => {
    forAllOf(1000)(
      fc.string({ unit: fc.constantFrom('a', 'b', '.', '[', ']', '0', "'", '=', '_') }),
      fc.json(),
      (path, json) => {
        const parts = parsePath(path);
        if (parts) expect(typeof lookUp(JSON.parse(json), parts).exists).toBe('boolean');
      },
    );
  });

  test('every own key of every plain object is found by its quoted path', { tags: 'property' }, () => {
    forAll(fc.stringMatching(/^[^'\]\n]{1,40}$/), fc.integer(), (key, inner) => {
      const parts = parsePath(`['${key}']`);
      expect(parts && lookUp({ [key]: inner }, parts)).toEqual(
        key === '__proto__' ? expect.anything() : { exists: true, value: inner },
      );
    });
  });
});

describe('matchers', () => {
  test.each([
    ['degrees', 'degrees', 'radians', "expected 'degrees', found 'radians'"],
    [3, 3, '3', "expected 3, found '3'"],
    [null, null, 0, 'expected null, found 0'],
    [{ equals: 'exists' }, 'exists', 'other', "expected 'exists', found 'other'"],
    [{ 'one-of': ['a', 'b'] }, 'b', 'c', "expected one of 'a', 'b', found 'c'"],
    [{ matches: '^1\\.[0-9]+$' }, '1.24', '2.0', "expected text matching ^1\\.[0-9]+$, found '2.0'"],
    [{ 'at-least': 5 }, 5, 4.9, 'expected at least 5, found 4.9'],
    [{ 'at-most': 5 }, 5, 5.1, 'expected at most 5, found 5.1'],
    [{ between: [0, 10] }, 10, -1, 'expected between 0 and 10, found -1'],
    [{ contains: 'ab' }, 'xaby', 'ba', "expected a value containing 'ab', found 'ba'"],
    [{ contains: 2 }, [1, 2], [1, '2'], 'expected a value containing 2, found 1, 2'],
    ['exists', 0, null, 'expected a value, found null'],
    [{ exists: false }, null, 1, 'expected no value, found 1'],
    ['not-empty', [1], [], 'expected a value that is not empty, found an empty list'],
    [{ 'not-empty': true }, 'x', '', "expected a value that is not empty, found ''"],
    [
      { every: { rateHz: { 'at-least': 1 } } },
      [{ rateHz: 1 }, { rateHz: 2 }],
      [{ rateHz: 1 }, { rateHz: 0.5 }],
      'expected every item with rate (Hz) at least 1, found number 2: rate (Hz) 0.5',
    ],
    [
      { every: { status: 'running' } },
      [{ name: 'chassis', status: 'running' }],
      [
        { name: 'chassis', status: 'running' },
        { name: 'fleet\u001b', status: 'restarting' },
      ],
      "expected every item with status 'running', found fleet : status 'restarting'",
    ],
    [{ 'at-least': 1, 'at-most': 2 }, 1.5, 3, 'expected at least 1 and at most 2, found 3'],
  ])('%j accepts %j, rejects %j and states why', (raw, good, bad, explanation) => {
    expect(match(raw, good).verdict).toBe('ok');
    const { verdict, found } = match(raw, bad);
    const expected = compileMatcher(raw, () => {})?.expected;
    expect(verdict).toBe('wrong');
    expect(`expected ${expected}, found ${found}`).toBe(explanation);
  });

  test('a missing value matches only its absence', () => {
    for (const raw of ['x', 'all-ok', 'not-empty', 'exists', { 'at-least': 0 }, { contains: 'a' }]) {
      const result = compileMatcher(raw, () => {})?.match({ exists: false, missing: 'a.b' });
      expect(result).toEqual({ verdict: 'wrong', found: 'nothing at a.b' });
    }
    expect(compileMatcher({ exists: false }, () => {})?.match({ exists: false, missing: 'a' }).verdict).toBe('ok');
  });

  test('findings are all ok, or the failed ones are named', () => {
    const findings = (...verdicts: string[]) =>
      verdicts.map((verdict, i) => ({ id: `f${i}`, title: `Finding ${i}`, verdict, detail: `detail ${i}` }));
    expect(match('all-ok', findings('ok', 'ok'))).toEqual({ verdict: 'ok', found: '2 of 2 ok' });
    expect(match('all-ok', findings('ok', 'wrong', 'not-checked'))).toEqual({
      verdict: 'wrong',
      found: '1 of 3 wrong: Finding 1 (detail 1)',
    });
    // What does not concern the device shows nothing.
    expect(match('all-ok', findings('ok', 'not-applicable')).verdict).toBe('not-checked');
    expect(match('all-ok', []).verdict).toBe('wrong');
    expect(match('all-ok', [{ verdict: 'green' }]).verdict).toBe('wrong');
    expect(match('all-ok', [null, 3]).verdict).toBe('wrong');
  });

  test('in a list of findings at least one has the named fields, and all of those are ok', () => {
    const line = (section: string, need: string, verdict: string) => ({
      title: `${section} ${need}`,
      section,
      need,
      verdict,
    });
    const meant = { 'all-ok': { section: 'in', need: 'needed' } };
    const ok = [line('in', 'needed', 'ok'), line('in', 'optional', 'wrong'), line('out', 'needed', 'wrong')];
    expect(match(meant, ok)).toEqual({ verdict: 'ok', found: '1 of 1 ok' });
    expect(match(meant, [...ok, line('in', 'needed', 'wrong')])).toEqual({
      verdict: 'wrong',
      found: '1 of 2 wrong: in needed',
    });
    expect(match(meant, [...ok, line('in', 'needed', 'not-checked')]).verdict).toBe('not-checked');
    expect(match(meant, ok.slice(1))).toEqual({ verdict: 'wrong', found: 'no such finding' });
    expect(match(meant, [null, 3]).verdict).toBe('wrong');
    expect(compileMatcher(meant, () => {})?.expected).toBe("every finding with section 'in', need 'needed' ok");
    for (const raw of [{}, true, [], { section: ['in'] }]) {
      const problems: unknown[] = [];
      expect(compileMatcher({ 'all-ok': raw }, (problem) => problems.push(problem))).toBeUndefined();
      expect(problems).toHaveLength(1);
    }
  });

  test('a finding that was not checked is neither ok nor wrong', () => {
    expect(
      match('all-ok', [
        { title: 'A', verdict: 'ok' },
        { title: 'B', verdict: 'not-checked' },
      ]),
    ).toEqual({ verdict: 'not-checked', found: '1 of 2 not checked: B' });
    expect(match('ok', 'not-checked').verdict).toBe('not-checked');
    // It exists, is a text and not empty, and still not an answer.
    for (const raw of ['exists', 'not-empty', { exists: false }, { matches: '^[a-z-]+$' }, { contains: 'checked' }]) {
      expect(match(raw, 'not-checked').verdict, JSON.stringify(raw)).toBe('not-checked');
    }
    expect(match({ 'one-of': ['ok', 'not-checked'] }, 'not-checked').verdict).toBe('ok');
    expect(match({ every: { v: 'ok' } }, [{ v: 'ok' }, { v: 'not-checked' }]).verdict).toBe('not-checked');
  });

  test('a value that is not decided is neither ok nor wrong, and beside a wrong one the step is wrong', () => {
    const raws = ['degrees', { 'one-of': ['degrees', 'radians'] }, 'exists', 'not-empty', { exists: false }];
    for (const raw of [...raws, { matches: '^[a-z-]+$' }, { contains: 'not' }, { 'at-least': 1 }]) {
      const { verdict, found } = match(raw, 'not-decided');
      expect([verdict, found], JSON.stringify(raw)).toEqual(['not-checked', "'not-decided'"]);
    }
    expect(match('not-decided', 'not-decided').verdict).toBe('ok');
    const findings = [
      { title: 'A', verdict: 'ok' },
      { title: 'B', verdict: 'not-decided' },
      { title: 'C', verdict: 'not-checked' },
    ];
    expect(match('all-ok', findings)).toEqual({ verdict: 'not-checked', found: '2 of 3 not checked: B; C' });
    expect(match('all-ok', [...findings, { title: 'D', verdict: 'wrong' }])).toMatchObject({
      found: '1 of 4 wrong: D',
    });
    expect(match({ every: { v: 'ok' } }, [{ v: 'not-decided' }]).verdict).toBe('not-checked');
    expect(match({ every: { v: 'ok' } }, [{ v: 'not-decided' }, { v: 'wrong' }]).verdict).toBe('wrong');
  });

  test('problems are named with their position, unknown matchers with the closest name', () => {
    expect(complaints({ 'at-leats': 3 })).toEqual([
      expect.objectContaining({ path: ['at-leats'], suggestion: 'at-least', at: 'key' }),
    ]);
    expect(complaints({ between: [3, 1] })[0]?.path).toEqual(['between']);
    expect(complaints({ every: { 'a..b': 1 } })[0]?.path).toEqual(['every', 'a..b']);
    expect(complaints([1, 2])[0]?.expected).toContain('one-of');
    for (const raw of [
      {},
      { 'one-of': [] },
      { 'at-least': '3' },
      { 'not-empty': false },
      { exists: 'yes' },
      { constructor: 1 },
      { every: {} },
    ]) {
      expect(complaints(raw).length, JSON.stringify(raw)).toBe(1);
    }
  });

  test('values that are not numbers satisfy no bound', () => {
    for (const value of [Number.NaN, '7', null, undefined, [7]]) {
      expect(match({ between: [0, 10] }, value).verdict).toBe('wrong');
    }
  });

  test('any matcher is compiled or rejected, and never fails on any value', { tags: 'property' }, () => {
    const raws = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(fc.constantFrom(...matcherNames), fc.jsonValue(), { minKeys: 1, maxKeys: 2 }),
    );
    forAllOf(500)(raws, fc.anything(), (raw, value) => {
      const matcher = compileMatcher(raw, () => {});
      if (!matcher) return;
      const result = matcher.match({ exists: true, value: value ?? null });
      expect(['ok', 'wrong', 'not-checked']).toContain(result.verdict);
      expect(result.found.length).toBeLessThan(2500);
    });
  });
});

describe('the cost of patterns is bounded', () => {
  test.each([
    ['(a+)+$', 'no repeated group'],
    ['(a|aa)+$', 'no repeated group'],
    ['((a*)b)*', 'no repeated group'],
    ['(?:x{1,5}){3,}', 'no repeated group'],
    ['a*b*c*d*', 'at most 3 repetitions'],
    ['(a|a)'.repeat(9), 'at most 8 choices'],
    ['a?'.repeat(9), 'at most 8 choices'],
    ['a*a*a*a?a?a?', 'at most 8 choices'],
    ['(a)\\1', 'backreferences'],
    ['(', 'valid regular expression'],
    ['x'.repeat(201), 'at most 200 characters'],
  ])('%s is rejected', (pattern, reason) => {
    expect(complaints({ matches: pattern })[0]?.expected).toContain(reason);
  });

  test('common patterns are accepted', () => {
    for (const pattern of [
      '^S[0-9]{4}-[A-Z]+$',
      '^(ok|fine)$',
      '^v?\\d+\\.\\d+\\.\\d+$',
      '\\d+\\.\\d+',
      '[+*(]',
      '^a?b??$',
      '(?:ab)+',
    ]) {
      expect(complaints({ matches: pattern }), pattern).toEqual([]);
    }
  });

  test('no longer text is matched', () => {
    expect(match({ matches: '^a*$' }, 'a'.repeat(128)).verdict).toBe('ok');
    expect(match({ matches: '^a*$' }, 'a'.repeat(129)).verdict).toBe('wrong');
  });

  test('the most expensive accepted pattern completes on the longest text', { tags: 'large' }, () => {
    expect(match({ matches: 'a*a*a*b' }, 'a'.repeat(128)).verdict).toBe('wrong');
    expect(match({ matches: `a*a*a*${'(a|a)'.repeat(2)}b` }, 'a'.repeat(128)).verdict).toBe('wrong');
  });
});
