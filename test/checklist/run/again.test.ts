import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Catalogue,
  type CompletedStep,
  type Decision,
  parseAnswers,
  type RunnerOptions,
  runSteps,
  type StepResult,
  selectSteps,
} from '../../../src/lib/checklist/index.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { about, check, ownList, still, verdictsById as verdicts } from '../kit.ts';

/** The current result of each check; an error is thrown. */
let world: Record<string, object> = {};
let ran: string[] = [];
const runCheck = async (options: unknown) => {
  const { at } = options as { at: string };
  ran.push(at);
  const found = world[at] ?? { sound: true, first: 'ok', second: 'ok' };
  if (found instanceof Error) throw found;
  return found;
};
const options = z.strictObject({ at: z.string() });
const catalogue: Catalogue = {
  look: { summary: 'Looks.', moves: false, with: options, run: runCheck },
  drive: { summary: 'Drives.', moves: true, with: options, run: runCheck },
};
const reader = (id: string, source: string, path: string, more: object = {}) => ({
  ...about(id),
  reads: source,
  expect: { [path]: 'ok' },
  ...more,
});
const unseen = new GwError('CHASSIS_NOT_CONNECTED', 'not connected: nothing answered.');

beforeEach(() => {
  world = {};
  ran = [];
});

/** One run; its results are known to the next one, as from the journal. */
function sittings(steps: readonly object[]) {
  const checklist = ownList({ steps }, catalogue);
  const earlier = new Map<string, CompletedStep>();
  return async (more: Partial<RunnerOptions> & { only?: string[]; accept?: string } = {}) => {
    const { only = [], accept, ...rest } = more;
    ran = [];
    const completed: CompletedStep[] = [];
    const { steps: results } = await runSteps(checklist, {
      ...still(),
      selection: selectSteps(checklist, { only, from: null }),
      earlier: new Map(earlier),
      ...(accept !== undefined && {
        answers: parseAnswers(`${accept}: { accept: { reason: known, by: B. Boss } }\n`, 'a.yaml', checklist),
      }),
      onCompleted: async (one) => void completed.push(one),
      ...rest,
    });
    for (const one of completed) earlier.set(one.result.id, one);
    // The final results equal those that a journal would restore.
    for (const one of results) if (one.at !== null) expect(earlier.get(one.id)?.result).toEqual(one);
    return Object.fromEntries(results.map((one) => [one.id, one])) as Record<string, StepResult>;
  };
}
const decisions = (...list: Decision[]) => {
  const questions: string[] = [];
  const decide = async ({ id }: StepResult) => {
    questions.push(id);
    return list[questions.length - 1] ?? { kind: 'leave' as const };
  };
  return { questions: questions, decide };
};
const again = { kind: 'again' } as const;
const accept = { kind: 'accept', reason: 'late', approvedBy: 'A. Boss' } as const;

describe('a step that reads the result of a check', () => {
  test('and was not checked has that check run again when the run is resumed', async () => {
    const sit = sittings([check('a'), reader('r', 'a', 'first')]);
    world = { a: { sound: true, first: 'not-checked' } };
    expect(verdicts(await sit())).toEqual({ a: 'ok', r: 'not-checked' });
    world = {};
    const steps = await sit();
    expect(ran).toEqual(['a']);
    expect(verdicts(steps)).toEqual({ a: 'ok', r: 'ok' });
    expect(steps.r?.earlier).toMatchObject([{ verdict: 'not-checked' }]);
    // Every step has a final result now.
    await sit();
    expect(ran).toEqual([]);
  });

  test('and was never reached, but would read only not-checked, has it run again too', async () => {
    const sit = sittings([check('a'), reader('r', 'a', 'first')]);
    world = { a: { sound: true, first: 'not-checked' } };
    const cut = new AbortController();
    const begun = await sit({ signal: cut.signal, onResult: ({ id }) => id === 'a' && cut.abort() });
    expect(begun.r).toMatchObject({ verdict: 'not-checked', at: null });
    world = {};
    expect(verdicts(await sit())).toEqual({ a: 'ok', r: 'ok' });
  });

  test('has a check that moves the robot run again only with the consent of a person', async () => {
    const sit = sittings([check('a', { run: 'drive', moves: true }), reader('r', 'a', 'first')]);
    world = { a: { sound: true, first: 'not-checked' } };
    await sit({ motionAllowed: true });
    const still = await sit();
    expect(ran).toEqual([]);
    expect(verdicts(still)).toEqual({ a: 'ok', r: 'not-checked' });
    world = {};
    expect(verdicts(await sit({ motionAllowed: true }))).toEqual({ a: 'ok', r: 'ok' });
  });

  test('is never ok by an older run of a check that fails now', async () => {
    const sit = sittings([check('a'), reader('r', 'a', 'first')]);
    expect(verdicts(await sit())).toEqual({ a: 'ok', r: 'ok' });
    world = { a: unseen };
    const steps = await sit({ only: ['a'] });
    expect(verdicts(steps)).toEqual({ a: 'wrong', r: 'skipped' });
    expect(steps.r?.why).toBe("This step reads the result of 'a', which has none.");
    // The next run does not remember it either.
    expect(verdicts(await sit())).toEqual({ a: 'wrong', r: 'skipped' });
  });

  test('is evaluated again when the run is resumed and the check was run again', async () => {
    const sit = sittings([check('a'), reader('r', 'a', 'first')]);
    world = { a: { sound: 'not-checked', first: 'ok' } };
    expect(verdicts(await sit())).toEqual({ a: 'not-checked', r: 'ok' });
    world = { a: { sound: true, first: 'wrong' } };
    expect(verdicts(await sit())).toEqual({ a: 'ok', r: 'wrong' });
  });

  test('keeps its result when the check should be repeated and cannot be', async () => {
    const sit = sittings([check('a', { run: 'drive', moves: true }), reader('r', 'a', 'first')]);
    world = { a: { sound: 'not-checked', first: 'ok' } };
    await sit({ motionAllowed: true });
    expect(verdicts(await sit())).toEqual({ a: 'not-checked', r: 'ok' });
  });

  test('is evaluated again when a person repeats the check for another step, also when not selected', async () => {
    const sit = sittings([check('a'), reader('one', 'a', 'first'), reader('two', 'a', 'second')]);
    world = { a: { sound: true, first: 'ok', second: 'wrong' } };
    const { questions, decide } = decisions(again);
    const steps = await sit({
      decide: async (result) => {
        world = { a: { sound: true, first: 'wrong', second: 'ok' } };
        return decide(result);
      },
    });
    expect(ran).toEqual(['a', 'a']);
    expect(questions).toEqual(['two']);
    expect(verdicts(steps)).toEqual({ a: 'ok', one: 'wrong', two: 'ok' });
    expect(Object.keys(steps)).toEqual(['a', 'one', 'two']);
  });
});

describe('an accepted deviation', () => {
  test('of a check persists when that is run again for a step that reads it, with the same result', async () => {
    const sit = sittings([check('a'), reader('r', 'a', 'first')]);
    world = { a: { sound: false, first: 'wrong' } };
    const { questions, decide } = decisions(accept, again, accept);
    const steps = await sit({ decide });
    expect(ran).toEqual(['a', 'a']);
    expect(questions).toEqual(['a', 'r', 'r']);
    expect(steps.a).toMatchObject({ verdict: 'wrong', deviation: { approvedBy: 'A. Boss' } });
    expect(steps.a?.earlier).toMatchObject([{ verdict: 'wrong' }]);
    expect(steps.r?.deviation).toMatchObject({ approvedBy: 'A. Boss' });
  });

  test('of a check is requested again when its result differs', async () => {
    const sit = sittings([check('a'), reader('r', 'a', 'first')]);
    world = { a: { sound: 'not-checked', first: 'wrong' } };
    const { questions, decide } = decisions(accept, again);
    const steps = await sit({
      decide: async (result) => {
        const decision = await decide(result);
        if (decision.kind === 'again') world = { a: { sound: false, first: 'wrong' } };
        return decision;
      },
    });
    expect(questions).toEqual(['a', 'r', 'a', 'r']);
    expect(steps.a).toMatchObject({ verdict: 'wrong', deviation: null });
  });

  test('from a file counts for the check that is run again', async () => {
    const sit = sittings([check('a'), reader('r', 'a', 'first')]);
    world = { a: { sound: false, first: 'wrong' } };
    const { questions, decide } = decisions(again);
    const steps = await sit({ decide, accept: 'a' });
    expect(questions).toEqual(['r', 'r']);
    expect(steps.a).toMatchObject({ verdict: 'wrong', deviation: { approvedBy: 'B. Boss' } });
  });

  test('of a check that is ok now is removed', async () => {
    const sit = sittings([check('a'), reader('r', 'a', 'first')]);
    world = { a: { sound: false, first: 'wrong' } };
    const { decide } = decisions(accept, again);
    const steps = await sit({
      decide: async (result) => {
        const decision = await decide(result);
        if (decision.kind === 'again') world = {};
        return decision;
      },
    });
    expect(verdicts(steps)).toEqual({ a: 'ok', r: 'ok' });
    expect(steps.a?.deviation).toBeNull();
  });

  test('of a step that was not checked persists when the run is resumed, and is decided again when the step is named', async () => {
    const sit = sittings([check('a')]);
    world = { a: { sound: 'not-checked' } };
    await sit({ decide: decisions(accept).decide });
    const kept = await sit();
    expect(ran).toEqual(['a']);
    expect(kept.a).toMatchObject({ verdict: 'not-checked', deviation: { approvedBy: 'A. Boss' } });
    const { questions, decide } = decisions({ kind: 'leave' });
    expect((await sit({ only: ['a'], decide })).a).toMatchObject({ verdict: 'not-checked', deviation: null });
    expect(questions).toEqual(['a']);
  });
});
