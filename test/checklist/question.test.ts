import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createTechnician } from '../../src/cli/question.ts';
import type { ConfirmStep } from '../../src/lib/checklist/index.ts';

const step = (question: string): ConfirmStep => ({
  kind: 'confirm',
  id: 'a',
  title: 'A',
  proves: 'Device',
  needs: [],
  moves: false,
  remedy: 'Mend.',
  question,
});

function technician() {
  const input = new PassThrough();
  const output = new PassThrough();
  const asked = createTechnician({ input, output, onInterrupt() {} });
  const never = new AbortController().signal;
  return { input, output, asked, ask: (question: string, signal = never) => asked.ask(step(question), signal) };
}

describe('asking the technician', () => {
  test('takes yes, no with a remark, and an empty line as left open', async () => {
    const { input, ask, asked } = technician();
    input.write('y\nNO\ncable loose\n\n');
    expect(await ask('One?')).toEqual({ answer: 'yes', by: null, remark: null });
    expect(await ask('Two?')).toEqual({ answer: 'no', by: null, remark: 'cable loose' });
    expect(await ask('Three?')).toEqual({ answer: 'skip', by: null, remark: null });
    asked.close();
  });

  test('asks again after a word that is neither', async () => {
    const { input, output, ask, asked } = technician();
    input.write('perhaps\nyes\n');
    expect(await ask('Is it?')).toMatchObject({ answer: 'yes' });
    expect(String(output.read()).split('Is it?').length - 1).toBe(2);
    asked.close();
  });

  test('leaves everything open once nobody types any more', async () => {
    const { input, ask } = technician();
    input.end('y\n');
    expect(await ask('One?')).toMatchObject({ answer: 'yes' });
    expect(await ask('Two?')).toMatchObject({ answer: 'skip' });
    expect(await ask('Three?')).toMatchObject({ answer: 'skip' });
  });

  test('gives up at an interruption', async () => {
    const { ask, asked } = technician();
    const interrupt = new AbortController();
    const answer = ask('One?', interrupt.signal);
    interrupt.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    asked.close();
  });
});
