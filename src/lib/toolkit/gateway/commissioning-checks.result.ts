import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';

/** Results of the checks that only checklists run; they need the device password. */

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
  before: poseSchema.describe('As reported before, and as it was set again at the end.'),
  set: poseSchema.describe('The same place with another heading.'),
  reported: poseSchema.nullable().describe('As reported after that; null when no pose was received.'),
  findings,
});
export type PoseCheck = z.infer<typeof poseCheckSchema>;

/** 'measured stop' */
export const stopCheckSchema = z.strictObject({
  tour: z.string(),
  answeredMs: z.number().nullable().describe('From sending the stop to its answer; null when it was not answered.'),
  standstillMs: z
    .number()
    .nullable()
    .describe('From sending the stop to the first of the poses that no longer change; null when that was not seen.'),
  distanceM: z
    .number()
    .nullable()
    .describe('From where the robot was when the stop was sent to where it came to rest.'),
  findings,
});
export type StopCheck = z.infer<typeof stopCheckSchema>;
