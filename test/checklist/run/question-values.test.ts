import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Answer,
  type AskedStep,
  type Catalogue,
  type CompletedStep,
  parseAnswers,
  runSteps,
  selectSteps,
} from '../../../src/lib/checklist/index.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { about, ownList, question, still } from '../kit.ts';

let serial: unknown = 'SN0007';
const catalogue: Catalogue = {
  look: {
    ...{ summary: 'Looks.', moves: false, with: z.strictObject({}) },
    run: async () => ({ verdict: 'ok', serial: { value: serial, mark: 'BELEGT', source: 'chassis', unit: null } }),
  },
};
const source = { ...about('identity'), run: 'look', expect: { verdict: 'ok' }, values: { serial: 'serial' } };
const label = question('label', { needs: ['identity'], confirm: 'Does the label show {identity.serial}?' });
const yes: Answer = { answer: 'yes', by: null, initials: 'KM', remark: null, value: null, attachments: [] };

/** One run after the other; what was asked, and the result of the question. */
function sittings() {
  const checklist = ownList({ steps: [source, label] }, catalogue);
  const earlier = new Map<string, CompletedStep>();
  return async (only: readonly string[] = []) => {
    const asked: string[] = [];
    const { steps } = await runSteps(checklist, {
      ...still(),
      selection: selectSteps(checklist, { only, from: null }),
      earlier: new Map(earlier),
      ask: async (step: AskedStep) => {
        asked.push(step.question);
        return yes;
      },
      onCompleted: async (one) => {
        earlier.delete(one.result.id);
        earlier.set(one.result.id, one);
      },
    });
    return { asked, label: steps.find(({ id }) => id === 'label') };
  };
}

beforeEach(() => {
  serial = 'SN0007';
});

describe('a question about a value', () => {
  test('carries the value, in the prompt, the reason and the record', async () => {
    const { asked, label: result } = await sittings()();
    expect(asked).toEqual(['Does the label show SN0007?']);
    expect(result).toMatchObject({ verdict: 'ok', why: 'Asked: Does the label show SN0007?' });
    expect(result?.answer?.question).toBe('Does the label show SN0007?');
  });

  test('is asked with the value of an earlier session after a resume', async () => {
    const run = sittings();
    await run(['identity']);
    serial = 'never read again';
    expect((await run()).asked).toEqual(['Does the label show SN0007?']);
  });

  test('is asked again when the value is another one, and not when it is the same', async () => {
    const run = sittings();
    await run();
    expect((await run(['identity'])).asked).toEqual([]);
    serial = 'SN0008';
    const again = await run(['identity']);
    expect(again.asked).toEqual(['Does the label show SN0008?']);
    expect(again.label?.answer?.question).toBe('Does the label show SN0008?');
  });

  test('is not asked without its value, and a prepared yes does not make it ok', async () => {
    serial = null;
    const run = sittings();
    const { asked, label: result } = await run();
    expect(asked).toEqual([]);
    expect(result).toMatchObject({ verdict: 'not-checked', answer: null });
    expect(result?.why).toBe("Not asked: the question shows the value 'identity.serial', which was not measured.");
    const checklist = ownList({ steps: [source, label] }, catalogue);
    const answers = parseAnswers('label: yes\n', 'a.yaml', checklist);
    const { steps } = await runSteps(checklist, { ...still(), answers });
    expect(steps.map(({ verdict }) => verdict)).toEqual(['ok', 'not-checked']);
  });
});

describe('the values of a question', () => {
  const problem = (step: object) => {
    try {
      ownList({ steps: [source, step] }, catalogue);
    } catch (error) {
      return error instanceof GwError ? error.message : String(error);
    }
    return 'valid';
  };

  test.each([
    ['of a step that it does not need', { needs: undefined }, 'the value of a step that this one needs'],
    ['that the step does not have', { confirm: 'Is it {identity.seril}?' }, "one of the values of 'identity' (serial)"],
    ['of nothing', { confirm: 'Is it {identity}?' }, "one of the values of 'identity' (serial)"],
    ['with an open brace', { confirm: 'Is it {identity.serial?' }, 'a question with values in braces'],
  ])('%s are refused', (_, change, expected) => {
    expect(problem({ ...label, ...change })).toContain(expected);
  });

  test('of a step that it needs are taken', () => {
    expect(problem(label)).toBe('valid');
    expect(problem({ ...label, confirm: 'Is it so?' })).toBe('valid');
  });
});
