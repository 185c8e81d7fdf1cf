import { z } from 'zod';

/** Shape of `gw heartbeat send --json`. */
export const heartbeatSendSchema = z.strictObject({
  serial: z.string().describe('Serial of the test heartbeats; not a robot.'),
  times: z.int().describe('Number of heartbeats per destination.'),
  ways: z.array(
    z.strictObject({
      to: z.string(),
      from: z.string().nullable().describe('Address of the outgoing interface of a broadcast; null for unicast.'),
      sent: z.int(),
      failure: z.string().nullable().describe('Last error of the operating system.'),
    }),
  ),
});
export type HeartbeatSend = z.infer<typeof heartbeatSendSchema>;
