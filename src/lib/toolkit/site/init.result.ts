import { z } from 'zod';

/** Shape of `gw site init --json`. */
export const siteInitSchema = z.strictObject({
  path: z.string().describe('The written file.'),
  name: z.string(),
  host: z.string(),
  serial: z.string(),
  mac: z.string().nullable(),
  operatorPort: z.int(),
});
export type SiteInit = z.infer<typeof siteInitSchema>;
