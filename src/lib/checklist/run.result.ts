import { z } from 'zod';
import { bases, marks } from '../evidence/index.ts';

/** When in the life of a robot a checklist is worked through. Decision of ours. */
export const phases = ['premises', 'site', 'handover', 'service'] as const;
export type Phase = (typeof phases)[number];

const verdict = z.enum(['ok', 'wrong', 'skipped', 'not-checked']);

/** What a technician answered, as it stands in results. */
const answerSchema = z.strictObject({
  answer: z.enum(['yes', 'no', 'skip']).describe('A measured value is given with yes; skip leaves the step open.'),
  by: z.string().nullable(),
  initials: z.string().nullable(),
  remark: z.string().nullable(),
  value: z.number().nullable().describe('What was measured; null for questions.'),
  attachments: z.array(z.string()).describe('Names of photos, see `attachments` of the record.'),
  at: z.iso.datetime().nullable().describe('UTC, for people; null when it was given beforehand, in a file.'),
});

const measuredValueSchema = z.strictObject({
  name: z.string(),
  value: z.union([z.number(), z.string(), z.boolean()]),
  unit: z.string().nullable().describe('null for texts and counts.'),
  mark: z.enum(marks),
  basis: z.enum(bases).optional().describe('What the mark rests on; absent in records of older versions.'),
  source: z.string().describe('Who says so: the check that measured it, or the person and the tool.'),
});
export type MeasuredValue = z.infer<typeof measuredValueSchema>;

const deviationSchema = z.strictObject({
  reason: z.string(),
  approvedBy: z.string().describe('A name. Who may approve is for the people of the site to say, not for gw.'),
  at: z.iso.datetime().describe('UTC, for people.'),
});
export type Deviation = z.infer<typeof deviationSchema>;

export const stepResultSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  proves: z.string().describe('Section of the specification.'),
  kind: z
    .enum(['run', 'confirm', 'measure', 'unavailable'])
    .describe('gw checks it; a person answers; a person measures; this version of gw cannot check it.'),
  run: z.string().nullable().describe('Name of the check, for steps that gw checks itself.'),
  moves: z.boolean(),
  section: z.string().nullable().describe('Id of its section; null in a checklist without sections.'),
  precondition: z.boolean().describe('true: unless it is ok, its whole section is skipped.'),
  verdict: verdict.describe(
    'skipped: a step it needs was not ok. not-checked: nobody answered, it was not allowed, or it was left out.',
  ),
  leftOut: z.boolean().describe('true: not one of the steps that were asked for with --only or --from.'),
  why: z.string().describe('Why the verdict is what it is, in a sentence.'),
  shown: z.string().nullable().describe('What was proven, with its figures.'),
  remedy: z.string().nullable().describe('What to do next; null when the step is ok.'),
  at: z.iso.datetime().nullable().describe('When it came out so, UTC, for people; null when it was never reached.'),
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
  answer: answerSchema.nullable(),
  values: z.array(measuredValueSchema).describe('The figures that the checklist asks for, each with unit and mark.'),
  measured: z.json().describe('An excerpt of what the check measured; null when it measured nothing.'),
  deviation: deviationSchema
    .nullable()
    .describe('A step that is not ok, accepted by a named person. It stays not ok, and what needs it stays skipped.'),
  earlier: z
    .array(z.strictObject({ at: z.iso.datetime().nullable(), verdict, why: z.string() }))
    .describe('How the step came out before it was taken again, oldest first.'),
});
export type StepResult = z.infer<typeof stepResultSchema>;

export const countsSchema = z.strictObject({
  ok: z.int(),
  wrong: z.int(),
  skipped: z.int(),
  notChecked: z.int(),
});
export type Counts = z.infer<typeof countsSchema>;

export const checklistResultSchema = z.strictObject({
  name: z.string(),
  title: z.string(),
  purpose: z.string(),
  phase: z.enum(phases).nullable(),
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
  counts: countsSchema,
  sections: z.array(z.strictObject({ id: z.string(), title: z.string() })).describe('In the order of the checklist.'),
  steps: z.array(stepResultSchema),
});
export type ChecklistResult = z.infer<typeof checklistResultSchema>;
