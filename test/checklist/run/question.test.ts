import { describe, expect, test } from 'vitest';
import { createTechnician } from '../../../src/cli/question.ts';
import type { ConfirmStep, MeasureStep, StepResult } from '../../../src/lib/checklist/index.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import { typedTerminal } from '../../cli/typed.ts';

const base = {
  id: 'a',
  title: 'A',
  proves: 'Device',
  section: null,
  precondition: false,
  needs: [],
  requires: [],
  facts: [],
  moves: false,
  remedy: 'Mend.',
} as const;
const step = (question: string): ConfirmStep => ({
  ...base,
  kind: 'confirm',
  instead: null,
  question,
  template: null,
  expires: false,
  personMoves: false,
  known: null,
  needsRemark: false,
});
const measure = (question: string): MeasureStep => ({
  ...base,
  kind: 'measure',
  question,
  template: null,
  unit: 'm',
  mark: 'BELEGT',
  tool: null,
  expectations: [],
});
const never = new AbortController().signal;

/** `typed`: a line for each prompt; Ctrl-D ends the input. */
function technician(typed: readonly string[], initials: string | null = 'KM') {
  const { streams, shown } = typedTerminal(typed);
  const photos: string[] = [];
  const prompted = createTechnician({ streams, onInterrupt() {}, initials });
  const keepPhoto = async (path: string) => {
    if (path.includes('none')) throw new GwError('ATTACHMENT_INVALID', `${path} cannot be attached: no such file.`);
    photos.push(path);
    return `00${photos.length}-a.jpg`;
  };
  const context = (signal: AbortSignal) => ({ signal, keepPhoto });
  return {
    shown,
    photos,
    ask: (question: string, signal = never) => prompted.ask(step(question), context(signal)),
    measure: (question: string) => prompted.ask(measure(question), context(never)),
    decide: (verdict: StepResult['verdict'] = 'wrong') =>
      prompted.decide(
        { deviation: null, verdict, why: 'unit: found radians', remedy: 'Stop it.' } as StepResult,
        never,
      ),
  };
}

describe('asking the technician', () => {
  test('accepts yes, no with a remark, and an empty line as unanswered', async () => {
    const { ask } = technician(['y', 'NO', 'cable loose', '']);
    expect(await ask('One?')).toEqual({
      answer: 'yes',
      by: null,
      initials: 'KM',
      remark: null,
      value: null,
      attachments: [],
    });
    expect(await ask('Two?')).toMatchObject({ answer: 'no', initials: 'KM', remark: 'cable loose' });
    expect(await ask('Three?')).toMatchObject({ answer: 'skip', remark: null });
  });

  test('asks again after another word, and says which answers it accepts', async () => {
    const { shown, ask } = technician(['perhaps', 'o', 'y please', 'yes']);
    expect(await ask('Is it?')).toMatchObject({ answer: 'yes' });
    const text = shown();
    for (const word of ['perhaps', 'o', 'y please']) {
      expect(text).toContain(`'${word}' is no answer: y or j = yes, n = no, Enter = skip, r = remark, p = photo`);
    }
  });

  test('accepts what a German technician types', async () => {
    const { ask } = technician(['j', 'Ja', 'nein', 'Kabel lose']);
    expect(await ask('One?')).toMatchObject({ answer: 'yes' });
    expect(await ask('Two?')).toMatchObject({ answer: 'yes' });
    expect(await ask('Three?')).toMatchObject({ answer: 'no', remark: 'Kabel lose' });
  });

  test('asks once for the initials of the technician, until they are valid', async () => {
    const { shown, ask } = technician(['', 'far too long a name', 'K.M.', 'y', 'y'], null);
    expect(await ask('One?')).toMatchObject({ answer: 'yes', initials: 'K.M.' });
    expect(await ask('Two?')).toMatchObject({ answer: 'yes', initials: 'K.M.' });
    expect(shown()).toContain('at most 8 letters');
  });

  test('accepts a remark and photos before the answer, and reports an unusable photo at once', async () => {
    const { shown, photos, ask } = technician([
      'r the left one is new',
      'p',
      "'/tmp/a photo; $(reboot).jpg'",
      'photo none.jpg',
      'y',
    ]);
    expect(await ask('Are both there?')).toMatchObject({
      answer: 'yes',
      remark: 'the left one is new',
      attachments: ['001-a.jpg'],
    });
    expect(photos).toEqual(['/tmp/a photo; $(reboot).jpg']);
    const text = shown();
    expect(text).toContain('saved as 001-a.jpg');
    expect(text).toContain('none.jpg cannot be attached: no such file.');
  });

  test("a remark entered before 'no' is not requested again", async () => {
    const { shown, ask } = technician(['remark cable loose', 'n']);
    expect(await ask('Is it?')).toMatchObject({ answer: 'no', remark: 'cable loose' });
    expect(shown()).not.toContain('What is wrong?');
  });

  test('accepts a measured value with point, comma or unit, and nothing ambiguous', async () => {
    const { shown, measure: measured } = technician([
      '0.83',
      '0,83',
      '-2 m',
      '1.000,5',
      '1e5',
      'y',
      '3 km',
      '0x10',
      'Infinity',
      '',
    ]);
    expect(await measured('Width?')).toMatchObject({ answer: 'yes', value: 0.83 });
    expect(await measured('Width?')).toMatchObject({ value: 0.83 });
    expect(await measured('Width?')).toMatchObject({ value: -2 });
    expect(await measured('Width?')).toMatchObject({ answer: 'skip', value: null });
    expect(shown().split('expected a number in m').length - 1).toBe(6);
  });

  test('leaves all questions unanswered once input has ended', async () => {
    const { ask } = technician(['y', '\u0004', '\u0004']);
    expect(await ask('One?')).toMatchObject({ answer: 'yes' });
    expect(await ask('Two?')).toMatchObject({ answer: 'skip' });
    expect(await ask('Three?')).toMatchObject({ answer: 'skip' });
  });

  test('ends at an interruption', async () => {
    const { ask } = technician([]);
    const interrupt = new AbortController();
    const answer = ask('One?', interrupt.signal);
    interrupt.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
  });
});

describe('asking about a step that is wrong', () => {
  test("an empty line keeps the result, 'again' repeats the step; the reason is shown above", async () => {
    const { shown, decide } = technician(['', 'perhaps', 'again']);
    expect(await decide()).toEqual({ kind: 'leave' });
    expect(shown()).toContain('unit: found radians\n        fix: Stop it.');
    expect(await decide()).toEqual({ kind: 'again' });
  });

  test('the prompt names the verdict, and a word that it does not know is answered with those it does', async () => {
    const { shown, decide } = technician(['y', '', '']);
    const prompts = async (verdict: StepResult['verdict']) => {
      await decide(verdict);
      return shown();
    };
    const wrong = await prompts('wrong');
    expect(wrong).toContain('? Step failed. [Enter');
    expect(wrong).toContain("'y' is no answer: Enter = keep this result, again = repeat the step, accept = ");
    const open = await prompts('not-checked');
    expect(open).toContain('? Step not checked. [Enter = keep this result');
    expect(open).not.toContain('failed');
  });

  test('a deviation needs a reason and a name', async () => {
    const { shown, decide } = technician([
      'accept',
      'no lift on this site',
      '',
      'accept',
      'no lift on this site',
      'A. Boss',
    ]);
    expect(await decide()).toEqual({ kind: 'accept', reason: 'no lift on this site', approvedBy: 'A. Boss' });
    expect(shown()).toContain('not accepted: a deviation needs');
  });

  test('keeps the result once input has ended', async () => {
    const { decide } = technician(['accept', '\u0004', '\u0004']);
    expect(await decide()).toEqual({ kind: 'leave' });
  });
});
