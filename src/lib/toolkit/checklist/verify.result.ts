import { z } from 'zod';

/** Summary of a record; only as reliable as its verification. */
export const recordSubjectSchema = z.strictObject({
  id: z.string(),
  edition: z.int(),
  checklist: z.string(),
  title: z.string(),
  phase: z.string().nullable(),
  technician: z.string().nullable(),
  startedAt: z.string(),
  endedAt: z.string(),
  robots: z.array(z.strictObject({ site: z.string(), serial: z.string(), software: z.string().nullable() })),
  verdict: z.enum(['ok', 'accepted', 'wrong', 'incomplete']),
  counts: z.strictObject({ ok: z.int(), wrong: z.int(), skipped: z.int(), notChecked: z.int() }),
  deviations: z.int(),
  redLines: z.int(),
});
export type RecordSubject = z.infer<typeof recordSubjectSchema>;

export const signatureStateSchema = z
  .enum(['verified', 'not-verified', 'wrong', 'not-signed'])
  .describe('Only verified is reliable. not-verified: no finding failed, but at least one could not be checked.');

/** Shape of `gw checklist verify --json`. */
export const recordVerifySchema = z.strictObject({
  path: z.string(),
  state: signatureStateSchema,
  signedBy: z.string().nullable().describe('Serial of the robot that the signature names; null when not signed.'),
  findings: z.array(
    z.strictObject({
      id: z.string(),
      title: z.string(),
      verdict: z.enum(['ok', 'wrong', 'not-checked']),
      detail: z.string(),
    }),
  ),
  subject: recordSubjectSchema.nullable().describe('null when the file is not a record.'),
});
export type RecordVerify = z.infer<typeof recordVerifySchema>;
