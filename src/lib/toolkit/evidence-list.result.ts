import { z } from 'zod';
import { bases, evidenceRecordSchema, marks } from '../evidence/index.ts';

const factSchema = z.strictObject({
  id: z.string(),
  section: z.string(),
  statement: z.string(),
  mark: z.enum(marks),
  basis: z.enum(bases),
  value: z.json().nullable().describe('The number, word or table itself; null where there is none.'),
  unit: z.string().nullable(),
  source: z.string(),
  note: z.string().nullable(),
});

/** Shape of `gw evidence list --json`. */
export const evidenceListSchema = z.strictObject({
  facts: z.array(factSchema),
  counts: z
    .strictObject({ BELEGT: z.int(), HINWEIS: z.int(), VORSICHT: z.int(), OFFEN: z.int() })
    .describe('How many of the listed facts have each mark.'),
  inLedger: z.int().describe('How many facts the whole ledger has.'),
});
export type EvidenceList = z.infer<typeof evidenceListSchema>;

/** Shape of `gw evidence show --json`. */
export const evidenceFactSchema = z.strictObject({
  fact: factSchema,
  disagreements: z
    .array(
      z.strictObject({
        id: z.string(),
        statement: z.string(),
        sides: z.array(z.strictObject({ id: z.string(), statement: z.string(), mark: z.enum(marks) })),
        wins: z.string(),
        consequence: z.string(),
      }),
    )
    .describe('The disagreements that this fact is a side of; for a disagreement, itself.'),
  movement: z
    .enum(['may-carry', 'only-where-verified', 'never'])
    .describe('Whether an order that moves the robot may rely on this fact.'),
  site: z
    .strictObject({
      path: z.string().describe('The site file.'),
      serial: z.string().describe('Serial number that the site file names.'),
      records: z.array(
        z.strictObject({
          ...evidenceRecordSchema.shape,
          thisSerial: z.boolean(),
          confirms: z.boolean().describe('Whether what was recorded agrees with the fact.'),
        }),
      ),
    })
    .nullable()
    .describe('What was recorded on this site; null when there is no site file, and then nothing was looked up.'),
});
export type EvidenceFact = z.infer<typeof evidenceFactSchema>;
