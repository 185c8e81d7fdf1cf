import { z } from 'zod';
import { recordSubjectSchema, signatureStateSchema } from './verify.result.ts';

/** Shape of `gw checklist report --json`. */
export const recordReportSchema = z.strictObject({
  path: z.string(),
  lang: z.enum(['de', 'en']),
  format: z.enum(['html', 'pdf', 'md', 'junit']),
  state: signatureStateSchema,
  subject: recordSubjectSchema,
  document: z.string().nullable().describe('The report; null when it was written to a file.'),
  written: z
    .strictObject({ path: z.string(), bytes: z.int(), pages: z.int().nullable(), replacedCharacters: z.int() })
    .nullable(),
});
export type RecordReport = z.infer<typeof recordReportSchema>;
