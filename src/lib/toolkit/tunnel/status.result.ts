import { z } from 'zod';
import { cloudStatusWord } from '../cloud/view.result.ts';
import { supportViewSchema } from './support.result.ts';

/** `gw tunnel status --json` */
export const tunnelStatusSchema = z.strictObject({
  ...supportViewSchema.shape,
  cloud: z
    .strictObject({ status: cloudStatusWord, detail: z.string(), remedy: z.string().nullable() })
    .describe('The cloud link, by which the notification of a session arrives.'),
});
export type TunnelStatus = z.infer<typeof tunnelStatusSchema>;
