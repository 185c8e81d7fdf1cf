import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type AskedStep,
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
import { about, check, ownList, question, still, verdictsById as verdicts } from '../kit.ts';

/** What happened, in order: questions that were put, and drives. */
let events: string[] = [];
let driven: object = { sound: true, first: 'ok' };
const given = z.strictObject({ at: z.string() });
const run = async (options: unknown) => {
  events.push(`run ${(options as { at: string }).at}`);
  return driven;
};
const catalogue: Catalogue = {
  look: { summary: 'Looks.', moves: false, with: given, run },
  drive: { summary: 'Drives.', moves: true, with: given, run },
  secret: { summary: 'Drives, with the password.', moves: true, with: given, given: [], run },
};
const expiring = (id: string, more: object = {}) => question(id, { expires: 'with-the-run', ...more });
const drive = (id: string, more: object = {}) => check(id, { run: 'drive', moves: true, ...more });

beforeEach(() => {
  events = [];
  driven = { sound: true, first: 'ok' };
});

interface Sitting extends Partial<RunnerOptions> {
  readonly only?: string[];
  /** By question: yes unless named here. null: no terminal. */
  readonly says?: Readonly<Record<string, 'yes' | 'no' | 'skip'>> | null;
  readonly written?: string;
}

const parse = (parts: object) => ownList(parts, catalogue);

/** Runs of one list one after the other, each in a new process: results are known as a journal restores them. */
function processes(parts: object) {
  const checklist = parse(parts);
  const journal = new Map<string, CompletedStep>();
  return async ({ only = [], says = {}, written, ...rest }: Sitting = {}) => {
    events = [];
    const earlier = new Map(journal);
    const { steps } = await runSteps(checklist, {
      ...still(),
      motionAllowed: true,
      selection: selectSteps(checklist, { only, from: null }),
      earlier,
      ...(written !== undefined && { answers: parseAnswers(written, 'a.yaml', checklist) }),
      ...(says !== null && {
        ask: async ({ id }: AskedStep) => {
          events.push(`ask ${id}`);
          return { answer: says[id] ?? 'yes', by: null, initials: 'KM', remark: null, value: null, attachments: [] };
        },
      }),
      onCompleted: async (one) => {
        journal.delete(one.result.id);
        journal.set(one.result.id, one);
      },
      ...rest,
    });
    return Object.fromEntries(steps.map((one) => [one.id, one])) as Record<string, StepResult>;
  };
}

const list = {
  sections: [
    { id: 'calm', title: 'Calm', steps: [check('probe'), question('label')] },
    {
      id: 'drives',
      title: 'Drives',
      preconditions: [expiring('way-clear'), expiring('hand')],
      steps: [
        drive('trial', { needs: ['label'] }),
        drive('tour', { needs: ['trial'] }),
        question('seen', { needs: ['tour'] }),
      ],
    },
  ],
};

describe('an answer that expires with the run', () => {
  test('is asked for anew in a later run before the robot moves, and other answers are kept', async () => {
    const process = processes(list);
    expect(verdicts(await process())).toMatchObject({ tour: 'ok', seen: 'ok' });
    const steps = await process({ only: ['tour'] });
    expect(events).toEqual(['ask way-clear', 'ask hand', 'run tour', 'ask seen']);
    expect(verdicts(steps)).toEqual({
      probe: 'ok',
      label: 'ok',
      'way-clear': 'ok',
      hand: 'ok',
      trial: 'ok',
      tour: 'ok',
      seen: 'ok',
    });
    expect(steps['way-clear']?.earlier).toMatchObject([{ verdict: 'ok' }]);
  });

  test('is asked for anew when an interrupted run is resumed', async () => {
    const process = processes(list);
    const cut = new AbortController();
    await process({ signal: cut.signal, onResult: ({ id }) => id === 'trial' && cut.abort() });
    await process();
    expect(events).toEqual(['ask way-clear', 'ask hand', 'run tour', 'ask seen']);
  });

  test('does not let the robot move while no person gives it, or the answer is another', async () => {
    const process = processes(list);
    await process();
    const alone = await process({ only: ['tour'], says: null });
    expect(events).toEqual([]);
    expect(alone.tour).toMatchObject({
      verdict: 'not-checked',
      why: "Not run: the answer to 'way-clear' is of an earlier run, and must be given anew before the robot moves.",
      remedy: "Answer at a terminal, or pass 'way-clear: yes' or 'no' in a file with --answers.",
    });
    expect(alone['way-clear']).toMatchObject({ verdict: 'not-checked', earlier: [{ verdict: 'ok' }] });
    expect(alone.seen?.verdict).toBe('skipped');
    // Asked again by themselves, although their steps have an answer.
    const refused = await process({ says: { hand: 'no' } });
    expect(events).toEqual(['ask way-clear', 'ask hand']);
    expect(verdicts(refused)).toMatchObject({ 'way-clear': 'ok', hand: 'wrong', tour: 'skipped' });
    const left = await process({ says: { hand: 'skip' } });
    expect(verdicts(left)).toMatchObject({ hand: 'not-checked', tour: 'skipped' });
    expect(verdicts(await process())).toMatchObject({ hand: 'ok', tour: 'ok', seen: 'ok' });
  });

  test('may come from a file that was passed to this run', async () => {
    const process = processes(list);
    await process();
    const steps = await process({ only: ['tour'], says: null, written: 'way-clear: yes\nhand: yes\nseen: yes\n' });
    expect(events).toEqual(['run tour']);
    expect(verdicts(steps)).toMatchObject({ tour: 'ok', seen: 'ok' });
  });

  test('is asked for once in a run, and not at all where nothing moves', async () => {
    const process = processes(list);
    await process();
    await process({ only: ['trial', 'tour'] });
    expect(events).toEqual(['ask way-clear', 'ask hand', 'run trial', 'run tour', 'ask seen']);
    await process({ only: ['seen'] });
    expect(events).toEqual(['ask seen']);
    await process({ only: ['tour'], motionAllowed: false });
    expect(events).toEqual([]);
  });

  test('is asked for although the step names it only through another one', async () => {
    const process = processes({
      steps: [expiring('clear'), check('near', { needs: ['clear'] }), drive('far', { needs: ['near'] })],
    });
    await process();
    await process({ only: ['far'] });
    expect(events).toEqual(['ask clear', 'run far']);
  });

  test('is asked for before a drive that a person repeats for a step that reads it', async () => {
    const reader = { ...about('reads'), reads: 'trip', expect: { first: 'ok' } };
    const process = processes({ steps: [expiring('clear'), drive('trip', { needs: ['clear'] }), reader] });
    const cut = new AbortController();
    driven = { sound: true, first: 'wrong' };
    await process({ signal: cut.signal, onResult: ({ id }) => id === 'trip' && cut.abort() });
    const decisions: Decision[] = [{ kind: 'again' }];
    await process({ decide: async () => decisions.shift() ?? { kind: 'leave' } });
    expect(events).toEqual(['ask clear', 'run trip']);
  });

  test('is asked for before a person makes the robot drive in place of a check', async () => {
    const byHand = drive('stop', { run: 'secret', given: 'password', confirm: 'Did it stop?', needs: ['clear'] });
    const process = processes({ steps: [expiring('clear'), byHand] });
    await process();
    await process({ only: ['stop'] });
    expect(events).toEqual(['ask clear', 'ask stop']);
  });

  test('is written at a question only', () => {
    expect(() => parse({ steps: [check('a', { expires: 'with-the-run' })] })).toThrow(/expires beside run/);
    expect(() => parse({ steps: [question('a', { expires: 'tomorrow' })] })).toThrow(/with-the-run/);
  });
});

describe('what a person saw of a drive', () => {
  test('is asked again once that drive was run again, also when only the drive was requested', async () => {
    const process = processes({ steps: [drive('tour'), question('seen', { needs: ['tour'] })] });
    await process();
    const alone = await process({ only: ['tour'], says: null });
    expect(alone.seen).toMatchObject({ verdict: 'not-checked', leftOut: false, earlier: [{ verdict: 'ok' }] });
    expect(verdicts(await process())).toEqual({ tour: 'ok', seen: 'ok' });
    expect(events).toEqual(['ask seen']);
    await process();
    expect(events).toEqual([]);
  });

  test('is not ok after a run that ended between the drive and the question', async () => {
    const process = processes({ steps: [drive('tour'), question('seen', { needs: ['tour'] })] });
    await process();
    const cut = new AbortController();
    const ended = await process({
      only: ['tour'],
      signal: cut.signal,
      onResult: ({ id }) => id === 'tour' && cut.abort(new GwError('INTERRUPTED', 'Interrupted.')),
    });
    expect(events).toEqual(['run tour']);
    expect(ended.seen?.verdict).toBe('not-checked');
    await process();
    expect(events).toEqual(['ask seen']);
  });

  test('is kept when a check that moves nothing runs again', async () => {
    const process = processes({ steps: [check('probe'), question('seen', { needs: ['probe'] })] });
    await process();
    await process({ only: ['probe'] });
    expect(events).toEqual(['run probe']);
  });
});
