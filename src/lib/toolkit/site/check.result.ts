import { z } from 'zod';

/** Shape of `gw site check --json`. */
export const siteCheckSchema = z.strictObject({
  path: z.string(),
  valid: z.boolean().describe('true: no problems and no wrong findings.'),
  errors: z.int().describe('Number of problems and wrong findings.'),
  problems: z
    .array(
      z.strictObject({
        line: z.int().nullable(),
        column: z.int().nullable(),
        key: z.string(),
        found: z.string(),
        expected: z.string(),
        suggestion: z.string().nullable(),
      }),
    )
    .describe('Problems in the file itself.'),
  findings: z
    .array(
      z.strictObject({
        id: z.string(),
        title: z.string(),
        verdict: z.enum(['ok', 'wrong', 'not-checked']),
        detail: z.string(),
        remedy: z.string().nullable(),
      }),
    )
    .describe('Checks of the files and folders that it names.'),
});
export type SiteCheck = z.infer<typeof siteCheckSchema>;
