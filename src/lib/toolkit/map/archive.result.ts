import { z } from 'zod';
import { checkVerdictSchema, lineSchema } from '../finding.result.ts';
import { mapChassisSchema, mapItemSchema, mapMissingSchema, mapOverlaysSchema } from './contents/map.result.ts';

/** Shape of `gw map backup --json` and `gw map verify --json`: a verified backup file. */
export const mapArchiveSchema = z.strictObject({
  verdict: checkVerdictSchema,
  file: z.string(),
  bytes: z.int(),
  sha256: z.string().describe('SHA-256 of the whole file.'),
  createdAt: z.string().describe('UTC of the machine that ran the backup, for display.'),
  gwVersion: z.string(),
  chassis: mapChassisSchema,
  complete: z.boolean().describe('Whether every map of the chassis is included.'),
  maps: z.array(
    z.strictObject({
      ...mapItemSchema.shape,
      files: z.array(z.strictObject({ name: z.string(), bytes: z.int(), sha256: z.string() })),
      picture: z.strictObject({ width: z.int(), height: z.int() }).nullable().describe('Size in pixels.'),
      overlays: mapOverlaysSchema,
      missing: mapMissingSchema,
    }),
  ),
  findings: z.array(lineSchema).describe('The line about restoring does not decide: no file can show it.'),
});
export type MapArchiveView = z.infer<typeof mapArchiveSchema>;
