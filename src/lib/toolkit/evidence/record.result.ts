import { z } from 'zod';
import { evidenceRecordSchema } from '../../evidence/record.ts';
import { factSchema, hereSchema, movementHereSchema } from './list.result.ts';

/** Shape of `gw evidence record --json`. */
export const evidenceRecordedSchema = z.strictObject({
  path: z.string().describe('The evidence file of the site.'),
  created: z.boolean().describe('Whether the file is new.'),
  records: z.int().describe('How many records the file has now.'),
  record: evidenceRecordSchema.describe('The line that was written; serial and software as reported by the chassis.'),
  fact: factSchema,
  before: hereSchema,
  now: hereSchema,
  entries: z
    .array(z.strictObject({ entry: z.string(), value: z.string(), before: hereSchema, now: hereSchema }))
    .describe('Entries of a table that the record covers; empty when it covers the whole fact.'),
  movement: z.strictObject({
    ...movementHereSchema.shape,
    before: z.boolean().describe('The same before this record.'),
    orders: z.array(z.string()).describe('Orders of gw that rely on this fact; none for most facts.'),
  }),
  appliesTo: z.strictObject({
    display: z.literal('now').describe('Commands read the file each time.'),
    gateway: z
      .enum(['within-a-second', 'next-start'])
      .describe('A running `gw serve` applies contradictions at once; new evidence counts from its next start.'),
  }),
});
export type EvidenceRecorded = z.infer<typeof evidenceRecordedSchema>;
