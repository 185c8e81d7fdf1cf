import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';

/** Shape of a trial, as `/api/versuch` answers it and `gw evidence verify --json` prints it. */
export const trialViewSchema = z.object({
  id: z.string(),
  kind: z.enum(['stop', 'move', 'pose', 'dock']),
  who: z.string().describe('The person beside the robot.'),
  state: z.enum(['running', 'ended']),
  phase: z.string().describe('What happens now, as text.'),
  alarm: z.string().nullable().describe('Set when the person beside the robot must act at once.'),
  startedAgoMs: z.number(),
  serial: z.string().nullable(),
  software: z.string().nullable().describe('Software version of the chassis.'),
  simulated: z.boolean().describe('The chassis reports to be a simulator.'),
  outcome: z
    .enum(['verified', 'contradicted', 'not-decided', 'refused', 'cancelled'])
    .nullable()
    .describe('Null while it runs.'),
  reason: z.string().nullable().describe('Reason for the outcome.'),
  facts: z.array(
    z.object({
      fact: z.string(),
      verdict: z.enum(['holds', 'differs', 'not-decided']),
      why: z.string(),
      value: z
        .union([z.string(), z.boolean()])
        .nullable()
        .describe('The recorded value; null where nothing was decided.'),
    }),
  ),
  refusals: z.array(z.string()).describe('Why no order was sent.'),
  notes: z.array(z.string()),
  report: z
    .object({ file: z.string(), sha256: z.string() })
    .nullable()
    .describe('The file with samples and verdicts, in the folder beside the evidence file.'),
  recorded: z.array(z.string()).describe('Facts about which a record was written.'),
});
export type TrialView = z.infer<typeof trialViewSchema>;

/** Answer of every `/api/versuch` route. */
export const trialAnswerSchema = z.object({ trial: trialViewSchema.nullable() });

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
export const evidenceAdoptedSchema = z.strictObject({
  records: z.int().describe('Records of the file that count now.'),
  adopted: z.array(z.string()).describe('Facts with stronger evidence than before.'),
  revoked: z.array(z.string()).describe('Facts with weaker evidence than before.'),
});
export type EvidenceAdopted = z.infer<typeof evidenceAdoptedSchema>;
