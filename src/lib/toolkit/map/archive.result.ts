import { z } from 'zod';
import { findingSchema } from '../finding.result.ts';
import { mapChassisSchema, mapItemSchema, mapMissingSchema, mapOverlaysSchema } from './contents/map.result.ts';

/** Shape of `gw map backup --json` and `gw map verify --json`: a backup as a file, proven. */
export const mapArchiveSchema = z.strictObject({
  verdict: z.enum(['ok', 'wrong']).describe('wrong when a finding is; a finding that was not checked is neither.'),
  file: z.string(),
  bytes: z.int(),
  sha256: z.string().describe('Of the whole file: write it down beside it.'),
  createdAt: z.string().describe('UTC of the machine that took it, for people.'),
  gwVersion: z.string(),
  chassis: mapChassisSchema,
  complete: z.boolean().describe('Whether every map that the chassis had is in it.'),
  maps: z.array(
    z.strictObject({
      ...mapItemSchema.shape,
      files: z.array(z.strictObject({ name: z.string(), bytes: z.int(), sha256: z.string() })),
      picture: z.strictObject({ width: z.int(), height: z.int() }).nullable().describe('Size in pixels.'),
      overlays: mapOverlaysSchema,
      missing: mapMissingSchema,
    }),
  ),
  findings: z.array(findingSchema),
});
export type MapArchiveView = z.infer<typeof mapArchiveSchema>;
