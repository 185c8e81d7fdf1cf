import { z } from 'zod';
import { checkDetails, checkIds, findingCodes } from '../../tunnel/audit/index.ts';

const values = z
  .record(z.string(), z.union([z.string(), z.number()]))
  .describe('Values that the sentence names; never a token.');
const lineOf = { file: z.string().nullable(), line: z.int().nullable().describe('From 1.') };

const checkSchema = z.strictObject({
  id: z.enum(checkIds),
  title: z.string(),
  verdict: z.enum(['ok', 'wrong', 'not-checked']),
  detail: z.enum(checkDetails),
  text: z.string().describe('The detail as text; empty when there is nothing to add.'),
  values,
});

const findingSchema = z.strictObject({
  code: z.enum(findingCodes),
  ...lineOf,
  seq: z.int().nullable().describe('Number of the record.'),
  session: z.string().nullable(),
  title: z.string(),
  sentence: z.string(),
  remedy: z.string(),
  values,
});

/** Shape of `gw tunnel audit --json`. */
export const tunnelAuditSchema = z.strictObject({
  verdict: z
    .enum(['ok', 'findings', 'not-decided'])
    .describe('not-decided: no finding, but at least one check was not made.'),
  local: z
    .enum(['ok', 'findings', 'not-decided'])
    .describe('The same for the local records in themselves, without cloud, logs, limits and rotated records.'),
  recordsPath: z.string().describe('Folder or file of the records.'),
  serial: z.string().nullable(),
  files: z.array(z.strictObject({ path: z.string(), bytes: z.int() })),
  logs: z.array(z.string()).describe('Log files that were searched for tokens.'),
  records: z.int().describe('Lines of the files.'),
  firstSeq: z.int().nullable(),
  lastSeq: z.int().nullable(),
  firstAt: z.string().nullable(),
  lastAt: z.string().nullable(),
  sessions: z.int(),
  refused: z.array(z.strictObject({ reason: z.string(), count: z.int() })),
  unusualRefusals: z
    .strictObject({ day: z.string(), count: z.int() })
    .nullable()
    .describe('The day (UTC) with the most refusals, when more than 20.'),
  uncleanShutdowns: z.int(),
  unknownDurations: z.int(),
  clockSteps: z.int().describe('How often the wall clock went backwards.'),
  firstClockStep: z.strictObject({ file: z.string(), line: z.int() }).nullable(),
  tornParts: z.int(),
  running: z
    .strictObject({ session: z.string(), at: z.string(), untilAt: z.string() })
    .nullable()
    .describe('The last session, when it may still run by its own clock.'),
  cloud: z
    .strictObject({
      path: z.string(),
      records: z.int(),
      copies: z.int(),
      others: z.int(),
      older: z.int(),
      newer: z.int().describe('Newest local records that are not in the copy yet.'),
    })
    .nullable()
    .describe('The comparison with the copy of the cloud; null: not compared.'),
  checks: z.array(checkSchema),
  firstBroken: z
    .strictObject({ ...lineOf, seq: z.int().nullable() })
    .nullable()
    .describe('The first broken line of the chain; null: none.'),
  counts: z.array(z.strictObject({ code: z.enum(findingCodes), count: z.int() })).describe('All findings, by code.'),
  findings: z.array(findingSchema).describe('At most 1,000.'),
  notListed: z.int().describe('Findings that are counted and not listed.'),
  information: z.array(z.string()).describe('No findings, but worth knowing.'),
  report: z
    .strictObject({
      path: z.string(),
      format: z.enum(['html', 'pdf']),
      lang: z.enum(['de', 'en']),
      bytes: z.int(),
      pages: z.int().nullable(),
      replacedCharacters: z.int(),
    })
    .nullable(),
});
export type TunnelAudit = z.infer<typeof tunnelAuditSchema>;
