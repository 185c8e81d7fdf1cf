import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { createTechnician } from '../../../src/cli/question.ts';
import type { ConfirmStep, MeasureStep, StepResult } from '../../../src/lib/checklist/index.ts';
import { GwError } from '../../../src/lib/error/index.ts';

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
  expires: false,
  personMoves: false,
});
const measure = (question: string): MeasureStep => ({
  ...base,
  kind: 'measure',
  question,
  unit: 'm',
  mark: 'BELEGT',
  tool: null,
  expectations: [],
});
const never = new AbortController().signal;

function technician(initials: string | null = 'KM') {
  const input = new PassThrough();
  const output = new PassThrough();
  const photos: string[] = [];
  const prompted = createTechnician({ input, output, onInterrupt() {}, initials });
  const keepPhoto = async (path: string) => {
    if (path.includes('none')) throw new GwError('ATTACHMENT_INVALID', `${path} cannot be attached: no such file.`);
    photos.push(path);
    return `00${photos.length}-a.jpg`;
  };
  const context = (signal: AbortSignal) => ({ signal, keepPhoto });
  return {
    input,
    output,
    photos,
    prompted: prompted,
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
    const { input, ask, prompted } = technician();
    input.write('y\nNO\ncable loose\n\n');
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
    prompted.close();
  });

  test('asks again after another word, and says which answers it accepts', async () => {
    const { input, output, ask, prompted } = technician();
    input.write('perhaps\nj\ny please\nyes\n');
    expect(await ask('Is it?')).toMatchObject({ answer: 'yes' });
    const shown = String(output.read());
    expect(shown.split('Is it?').length - 1).toBe(4);
    for (const word of ['perhaps', 'j', 'y please']) {
      expect(shown).toContain(`'${word}' is no answer: y = yes, n = no, Enter = skip, r = remark, p = photo`);
    }
    prompted.close();
  });

  test('asks once for the initials of the technician, until they are valid', async () => {
    const { input, output, ask, prompted } = technician(null);
    input.write('\nfar too long a name\nK.M.\ny\ny\n');
    expect(await ask('One?')).toMatchObject({ answer: 'yes', initials: 'K.M.' });
    expect(await ask('Two?')).toMatchObject({ answer: 'yes', initials: 'K.M.' });
    expect(String(output.read()).split('Your initials').length - 1).toBe(3);
    prompted.close();
  });

  test('accepts a remark and photos before the answer, and reports an unusable photo at once', async () => {
    const { input, output, photos, ask, prompted } = technician();
    input.write("r the left one is new\np\n'/tmp/a photo; $(reboot).jpg'\nphoto none.jpg\ny\n");
    expect(await ask('Are both there?')).toMatchObject({
      answer: 'yes',
      remark: 'the left one is new',
      attachments: ['001-a.jpg'],
    });
    expect(photos).toEqual(['/tmp/a photo; $(reboot).jpg']);
    const shown = String(output.read());
    expect(shown).toContain('saved as 001-a.jpg');
    expect(shown).toContain('none.jpg cannot be attached: no such file.');
    prompted.close();
  });

  test("a remark entered before 'no' is not requested again", async () => {
    const { input, output, ask, prompted } = technician();
    input.write('remark cable loose\nn\n');
    expect(await ask('Is it?')).toMatchObject({ answer: 'no', remark: 'cable loose' });
    expect(String(output.read())).not.toContain('What is wrong?');
    prompted.close();
  });

  test('accepts a measured value with point, comma or unit, and nothing ambiguous', async () => {
    const { input, output, measure: measured, prompted } = technician();
    input.write('0.83\n0,83\n-2 m\n');
    expect(await measured('Width?')).toMatchObject({ answer: 'yes', value: 0.83 });
    expect(await measured('Width?')).toMatchObject({ value: 0.83 });
    expect(await measured('Width?')).toMatchObject({ value: -2 });
    input.write('1.000,5\n1e5\ny\n3 km\n0x10\nInfinity\n\n');
    expect(await measured('Width?')).toMatchObject({ answer: 'skip', value: null });
    expect(String(output.read()).split('expected a number in m').length - 1).toBe(6);
    prompted.close();
  });

  test('leaves all questions unanswered once input has ended', async () => {
    const { input, ask } = technician();
    input.end('y\n');
    expect(await ask('One?')).toMatchObject({ answer: 'yes' });
    expect(await ask('Two?')).toMatchObject({ answer: 'skip' });
    expect(await ask('Three?')).toMatchObject({ answer: 'skip' });
  });

  test('ends at an interruption', async () => {
    const { ask, prompted } = technician();
    const interrupt = new AbortController();
    const answer = ask('One?', interrupt.signal);
    interrupt.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    prompted.close();
  });
});

describe('asking about a step that is wrong', () => {
  test("an empty line keeps the result, 'again' repeats the step; the reason is shown above", async () => {
    const { input, output, decide, prompted } = technician();
    input.write('\nperhaps\nagain\n');
    expect(await decide()).toEqual({ kind: 'leave' });
    expect(stripVTControlCharacters(String(output.read()))).toContain('unit: found radians\n        fix: Stop it.');
    expect(await decide()).toEqual({ kind: 'again' });
    prompted.close();
  });

  test('the prompt names the verdict, and a word that it does not know is answered with those it does', async () => {
    const { input, output, decide, prompted } = technician();
    const prompts = async (verdict: StepResult['verdict']) => {
      await decide(verdict);
      return stripVTControlCharacters(String(output.read()));
    };
    input.write('y\n\n\n');
    const wrong = await prompts('wrong');
    expect(wrong.split('? Step failed. [Enter').length - 1).toBe(2);
    expect(wrong).toContain("'y' is no answer: Enter = keep this result, again = repeat the step, accept = ");
    const open = await prompts('not-checked');
    expect(open).toContain('? Step not checked. [Enter = keep this result');
    expect(open).not.toContain('failed');
    prompted.close();
  });

  test('a deviation needs a reason and a name', async () => {
    const { input, output, decide, prompted } = technician();
    input.write('accept\nno lift on this site\n\naccept\nno lift on this site\nA. Boss\n');
    expect(await decide()).toEqual({ kind: 'accept', reason: 'no lift on this site', approvedBy: 'A. Boss' });
    expect(String(output.read())).toContain('not accepted: a deviation needs');
    prompted.close();
  });

  test('keeps the result once input has ended', async () => {
    const { input, decide } = technician();
    input.end('accept\n');
    expect(await decide()).toEqual({ kind: 'leave' });
  });
});
