import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Answer,
  type Catalogue,
  parseAnswers,
  runSteps,
  type StepResult,
} from '../../../src/lib/checklist/index.ts';
import type { RunnerOptions } from '../../../src/lib/checklist/run/runner-options.ts';
import { about, check, ownList, question, still } from '../kit.ts';

/** Questions beside which gw looks itself at what it can know. */

const seen: { verdict: string; looks: number } = { verdict: 'ok', looks: 0 };
const catalogue: Catalogue = {
  look: {
    summary: 'Looks.',
    moves: false,
    given: [],
    with: z.looseObject({}),
    async run() {
      seen.looks += 1;
      const finding = { id: 'same', title: 'The two differ', verdict: seen.verdict, detail: `it is ${seen.verdict}` };
      return { sound: true, findings: [{ ...finding, remedy: 'Change it.' }] };
    },
  },
};
const expectation = { 'findings[id=same].verdict': 'ok' };
const known = { run: 'look', expect: expectation };
const asked = (more: object = {}) => question('a', { known, ...more });
const said = (answer: Answer['answer'], remark: string | null = null): Answer => {
  return { answer, by: null, initials: 'KM', remark, value: null, attachments: [] };
};

async function runAll(steps: object[], options: Partial<RunnerOptions> & { written?: string } = {}) {
  const list = ownList({ steps }, catalogue);
  const { written, ...more } = options;
  const answers = written === undefined ? {} : { answers: parseAnswers(written, 'answers.yaml', list) };
  return await runSteps(list, { ...still(), ...answers, ...more });
}
const first = ({ steps }: { readonly steps: readonly StepResult[] }) => steps[0] as StepResult;

describe('a question about which gw knows a part', () => {
  test.each(['wrong', 'not-checked'])(
    'is not green by a yes where gw finds %s, and no person is asked',
    async (verdict) => {
      seen.verdict = verdict;
      let questions = 0;
      const ask = async () => {
        questions += 1;
        return said('yes');
      };
      const result = first(await runAll([asked()], { ask }));
      expect(result).toMatchObject({
        kind: 'confirm',
        run: 'look',
        verdict,
        remedy: expect.stringContaining('Change it.'),
      });
      expect(result.why).toContain(`The two differ: it is ${verdict}`);
      expect(questions).toBe(0);
    },
  );

  test('a prepared yes against what gw finds is wrong, and both are in the result', async () => {
    seen.verdict = 'wrong';
    const result = first(await runAll([asked()], { written: 'a: { answer: yes, by: Kim }\n' }));
    expect(result).toMatchObject({ verdict: 'wrong', answer: { answer: 'yes', by: 'Kim' } });
    expect(result.why).toBe('Kim answered yes, which gw contradicts: The two differ: it is wrong');
  });

  test('is asked once gw finds its part ok, and the answer decides the rest', async () => {
    seen.verdict = 'ok';
    const outcome = async (answer: Answer | null) => first(await runAll([asked()], { ask: async () => answer }));
    expect(await outcome(said('yes'))).toMatchObject({
      verdict: 'ok',
      run: 'look',
      shown: 'checked by gw: it is ok; the rest is the word of KM',
      expectations: [{ verdict: 'ok' }],
    });
    expect(await outcome(said('no'))).toMatchObject({ verdict: 'wrong', why: 'KM answered no: Is a in order?' });
    expect(await outcome(said('skip'))).toMatchObject({ verdict: 'not-checked' });
    expect(await outcome(null)).toMatchObject({ verdict: 'not-checked', why: 'Not answered: Is a in order?' });
  });

  test('a plain question is named the word of a person', async () => {
    const result = first(await runAll([question('a')], { ask: async () => said('yes') }));
    expect(result).toMatchObject({ verdict: 'ok', run: null, shown: 'not checked by gw: word of KM' });
  });

  test('it may read the result of an earlier check', async () => {
    const steps = [
      check('seen', { expect: { sound: true } }),
      question('a', { known: { reads: 'seen', expect: expectation } }),
    ];
    const ask = async () => said('yes');
    for (const [verdict, found] of [
      ['ok', 'ok'],
      ['wrong', 'wrong'],
    ] as const) {
      seen.verdict = found;
      seen.looks = 0;
      const { steps: results } = await runAll(steps, { ask });
      expect(results[1]).toMatchObject({ id: 'a', verdict });
      expect(seen.looks).toBe(1);
    }
  });

  test('a resumed run looks again where gw could not decide, also when an answer is there', async () => {
    const list = ownList({ steps: [asked()] }, catalogue);
    seen.verdict = 'not-checked';
    const answers = parseAnswers('a: yes\n', 'answers.yaml', list);
    const before = first(await runSteps(list, { ...still(), answers }));
    seen.verdict = 'ok';
    const earlier = new Map([['a', { result: before, readings: {}, software: null }]]);
    const after = first(await runSteps(list, { ...still(), earlier, ask: async () => said('yes') }));
    expect([before.verdict, after.verdict]).toEqual(['not-checked', 'ok']);
  });

  test('the answer stays where only the check was repeated', async () => {
    const steps = [
      check('seen', { expect: { sound: true } }),
      question('a', { known: { reads: 'seen', expect: expectation } }),
    ];
    const list = ownList({ steps }, catalogue);
    seen.verdict = 'ok';
    const results = (await runSteps(list, { ...still(), ask: async () => said('yes') })).steps;
    const earlier = new Map(results.map((result) => [result.id, { result, readings: {}, software: null }]));
    const selection = { chosen: new Set(['seen']), again: new Set(['seen']), named: new Set(['seen']) };
    const again = await runSteps(list, { ...still(), earlier, selection });
    expect(again.steps[1]).toMatchObject({ verdict: 'ok', answer: { answer: 'yes', initials: 'KM' } });
    seen.verdict = 'wrong';
    const worse = await runSteps(list, { ...still(), earlier, selection });
    expect(worse.steps[1]).toMatchObject({ verdict: 'wrong', answer: { answer: 'yes' } });
    expect(worse.steps[1]?.why).toContain('KM answered yes, which gw contradicts');
  });

  test('it stands beside the question of a check that was not given what it needs', async () => {
    const step = { ...check('a'), given: 'password', confirm: 'Is a in order?', known };
    seen.verdict = 'wrong';
    const result = first(await runAll([step], { ask: async () => said('yes') }));
    expect(result).toMatchObject({ kind: 'confirm', verdict: 'wrong' });
  });

  test('a yes that needs a remark is open without one', async () => {
    const steps = [question('a', { remark: 'required' })];
    expect(first(await runAll(steps, { ask: async () => said('yes') }))).toMatchObject({
      verdict: 'not-checked',
      why: 'KM answered yes without the remark that this question asks for: Is a in order?',
    });
    expect(first(await runAll(steps, { ask: async () => said('yes', 'nothing') }))).toMatchObject({ verdict: 'ok' });
  });

  test.each([
    [check('a', { known }), /known only with confirm/],
    [question('a', { known: { expect: expectation } }), /either run or reads/],
    [question('a', { known: { run: 'look', reads: 'b', expect: expectation } }), /either run or reads/],
    [question('a', { known: { run: 'none', expect: expectation } }), /expected one of 'look'/],
    [question('a', { known: { reads: 'later', expect: expectation } }), /the id of an earlier step/],
    [question('a', { known: { run: 'look', expect: {} } }), /proves nothing/],
    [{ ...about('a'), measure: 'How wide?', unit: 'm', expect: { value: 1 }, remark: 'required' }, /remark only with/],
  ])('a list that says it wrongly is refused', (step, problem) => {
    expect(() => ownList({ steps: [step] }, catalogue)).toThrow(problem);
  });
});
