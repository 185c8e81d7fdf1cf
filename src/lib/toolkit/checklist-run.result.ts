import { z } from 'zod';
import { checklistResultSchema } from '../checklist/index.ts';

/** `gw checklist list`: the checklists that come with gw, and the checks that a checklist may name. */
export const checklistListSchema = z.strictObject({
  dir: z.string().describe('Folder of the built-in checklists.'),
  checklists: z.array(
    z.strictObject({
      name: z.string(),
      title: z.string(),
      purpose: z.string(),
      runs: z.int().describe('Steps that gw checks itself.'),
      questions: z.int().describe('Questions to the technician.'),
      movesRobot: z.boolean(),
    }),
  ),
  checks: z.array(
    z.strictObject({
      name: z.string(),
      summary: z.string(),
      moves: z.boolean(),
      options: z.array(z.strictObject({ name: z.string(), required: z.boolean(), description: z.string() })),
    }),
  ),
});
export type ChecklistList = z.infer<typeof checklistListSchema>;

/** `gw checklist show`: what a checklist proves, step by step. */
export const checklistShowSchema = z.strictObject({
  name: z.string(),
  title: z.string(),
  purpose: z.string(),
  file: z.string(),
  steps: z.array(
    z.strictObject({
      id: z.string(),
      title: z.string(),
      proves: z.string(),
      kind: z.enum(['run', 'confirm']),
      run: z.string().nullable(),
      question: z.string().nullable(),
      needs: z.array(z.string()),
      moves: z.boolean(),
      expects: z.array(z.strictObject({ path: z.string(), expected: z.string() })),
      remedy: z.string(),
    }),
  ),
});
export type ChecklistShow = z.infer<typeof checklistShowSchema>;

/** `gw checklist run`: the result, and the report files that were written. */
export const checklistRunSchema = checklistResultSchema.extend({
  written: z.array(z.string()).describe('Report files, absolute.'),
});
export type ChecklistRun = z.infer<typeof checklistRunSchema>;
