import { z } from 'zod';

const pose = z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() });

/** Pose of the standing robot compared with the goal, by the gateway. */
export const endPoseSchema = z.strictObject({
  station: z.string(),
  expected: z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number().nullable() }),
  reported: pose,
  distanceM: z.number(),
  turnDeg: z.number().nullable().describe('null: the place has no heading.'),
});
export type EndPose = z.infer<typeof endPoseSchema>;

/** What the poses show after the chassis reported success. */
export const arrivalSchema = z.strictObject({
  station: z.string(),
  verdict: z
    .enum(['at-goal', 'elsewhere', 'moves', 'not-known'])
    .describe('By poses alone; elsewhere: the robot stands, but too far from the goal or in another heading.'),
  reason: z.string(),
  distanceM: z.number().nullable().describe('null: the robot is not known to stand.'),
  turnDeg: z.number().nullable().describe('null: not compared, or the place has no heading.'),
});
export type StationArrival = z.infer<typeof arrivalSchema>;
