import { z } from 'zod';
import { attachmentStates, bases, factBases, hereVerdicts, marks, recordScopes } from '../../evidence/index.ts';
import { evidenceRecordSchema } from '../../evidence/record.ts';
import { trialViewSchema } from '../../motion/index.ts';
import { findingSchema } from '../finding.result.ts';

/** Evidence of a fact on the device of this site. */
export const hereSchema = z.strictObject({
  mark: z.enum(marks).describe('On this device with this software; elsewhere the mark of the fact.'),
  basis: z.enum(bases).describe('Basis of that mark; here: measured on this device.'),
  verdict: z
    .enum([...hereVerdicts, 'in-part', 'expired', 'not-checked'])
    .describe(
      'in-part: only entries of the table were recorded. expired: recorded with another software. not-checked: recorded, and the present software version was not read (--live).',
    ),
});
export type Here = z.infer<typeof hereSchema>;

const entrySchema = z.strictObject({
  entry: z.string().describe('Key of the table.'),
  value: z.string().describe('Value in the ledger.'),
  here: hereSchema,
});
export type EvidenceEntry = z.infer<typeof entrySchema>;

export const factSchema = z.strictObject({
  id: z.string(),
  section: z.string(),
  statement: z.string(),
  mark: z.enum(marks),
  basis: z.enum(factBases).describe('Basis of the mark.'),
  value: z.json().nullable().describe('The value; null where there is none.'),
  unit: z.string().nullable(),
  source: z.string(),
  note: z.string().nullable(),
});
export type PlainFact = z.infer<typeof factSchema>;

const siteSchema = z
  .strictObject({
    path: z.string().describe('The site file.'),
    serial: z.string().describe('Serial number that the site file names.'),
    software: z.string().nullable().describe('Software of the chassis now; null when it was not read (--live).'),
  })
  .nullable()
  .describe('Where records were looked up; null without a site file.');

/** Shape of `gw evidence list --json`. */
export const evidenceListSchema = z.strictObject({
  facts: z.array(z.strictObject({ ...factSchema.shape, here: hereSchema.nullable() })),
  counts: z
    .strictObject({ BELEGT: z.int(), HINWEIS: z.int(), VORSICHT: z.int(), OFFEN: z.int() })
    .describe('How many of the listed facts have each mark in the ledger.'),
  inLedger: z.int().describe('How many facts the whole ledger has.'),
  site: siteSchema,
});
export type EvidenceList = z.infer<typeof evidenceListSchema>;

export const movementHereSchema = z.strictObject({
  usable: z.boolean().describe('Whether the gate lets an order rely on this fact, on this device with this software.'),
  why: z.string(),
});

/** Shape of `gw evidence show --json`. */
export const evidenceFactSchema = z.strictObject({
  fact: factSchema,
  disagreements: z
    .array(
      z.strictObject({
        id: z.string(),
        statement: z.string(),
        sides: z.array(
          z.strictObject({ id: z.string(), statement: z.string(), mark: z.enum(marks), basis: z.enum(factBases) }),
        ),
        wins: z.string(),
        consequence: z.string(),
      }),
    )
    .describe('The disagreements that this fact is a side of; for a disagreement, itself.'),
  movement: z
    .enum(['may-carry', 'only-where-verified', 'never'])
    .describe('Whether an order that moves the robot may rely on this fact.'),
  movementHere: movementHereSchema.nullable().describe('null: the software of the chassis was not read (--live).'),
  site: siteSchema,
  here: hereSchema.nullable().describe('null when there is no site file.'),
  entries: z.array(entrySchema).describe('Entries of a table whose verdict differs from the rest.'),
  records: z
    .array(
      z.strictObject({
        ...evidenceRecordSchema.shape,
        scope: z.enum(recordScopes).describe('Whether the record counts for the device of this site as it is now.'),
        unsealed: z.boolean().describe('It verifies nothing: the trial that wrote it has no seal beside its report.'),
        comparison: z
          .enum(['holds', 'differs', 'undecided'])
          .describe('undecided: it covers only part of the fact, or decides nothing.'),
        attachmentState: z
          .enum(attachmentStates)
          .nullable()
          .describe('State of the trial report; null for a record without one.'),
      }),
    )
    .describe('Records about this fact on this site, oldest first.'),
});
export type EvidenceFact = z.infer<typeof evidenceFactSchema>;

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

/** Shape of `gw evidence verify --json`. */
export const evidenceVerifiedSchema = z.strictObject({
  trial: trialViewSchema,
  verdict: z
    .enum(['verified', 'contradicted', 'not-decided', 'refused', 'cancelled'])
    .describe('Only verified is green: every fact on trial holds, and was recorded.'),
  interrupted: z.boolean().describe('Ended by a person, a signal or a lost terminal.'),
  findings: z.array(findingSchema).describe('One for each fact on trial; not decided is not checked.'),
  tookMs: z.number(),
});
export type EvidenceVerified = z.infer<typeof evidenceVerifiedSchema>;

/** Shape of `gw evidence adopt --json`, and answer of `POST /api/evidenz/uebernahme`. */
export { evidenceAdoptionSchema } from '../../evidence/adoption.ts';
