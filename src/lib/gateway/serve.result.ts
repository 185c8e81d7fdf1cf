import { z } from 'zod';

/** Shape of one line of `gw serve --json`. */
export const serveEventSchema = z.discriminatedUnion('event', [
  z.strictObject({
    event: z.literal('started'),
    service: z.string(),
    detail: z.string().describe('Current state, for a person.'),
    tookMs: z.number(),
  }),
  z.strictObject({
    event: z.literal('ready'),
    site: z.string().describe('Name of the site.'),
    serial: z.string().describe('Serial number of the chassis that the site file names.'),
    ports: z.strictObject({ operator: z.int(), readOnly: z.int() }),
    tookMs: z.number().describe('From the call to ready.'),
  }),
  z.strictObject({
    event: z.literal('failed'),
    service: z.string(),
    message: z.string(),
    remedy: z.string(),
    retryInMs: z.number().describe('Time until its restart; the other services continue.'),
  }),
  z.strictObject({
    event: z.literal('restarting'),
    reason: z.string().describe('Why it ends, so that its supervisor starts it again.'),
  }),
  z.strictObject({ event: z.literal('stopping') }),
  z.strictObject({ event: z.literal('stopped'), service: z.string(), tookMs: z.number() }),
  z.strictObject({ event: z.literal('stop-failed'), service: z.string(), message: z.string() }),
  z.strictObject({
    event: z.literal('dropped'),
    lines: z.int().describe('Number of lines missing here, because stdout was not read in time.'),
  }),
  z.strictObject({ event: z.literal('ended') }),
]);
export type ServeEvent = z.infer<typeof serveEventSchema>;
