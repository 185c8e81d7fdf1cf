import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';

/** Results of the checks that only checklists run and that need the device password. */

const findings = z.array(findingSchema);

/** 'operator sign-in' */
export const signInCheckSchema = z.strictObject({ findings });
export type SignInCheck = z.infer<typeof signInCheckSchema>;

/** 'operator media' */
export const mediaCheckSchema = z.strictObject({
  bytes: z.int().describe('Size of the file that was stored.'),
  uploadMs: z.number().nullable().describe('null when it was not stored.'),
  downloadMs: z.number().nullable(),
  findings,
});
export type MediaCheck = z.infer<typeof mediaCheckSchema>;

const poseSchema = z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() });

/** 'pose read-back' */
export const poseCheckSchema = z.strictObject({
  before: poseSchema.describe('As reported before, and as restored at the end.'),
  set: poseSchema.describe('The same place with another heading.'),
  reported: poseSchema.nullable().describe('As reported afterwards; null when no pose was received.'),
  findings,
});
export type PoseCheck = z.infer<typeof poseCheckSchema>;

/** 'measured stop' */
export const stopCheckSchema = z.strictObject({
  tour: z.string(),
  answeredMs: z
    .number()
    .nullable()
    .describe('Time from sending the stop to its answer; null when it was not answered.'),
  standstillMs: z
    .number()
    .nullable()
    .describe('Time from sending the stop to the first pose at rest; null when rest was not observed.'),
  distanceM: z.number().nullable().describe('Distance from the position at the time of the stop to the rest position.'),
  findings,
});
export type StopCheck = z.infer<typeof stopCheckSchema>;
