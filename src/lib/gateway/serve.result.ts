import { z } from 'zod';

/** Shape of one line of `gw serve --json`. */
export const serveEventSchema = z.discriminatedUnion('event', [
  z.strictObject({
    event: z.literal('started'),
    service: z.string(),
    detail: z.string().describe('What it does right now, for a person.'),
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
    retryInMs: z.number().describe('It is started anew after so long; the others go on.'),
  }),
  z.strictObject({ event: z.literal('stopping') }),
  z.strictObject({ event: z.literal('stopped'), service: z.string(), tookMs: z.number() }),
  z.strictObject({ event: z.literal('stop-failed'), service: z.string(), message: z.string() }),
  z.strictObject({
    event: z.literal('dropped'),
    lines: z.int().describe('So many lines are missing here: stdout was not read in time.'),
  }),
  z.strictObject({ event: z.literal('ended') }),
]);
export type ServeEvent = z.infer<typeof serveEventSchema>;
