import { z } from 'zod';
import { marks } from '../../evidence/index.ts';
import { givens } from '../catalogue.ts';
import { phases } from '../run.result.ts';

/** Ids of steps and sections and names of checklists: also used in file names, reports and answer files. */
const id = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'lower-case letters, digits and -, at most 64')
  .describe('Lower-case letters, digits and -, at most 64.');
const line = z.string().min(1).max(300);
const title = z
  .union([line, z.strictObject({ en: line, de: line })])
  .describe('What it is about, in one line: a text, or {en, de} for reports in both languages.');
const path = z.string().min(1).max(200);
const unit = z.string().min(1).max(20).describe('Unit of the value: m, mm, s, dBm, degrees.');
const mark = z.enum(marks);

const valueSchema = z.union([
  path,
  z.strictObject({
    path,
    unit: unit.optional(),
    mark: mark.optional().describe('Evidence mark for a value that the result gives without one.'),
  }),
]);

const knownSchema = z.strictObject({
  run: z.string().min(1).max(64).optional().describe('Name of a check of gw that moves nothing.'),
  reads: id.optional().describe('Instead of run: an earlier check step, whose result is read.'),
  with: z.record(z.string(), z.unknown()).optional().describe('Options of that check.'),
  expect: z.record(z.string(), z.unknown()).optional().describe('Paths into the result, with their expected values.'),
  withinS: z.int().min(1).max(3600).optional().describe('Timeout of the check in seconds; default 60.'),
});

const stepSchema = z.strictObject({
  id,
  title,
  proves: line
    .optional()
    .describe('The section of the specification whose rule this step proves. Optional in own lists.'),
  needs: z.array(id).max(50).optional().describe('Earlier steps and sections that must be ok before this step runs.'),
  run: z.string().min(1).max(64).optional().describe('Name of a check of gw; see `gw checklist list`.'),
  reads: id.optional().describe('Id of an earlier check step whose result this step reads.'),
  given: z
    .enum(givens)
    .optional()
    .describe('Input that the run needs for this check; without it the question under confirm is asked instead.'),
  unavailable: line.optional().describe('What this version of gw lacks, as a sentence; the step is then not-checked.'),
  with: z.record(z.string(), z.unknown()).optional().describe('Options of that check.'),
  expect: z.record(z.string(), z.unknown()).optional().describe('Paths into the result, with their expected values.'),
  shows: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'The result in words, for the report, with paths into the result in braces: serial {identity.serial}; (s) behind a number is the plural: {maps} map(s).',
    ),
  values: z
    .record(id, valueSchema)
    .optional()
    .describe('Measured values for the record, by name: a path into the result, with unit and mark where it has none.'),
  confirm: line
    .max(1000)
    .optional()
    .describe(
      'A yes/no question to the technician; yes means ok. {step.value} shows a measured value of a step that it needs.',
    ),
  expires: z
    .literal('with-the-run')
    .optional()
    .describe(
      'The answer holds only for the run of the command in which it was given: later it is asked again before a step that needs it moves the robot.',
    ),
  known: knownSchema
    .optional()
    .describe('What gw itself can know of the answer under confirm: unless it is ok, a yes does not make the step ok.'),
  remark: z.literal('required').optional().describe('A yes to the question counts only with a remark.'),
  measure: line.max(1000).optional().describe('What the technician measures here; the answer is a number.'),
  unit: unit.optional(),
  mark: mark.optional().describe('Evidence mark of a measured value; default BELEGT: a person measured it here.'),
  tool: line.optional().describe('Measuring tool, for the record.'),
  facts: z.array(z.string()).max(50).optional().describe('Facts of the ledger that this step relies on.'),
  moves: z.boolean().optional().describe('true when this step moves the robot.'),
  withinS: z
    .int()
    .min(1)
    .max(3600)
    .optional()
    .describe('Timeout of the check in seconds; default 60, for checks with timeoutS a little more than that.'),
  retry: z
    .strictObject({
      times: z.int().min(1).max(20).describe('How often the check is repeated until the step is ok.'),
      everyS: z.number().min(0.1).max(60).default(1).describe('Pause before each in seconds; default 1.'),
    })
    .optional()
    .describe('Repeats a check of the kinds for own lists.'),
  remedy: line.max(1000).optional().describe('What to do when this step is not ok. Optional in own lists.'),
});

const sectionSchema = z.strictObject({
  id,
  title,
  about: line.max(1000).optional().describe('What this section is for, and who should be there.'),
  needs: z.array(id).max(50).optional().describe('Earlier steps and sections that must be ok before this section.'),
  preconditions: z
    .array(stepSchema)
    .min(1)
    .max(50)
    .optional()
    .describe('Checks and questions of which each must be ok, or the whole section is skipped.'),
  steps: z.array(stepSchema).min(1).max(200),
});

export const checklistSchema = z.strictObject({
  schema: z.literal('gw/checklist/1').describe('gw/checklist/1, the shape of this file.'),
  name: id.describe('What reports and files are named after.'),
  title,
  purpose: line.max(1000).describe('What is verified when every step is ok, and for whom.'),
  phase: z.enum(phases).optional().describe('When it is worked through.'),
  steps: z.array(stepSchema).min(1).max(200).optional(),
  sections: z.array(sectionSchema).min(1).max(50).optional().describe('Instead of steps: steps in sections.'),
});

export type ChecklistFile = z.infer<typeof checklistSchema>;
export type SectionFile = z.infer<typeof sectionSchema>;
export type StepFile = z.infer<typeof stepSchema>;
export type KnownFile = z.infer<typeof knownSchema>;

export const CHECKLIST_MAX_BYTES = 256 * 1024;
/** Over all sections together. */
export const MAX_STEPS = 500;
export const DEFAULT_WITHIN_S = 60;
/** Of a step of an own list that names no rule; one that names no remedy has an empty one. */
export const NO_RULE = 'own checklist, no rule named';
