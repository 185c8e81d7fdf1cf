import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { renderReplacement } from '../../src/cli/render/replace.ts';
import { codeReader, personOf } from '../../src/cli/replace-person.ts';
import type { Replacement } from '../../src/lib/toolkit/replace/replace.result.ts';
import { typedTerminal } from './typed.ts';

const never = new AbortController().signal;
const progress = { stop() {} };

describe('the person at a replacement', () => {
  const at = (typed: readonly string[], who?: string) => {
    const { streams } = typedTerminal(typed);
    return personOf({ who }, { signal: never, streams, progress, attended: true });
  };

  it('confirms with yes and a name, which is asked for once', async () => {
    const person = at(['y', 'K. Maier', 'j']);
    expect(await person.ask?.('Is it done?')).toEqual({ by: 'K. Maier' });
    expect(await person.ask?.('And that?')).toEqual({ by: 'K. Maier' });
  });

  it.each([[''], ['n'], ['yesterday']])('leaves the step open with %o', async (typed) => {
    expect(await at([typed], 'K. Maier').ask?.('Is it done?')).toBeNull();
  });

  it('leaves the step open without a name', async () => {
    expect(await at(['y', '']).ask?.('Is it done?')).toBeNull();
  });

  it('is asked nothing without a terminal: the flags alone count, and no code can be had', () => {
    const given = { signal: never, progress, attended: false };
    const person = personOf({ confirm: ['revoked'], who: 'K. Maier' }, given);
    expect(person).toEqual({ confirms: ['revoked'], by: 'K. Maier' });
    expect(codeReader({}, given)).toBeUndefined();
    expect(codeReader({ 'code-file': 'code.txt' }, given)).toBeInstanceOf(Function);
  });
});

describe('the text of a replacement', () => {
  const line = (verdict: Replacement['steps'][number]['verdict'], remedy: string | null = null) => ({
    ...{ id: verdict, title: `Line ${verdict}`, verdict, detail: 'seen', remedy },
  });
  const step = (verdict: Replacement['steps'][number]['verdict'], remedy: string | null = null) => ({
    ...{ id: verdict, title: `Step ${verdict}`, verdict, lines: [line(verdict, remedy)] },
  });
  const result: Replacement = {
    ...{
      part: 'chassis',
      verdict: 'complete',
      simulated: false,
      from: 'SN1',
      to: 'SN2',
      begunAt: '2026-05-01T10:00:00Z',
    },
    ...{
      file: '/s/replacement-chassis.json',
      steps: [step('ok'), step('stated')],
      next: null,
      done: [],
      problem: null,
    },
  };
  const text = (changes: Partial<Replacement> = {}) =>
    stripVTControlCharacters(renderReplacement({ ...result, ...changes }));

  it('says in its first line what holds, and counts the words of people apart', () => {
    expect(text().split('\n')[0]).toBe('Replacement complete: chassis SN1 by SN2: 1 stated by a person, 1 ok.');
    expect(text()).toContain('said 2. Step stated (stated)');
    expect(text()).not.toMatch(/ok +2\. /);
  });

  it('says that a simulator is no robot', () => {
    expect(text({ simulated: true }).split('\n')[1]).toBe('SIMULATED ROBOT: not an acceptance');
  });

  it('names the next step, what it needs, and why a step could not be done', () => {
    const problem = { step: 'open', code: 'CHASSIS_NOT_CONNECTED', message: 'no answer.', remedy: 'Check power.' };
    const shown = text({ verdict: 'open', steps: [step('ok'), step('open', 'Do it.')], next: 'open', problem });
    expect(shown.split('\n')[0]).toBe(
      'Replacement not complete: chassis SN1 by SN2: 1 open, 1 ok. Next: 2, Step open.',
    );
    expect(shown).toContain('open 2. Step open (open)  <- next');
    expect(shown).toMatch(/do next: Do it\./);
    expect(shown).toMatch(/Not done: no answer\.\n +do next: Check power\./);
  });

  it.each(['wrong', 'not-checked'] as const)('is not green where a step is %s', (verdict) => {
    expect(text({ verdict, steps: [step('ok'), step(verdict)], next: verdict })).not.toContain('complete:');
  });
});
