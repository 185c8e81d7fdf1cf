import { z } from 'zod';

/** Shape of `gw heartbeat send --json`. */
export const heartbeatSendSchema = z.strictObject({
  serial: z.string().describe('The serial that the test beats carry; it is no robot.'),
  times: z.int().describe('How many were to be sent each way.'),
  ways: z.array(
    z.strictObject({
      to: z.string(),
      from: z.string().nullable().describe('Address of the interface that broadcast; null for a beat to one address.'),
      sent: z.int(),
      failure: z.string().nullable().describe('Why the operating system did not send one.'),
    }),
  ),
});
export type HeartbeatSend = z.infer<typeof heartbeatSendSchema>;
