import { z } from 'zod';
import { cloudStatusWord, discardCountsSchema, discardedMessageSchema } from './view.result.ts';

/** `gw cloud discarded --json` */
export const cloudDiscardedSchema = z.strictObject({
  link: z.strictObject({ status: cloudStatusWord, detail: z.string(), remedy: z.string().nullable() }),
  total: z.int().nullable().describe('Since the start of gw; null: nothing was received, so nothing was judged.'),
  byReason: discardCountsSchema.nullable(),
  accepted: z
    .strictObject({ releases: z.int(), stops: z.int(), tunnelNotifications: z.int(), answers: z.int() })
    .nullable()
    .describe('What was not discarded.'),
  last: z.array(discardedMessageSchema).describe('Newest first, without payloads.'),
});
export type CloudDiscarded = z.infer<typeof cloudDiscardedSchema>;
