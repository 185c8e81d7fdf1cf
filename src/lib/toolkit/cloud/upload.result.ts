import { z } from 'zod';
import { cloudStatusWord, uploadViewSchema } from './view.result.ts';

/** `gw cloud upload --json` */
export const cloudUploadSchema = z.strictObject({
  file: z.string(),
  isNew: z.boolean().describe('false: the same archive was added before.'),
  upload: uploadViewSchema.describe('As the gateway reports it, or as it was added.'),
  link: z.strictObject({ status: cloudStatusWord, detail: z.string() }),
  waitedMs: z.number().nullable().describe('With --wait: for how long; null without it.'),
});
export type CloudUpload = z.infer<typeof cloudUploadSchema>;
