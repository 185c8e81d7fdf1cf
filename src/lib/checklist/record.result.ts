import { z } from 'zod';
import { bases, marks } from '../evidence/index.ts';
import { countsSchema, phases, stepResultSchema } from './run.result.ts';

export const RECORD_FORMAT = 'gw/check-record/1';

/** How a record is signed; the only way that this format knows. Decision of ours. */
export const SIGNATURE_ALGORITHM = 'ECDSA-P256-SHA256-P1363';

/** Name of an attachment: made by gw, never taken from a person's file, so that it can stand in a path. */
export const ATTACHMENT_NAME = /^[0-9]{3}-[a-z0-9][a-z0-9-]{0,63}\.(jpg|png|webp|heic)$/;

export const attachmentTypes = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  heic: 'image/heic',
} as const;
export type AttachmentKind = keyof typeof attachmentTypes;

export const attachmentSchema = z.strictObject({
  name: z.string().regex(ATTACHMENT_NAME).describe('File name in the folder beside the record.'),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().min(1),
  mediaType: z.enum(Object.values(attachmentTypes)),
});
export type Attachment = z.infer<typeof attachmentSchema>;

/** Something red that no step of the list says, and that must be seen all the same: a tablet that was left open. */
export const redLineSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  detail: z.string(),
  remedy: z.string(),
});
export type RedLine = z.infer<typeof redLineSchema>;

const basis = z.enum(bases).optional().describe('What the mark rests on; absent in records of older versions.');

/** The software of a chassis, as a step read it. */
export const softwareSchema = z.strictObject({ value: z.string(), mark: z.enum(marks), basis, source: z.string() });

/** A fact of the ledger that a step relied on. */
const reliedFactSchema = z.strictObject({
  id: z.string(),
  mark: z.enum(marks),
  basis,
  statement: z.string(),
  source: z.string(),
  verifiedHere: z
    .enum(['yes', 'on-a-simulator', 'no', 'contradicted', 'not-checked'])
    .describe(
      'yes: a record of the evidence file verified it on this chassis with this software. on-a-simulator: on a simulator of that serial number. no: a BELEGT fact then rests on another device or version. contradicted: a record says that it does not hold here. not-checked: the software of the chassis or the evidence file is not known.',
    ),
});
export type ReliedFact = z.infer<typeof reliedFactSchema>;

export const robotRecordSchema = z.strictObject({
  site: z.string(),
  serial: z.string().describe('Of the site file; steps prove that it is the one of the chassis.'),
  software: softwareSchema.nullable().describe('Software of the chassis as a step read it; null when none did.'),
  ok: z.boolean().describe('true only when every step is ok and there is no red line.'),
  accepted: z.boolean().describe('true when every step is ok or an accepted deviation, and there is no red line.'),
  counts: countsSchema,
  deviations: z.int().describe('How many of the steps that are not ok were accepted.'),
  sections: z
    .array(
      z.strictObject({
        id: z.string(),
        title: z.string(),
        about: z.string().nullable(),
        ok: z.boolean(),
        counts: countsSchema,
      }),
    )
    .describe('In the order of the checklist; empty in a checklist without sections.'),
  steps: z.array(stepResultSchema),
  evidence: z.array(reliedFactSchema),
  redLines: z.array(redLineSchema),
});
export type RobotRecord = z.infer<typeof robotRecordSchema>;

const signatureSchema = z.strictObject({
  algorithm: z.literal(SIGNATURE_ALGORITHM),
  serial: z.string().describe('Robot whose device key signed; one of `robots`.'),
  certificate: z.string().describe('Certificate of that key, then those between it and the authority, PEM.'),
  value: z
    .string()
    .regex(/^[A-Za-z0-9+/]{86}==$/)
    .describe('64 bytes (r and s), base64, over the canonical bytes of everything else in this file.'),
});

/**
 * The record of a checklist that was worked through: one file, signed with the key of the device. The file is the
 * one sorted and indented text that these values have; docs/checklists.md says exactly which, and which bytes are
 * signed.
 */
export const recordSchema = z.strictObject({
  format: z.literal(RECORD_FORMAT),
  id: z.uuid().describe('Of the run; the same when it was resumed.'),
  edition: z.int().min(1).describe('1 for the first record of this run, 2 for the next after a resume, ...'),
  gw: z.string().describe('Version of gw.'),
  checklist: z.strictObject({
    name: z.string(),
    title: z.string(),
    purpose: z.string(),
    phase: z.enum(phases).nullable(),
    file: z.string().describe('Name of the file, without its folder.'),
    sha256: z.string().describe('Of the bytes of the file.'),
  }),
  technician: z.strictObject({ name: z.string().nullable(), initials: z.string().nullable() }),
  startedAt: z.iso.datetime().describe('UTC, for people.'),
  endedAt: z.iso.datetime().describe('UTC, for people.'),
  resumedAt: z.array(z.iso.datetime()).describe('Every time the run went on after an interruption or an end.'),
  tookMs: z.number().describe('All sittings together, without the time between them.'),
  motionAllowed: z.boolean().describe('In the last sitting.'),
  interrupted: z.boolean(),
  leftOut: z.boolean().describe('true when --only or --from left out steps that no sitting took.'),
  ok: z.boolean().describe('true only when everything is ok for every robot.'),
  accepted: z.boolean().describe('true when everything is ok or an accepted deviation, for every robot.'),
  counts: countsSchema,
  deviations: z.int(),
  robots: z.array(robotRecordSchema).min(1),
  attachments: z.array(attachmentSchema),
  signature: signatureSchema.nullable().describe('null: not signed, because no identity of these robots is here.'),
});
export type CheckRecord = z.infer<typeof recordSchema>;

/** One thing that was looked at when a record was verified. */
const verificationFindingSchema = z.strictObject({
  id: z.enum([
    'file',
    'form',
    'content',
    'consistent',
    'signature',
    'certificate',
    'validity',
    'chain',
    'expected-serial',
    'attachments',
  ]),
  title: z.string(),
  verdict: z.enum(['ok', 'wrong', 'not-checked']),
  detail: z.string(),
});
export type VerificationFinding = z.infer<typeof verificationFindingSchema>;

/** What `verifyRecord` found. `verified` needs every finding ok: nothing that was not checked is verified. */
export const recordVerificationSchema = z.strictObject({
  verified: z.boolean().describe('true only when every finding is ok.'),
  verdict: z
    .enum(['ok', 'wrong', 'not-checked'])
    .describe(
      'wrong: something does not fit. not-checked: nothing contradicts, but not everything could be looked at.',
    ),
  findings: z.array(verificationFindingSchema),
  record: recordSchema.nullable().describe('null when the file holds none.'),
});
export type RecordVerification = z.infer<typeof recordVerificationSchema>;
