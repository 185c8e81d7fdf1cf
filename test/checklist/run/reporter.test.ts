import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createChecklistReporter, reportedTechnician } from '../../../src/cli/checklist-reporter.ts';
import { type Catalogue, type Decision, type RunnerOptions, runSteps } from '../../../src/lib/checklist/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { about, ownList, question, still } from '../kit.ts';

const request = 'Send a stop to SN7 from the cloud account now';
let waited = Promise.withResolvers<object>();
const catalogue: Catalogue = {
  wait: {
    summary: 'Waits for a person.',
    moves: false,
    with: z.strictObject({}),
    async run(_, { onProgress }) {
      onProgress(request);
      for (const seconds of [300, 299, 298]) onProgress(`waiting, ${seconds} s left`);
      onProgress(request);
      return { verdict: 'not-checked' };
    },
  },
  look: {
    ...{ summary: 'Looks.', moves: false, with: z.strictObject({ verdict: z.string() }) },
    run: async (options) => options as object,
  },
  hang: { summary: 'Hangs.', moves: false, with: z.strictObject({}), run: async () => await waited.promise },
};
const look = (id: string, verdict = 'ok', more: object = {}) => {
  return { ...about(id), run: 'look', with: { verdict }, expect: { verdict: 'ok' }, ...more };
};

/** A run, what it printed, and what its last line showed one after the other. */
function reported(parts: object, options: Partial<RunnerOptions> = {}, isLive = true) {
  const clock = createFakeClock();
  const [lines, shown]: [string[], string[]] = [[], []];
  const plain = (text: string) => stripVTControlCharacters(text);
  const reporter = createChecklistReporter({
    note: (text) => lines.push(...plain(text).split('\n')),
    live: {
      isLive,
      show: (text, tail = '') => void shown.push(plain(text + tail)),
      clear: () => void shown.push(''),
    },
    clock,
  });
  const work = async () => {
    const result = await runSteps(ownList(parts, catalogue), {
      ...still(),
      clock,
      ...reporter.events,
      ...(options.ask &&
        reportedTechnician(reporter, {
          ask: async (step, context) => (await options.ask?.(step, context)) as never,
          decide: async () => ({ kind: 'leave' }),
        })),
      ...(options.ask ? {} : options),
      ...(options.durations && { durations: options.durations }),
    });
    reporter.end();
    reporter[Symbol.dispose]();
    return result;
  };
  return { clock, lines, shown, run: work() };
}

test('a repeated step asks the person again for what it waits for, and one attempt asks once', async () => {
  const step = { ...about('a'), run: 'wait', expect: { verdict: 'ok' } };
  const decisions: Decision[] = [{ kind: 'again' }];
  const { lines, run } = reported(
    { steps: [step] },
    { decide: async () => decisions.shift() ?? { kind: 'leave' } },
    false,
  );
  await run;
  const attempt = [
    `      … ${request}`,
    '      … waiting, 300 s left',
    expect.stringMatching(/^1\/1 -- {4}Step a +\(a\)$/),
  ];
  expect(lines).toEqual([...attempt, ...attempt]);
});

test('at a terminal a countdown is redrawn, and a request stays', async () => {
  const { lines, shown, run } = reported({ steps: [{ ...about('a'), run: 'wait', expect: { verdict: 'ok' } }] });
  await run;
  expect(lines).toEqual([`      … ${request}`, expect.stringMatching(/^1\/1 --/)]);
  expect(shown).toContain('step 1 of 1: waiting, 298 s left');
});

describe('a run on the screen', () => {
  test('prints each step once, with its number, and what a person accepted below it', async () => {
    const decide = async (): Promise<Decision> => ({ kind: 'accept', reason: 'late', approvedBy: 'A. Boss' });
    const { lines, run } = reported({ steps: [look('a'), look('b', 'bad')] }, { decide });
    await run;
    expect(lines.map((line) => line.replace(/ +/g, ' '))).toEqual([
      expect.stringMatching(/^1\/2 ok Step a/),
      '2/2 FAIL Step b (b)',
      ' accepted by A. Boss: late',
    ]);
  });

  test('says how long the rest takes where every step of it was timed, and else nothing', async () => {
    const sections = [{ id: 's', title: 'All', steps: [look('a'), look('b')] }];
    const head = async (...durations: [string, number][]) => {
      const { lines, shown, run } = reported({ sections }, { durations: new Map(durations) });
      await run;
      return [lines[0], shown[0]];
    };
    expect(await head(['a', 300_000], ['b', 70_000])).toEqual([
      'All (step 1 of 2, about 6 min left)',
      'step 1 of 2, about 6 min left: Step a',
    ]);
    expect(await head(['a', 300_000])).toEqual(['All (step 1 of 2)', 'step 1 of 2: Step a']);
    expect(await head()).toEqual(['All (step 1 of 2)', 'step 1 of 2: Step a']);
  });

  test('counts no step that keeps its result', async () => {
    const parts = { steps: [look('a'), look('b')] };
    const first = await runSteps(ownList(parts, catalogue), still());
    const [a] = first.steps;
    const earlier = new Map([['a', { result: a as never, readings: {}, software: null }]]);
    const { shown, run } = reported(parts, { earlier, durations: new Map([['b', 8_000]]) });
    await run;
    expect(shown[0]).toBe('step 2 of 2, about 8 s left: Step b');
  });

  test('a section of which nothing runs is one line', async () => {
    const sections = [
      { id: 'net', title: 'Network', steps: [look('a', 'bad')] },
      { id: 'tab', title: 'Tablet', needs: ['net'], steps: [look('b'), look('c'), look('d')] },
      {
        id: 'end',
        title: 'End',
        steps: [look('e'), look('f', 'ok', { needs: ['a'] }), look('g', 'ok', { needs: ['a'] })],
      },
    ];
    const { lines, run } = reported({ sections });
    await run;
    expect(lines.map((line) => line.replace(/ +/g, ' '))).toEqual([
      'Network (step 1 of 7)',
      '1/7 FAIL Step a (a)',
      "2/7 skip Tablet: 3 steps (b, c, d) This section needs section 'net', which is not ok.",
      'End (step 5 of 7)',
      expect.stringMatching(/^5\/7 ok Step e/),
      "6/7 skip 2 steps (f, g) This step needs 'a', which is not ok.",
    ]);
  });

  test('a question stands below its section with its number, and nothing is redrawn over it', async () => {
    const sections = [{ id: 's', title: 'Papers', steps: [look('a'), question('b')] }];
    const asked: string[] = [];
    const { clock, shown, lines, run } = reported(
      { sections },
      {
        ask: async (step) => {
          asked.push(step.question, lines[0] ?? '');
          shown.length = 0;
          await clock.advance(30_000);
          asked.push(...shown);
          return { answer: 'yes', by: null, initials: 'K', remark: null, value: null, attachments: [] };
        },
      },
    );
    const { steps } = await run;
    expect(asked).toEqual(['2/2 Is b in order?', 'Papers (step 1 of 2)']);
    // The record holds the question alone.
    expect(steps[1]?.answer?.question).toBe('Is b in order?');
  });
});

describe('a step that waits', () => {
  const hanging = { steps: [{ ...about('a'), run: 'hang', expect: { verdict: 'ok' }, withinS: 90 }] };

  test('shows how long it may still take, redrawn at a terminal', async () => {
    waited = Promise.withResolvers();
    const { clock, lines, shown, run } = reported(hanging);
    await clock.advance(9_000);
    expect(shown.at(-1)).toBe('step 1 of 1: Step a');
    await clock.advance(21_000);
    expect(shown.at(-1)).toBe('step 1 of 1: Step a (at most 60 s left)');
    expect(lines).toEqual([]);
    waited.resolve({ verdict: 'ok' });
    await run;
    expect(clock.pending).toBe(0);
  });

  test('says it in a file at ever longer intervals', async () => {
    waited = Promise.withResolvers();
    const { clock, lines, run } = reported(hanging, {}, false);
    await clock.advance(45_000);
    expect(lines).toEqual([10, 20, 40].map((s) => `      … Step a: ${s} s, at most ${90 - s} s left`));
    waited.resolve({ verdict: 'ok' });
    await run;
  });
});
