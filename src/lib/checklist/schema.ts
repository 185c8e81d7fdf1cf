import { z } from 'zod';

/** Ids of steps and names of checklists: they also stand in file names, reports and answer files. */
const id = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'small letters, digits and -, at most 64')
  .describe('Small letters, digits and -, at most 64.');
const line = z.string().min(1).max(300);

const stepSchema = z.strictObject({
  id,
  title: line.describe('What this step is about, in one line.'),
  proves: line.describe('The section of the specification whose rule this step proves.'),
  needs: z.array(id).max(50).optional().describe('Steps further up that must be ok before this one makes sense.'),
  run: z.string().min(1).max(64).optional().describe('Name of a check of gw; see `gw checklist list`.'),
  reads: id.optional().describe('A check step further up, whose result this step looks at as well.'),
  with: z.record(z.string(), z.unknown()).optional().describe('Options of that check.'),
  expect: z.record(z.string(), z.unknown()).optional().describe('Path into the result, and what must stand there.'),
  shows: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('What was proven, for the report, with paths into the result in braces: serial {identity.serial}.'),
  confirm: line.max(1000).optional().describe('A question that the technician answers with yes when all is well.'),
  moves: z.boolean().optional().describe('true when this step moves the robot.'),
  withinS: z.int().min(1).max(3600).optional().describe('How long the check may take, in seconds; 60 when not given.'),
  remedy: line.max(1000).describe('What to do when this step is not ok.'),
});

export const checklistSchema = z.strictObject({
  schema: z.literal('gw/checklist/1').describe('gw/checklist/1, the shape of this file.'),
  name: id.describe('What reports and files are named after.'),
  title: line,
  purpose: line.max(1000).describe('What is proven when every step is ok, and for whom.'),
  steps: z.array(stepSchema).min(1).max(200),
});

export type ChecklistFile = z.infer<typeof checklistSchema>;
export type StepFile = z.infer<typeof stepSchema>;

export const CHECKLIST_MAX_BYTES = 256 * 1024;
export const DEFAULT_WITHIN_S = 60;
