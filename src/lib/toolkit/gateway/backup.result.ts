import { z } from 'zod';
import { checkVerdictSchema, lineSchema } from '../finding.result.ts';

const leftOutSchema = z.strictObject({
  path: z.string().describe('Relative to the folder of the site file; absolute for one outside of it.'),
  holds: z.string(),
  reason: z.string(),
  anew: z.string().describe('What a person does to have it again.'),
});

const backup = {
  verdict: checkVerdictSchema,
  file: z.string(),
  bytes: z.int(),
  sha256: z.string().describe('Of the archive.'),
  createdAt: z.string().describe('UTC by the clock of the machine that made it.'),
  gwVersion: z.string(),
  host: z.string().describe('Name of that machine.'),
  serial: z.string().describe('Of the robot, by its site file.'),
  parts: z
    .array(
      z.strictObject({ holds: z.string(), files: z.int(), bytes: z.int().nullable().describe('null: encrypted.') }),
    )
    .describe('What is inside, by what it holds.'),
  leftOut: z.array(leftOutSchema),
  findings: z.array(lineSchema),
};

/** `gw gateway backup --json`, `gw gateway verify --json` */
export const gatewayBackupSchema = z.strictObject(backup);
export type GatewayBackup = z.infer<typeof gatewayBackupSchema>;

/** `gw gateway restore --json` */
export const gatewayRestoreSchema = z.strictObject({
  ...backup,
  state: z.enum(['dry-run', 'refused', 'restored']).describe('dry-run: nothing was written, and nothing forbids it.'),
  site: z.string().describe('Site file that is restored, absolute.'),
  files: z.array(
    z.strictObject({
      path: z.string().describe('Absolute.'),
      bytes: z.int(),
      action: z.enum(['write', 'same', 'conflict']).describe('conflict: something else is there.'),
    }),
  ),
  movedAside: z
    .array(z.strictObject({ from: z.string(), to: z.string() }))
    .describe('In a dry run: what would be moved.'),
});
export type GatewayRestore = z.infer<typeof gatewayRestoreSchema>;
