import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { createChecklistReporter } from '../../../src/cli/checklist-reporter.ts';
import { type Catalogue, type Decision, runSteps } from '../../../src/lib/checklist/index.ts';
import { ownList, still } from '../kit.ts';

const request = 'Send a stop to SN7 from the cloud account now';
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
};

test('a repeated step asks the person again for what it waits for, and one attempt asks once', async () => {
  const step = { id: 'a', title: 'A', proves: 'Events', remedy: 'Mend.', run: 'wait', expect: { verdict: 'ok' } };
  const lines: string[] = [];
  const decisions: Decision[] = [{ kind: 'again' }];
  await runSteps(ownList({ steps: [step] }, catalogue), {
    ...createChecklistReporter((text) => lines.push(stripVTControlCharacters(text).trim())),
    ...still(),
    decide: async () => decisions.shift() ?? { kind: 'leave' },
  });
  const attempt = [`… ${request}`, '… waiting, 300 s left', expect.stringMatching(/^-- +A +\(a\)$/)];
  expect(lines).toEqual([...attempt, ...attempt]);
});
