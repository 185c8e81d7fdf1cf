import { z } from 'zod';

const fields = z.record(z.string(), z.unknown());
const time = z.string().describe('UTC, by the wall clock of the gateway.');

const entrySchema = z.strictObject({
  time: time.describe('Of the first event in it.'),
  level: z.enum(['debug', 'info', 'warn', 'error']),
  message: z.string(),
  fields: fields.describe('Of the first event in it.'),
  count: z.int().min(1).describe('Number of events in this entry; repeated events share one.'),
  lastTime: time.describe('Of the last event in it.'),
  lastFields: fields.nullable().describe('Of the last event in it; null: as those of the first.'),
});

/** `gw log --json`, which is the answer of `GET /api/protokolle`. */
export const gatewayLogSchema = z.strictObject({
  entries: z.array(entrySchema).describe('The last events of every kind, oldest first.'),
  audit: z.array(entrySchema).describe('The last acts of people and failed services of each kind, oldest first.'),
  clientAborts: z.int().min(0).describe('Requests aborted by their clients since the start.'),
});
export type GatewayLog = z.infer<typeof gatewayLogSchema>;
