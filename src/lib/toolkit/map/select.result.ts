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
      'to-do: a dry run. selected: it is the current map, and the robot drives by what is stored for it. running-differs: it is the current map, and the robot drives by something else. maps-changed: it is the current map, and a stored map is not what it was. unknown: which map is current is not known.',
    ),
  address: mapAddressSchema,
  chassis: mapChassisSchema,
  map: listedMapSchema.describe('The map that was named.'),
  before: listedMapSchema
    .nullable()
    .describe('The current map of before; null when none was in use. id -1: set from data.'),
  runningBefore: runningMapSchema,
  stillness: stillnessSchema.nullable().describe('null when nothing was sent.'),
  safetyBackup: safetyBackupSchema.nullable().describe('Every map as it was before; null when nothing was sent.'),
  use: z
    .strictObject({ outcome: z.enum(['set', 'not-set', 'not-started', 'unknown']), why: z.string().nullable() })
    .nullable()
    .describe('Whether the chassis names it as the current map; null when nothing was sent.'),
  running: runningMapSchema.nullable().describe('After it; null when nothing was sent.'),
  stored: z
    .strictObject({
      verdict: z.enum(['unchanged', 'changed', 'not-checked']),
      changes: z.array(
        z.strictObject({
          id: z.int(),
          name: z.string(),
          fate: z.enum(['changed', 'lost']),
          changes: z.array(z.string()),
          difference: overlaysDifferenceSchema.nullable(),
        }),
      ),
    })
    .nullable()
    .describe('Every stored map beside what it was before; null when nothing was sent.'),
  position: z
    .enum(['untouched', 'must-be-set-anew'])
    .describe('must-be-set-anew: the position is not expected to survive it; whether it did was not asked.'),
  interrupted: z.boolean(),
  facts: z.array(citedFactSchema),
  next: z.array(z.string()).describe('What to do next: sentences and commands.'),
});
export type MapSelect = z.infer<typeof mapSelectSchema>;
