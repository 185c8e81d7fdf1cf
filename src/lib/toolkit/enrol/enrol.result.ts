import { z } from 'zod';
import { certificateViewSchema } from '../../x509/schema.ts';
import { checkVerdictSchema, lineSchema } from '../finding.result.ts';

/** Shape of `gw enrol status --json`. */
export const enrolStatusSchema = z.strictObject({
  state: z
    .enum(['enrolled', 'not-enrolled', 'begun', 'broken', 'of-another-robot'])
    .describe(
      'begun: a key exists, no identity is installed yet. of-another-robot: the identity has another serial number.',
    ),
  verdict: checkVerdictSchema,
  serial: z.string().describe('Serial number of this robot, by the site file.'),
  identityDir: z.string(),
  identity: z
    .strictObject({
      serial: z.string(),
      endpoint: z.string().describe('Host of the MQTT broker.'),
      region: z.string(),
      enrolledAt: z.string().describe('UTC, by the Date header of the enrolment endpoint if it sent one.'),
      certificate: certificateViewSchema,
      caSubjects: z.array(z.string()).describe('Subjects of the trusted CA certificates.'),
      daysLeft: z
        .int()
        .nullable()
        .describe('Whole days until it or its CA expires; null: the clock of this device is wrong.'),
    })
    .nullable(),
  begunAt: z.string().nullable().describe('Start of an unfinished enrolment; UTC.'),
  renewal: z
    .strictObject({
      state: z
        .enum(['begun', 'not-proved', 'failing'])
        .describe('not-proved: a new certificate is kept, and the broker has not proved it yet.'),
      begunAt: z.string().nullable().describe('Since when its key is kept; UTC.'),
      candidate: z
        .strictObject({
          fingerprintSha256: z.string(),
          notAfter: z.string(),
          keptAt: z.string().describe('UTC.'),
          failedProofs: z.int(),
        })
        .nullable()
        .describe('The new certificate, beside that in use.'),
      failed: z.int().describe('Failed attempts since the last renewal.'),
      last: z.strictObject({ at: z.string(), detail: z.string() }).nullable().describe('The last failed attempt.'),
      nextAt: z.string().nullable().describe('No new request before; UTC.'),
    })
    .nullable()
    .optional()
    .describe('The renewal without a visit that is under way; null: none. Absent: an earlier version of gw.'),
  findings: z.array(lineSchema),
});
export type EnrolStatus = z.infer<typeof enrolStatusSchema>;

/** Shape of `gw enrol --json`. */
export const enrolSchema = z.strictObject({
  url: z.string().describe('Where the request went, without the path.'),
  resumed: z.boolean().describe('Whether the key of an interrupted run was used.'),
  replaced: z.boolean().describe('Whether another identity was replaced.'),
  clock: z.strictObject({
    verdict: z.enum(['ok', 'wrong', 'not-checked']).describe('The clock of this device against that of the endpoint.'),
    deviceAt: z.string(),
    serverAt: z.string().nullable(),
    aheadMs: z.number().nullable().describe('By how much the device is ahead; negative: behind.'),
  }),
  verifiedBy: z
    .enum(['file', 'bundled', 'extra', 'system'])
    .nullable()
    .describe(
      "What the certificate of the endpoint was verified with. file: enrolment.caFile. bundled: Node's own list. extra: NODE_EXTRA_CA_CERTS. system: the operating system's list alone. null: this run did not connect.",
    ),
  status: enrolStatusSchema,
});
export type Enrol = z.infer<typeof enrolSchema>;
