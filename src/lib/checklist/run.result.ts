import { z } from 'zod';

const verdict = z.enum(['ok', 'wrong', 'skipped', 'not-checked']);

const stepResultSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  proves: z.string().describe('Section of the specification.'),
  kind: z.enum(['run', 'confirm']),
  run: z.string().nullable().describe('Name of the check, for steps that gw checks itself.'),
  moves: z.boolean(),
  verdict: verdict.describe(
    'skipped: a step it needs was not ok. not-checked: nobody answered, or it was not allowed.',
  ),
  why: z.string().describe('Why the verdict is what it is, in a sentence.'),
  shown: z.string().nullable().describe('What was proven, with its figures.'),
  remedy: z.string().nullable().describe('What to do next; null when the step is ok.'),
  tookMs: z.number(),
  expectations: z.array(
    z.strictObject({
      path: z.string(),
      expected: z.string(),
      found: z.string(),
      verdict: z.enum(['ok', 'wrong', 'not-checked']),
    }),
  ),
  error: z
    .strictObject({
      code: z.string(),
      message: z.string(),
      tried: z.string().nullable().describe('The address that was tried, and how.'),
      remedy: z.string(),
    })
    .nullable(),
  answer: z
    .strictObject({
      answer: z.enum(['yes', 'no', 'skip']),
      by: z.string().nullable(),
      remark: z.string().nullable(),
    })
    .nullable(),
  measured: z.json().describe('An excerpt of what the check measured; null when it measured nothing.'),
});
export type StepResult = z.infer<typeof stepResultSchema>;

export const checklistResultSchema = z.strictObject({
  name: z.string(),
  title: z.string(),
  purpose: z.string(),
  file: z.string(),
  subject: z
    .strictObject({ site: z.string(), serial: z.string() })
    .nullable()
    .describe('Whose commissioning this is; null when the site file could not be read.'),
  startedAt: z.iso.datetime().describe('UTC, for people.'),
  tookMs: z.number(),
  motionAllowed: z.boolean(),
  interrupted: z.boolean(),
  ok: z.boolean().describe('true only when every step is ok.'),
  counts: z.strictObject({
    ok: z.int(),
    wrong: z.int(),
    skipped: z.int(),
    notChecked: z.int(),
  }),
  steps: z.array(stepResultSchema),
});
export type ChecklistResult = z.infer<typeof checklistResultSchema>;
