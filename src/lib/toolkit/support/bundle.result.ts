import { z } from 'zod';

const fileSchema = z.strictObject({
  name: z.string().describe('In the archive.'),
  bytes: z.int(),
  sha256: z.string(),
  holds: z.string(),
  redacted: z.int().describe('How many passages were replaced by [redacted].'),
});
const missingSchema = z.strictObject({ name: z.string(), holds: z.string(), reason: z.string() });

const contents = {
  createdAt: z.string().describe('UTC by the clock of the machine that was looked at.'),
  gwVersion: z.string(),
  host: z.string().describe('Name of that machine.'),
  serial: z.string().nullable().describe('By its site file; null: no valid one.'),
  files: z.array(fileSchema),
  missing: z.array(missingSchema).describe('Sources that could not be read, with the reason.'),
};

/** `manifest.json`, the first file of the archive. */
export const bundleManifestSchema = z.strictObject({ format: z.literal('gw/support-bundle/1'), ...contents });
export type BundleManifest = z.infer<typeof bundleManifestSchema>;

/** `gw support bundle --json` */
export const supportBundleSchema = z.strictObject({
  state: z.enum(['written', 'dry-run', 'declined', 'inline']).describe('inline: for --via, within `archive`.'),
  path: z.string().nullable().describe('null: nothing was written.'),
  bytes: z.int().describe('Of the archive.'),
  sha256: z.string().describe('Of the archive.'),
  ...contents,
  archive: z.array(z.string()).nullable().describe('Base64 in parts, for --via only; otherwise null.'),
});
export type SupportBundle = z.infer<typeof supportBundleSchema>;
