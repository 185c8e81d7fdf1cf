import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';

/** One line of the check. 'not-applicable': excluded by the site file. */
export const heartbeatFindingSchema = findingSchema.extend({
  verdict: z.enum(['ok', 'wrong', 'not-checked', 'not-applicable']),
});
export type HeartbeatFinding = z.infer<typeof heartbeatFindingSchema>;

/** Shape of `gw heartbeat check --json`. */
export const heartbeatCheckSchema = z.strictObject({
  verdict: z
    .enum(['ok', 'wrong', 'not-checked'])
    .describe('wrong: at least one finding is wrong. not-checked: none is wrong, and at least one was not checked.'),
  received: z.array(z.string()).describe('Serials of the other robots that are alive.'),
  expected: z.array(z.string()).describe('Serials in fleet.robots of the site file, without this robot.'),
  receives: z
    .enum(['everything', 'broadcasts'])
    .describe('broadcasts: the gateway of this machine has the port; the rest is from its GET /api/nachbarn.'),
  findings: z.array(heartbeatFindingSchema),
  counts: z.strictObject({ ok: z.int(), wrong: z.int(), notChecked: z.int(), notApplicable: z.int() }),
  tookMs: z.number(),
});
export type HeartbeatCheck = z.infer<typeof heartbeatCheckSchema>;
