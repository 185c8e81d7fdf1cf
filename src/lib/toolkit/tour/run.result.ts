import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';
import { endPoseSchema } from '../motion/end-pose.result.ts';

/** Shape of `gw tour run --json`. */
export const tourRunSchema = z.strictObject({
  tour: z.string(),
  stations: z.array(z.string()),
  state: z.enum(['running', 'succeeded', 'failed', 'stopped']).describe('running: not ended within the given time.'),
  interrupted: z.boolean().describe('The command was interrupted and has ended the tour.'),
  mayBeMoving: z.boolean().describe('How its last move ended is unknown: the robot may still be moving.'),
  reason: z.string().nullable().describe('Why it ended, when it did not succeed.'),
  at: z.string().nullable().describe('The last target station.'),
  end: endPoseSchema
    .nullable()
    .describe('Reported pose after the tour, compared with the last station of the site file.'),
  findings: z.array(findingSchema),
  tookMs: z.number(),
});
export type TourRun = z.infer<typeof tourRunSchema>;
