import { z } from 'zod';
import { incidentBodySchema, incidentHeadSchema, incidentListSchema } from '../../pages/index.ts';

/** `gw incident list --json` */
export const incidentsSchema = incidentListSchema.extend({
  incidents: z.array(
    incidentListSchema.shape.incidents.element.extend({ summary: z.string().describe('Its causes in words.') }),
  ),
});
export type Incidents = z.infer<typeof incidentsSchema>;

/** `gw incident show --json` */
export const shownIncidentSchema = z.strictObject({
  path: z.string().nullable().describe('The file that was read; null: from the gateway.'),
  sha256: z.string().describe('Of the first two lines of its file: it shows damage, not forgery.'),
  head: incidentHeadSchema,
  events: z
    .array(
      z.strictObject({
        atMs: z.number(),
        kind: z.enum(['cause', 'event']),
        text: z.string(),
      }),
    )
    .describe('What happened in words, oldest first.'),
  log: incidentBodySchema.shape.log,
  leftOut: incidentBodySchema.shape.leftOut,
  poses: z.int().describe('How many poses it holds.'),
  maps: z
    .array(incidentBodySchema.shape.maps.unwrap().element.extend({ poses: z.int() }))
    .describe('The maps of its poses, and how many count on each; the other poses count on a map that is not known.'),
});
export type ShownIncident = z.infer<typeof shownIncidentSchema>;

/** `gw incident export --json` */
export const exportedIncidentSchema = z.strictObject({
  path: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  head: incidentHeadSchema,
});
export type ExportedIncident = z.infer<typeof exportedIncidentSchema>;
