import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';
import { endPoseSchema } from '../motion/end-pose.result.ts';

/** Shape of `gw tour run --json`. */
export const tourRunSchema = z.strictObject({
  tour: z.string(),
  stations: z.array(z.string()),
  state: z.enum(['running', 'succeeded', 'failed', 'stopped']).describe('running: it had not ended in the given time.'),
  interrupted: z.boolean().describe('The command was interrupted and has ended the tour.'),
  reason: z.string().nullable().describe('Why it ended, when it did not succeed.'),
  at: z.string().nullable().describe('The station that the robot drove to last.'),
  end: endPoseSchema
    .nullable()
    .describe('Where the chassis says it stands after the tour, against the last station of the site file.'),
  findings: z.array(findingSchema),
  tookMs: z.number(),
});
export type TourRun = z.infer<typeof tourRunSchema>;
