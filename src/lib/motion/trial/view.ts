import { z } from 'zod';
import { trialKinds } from '../verify-remedy.ts';

/** Shape of a trial, as `/api/versuch` answers it and `gw evidence verify --json` prints it. */
export const trialViewSchema = z.object({
  id: z.string(),
  kind: z.enum(trialKinds),
  who: z.string().describe('The person beside the robot.'),
  state: z.enum(['running', 'ended']),
  phase: z.string().describe('What happens now, as text.'),
  alarm: z.string().nullable().describe('Set when the person beside the robot must act at once.'),
  startedAgoMs: z.number(),
  serial: z.string().nullable(),
  software: z.string().nullable().describe('Software version of the chassis.'),
  simulated: z.boolean().describe('The chassis reports to be a simulator.'),
  /**
   * - verified: every fact on trial holds.
   * - contradicted: at least one differs.
   * - not-decided: none differs, and not all of them hold.
   * - refused: no order was sent.
   * - cancelled: it was aborted; it verifies nothing.
   */
  outcome: z
    .enum(['verified', 'contradicted', 'not-decided', 'refused', 'cancelled'])
    .nullable()
    .describe('Null while it runs.'),
  reason: z.string().nullable().describe('Reason for the outcome.'),
  facts: z.array(
    z.object({
      fact: z.string(),
      /** 'not-decided': not observed, or ambiguous: neither green nor a contradiction, and no record is written. */
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

/** Answer of every `/api/versuch` route. */
export const trialAnswerSchema = z.object({ trial: trialViewSchema.nullable() });
