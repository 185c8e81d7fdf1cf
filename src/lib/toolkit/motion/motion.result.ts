import { z } from 'zod';
import { lineSchema } from '../finding.result.ts';

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

/** Shape of `gw motion go --json` and `gw motion dock --json`. */
export const motionGoSchema = z.strictObject({
  to: z.string().nullable().describe('The station; null: the dock.'),
  state: z.enum(['running', 'succeeded', 'failed', 'stopped']).describe('running: not ended within the given time.'),
  interrupted: z.boolean().describe('The command was interrupted and has ended the drive.'),
  mayBeMoving: z.boolean().describe('How the move ended is unknown: the robot may still be moving.'),
  moveId: z.int().nullable().describe('Move id of the chassis; null while unknown.'),
  although: z.array(z.int()).describe('Alerts that were passed by their numbers.'),
  reason: z.string().nullable().describe('Why it ended, when it did not succeed.'),
  failReason: z.int().nullable().describe('As reported by the chassis; only 103 has a measured meaning.'),
  arrival: arrivalSchema
    .nullable()
    .describe('What the poses show; null: the chassis did not report success, or the gateway does not judge it.'),
  end: endPoseSchema.nullable().describe('Pose of the standing robot, compared with the goal by the gateway.'),
  findings: z.array(lineSchema),
  tookMs: z.number(),
});
export type MotionGo = z.infer<typeof motionGoSchema>;

/** Shape of `gw motion pose --json`. */
export const motionPoseSchema = z.strictObject({
  pose: z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() }),
  from: z.string().describe('Source of the pose: the command line, or a place of the site file.'),
  state: z
    .enum(['succeeded', 'failed', 'cancelled', 'unknown'])
    .describe('succeeded: the chassis reports the pose that was set.'),
  reason: z.string().nullable(),
  tookMs: z.number(),
});
export type MotionPose = z.infer<typeof motionPoseSchema>;

const latchFields = {
  reason: z.string().nullable().describe('Why the robot was stopped.'),
  by: z.string().nullable().describe('Who stopped it.'),
  since: z.string().nullable().describe('UTC.'),
  disobeyed: z
    .string()
    .nullable()
    .describe('Why the poses say that the robot drove on after this stop or the cancel before it; null: they do not.'),
};

/** Shape of `gw motion stop --json`. */
export const motionStopSchema = z.strictObject({
  delivered: z.boolean().describe('The gateway has answered that the stop is latched.'),
  cancelledAtChassis: z
    .boolean()
    .describe('The gateway did not answer at once, and the chassis accepted a cancel; that latches nothing.'),
  saved: z
    .union([z.boolean(), z.literal('pending')])
    .nullable()
    .describe(
      "The stop outlives a restart of the gateway; 'pending': its disk has not confirmed it yet; null: not delivered, or not reported by the gateway.",
    ),
  unsavedBecause: z.string().nullable().describe('Why it is not saved; null when it is saved, or that is unknown.'),
  ...latchFields,
  robot: z
    .string()
    .nullable()
    .describe('Serial number of the robot whose gateway latched the stop; null: not reported.'),
  meantRobot: z
    .string()
    .nullable()
    .describe(
      'Serial number of the robot of the site file; null without one. Another one than `robot`: it is not stopped.',
    ),
  move: z
    .enum(['ended', 'drove-on', 'under-way', 'not-known'])
    .describe(
      'Move state reported after the stop; drove-on: it ended, but not by the cancel; not-known: no report, or the gateway did not answer.',
    ),
  moveDetail: z.string().describe('Source of that state, or why it is unknown.'),
  standstill: z
    .enum(['stands', 'moves', 'drives-on', 'not-known'])
    .describe(
      'What the poses of the robot show after the stop; drives-on: it went further than braking explains; not-known: not seen to stand.',
    ),
  standstillDetail: z.string().describe('Why, as a clause.'),
  ways: z
    .array(
      z.strictObject({
        way: z.enum(['network', 'local-socket', 'chassis']).describe('chassis: a cancel without the gateway.'),
        address: z.string(),
        answer: z
          .enum(['latched', 'cancelled', 'failed', 'not-awaited', 'not-there'])
          .describe('not-awaited: another way answered first.'),
        detail: z.string(),
        tookMs: z.number().nullable(),
      }),
    )
    .describe('Every way that was tried, concurrently.'),
  tookMs: z.number(),
});
export type MotionStop = z.infer<typeof motionStopSchema>;

/** Shape of `gw motion clear --json`. */
export const motionClearSchema = z.strictObject({
  cleared: z.boolean().describe('No stop is latched any more.'),
  wasLatched: z.boolean().describe('false: there was nothing to clear.'),
  ...latchFields,
  gate: z.strictObject({ open: z.boolean(), reasons: z.array(z.string()) }).describe('The gate afterwards.'),
});
export type MotionClear = z.infer<typeof motionClearSchema>;
