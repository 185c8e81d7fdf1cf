import { z } from 'zod';
import { checkVerdictSchema, type Line, lineSchema } from '../finding.result.ts';

export type HeartbeatFinding = Line;

/** Shape of `gw heartbeat check --json`. */
export const heartbeatCheckSchema = z.strictObject({
  verdict: checkVerdictSchema,
  received: z.array(z.string()).describe('Serials of the other robots that are alive.'),
  expected: z.array(z.string()).describe('Serials in fleet.robots of the site file, without this robot.'),
  receives: z
    .enum(['everything', 'broadcasts'])
    .describe('broadcasts: the gateway of this machine has the port; the rest is from its GET /api/nachbarn.'),
  findings: z.array(lineSchema),
  counts: z.strictObject({ ok: z.int(), wrong: z.int(), notChecked: z.int(), notApplicable: z.int() }),
  tookMs: z.number(),
});
export type HeartbeatCheck = z.infer<typeof heartbeatCheckSchema>;
