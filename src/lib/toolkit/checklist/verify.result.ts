import { z } from 'zod';

/** What a record is about, and what it says of itself: to be believed only as far as it was verified. */
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
  .describe('Only verified may be relied on. not-verified: nothing contradicts, but not everything was looked at.');

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
  subject: recordSubjectSchema.nullable().describe('null when the file holds no record.'),
});
export type RecordVerify = z.infer<typeof recordVerifySchema>;
