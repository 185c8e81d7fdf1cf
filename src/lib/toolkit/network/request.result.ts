import { z } from 'zod';
import { networkRequestFactsSchema } from '../../report/index.ts';

/** Shape of `gw network request --json`. */
export const networkRequestSchema = z.strictObject({
  lang: z.enum(['de', 'en']),
  format: z.enum(['md', 'html', 'pdf']),
  facts: networkRequestFactsSchema.describe('The facts of the letter, from the site file only.'),
  complete: z.boolean().describe('true when the letter has no open point.'),
  document: z.string().nullable().describe('The letter; null when it was written to a file.'),
  written: z
    .strictObject({ path: z.string(), bytes: z.int(), pages: z.int().nullable(), replacedCharacters: z.int() })
    .nullable(),
});
export type NetworkRequest = z.infer<typeof networkRequestSchema>;
