import { z } from 'zod';
import { evidenceSchema } from '../known.result.ts';

const reported = z.union([
  z.boolean(),
  z.number(),
  z.string(),
  z.strictObject({ state: z.string(), reliable: z.boolean(), quality: z.number().nullable().optional() }),
  z.array(z.strictObject({ code: z.int(), level: z.string(), message: z.string() })),
]);

/** One condition that the robot reports about its ability to work. */
export const robotConditionSchema = z.strictObject({
  id: z.enum(['emergency-stop', 'control-mode', 'positioning', 'battery', 'power', 'alerts']),
  title: z.string(),
  verdict: z.enum(['ok', 'wrong', 'not-checked']),
  detail: z.string(),
  remedy: z.string().nullable(),
  missing: z
    .enum(['not-received', 'rejected', 'no-connection', 'not-received-since-reconnect', 'too-old', 'newer-rejected'])
    .nullable()
    .describe('Why there is no current value; null where there is one.'),
  reported: z
    .strictObject({ value: reported, ...evidenceSchema.shape, ageMs: z.number() })
    .nullable()
    .describe('The last reported value with its age; null when no valid message was received.'),
});
export type RobotCondition = z.infer<typeof robotConditionSchema>;
