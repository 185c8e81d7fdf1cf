import { z } from 'zod';
import { findingSchema } from './finding.result.ts';

const pose = z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() });

/** Shape of `gw tour run --json`. */
export const tourRunSchema = z.strictObject({
  tour: z.string(),
  stations: z.array(z.string()),
  state: z.enum(['running', 'succeeded', 'failed', 'stopped']).describe('running: it had not ended in the given time.'),
  reason: z.string().nullable().describe('Why it ended, when it did not succeed.'),
  at: z.string().nullable().describe('The station that the robot drove to last.'),
  end: z
    .strictObject({
      station: z.string(),
      expected: z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number().nullable() }),
      reported: pose,
      distanceM: z.number(),
      turnDeg: z.number().nullable().describe('null: the station has no heading.'),
    })
    .nullable()
    .describe('Where the chassis says it stands after the tour, against the last station of the site file.'),
  findings: z.array(findingSchema),
  tookMs: z.number(),
});
export type TourRun = z.infer<typeof tourRunSchema>;
