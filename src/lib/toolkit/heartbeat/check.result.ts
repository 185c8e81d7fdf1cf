import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';

/** One line of the check. 'not-applicable': the site file says that there is nothing to look at. */
export const heartbeatFindingSchema = findingSchema.extend({
  verdict: z.enum(['ok', 'wrong', 'not-checked', 'not-applicable']),
});
export type HeartbeatFinding = z.infer<typeof heartbeatFindingSchema>;

/** Shape of `gw heartbeat check --json`. */
export const heartbeatCheckSchema = z.strictObject({
  verdict: z
    .enum(['ok', 'wrong', 'not-checked'])
    .describe('wrong: at least one finding is wrong. not-checked: none is wrong, and at least one was not checked.'),
  heard: z.array(z.string()).describe('Serials of the other robots that are alive.'),
  expected: z.array(z.string()).describe('Serials that fleet.robots of the site file names, without this robot.'),
  hears: z
    .enum(['everything', 'broadcasts'])
    .describe('broadcasts: the gateway of this machine has the port; what it received was asked of it.'),
  findings: z.array(heartbeatFindingSchema),
  counts: z.strictObject({ ok: z.int(), wrong: z.int(), notChecked: z.int(), notApplicable: z.int() }),
  tookMs: z.number(),
});
export type HeartbeatCheck = z.infer<typeof heartbeatCheckSchema>;
