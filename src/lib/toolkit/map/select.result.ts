import { z } from 'zod';
import { overlaysDifferenceSchema } from './change/overlays-difference.result.ts';
import { runningMapSchema } from './change/running-map.result.ts';
import { mapAddressSchema, mapChassisSchema } from './contents/map.result.ts';
import { citedFactSchema, safetyBackupSchema, stillnessSchema } from './restore.result.ts';

const listedMapSchema = z.strictObject({ id: z.int(), uid: z.string().nullable(), name: z.string().nullable() });

/** Shape of `gw map select --json`. */
export const mapSelectSchema = z.strictObject({
  mode: z.enum(['dry-run', 'select']),
  verdict: z
    .enum(['to-do', 'selected', 'running-differs', 'running-not-checked', 'not-selected', 'maps-changed', 'unknown'])
    .describe(
      'to-do: a dry run. selected: it is the current map, and the robot drives by its stored overlays. running-differs: it is the current map, but the robot drives by other overlays. maps-changed: it is the current map, but a stored map has changed. unknown: the current map is unknown.',
    ),
  address: mapAddressSchema,
  chassis: mapChassisSchema,
  map: listedMapSchema.describe('The requested map.'),
  before: listedMapSchema.nullable().describe('The current map before; null without one. id -1: set from data.'),
  runningBefore: runningMapSchema,
  stillness: stillnessSchema.nullable().describe('null when nothing was sent.'),
  safetyBackup: safetyBackupSchema.nullable().describe('Backup of every map before; null when nothing was sent.'),
  use: z
    .strictObject({ outcome: z.enum(['set', 'not-set', 'not-started', 'unknown']), why: z.string().nullable() })
    .nullable()
    .describe('Whether it is the current map of the chassis; null when nothing was sent.'),
  running: runningMapSchema.nullable().describe('State after the order; null when nothing was sent.'),
  stored: z
    .strictObject({
      verdict: z.enum(['unchanged', 'changed', 'not-checked']),
      changes: z.array(
        z.strictObject({
          id: z.int(),
          name: z.string(),
          status: z.enum(['changed', 'lost']),
          changes: z.array(z.string()),
          difference: overlaysDifferenceSchema.nullable(),
        }),
      ),
    })
    .nullable()
    .describe('Comparison of every stored map with its state before; null when nothing was sent.'),
  position: z
    .enum(['untouched', 'must-be-set'])
    .describe('must-be-set: the position is expected to be lost; it was not read.'),
  interrupted: z.boolean(),
  facts: z.array(citedFactSchema),
  next: z.array(z.string()).describe('Next steps: sentences and commands.'),
});
export type MapSelect = z.infer<typeof mapSelectSchema>;
