import { z } from 'zod';

const pose = z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() });

/** Reported pose compared with the target. */
export const endPoseSchema = z.strictObject({
  station: z.string(),
  expected: z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number().nullable() }),
  reported: pose,
  distanceM: z.number(),
  turnDeg: z.number().nullable().describe('null: the place has no heading.'),
});
export type EndPose = z.infer<typeof endPoseSchema>;
