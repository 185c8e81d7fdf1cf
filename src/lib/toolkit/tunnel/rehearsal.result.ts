import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';

/** 'tunnel rehearsal': a session of remote support that a person opens in the cloud console during the check. */
export const tunnelRehearsalSchema = z.strictObject({
  serial: z.string(),
  session: z.string().nullable().describe('Id of the session that was opened during the check; null: none.'),
  services: z.array(z.string()).nullable().describe('Services of this session.'),
  connections: z.int().nullable().describe('Connections through the tunnel that were reported; null: no report.'),
  waitedMs: z.number().describe('From the request to the person at the cloud console to the start of the session.'),
  findings: z.array(findingSchema),
});
export type TunnelRehearsal = z.infer<typeof tunnelRehearsalSchema>;
