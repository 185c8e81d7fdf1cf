import { z } from 'zod';
import { bases, marks } from '../evidence/index.ts';

/** Phase of a robot's life in which a checklist is run. Project decision. */
export const phases = ['premises', 'site', 'handover', 'service'] as const;
export type Phase = (typeof phases)[number];

const verdict = z.enum(['ok', 'wrong', 'skipped', 'not-checked']);

/** Of steps, sections and checklists. */
export const titleDe = z.string().optional().describe('The title in German; absent where the checklist has none.');

/** An answer of the technician, as results hold it. */
const answerSchema = z.strictObject({
  answer: z.enum(['yes', 'no', 'skip']).describe('A measured value is given with yes; skip leaves the step open.'),
  by: z.string().nullable(),
  initials: z.string().nullable(),
  remark: z.string().nullable(),
  value: z.number().nullable().describe('The measured value; null for questions.'),
  attachments: z.array(z.string()).describe('Names of photos, see `attachments` of the record.'),
  at: z.iso.datetime().nullable().describe('Wall clock, UTC; null for an answer from a file.'),
  question: z
    .string()
    .optional()
    .describe('The question as it was asked, with its values; absent in records of older versions.'),
});

const measuredValueSchema = z.strictObject({
  name: z.string(),
  value: z.union([z.number(), z.string(), z.boolean()]),
  unit: z.string().nullable().describe('null for texts and counts.'),
  mark: z.enum(marks),
  basis: z.enum(bases).optional().describe('Basis of the mark; absent in records of older versions.'),
  source: z.string().describe('The check that measured it, or the person and the tool.'),
});
export type MeasuredValue = z.infer<typeof measuredValueSchema>;

const deviationSchema = z.strictObject({
  reason: z.string(),
  approvedBy: z.string().describe('A name; gw does not judge who may approve.'),
  at: z.iso.datetime().describe('Wall clock, UTC.'),
});
export type Deviation = z.infer<typeof deviationSchema>;

export const stepResultSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  titleDe,
  proves: z.string().describe('Section of the specification.'),
  kind: z
    .enum(['run', 'confirm', 'measure', 'unavailable'])
    .describe('gw checks it; the word of a person; a person measures; this version of gw cannot check it.'),
  run: z
    .string()
    .nullable()
    .describe(
      'Name of the check that gw makes: of the whole step, or beside a question of what gw can know of it. null: a person alone.',
    ),
  moves: z.boolean(),
  section: z.string().nullable().describe('Id of its section; null in a checklist without sections.'),
  precondition: z.boolean().describe('true: unless it is ok, its whole section is skipped.'),
  verdict: verdict.describe('skipped: a needed step was not ok. not-checked: not answered, not allowed, or left out.'),
  leftOut: z.boolean().describe('true: excluded by --only or --from.'),
  why: z.string().describe('Reason of the verdict, in a sentence.'),
  shown: z.string().nullable().describe('The result in words, with its figures.'),
  remedy: z.string().nullable().describe('What to do next; null when the step is ok.'),
  at: z.iso.datetime().nullable().describe('Time of the result, wall clock, UTC; null when never reached.'),
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
  values: z.array(measuredValueSchema).describe('Measured values that the checklist names, each with unit and mark.'),
  measured: z.json().describe('An excerpt of what the check measured; null when it measured nothing.'),
  deviation: deviationSchema
    .nullable()
    .describe('A step that is not ok, accepted by a named person. It stays not ok, and what needs it stays skipped.'),
  earlier: z
    .array(z.strictObject({ at: z.iso.datetime().nullable(), verdict, why: z.string() }))
    .describe('Earlier results of the step, oldest first.'),
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
  titleDe,
  purpose: z.string(),
  phase: z.enum(phases).nullable(),
  file: z.string(),
  subject: z
    .strictObject({ site: z.string(), serial: z.string() })
    .nullable()
    .describe('Site and chassis; null when the site file could not be read.'),
  startedAt: z.iso.datetime().describe('Wall clock, UTC.'),
  tookMs: z.number(),
  motionAllowed: z.boolean(),
  interrupted: z.boolean(),
  simulated: z.literal(true).optional().describe('true: a step met a simulator; it is no acceptance of a robot.'),
  dryRun: z.literal(true).optional().describe('true: nothing was run (--dry-run).'),
  noRecord: z.literal(true).optional().describe('true: nothing of the run is kept (--no-record); it is no acceptance.'),
  ok: z.boolean().describe('true only when every step is ok.'),
  counts: countsSchema,
  sections: z
    .array(z.strictObject({ id: z.string(), title: z.string(), titleDe }))
    .describe('In the order of the checklist.'),
  steps: z.array(stepResultSchema),
});
export type ChecklistResult = z.infer<typeof checklistResultSchema>;
