import { z } from 'zod';
import { runningSessionSchema, supportViewSchema } from './support.result.ts';

/** `gw tunnel end --json` */
export const tunnelEndSchema = z.strictObject({
  ended: z.boolean().describe('Whether a session was ended; false: none ran.'),
  status: supportViewSchema.shape.status.describe('Afterwards.'),
  session: runningSessionSchema.nullable().describe('The session that ran before; null: none.'),
  running: runningSessionSchema.nullable().describe('The session that runs afterwards; null: none.'),
});
export type TunnelEnd = z.infer<typeof tunnelEndSchema>;
