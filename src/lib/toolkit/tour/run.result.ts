import { z } from 'zod';
import { lineSchema } from '../finding.result.ts';
import { arrivalSchema, endPoseSchema } from '../motion/motion.result.ts';

/** Shape of `gw tour run --json`. */
export const tourRunSchema = z.strictObject({
  tour: z.string(),
  stations: z.array(z.string()),
  state: z
    .enum(['running', 'paused', 'succeeded', 'failed', 'stopped'])
    .describe('running, paused: not ended within the given time, which counts without pauses.'),
  interrupted: z.boolean().describe('The command was interrupted and has ended the tour.'),
  mayBeMoving: z.boolean().describe('How its last move ended is unknown: the robot may still be moving.'),
  although: z.array(z.int()).describe('Alerts that were passed by their numbers.'),
  reason: z.string().nullable().describe('Why it ended, when it did not succeed.'),
  at: z.string().nullable().describe('The last target station.'),
  arrivals: z
    .array(arrivalSchema)
    .describe('What the poses show at each station for which the chassis reported success, in order.'),
  end: endPoseSchema
    .nullable()
    .describe('Pose of the standing robot at the last of them, compared with the goal by the gateway.'),
  findings: z.array(lineSchema),
  tookMs: z.number(),
});
export type TourRun = z.infer<typeof tourRunSchema>;
