import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Catalogue,
  type ChecklistResult,
  checklistResultSchema,
  parseAnswers,
  parseChecklist,
  type RunnerOptions,
  runSteps,
} from '../../../src/lib/checklist/index.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { createPacedClock } from '../../lifecycle/paced-clock.ts';
import { has } from '../../toolkit/kit.ts';
import { still } from '../kit.ts';

const calls: unknown[] = [];
const catalogue: Catalogue = {
  echo: {
    summary: 'Gives back what it is given.',
    moves: false,
    with: z.strictObject({ value: z.unknown().optional() }),
    run: async (options) => {
      calls.push(options);
      return options as object;
    },
  },
  drive: { summary: 'Drives.', moves: true, with: z.strictObject({}), run: async () => ({ state: 'succeeded' }) },
  lost: {
    summary: 'Finds no device.',
    moves: false,
    with: z.strictObject({}),
    run: async () => {
      throw new GwError('CHASSIS_NOT_CONNECTED', 'not connected: nothing answered.', {
        tried: { address: '127.0.0.1', port: 8090, forMs: 2000 },
        remedy: 'Switch it on.',
      });
    },
  },
  broken: {
    summary: 'Has a bug.',
    moves: false,
    with: z.strictObject({}),
    run: () => Promise.reject(new TypeError('x is not a function')),
  },
  forever: { summary: 'Never ends.', moves: false, with: z.strictObject({}), run: () => new Promise(() => {}) },
};

const step = (id: string, rest: string) =>
  `  - id: ${id}\n    title: Step ${id}\n    proves: Device\n    remedy: Mend ${id}.\n${rest}`;
const run = (name: string, expectation = 'value: 1', more = '') =>
  `    run: ${name}\n    expect: { ${expectation} }\n${more}`;
const ONE = '    with: { value: 1 }\n';

function checklist(...steps: string[]) {
  const text = `schema: gw/checklist/1\nname: try\ntitle: A try\npurpose: To see.\nsteps:\n${steps.join('')}`;
  return parseChecklist(text, 'try.yaml', catalogue);
}

async function runAll(steps: string[], options: Partial<RunnerOptions> = {}): Promise<ChecklistResult> {
  const result = await runSteps(checklist(...steps), {
    clock: createPacedClock(),
    signal: new AbortController().signal,
    motionAllowed: false,
    subject: { site: 'Test', serial: 'S1' },
    ...options,
  });
  return checklistResultSchema.parse(JSON.parse(JSON.stringify(result)));
}

const verdicts = (result: ChecklistResult) => result.steps.map(({ verdict }) => verdict);

describe('running a checklist', () => {
  test('--fail-fast runs nothing after a wrong step, and not after one that is accepted', async () => {
    const steps = [step('a', run('echo', 'value: 2', ONE)), step('b', run('echo', 'value: 1', ONE))];
    const stopped = await runAll(steps, { failFast: true });
    expect(verdicts(stopped)).toEqual(['wrong', 'not-checked']);
    expect(stopped).toMatchObject({ ok: false, steps: [{}, { why: has("'a', which is wrong") }] });
    const answers = parseAnswers('a: { accept: { reason: old, by: A } }', 'a.yaml', checklist(...steps));
    expect(verdicts(await runAll(steps, { failFast: true, answers }))).toEqual(['wrong', 'ok']);
  });

  test('--dry-run calls no check and asks nothing, and no step is ok', async () => {
    calls.length = 0;
    const steps = [
      step('a', run('echo', 'value: 1', ONE)),
      step('b', '    confirm: Is it?\n'),
      step('c', run('drive', 'state: succeeded', '    moves: true\n')),
    ];
    const ask = () => Promise.reject(new Error('asked'));
    const dry = await runAll(steps, { dryRun: true, ask });
    expect(dry).toMatchObject({ ok: false, dryRun: true });
    expect(dry.steps.map(({ verdict, why, remedy }) => [verdict, why, remedy])).toEqual([
      ['not-checked', "Would run 'echo' with value 1.", null],
      ['not-checked', 'Would ask: Is it?', null],
      ['not-checked', 'Would not run: it moves the robot, which needs --robot-will-move.', null],
    ]);
    expect(calls).toEqual([]);
  });

  test('all steps ok is ok, with the sections proven', async () => {
    const result = await runAll([step('a', run('echo', 'value: 1', `${ONE}    shows: value {value} of {none}\n`))]);
    expect(result).toMatchObject({
      ok: true,
      interrupted: false,
      counts: { ok: 1, wrong: 0, skipped: 0, notChecked: 0 },
    });
    expect(result.steps[0]).toMatchObject({
      verdict: 'ok',
      why: 'value: 1',
      shown: 'value 1 of (not there)',
      remedy: null,
      measured: { value: 1 },
    });
  });

  test("the data under 'with' reaches the check unchanged, whatever its form", async () => {
    calls.length = 0;
    const nasty = '$(reboot); `id` && rm -rf / | --force';
    await runAll([step('a', run('echo', 'value: exists', `    with: { value: ${JSON.stringify(nasty)} }\n`))]);
    expect(calls).toEqual([{ value: nasty }]);
  });

  test('a wrong step shows expected and found values and its remedy', async () => {
    const result = await runAll([step('a', run('echo', 'value: 2, other: not-empty', ONE))]);
    expect(result.ok).toBe(false);
    expect(result.steps[0]).toMatchObject({
      verdict: 'wrong',
      why: 'value: expected 2, found 1; other: expected a value that is not empty, found nothing at other',
      remedy: 'Mend a.',
    });
  });

  test('the detail of a failed finding is shown as well', async () => {
    const value = [{ id: 'port', verdict: 'wrong', detail: 'the port takes connections' }];
    const withValue = `    with: { value: ${JSON.stringify(value)} }\n`;
    const [wrong, right] = (
      await runAll([
        step('a', run('echo', "'value[id=port].verdict': ok", withValue)),
        step('b', run('echo', "'value[id=port].verdict': wrong", withValue)),
      ])
    ).steps;
    expect(wrong?.why).toBe('the port takes connections');
    expect(wrong?.expectations).toEqual([
      {
        path: 'value[id=port].verdict',
        expected: "'ok'",
        found: "'wrong': the port takes connections",
        verdict: 'wrong',
      },
    ]);
    expect(right?.why).toBe('the port takes connections');
  });

  test('a finding is the reason in its own words, a path only where there is none', async () => {
    const found = (verdict: string, remedy: string | null = null) => {
      return { id: 'stop', title: 'A stop arrives', verdict, detail: `it was ${verdict}`, remedy };
    };
    const whyOf = async (expectation: string, ...values: object[]) => {
      const result = await runAll([
        step('a', run('echo', expectation, `    with: { value: ${JSON.stringify(values)} }\n`)),
      ]);
      return result.steps[0];
    };
    const one = "'value[id=stop].verdict': ok";
    expect((await whyOf(one, found('ok')))?.why).toBe('it was ok');
    expect((await whyOf(one, found('wrong')))?.why).toBe('A stop arrives: it was wrong');
    expect((await whyOf('value: all-ok', found('wrong')))?.why).toBe('1 of 1 wrong: A stop arrives (it was wrong)');
    expect((await whyOf(`${one}, other: 1`, found('wrong')))?.why).toBe(
      'A stop arrives: it was wrong; other: expected 1, found nothing at other',
    );
    expect((await whyOf("value: all-ok, 'value[id=stop].verdict': ok", found('ok')))?.why).toBe(
      'value: 1 of 1 ok; it was ok',
    );
  });

  test('the verdict of a whole result is a word beside the findings that explain it', async () => {
    const text = (list: object[]) =>
      `schema: gw/checklist/1\nname: t\ntitle: T\npurpose: P\nsteps: ${JSON.stringify(list)}\n`;
    const found = { verdict: 'refused', findings: [{ title: 'It docks', verdict: 'not-checked', detail: 'too near' }] };
    const trial: Catalogue = {
      trial: { summary: 'Tries.', moves: false, with: z.strictObject({}), run: async () => found },
    };
    const about = { id: 'a', title: 'A', proves: 'Device', remedy: 'Mend.', run: 'trial' };
    const list = parseChecklist(text([{ ...about, expect: { verdict: 'verified', findings: 'all-ok' } }]), 't', trial);
    const { steps } = await runSteps(list, {
      ...still(),
    });
    expect(steps[0]).toMatchObject({ verdict: 'wrong', why: 'refused; 1 of 1 not checked: It docks (too near)' });
  });

  test('a finding that was not checked gives its own remedy, a wrong one before that of the list', async () => {
    const finding = (verdict: string, remedy: string | null) => ({ id: 'f', title: 'F', verdict, detail: 'd', remedy });
    const remedyOf = async (expectation: string, ...values: object[]) =>
      (await runAll([step('a', run('echo', expectation, `    with: { value: ${JSON.stringify(values)} }\n`))])).steps[0]
        ?.remedy;
    const clear = 'Clear the stop with `gw motion clear`.';
    for (const expectation of ["'value[id=f].verdict': ok", 'value: all-ok']) {
      expect(await remedyOf(expectation, finding('not-checked', clear))).toBe(clear);
      expect(await remedyOf(expectation, finding('not-checked', null))).toBe('Mend a.');
      expect(await remedyOf(expectation, finding('wrong', clear))).toBe(`${clear} Mend a.`);
    }
    expect(await remedyOf('value: all-ok', finding('not-checked', clear), finding('wrong', 'Other.'))).toBe(
      'Other. Mend a.',
    );
  });

  test('a step whose check fails is wrong, with code, address tried and both remedies', async () => {
    const { steps } = await runAll([step('a', run('lost'))]);
    expect(steps[0]).toMatchObject({
      verdict: 'wrong',
      why: 'not connected: nothing answered. Tried 127.0.0.1:8090 (2000 ms).',
      remedy: 'Switch it on. Mend a.',
      error: { code: 'CHASSIS_NOT_CONNECTED', tried: '127.0.0.1:8090 (2000 ms)' },
    });
  });

  test('an exception in a check is a wrong step, and the run continues', async () => {
    const result = await runAll([step('a', run('broken')), step('b', run('echo', 'value: 1', ONE))]);
    expect(verdicts(result)).toEqual(['wrong', 'ok']);
    expect(result.steps[0]?.error?.code).toBe('INTERNAL');
  });

  test('a step whose needs are not ok is skipped by name, and so is every step that depends on it', async () => {
    const result = await runAll([
      step('a', run('echo', 'value: 2', ONE)),
      step('b', `    needs: [a]\n${run('echo', 'value: 1', ONE)}`),
      step('c', `    needs: [b]\n${run('echo', 'value: 1', ONE)}`),
    ]);
    expect(verdicts(result)).toEqual(['wrong', 'skipped', 'skipped']);
    expect(result.steps[1]?.why).toBe("This step needs 'a', which is not ok.");
    expect(result.steps[2]?.remedy).toBe("Fix 'b' first.");
  });

  test('a step that moves the robot runs only with the consent of a person', async () => {
    const steps = [step('a', run('drive', 'state: succeeded', '    moves: true\n'))];
    const refused = await runAll(steps);
    expect(refused.ok).toBe(false);
    expect(refused.steps[0]).toMatchObject({ verdict: 'not-checked', remedy: has('--robot-will-move') });
    expect(await runAll(steps, { motionAllowed: true })).toMatchObject({ ok: true, motionAllowed: true });
  });

  test('a check that times out is wrong', async () => {
    const { steps } = await runAll([step('a', run('forever', 'value: 1', '    withinS: 1\n'))]);
    expect(steps[0]?.verdict).toBe('wrong');
    expect(steps[0]?.why).toContain('timed out after 1 s');
  });

  test('a step can read the result of an earlier one without running it again', async () => {
    calls.length = 0;
    const reads = '    reads: a\n    expect: { value: 1 }\n';
    const result = await runAll([step('a', run('echo', 'value: 2', ONE)), step('b', reads)]);
    expect(verdicts(result)).toEqual(['wrong', 'ok']);
    expect(calls).toHaveLength(1);
    const lost = await runAll([step('a', run('lost')), step('b', reads)]);
    expect(lost.steps[1]).toMatchObject({
      verdict: 'skipped',
      why: "This step reads the result of 'a', which has none.",
    });
  });

  test('an interruption ends the run, and the rest is not checked', async () => {
    const interrupt = new AbortController();
    const steps = [step('a', run('echo', 'value: 1', ONE)), step('b', run('forever')), step('c', run('echo'))];
    const result = await runAll(steps, {
      signal: interrupt.signal,
      onStep: ({ step: { id } }) =>
        id === 'b' && setImmediate(() => interrupt.abort(new GwError('INTERRUPTED', 'Interrupted.'))),
    });
    expect(verdicts(result)).toEqual(['ok', 'not-checked', 'not-checked']);
    expect(result).toMatchObject({ ok: false, interrupted: true });
  });

  test('long and unusual measured data is cut to a bounded excerpt', async () => {
    const big: Catalogue = {
      echo: {
        summary: 'Big.',
        moves: false,
        with: z.strictObject({}),
        run: async () => ({
          list: Array.from({ length: 10_000 }, (_, i) => ({ i })),
          text: 'x'.repeat(1e6),
          fn() {},
          nan: NaN,
        }),
      },
    };
    const text = `schema: gw/checklist/1\nname: big\ntitle: t\npurpose: p\nsteps:\n${step('a', run('echo', 'text: not-empty'))}`;
    const result = await runSteps(parseChecklist(text, 'big.yaml', big), {
      ...still(),
    });
    expect(JSON.stringify(result).length).toBeLessThan(20_000);
    expect(result.steps[0]?.measured).toMatchObject({ nan: 'NaN' });
    expect(result.steps[0]?.measured).not.toHaveProperty('fn');
  });
});

describe('questions to the technician', () => {
  const question = (id: string) => step(id, `    confirm: Is ${id} in order?\n`);

  test('an unanswered question is not checked, and never green', async () => {
    const result = await runAll([question('a')]);
    expect(result).toMatchObject({ ok: false, counts: { notChecked: 1 } });
    expect(result.steps[0]?.why).toBe('Not answered: Is a in order?');
  });

  test('yes is ok, no is wrong, skip is not checked, each with person and reason', async () => {
    const list = checklist(question('a'), question('b'), question('c'));
    const answers = parseAnswers(
      'a: yes\nb: { answer: no, by: Kim, remark: cable loose }\nc: skip\n',
      'answers.yaml',
      list,
    );
    const result = await runAll([question('a'), question('b'), question('c')], { answers });
    expect(verdicts(result)).toEqual(['ok', 'wrong', 'not-checked']);
    expect(result.steps[1]).toMatchObject({
      why: 'Kim answered no: Is b in order? Remark: cable loose',
      answer: { answer: 'no', by: 'Kim', remark: 'cable loose' },
    });
  });

  test('a person is asked only questions that no file answered', async () => {
    const questions: string[] = [];
    const answers = parseAnswers('a: yes\n', 'answers.yaml', checklist(question('a'), question('b')));
    const result = await runAll([question('a'), question('b')], {
      answers,
      ask: async ({ id }) => {
        questions.push(id);
        return { answer: 'yes', by: 'Kim', initials: null, remark: null, value: null, attachments: [] };
      },
    });
    expect(questions).toEqual(['b']);
    expect(result.ok).toBe(true);
  });

  test('an unsupported check is not checked, states why, and can be accepted by a named person', async () => {
    const lacking = step('tunnel', '    unavailable: it has no tunnel yet.\n');
    const plain = await runAll([lacking, question('a')], {
      ask: async () => ({ answer: 'yes', by: 'Kim', initials: null, remark: null, value: null, attachments: [] }),
    });
    expect(plain).toMatchObject({ ok: false, counts: { ok: 1, notChecked: 1, wrong: 0 } });
    expect(plain.steps[0]).toMatchObject({
      kind: 'unavailable',
      verdict: 'not-checked',
      why: 'This version of gw cannot check it: it has no tunnel yet.',
      remedy: 'Mend tunnel.',
      deviation: null,
    });
    const accept = 'tunnel: { accept: { reason: delivered without, by: A. Example } }\n';
    const answers = parseAnswers(accept, 'answers.yaml', checklist(lacking));
    const accepted = await runAll([lacking], { answers });
    expect(accepted).toMatchObject({
      ok: false,
      steps: [{ verdict: 'not-checked', deviation: { approvedBy: 'A. Example' } }],
    });
    expect(() => parseAnswers('tunnel: yes\n', 'answers.yaml', checklist(lacking))).toThrow(/cannot check/);
    const decided = await runAll([lacking], {
      decide: async () => ({ kind: 'accept', reason: 'known', approvedBy: 'B. Example' }),
    });
    expect(decided.steps[0]?.deviation?.approvedBy).toBe('B. Example');
  });

  test('a check that is aborted may clean up before the run continues', async () => {
    const clock = createPacedClock();
    const ending = new AbortController();
    let undone = false;
    const undoing: Catalogue = {
      ...catalogue,
      forever: {
        summary: 'Undoes what it did.',
        moves: false,
        with: z.strictObject({}),
        run: async (_, { signal }) => {
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          await clock.sleep(20);
          undone = true;
          return {};
        },
      },
    };
    const text = `schema: gw/checklist/1\nname: try\ntitle: T\npurpose: P\nsteps:\n${step('a', run('forever'))}`;
    const result = await runSteps(parseChecklist(text, 'try.yaml', undoing), {
      clock,
      signal: ending.signal,
      motionAllowed: false,
      subject: null,
      onStep: () => setImmediate(() => ending.abort(new Error('Ctrl-C'))),
    });
    expect(result.interrupted).toBe(true);
    expect(undone).toBe(true);
  });

  test('answers to unknown questions are rejected with the closest id', () => {
    const list = checklist(question('tablet'), step('auto', run('echo')));
    const read = (text: string) => () => parseAnswers(text, 'answers.yaml', list);
    expect(read('tabelt: yes\n')).toThrow(/answers\.yaml:1:1: .*did you mean 'tablet'\?/);
    expect(read('auto: yes\n')).toThrow(/an answer to 'auto', which gw checks itself/);
    expect(read('tablet: maybe\n')).toThrow(/found 'maybe', expected one of yes, no, skip, or a number/);
    expect(read('tablet: { answer: yes, who: me }\n')).toThrow(
      /unknown key 'who', expected one of answer, value, by, initials, remark/,
    );
    expect(read('')).toThrow(GwError);
  });
});
