import { z } from 'zod';

/** Shape of `gw heartbeat key new --json`. */
export const heartbeatKeySchema = z.strictObject({
  file: z.string().describe('The file of the new key.'),
  key: z
    .string()
    .regex(/^[0-9a-f]{8}$/)
    .describe('Name of the key: the same on every robot that has it. It does not reveal the key.'),
});
export type HeartbeatKey = z.infer<typeof heartbeatKeySchema>;
