import { z } from 'zod';
import { findingSchema } from './finding.result.ts';

/** Shape of `gw heartbeat check --json`. */
export const heartbeatCheckSchema = z.strictObject({
  verdict: z.enum(['ok', 'wrong']).describe('wrong: at least one finding is wrong.'),
  heard: z.array(z.string()).describe('Serials of the other robots that are alive.'),
  expected: z.array(z.string()).describe('Serials that fleet.robots of the site file names, without this robot.'),
  hears: z
    .enum(['everything', 'broadcasts'])
    .describe('broadcasts: the gateway of this machine has the port; what it heard was asked of it.'),
  findings: z.array(findingSchema),
  counts: z.strictObject({ ok: z.int(), wrong: z.int(), notChecked: z.int() }),
  tookMs: z.number(),
});
export type HeartbeatCheck = z.infer<typeof heartbeatCheckSchema>;
