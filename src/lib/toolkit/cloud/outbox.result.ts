import { z } from 'zod';
import { cloudStatusWord, outboxViewSchema } from './view.result.ts';

/** `gw cloud outbox --json` */
export const cloudOutboxSchema = z.strictObject({
  link: z.strictObject({ status: cloudStatusWord, detail: z.string(), remedy: z.string().nullable() }),
  outbox: outboxViewSchema.nullable().describe('null: the gateway has none, or it has not been read yet.'),
});
export type CloudOutbox = z.infer<typeof cloudOutboxSchema>;
