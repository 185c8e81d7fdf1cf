import { z } from 'zod';
import { titleSchema } from '../title-schema.ts';

/** What the robot drove, for the manager. */

export const listedDeliverySchema = z.strictObject({
  id: z.string().describe('Of its run.'),
  kind: z.enum(['drive', 'dock', 'tour']),
  name: z.string().nullable().describe('Key of the station or the tour; null for the dock.'),
  title: titleSchema.exactOptional(),
  by: z.enum(['page', 'command', 'itself']).nullable().describe('itself: announced by a countdown. null: not known.'),
  begunAt: z.iso.datetime().describe('UTC, by the wall clock of the gateway.'),
  endedAt: z.iso.datetime().nullable().describe('Null while it runs, and where the gateway ended first.'),
  timeZone: z.string().describe('IANA name: that of the gateway then.'),
  result: z
    .enum(['succeeded', 'failed', 'stopped', 'running', 'not-known'])
    .describe('not-known: the gateway ended while it ran. stopped: by a person or a stop.'),
  reason: z.string().nullable().describe('Why it did not succeed, in English.'),
});
export type ListedDelivery = z.infer<typeof listedDeliverySchema>;

/** `GET /api/lieferungen` */
export const deliveryListSchema = z.strictObject({
  timeZone: z.string().describe('IANA name: the time zone of the gateway.'),
  deliveries: z.array(listedDeliverySchema).describe('The newest first.'),
  more: z.int().nonnegative().describe('Older ones that are not listed.'),
  unreadable: z.int().nonnegative().describe('Lines and files of the list that cannot be read.'),
  lost: z
    .int()
    .nonnegative()
    .describe('Lines that were not written since the gateway started; at least one for each day that is full.'),
  trouble: z.string().nullable().describe('Why the list cannot be written now; null: it can.'),
});
export type DeliveryList = z.infer<typeof deliveryListSchema>;

/** What the page has of the list. */
export type DaysView =
  | { readonly state: 'closed' }
  | { readonly state: 'loading' }
  | { readonly state: 'refused'; readonly code: string }
  | { readonly state: 'shown'; readonly list: DeliveryList };
