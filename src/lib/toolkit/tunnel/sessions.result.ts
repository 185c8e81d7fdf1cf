import { z } from 'zod';
import { sessionEntrySchema } from './support.result.ts';

/** `gw tunnel sessions --json` */
export const tunnelSessionsSchema = z.strictObject({
  sessions: z
    .array(sessionEntrySchema)
    .nullable()
    .describe('Sessions and refusals, newest first; null: the running gateway has no cloud and reads no records.'),
  hasMore: z.boolean().describe('Whether there are older ones.'),
  running: z.string().nullable().describe('Id of the session that runs now; null: none.'),
});
export type TunnelSessions = z.infer<typeof tunnelSessionsSchema>;
