import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { z } from 'zod';
import {
  type Catalogue,
  type CompletedStep,
  parseAnswers,
  parseChecklist,
  type RunnerOptions,
  runSteps,
  type StepResult,
  selectSteps,
} from '../../src/lib/checklist/index.ts';
import type { GwError } from '../../src/lib/error/index.ts';
import { forAllOf } from '../toolkit/kit.ts';
import { about, question as ask, check as checkStep, ownList, still } from './kit.ts';

let ran: string[] = [];
let broken: string[] = [];
beforeEach(() => {
  broken = [];
});
const catalogue: Catalogue = {
  look: {
    summary: 'Looks.',
    moves: false,
    with: z.strictObject({ at: z.string() }),
    software: () => ({ value: '1.2.3', mark: 'BELEGT', source: 'measured here' }),
    run: async (options) => {
      const { at } = options as { at: string };
      ran.push(at);
      return {
        sound: !broken.includes(at),
        latency: { value: 12.5, mark: 'BELEGT', source: 'measured here', unit: 'ms' },
        plain: 7,
      };
    },
  },
  drive: { summary: 'Drives.', moves: true, with: z.strictObject({}), run: async () => ({ sound: true }) },
};

const measure = (id: string, more: object = {}) => ({
  ...about(id),
  measure: `How wide is ${id}?`,
  unit: 'm',
  expect: { value: { 'at-least': 0.8 } },
  ...more,
});

const parse = (parts: object) => ownList(parts, catalogue);

function messageOf(parts: object): string {
  try {
    parse(parts);
  } catch (error) {
    expect(error).toMatchObject({ code: 'CHECKLIST_INVALID' });
    return (error as GwError).message;
  }
  return '';
}

async function run(parts: object, options: Partial<RunnerOptions> & { only?: string[]; from?: string } = {}) {
  const { only = [], from = null, ...more } = options;
  const checklist = parse(parts);
  ran = [];
  return runSteps(checklist, {
    ...still(),
    selection: selectSteps(checklist, { only, from }),
    ...more,
  });
}
/** The results of a run, as a journal keeps them. */
async function journalOf(parts: object) {
  const earlier = new Map<string, CompletedStep>();
  await run(parts, { onCompleted: async (completed) => void earlier.set(completed.result.id, completed) });
  return earlier;
}
const verdicts = (steps: readonly StepResult[]) => Object.fromEntries(steps.map(({ id, verdict }) => [id, verdict]));
const answers = (parts: object, text: string) => parseAnswers(text, '/answers/a.yaml', parse(parts));

const sections = {
  phase: 'site',
  sections: [
    { id: 'network', title: 'Network', about: 'With the IT.', steps: [checkStep('mtu'), checkStep('dns')] },
    {
      id: 'drive',
      title: 'Driving',
      needs: ['network'],
      preconditions: [ask('room-clear'), checkStep('battery')],
      steps: [checkStep('pose'), ask('heading', { needs: ['pose'] })],
    },
    { id: 'papers', title: 'Papers', steps: [ask('label')] },
  ],
};

describe('a checklist with sections', () => {
  test('keeps phase, sections and the order of its steps, preconditions before the steps of their section', () => {
    const list = parse(sections);
    expect(list.phase).toBe('site');
    expect(list.sections.map(({ id, needs }) => [id, needs])).toEqual([
      ['network', []],
      ['drive', ['network']],
      ['papers', []],
    ]);
    expect(list.steps.map(({ id, section, precondition }) => [id, section, precondition])).toEqual([
      ['mtu', 'network', false],
      ['dns', 'network', false],
      ['room-clear', 'drive', true],
      ['battery', 'drive', true],
      ['pose', 'drive', false],
      ['heading', 'drive', false],
      ['label', 'papers', false],
    ]);
    expect(list.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  test('a precondition that is not ok skips its whole section by name, and no other', async () => {
    const result = await run(sections, { answers: answers(sections, 'room-clear: no\nlabel: yes\n') });
    expect(verdicts(result.steps)).toEqual({
      mtu: 'ok',
      dns: 'ok',
      'room-clear': 'wrong',
      battery: 'ok',
      pose: 'skipped',
      heading: 'skipped',
      label: 'ok',
    });
    const [, , , , pose, heading] = result.steps;
    expect(pose?.why).toBe("This section needs 'room-clear', which is not ok.");
    expect(heading?.why).toBe("This step needs 'pose', which is not ok.");
    expect(pose?.remedy).toBe("Fix 'room-clear' first.");
  });

  test('a required section must be ok as a whole', async () => {
    broken = ['dns'];
    const result = await run(sections);
    expect(verdicts(result.steps)).toMatchObject({
      dns: 'wrong',
      'room-clear': 'skipped',
      battery: 'skipped',
      pose: 'skipped',
    });
    expect(result.steps[2]).toMatchObject({
      why: "This section needs section 'network', which is not ok.",
      remedy: "Fix 'dns' first.",
    });
  });

  const section = (id: string, steps: readonly object[], more: object = {}) => ({ id, title: 'S', steps, ...more });
  const [stepA, stepB] = [checkStep('a'), checkStep('b')];
  const withA = (more: object) => ({ sections: [section('s', [stepA], more)] });

  test.each<[string, object, string]>([
    ['both steps and sections', { steps: [stepA], sections: [section('s', [stepB])] }, 'both of steps and sections'],
    ['neither', {}, 'neither of steps and sections'],
    [
      'an id twice over sections',
      { sections: [section('s', [stepA]), section('t', [stepA])] },
      'a unique id (sections[0].steps[0] has this one)',
    ],
    ['a step named as a section', { sections: [section('a', [stepA])] }, 'a unique id'],
    ['a section that needs itself', withA({ needs: ['s'] }), 'a cycle: s needs s'],
    ['a section that needs its step', withA({ needs: ['a'] }), 'found a, which comes later'],
    [
      'a step that needs its section',
      { sections: [section('s', [checkStep('a', { needs: ['s'] })])] },
      'a needs s needs a',
    ],
    [
      'sections that need each other',
      { sections: [section('s', [stepA], { needs: ['t'] }), section('t', [stepB], { needs: ['s'] })] },
      'a cycle: s needs t needs s',
    ],
    [
      'a precondition that needs a step of its section',
      withA({ preconditions: [checkStep('p', { needs: ['a'] })] }),
      'a cycle: p needs a needs p',
    ],
    ['a section without steps', { sections: [section('s', [])] }, 'sections[0].steps'],
    ['an unknown phase', { phase: 'party', steps: [stepA] }, 'one of premises, site, handover, service'],
    ['a value without unit', { steps: [measure('a', { unit: undefined })] }, 'the unit of the measured value'],
    [
      'a value without expectation',
      { steps: [measure('a', { expect: undefined })] },
      'a measured value proves nothing',
    ],
    ['a value that expects else', { steps: [measure('a', { expect: { width: 1 } })] }, 'value, the measured number'],
    ['a question with a unit', { steps: [ask('a', { unit: 'm' })] }, 'unit beside confirm'],
    ['an unknown fact', { steps: [checkStep('a', { facts: ['angles.none'] })] }, 'the id of a fact of the ledger'],
    ['a figure on a broken path', { steps: [checkStep('a', { values: { x: 'a..b' } })] }, 'steps[0].values.x'],
  ])('is rejected with %s', (_name, parts, text) => {
    expect(messageOf(parts)).toContain(text);
  });

  test('too many steps over all sections are rejected', () => {
    const many = Array.from({ length: 30 }, (_, s) =>
      section(
        `s${s}`,
        Array.from({ length: 20 }, (__, n) => ask(`s${s}-${n}`)),
      ),
    );
    expect(messageOf({ sections: many })).toContain('found 600 steps, expected at most 500');
  });

  test('anchors, exponential aliases and shell metacharacters are harmless', () => {
    const bomb = `schema: gw/checklist/1\na: &a [x, x]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\nsteps: [*c, *c]\n`;
    expect(() => parseChecklist(bomb, 'own.yaml', catalogue)).toThrow(/alias/);
    const nasty = 'Is $(reboot) `id` && rm -rf / in order?';
    const list = parse({ steps: [ask('a', { confirm: nasty })] });
    expect(list.steps[0]).toMatchObject({ question: nasty });
  });

  test('any change to any value of a section yields a valid checklist or CHECKLIST_INVALID', {
    tags: 'property',
  }, () => {
    const keys = ['id', 'title', 'about', 'needs', 'preconditions', 'steps', '__proto__', 'toString'];
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom<unknown>(['s'], ['a'], [checkStep('a')], [ask('b', { needs: ['s'] })]),
    );
    forAllOf(200)(fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 3 }), (change) => {
      messageOf(withA(change));
    });
  });
});

describe('choosing steps', () => {
  test('--only STEP runs its needs and marks the other steps as left out', async () => {
    const parts = {
      steps: [checkStep('a'), checkStep('b', { needs: ['a'] }), checkStep('c'), checkStep('d', { needs: ['b'] })],
    };
    const result = await run(parts, { only: ['b'] });
    expect(ran).toEqual(['a', 'b']);
    expect(verdicts(result.steps)).toEqual({ a: 'ok', b: 'ok', c: 'not-checked', d: 'not-checked' });
    expect(result.steps.map(({ leftOut }) => leftOut)).toEqual([false, false, true, true]);
    expect(result.ok).toBe(false);
  });

  test('--only SECTION runs its steps, preconditions and needs', () => {
    expect([...selectSteps(parse(sections), { only: ['drive'], from: null }).chosen].sort()).toEqual(
      ['battery', 'dns', 'heading', 'mtu', 'pose', 'room-clear'].sort(),
    );
    expect([...selectSteps(parse(sections), { only: ['papers'], from: null }).chosen]).toEqual(['label']);
  });

  test('--from STEP runs everything after it, with its needs and the results it reads', () => {
    const parts = {
      steps: [
        checkStep('a'),
        checkStep('b'),
        { ...about('r'), reads: 'a', expect: { sound: true } },
        checkStep('c', { needs: ['b'] }),
      ],
    };
    const list = parse(parts);
    expect([...selectSteps(list, { only: [], from: 'c' }).chosen]).toEqual(['c', 'b']);
    expect([...selectSteps(list, { only: [], from: 'r' }).chosen].sort()).toEqual(['a', 'b', 'c', 'r']);
    // A repeated check has its readers evaluated again.
    expect([...selectSteps(list, { only: ['a'], from: null }).again].sort()).toEqual(['a', 'r']);
    // A repeated reading has its check run again.
    expect([...selectSteps(list, { only: ['r'], from: null }).again].sort()).toEqual(['a', 'r']);
  });

  test('an unknown id is reported with the closest one', () => {
    expect(() => selectSteps(parse(sections), { only: ['netwrok'], from: null })).toThrow(/Did you mean 'network'\?/);
  });
});

describe('resuming an earlier run', () => {
  test('a step reads the earlier result of a check without running it again', async () => {
    const reader = { ...about('r'), reads: 'a', expect: { plain: 7 } };
    const parts = { steps: [checkStep('a'), reader, checkStep('b')] };
    const earlier = await journalOf(parts);
    earlier.delete('r');
    earlier.delete('b');
    const result = await run(parts, { earlier });
    expect(ran).toEqual(['b']);
    expect(verdicts(result.steps)).toEqual({ a: 'ok', r: 'ok', b: 'ok' });
    expect(result.steps[0]?.at).toBe(earlier.get('a')?.result.at);
  });

  test('a step that failed earlier is kept, and accepted when the answers accept it now', async () => {
    broken = ['a'];
    const earlier = await journalOf({ steps: [checkStep('a')] });
    const approvals = new Map([['a', { reason: 'known', approvedBy: 'B. Boss' }]]);
    const completed: (string | undefined)[] = [];
    const result = await run(
      { steps: [checkStep('a')] },
      {
        earlier,
        answers: { answers: new Map(), approvals },
        onCompleted: async ({ result: kept }) => void completed.push(kept.deviation?.approvedBy),
      },
    );
    expect(result.steps[0]).toMatchObject({ verdict: 'wrong', deviation: { reason: 'known', approvedBy: 'B. Boss' } });
    expect(completed).toEqual(['B. Boss']);
  });

  test('an interruption keeps earlier results', async () => {
    broken = ['a'];
    const earlier = await journalOf({ steps: [checkStep('a')] });
    broken = [];
    const output: string[] = [];
    const result = await run(
      { steps: [checkStep('a')] },
      { earlier, only: ['a'], signal: AbortSignal.abort(), onCompleted: async () => void output.push('taken') },
    );
    expect(output).toEqual([]);
    expect(result).toMatchObject({ interrupted: true, ok: false });
    expect(verdicts(result.steps)).toEqual({ a: 'wrong' });
  });
});

describe('measured values and figures', () => {
  const parts = {
    steps: [
      measure('door', { tool: 'steel rule' }),
      checkStep('probe', {
        values: {
          latency: 'latency',
          other: { path: 'plain', unit: 'V', mark: 'HINWEIS' },
          bare: 'plain',
          none: 'none',
        },
      }),
    ],
  };

  test('a number entered by a person carries unit, mark, tool and person', async () => {
    const given = answers(parts, 'door: { value: 0.85, initials: KM, remark: at the lobby }\n');
    const { steps } = await run(parts, { answers: given });
    expect(steps[0]).toMatchObject({
      verdict: 'ok',
      kind: 'measure',
      shown: '0.85 m; Remark: at the lobby',
      values: [
        {
          name: 'door',
          value: 0.85,
          unit: 'm',
          mark: 'BELEGT',
          basis: 'here',
          source: 'measured here by KM, steel rule',
        },
      ],
      answer: { value: 0.85, initials: 'KM' },
    });
  });

  test('a number out of bounds is wrong and keeps its figure; a missing one is not checked', async () => {
    const narrow = await run(parts, { answers: answers(parts, 'door: 0.7\n') });
    expect(narrow.steps[0]).toMatchObject({ verdict: 'wrong', why: 'value: expected at least 0.8, found 0.7' });
    expect(narrow.steps[0]?.values).toHaveLength(1);
    const open = await run(parts);
    expect(open.steps[0]).toMatchObject({ verdict: 'not-checked', values: [], why: 'Not answered: How wide is door?' });
  });

  test('figures of a check keep their own mark; a plain number without a mark is open', async () => {
    const { steps } = await run(parts);
    expect(steps[1]?.values).toEqual([
      { name: 'latency', value: 12.5, unit: 'ms', mark: 'BELEGT', basis: 'here', source: 'measured here' },
      { name: 'other', value: 7, unit: 'V', mark: 'HINWEIS', basis: 'vendor', source: "gw, check 'look'" },
      { name: 'bare', value: 7, unit: null, mark: 'OFFEN', basis: 'not-shown', source: "gw, check 'look'" },
    ]);
  });

  test.each([
    ['a word in place of a number', 'door: yes\n', 'expected a number (m), or skip'],
    ['a number and a word', 'door: { value: 1, answer: yes }\n', 'only the value'],
    ['a number as the answer of a question', 'q: 3\n', 'yes, no or skip: this is a question'],
    ['a remark only', 'q: { remark: x }\n', 'an answer: yes, no or skip'],
    ['a value that is not finite', 'door: .inf\n', 'found'],
    ['initials that are a sentence', 'q: { answer: yes, initials: all of us }\n', 'at most 8 letters'],
    ['a deviation without a name', 'q: { answer: no, accept: { reason: x } }\n', 'accept.by'],
    ['an answer to a check', 'probe: { answer: yes }\n', 'which gw checks itself'],
  ])('%s is rejected', (_name, text, message) => {
    expect(() => answers({ steps: [...parts.steps, ask('q')] }, text)).toThrow(message);
  });

  test('any bytes yield answers or ANSWERS_INVALID', { tags: 'property' }, () => {
    const list = parse({ steps: [...parts.steps, ask('q')] });
    const some = fc.dictionary(fc.constantFrom('q', 'door', 'probe', '__proto__'), fc.jsonValue());
    forAllOf(300)(
      fc.oneof(
        fc.string(),
        some.map((value) => stringify(value)),
      ),
      (text) => {
        try {
          parseAnswers(text, 'a.yaml', list);
        } catch (error) {
          expect(error).toMatchObject({ code: 'ANSWERS_INVALID' });
        }
      },
    );
  });
});

describe('deviations', () => {
  const parts = { steps: [checkStep('a'), checkStep('b', { needs: ['a'] })] };

  test('a wrong step that a named person accepts stays wrong, and what needs it stays skipped', async () => {
    broken = ['a'];
    const result = await run(parts, {
      answers: answers(parts, 'a: { accept: { reason: a spare part is ordered, by: A. Boss } }\n'),
    });
    expect(result.ok).toBe(false);
    expect(verdicts(result.steps)).toEqual({ a: 'wrong', b: 'skipped' });
    expect(result.steps[0]?.deviation).toMatchObject({ reason: 'a spare part is ordered', approvedBy: 'A. Boss' });
  });

  test('a step that is ok has none, whatever the answers file contains', async () => {
    const result = await run(parts, { answers: answers(parts, 'a: { accept: { reason: x, by: y } }\n') });
    expect(result.ok).toBe(true);
    expect(result.steps[0]?.deviation).toBeNull();
  });

  test('a wrong step is repeated, then accepted; each result is journaled before it is shown', async () => {
    broken = ['a'];
    const output: string[] = [];
    const decisions = [{ kind: 'again' }, { kind: 'accept', reason: 'late', approvedBy: 'A. Boss' }] as const;
    let turn = 0;
    const result = await run(
      { steps: [checkStep('a')] },
      {
        decide: async () => decisions[turn++] ?? { kind: 'leave' },
        onCompleted: async ({ result: completed }) =>
          void output.push(`disk ${completed.earlier.length} ${completed.deviation?.approvedBy}`),
        onResult: (shown) => void output.push(`shown ${shown.earlier.length} ${shown.deviation?.approvedBy}`),
      },
    );
    expect(ran).toEqual(['a', 'a']);
    expect(output).toEqual([
      'disk 0 undefined',
      'shown 0 undefined',
      'disk 1 undefined',
      'shown 1 undefined',
      'disk 1 A. Boss',
      'shown 1 A. Boss',
    ]);
    expect(result.steps[0]).toMatchObject({
      verdict: 'wrong',
      earlier: [{ verdict: 'wrong' }],
      deviation: { reason: 'late' },
    });
  });

  test('a step that reads another is repeated by running that one again', async () => {
    broken = ['a'];
    const shown: string[] = [];
    const reader = { ...about('r'), reads: 'a', expect: { sound: true } };
    const first = checkStep('a', { expect: { plain: 7 } });
    const result = await run(
      { steps: [first, reader] },
      {
        decide: async () => {
          broken = [];
          return { kind: 'again' };
        },
        onResult: ({ id, verdict }) => void shown.push(`${id} ${verdict}`),
      },
    );
    expect(shown).toEqual(['a ok', 'r wrong', 'a ok', 'r ok']);
    expect(ran).toEqual(['a', 'a']);
    expect(result.ok).toBe(true);
    expect(result.steps.map(({ id, earlier }) => [id, earlier.length])).toEqual([
      ['a', 1],
      ['r', 1],
    ]);
  });

  test('a check that could not be made is put to the person too, an unanswered question is not', async () => {
    const questions: string[] = [];
    const undecided = checkStep('a', { expect: { state: 'ok' } });
    const silent: Catalogue = { look: { ...catalogue.look, run: async () => ({ state: 'not-checked' }) } as never };
    const list = ownList({ steps: [undecided, ask('b')] }, silent);
    const result = await runSteps(list, {
      ...still(),
      decide: async ({ id }) => {
        questions.push(id);
        return { kind: 'leave' };
      },
    });
    expect(result.steps.map(({ verdict }) => verdict)).toEqual(['not-checked', 'not-checked']);
    expect(questions).toEqual(['a']);
  });

  test('an accepted angle unit does not permit movement', async () => {
    broken = ['unit'];
    const driving = {
      steps: [
        checkStep('unit'),
        { ...about('tour'), needs: ['unit'], run: 'drive', moves: true, expect: { sound: true } },
      ],
    };
    const result = await run(driving, {
      motionAllowed: true,
      answers: answers(driving, 'unit: { accept: { reason: in a hurry, by: A. Boss } }\n'),
    });
    expect(verdicts(result.steps)).toEqual({ unit: 'wrong', tour: 'skipped' });
  });
});

test('an answer from a file that names its person does not get the initials of the user', async () => {
  const parts = { steps: [ask('a'), ask('b')] };
  const { steps } = await run(parts, {
    answers: answers(parts, 'a: { answer: yes, by: Kim }\nb: yes\n'),
    technician: { name: 'Lou Doe', initials: 'LD' },
  });
  expect(steps[0]?.answer).toMatchObject({ by: 'Kim', initials: null });
  expect(steps[1]?.answer).toMatchObject({ by: 'Lou Doe', initials: 'LD' });
});
