import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';

/** The parts of a robot that are replaced. */
export const replacedParts = ['chassis', 'gateway', 'tablet'] as const;
export type ReplacedPart = (typeof replacedParts)[number];

/** One line of a step. */
const stepLineSchema = findingSchema.omit({ spec: true }).extend({
  verdict: z
    .enum(['ok', 'wrong', 'open', 'not-checked', 'not-applicable', 'stated'])
    .describe(
      'ok: looked at now. open: looked at now, and not done yet. stated: the word of a person about what gw cannot see; it is never ok.',
    ),
});
export type StepLine = z.infer<typeof stepLineSchema>;

const stepSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  verdict: stepLineSchema.shape.verdict,
  lines: z.array(stepLineSchema).min(1),
});
export type ReplacementStep = z.infer<typeof stepSchema>;

/** Shape of `gw replace chassis|gateway|tablet --json`. */
export const replacementSchema = z.strictObject({
  part: z.enum(replacedParts),
  verdict: z
    .enum(['complete', 'open', 'wrong', 'not-checked'])
    .describe('complete: every step holds now, or is the word of a person about what gw cannot see.'),
  simulated: z.boolean().describe('true: a step met a simulator, so this is no acceptance of a robot.'),
  from: z.string().describe('Serial number of the part that was replaced; of a gateway, that of its robot.'),
  to: z
    .string()
    .describe('Serial number of the part in its place; of a gateway, the id of this machine. Empty: not seen yet.'),
  begunAt: z.string().describe('UTC, by the clock of this machine.'),
  file: z.string().describe('What is remembered of this replacement, and cannot be looked at.'),
  steps: z.array(stepSchema),
  next: z.string().nullable().describe('Id of the first step that does not hold.'),
  done: z.array(z.string()).describe('Steps in which this run changed something.'),
  problem: z
    .strictObject({ step: z.string(), code: z.string(), message: z.string(), remedy: z.string() })
    .nullable()
    .describe('Why a step could not be done, or the word of a person was not saved; null: neither.'),
});
export type Replacement = z.infer<typeof replacementSchema>;
