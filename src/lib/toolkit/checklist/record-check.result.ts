import { z } from 'zod';
import { checkVerdictSchema, findingSchema } from '../finding.result.ts';
import { recordSubjectSchema } from './checklist.result.ts';

/** Result of the check 'record state' of checklists. */
export const recordCheckSchema = z.strictObject({
  verdict: checkVerdictSchema,
  list: z.string().describe('Name of the checklist.'),
  folder: z.string().describe('The folder that was searched.'),
  path: z.string().nullable().describe('The newest record of that list for this robot; null: none is there.'),
  endedAt: z.string().nullable(),
  recorded: recordSubjectSchema.shape.verdict.nullable().describe('What the record says.'),
  deviations: z.int().nullable().describe('Accepted deviations of this robot in it.'),
  findings: z.array(findingSchema),
});
export type RecordCheck = z.infer<typeof recordCheckSchema>;

/** Result of the check 'password change' of checklists. */
export const passwordChangeSchema = z.strictObject({ verdict: checkVerdictSchema, findings: z.array(findingSchema) });
export type PasswordChange = z.infer<typeof passwordChangeSchema>;
