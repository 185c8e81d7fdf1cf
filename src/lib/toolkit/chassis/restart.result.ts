import { z } from 'zod';
import { overlaysDifferenceSchema } from '../map/change/overlays-difference.result.ts';
import { runningMapSchema } from '../map/change/running-map.result.ts';
import { mapAddressSchema, mapChassisSchema } from '../map/contents/map.result.ts';
import { citedFactSchema, mapRestoreSchema, stillnessSchema, usedBackupSchema } from '../map/restore.result.ts';

/** Shape of `gw chassis restart --json`. */
export const chassisRestartSchema = z.strictObject({
  verdict: z
    .enum(['ok', 'brought-back', 'lost', 'changed', 'no-restart-seen', 'not-back', 'interrupted'])
    .describe(
      'brought-back: maps were lost and restored. changed: every map exists, but a map, the current map or the running map differs.',
    ),
  address: mapAddressSchema,
  chassis: mapChassisSchema,
  softwareAfter: z.string().nullable().describe('null when the chassis is not connected again, or reports none.'),
  backup: usedBackupSchema,
  stillness: stillnessSchema,
  order: z.enum(['accepted', 'lost']).describe('lost: no response to the order, which can be caused by the restart.'),
  orderError: z.string().nullable(),
  restarted: z.boolean().describe('Whether the signs prove a restart.'),
  signs: z
    .array(z.enum(['start-time', 'starting', 'silence']))
    .describe(
      'start-time: the start time of the software changed. starting: it reported to be starting. silence: no answer.',
    ),
  why: z.string().nullable().describe('Why the chassis is not connected again, from the last attempt.'),
  tookMs: z.number(),
  maps: z
    .array(
      z.strictObject({
        id: z.int().describe('Number before the restart.'),
        uid: z.string().nullable(),
        name: z.string(),
        status: z.enum(['unchanged', 'changed', 'lost', 'not-checked']),
        idNow: z.int().nullable(),
        changes: z.array(z.string()),
        notes: z.array(z.string()),
        difference: overlaysDifferenceSchema.nullable().describe('Difference of the overlays, from before to now.'),
      }),
    )
    .describe('Every map before the restart. Compared: name, map_version, grid, overlays.'),
  notCompared: z.array(z.string()),
  mapInUse: z.strictObject({
    before: z.int().nullable(),
    now: z.int().nullable(),
    verdict: z
      .enum(['same', 'another', 'not-checked'])
      .describe('not-checked: the chassis is not back, or does not store the map that it reports as current.'),
  }),
  running: runningMapSchema
    .nullable()
    .describe('The running map after the restart; null when the chassis is not connected again.'),
  restoreCommand: z.string().nullable().describe('Command that restores lost maps; null without any.'),
  restore: mapRestoreSchema.nullable().describe('The restore that followed, where a person confirmed it.'),
  facts: z.array(citedFactSchema),
  next: z.array(z.string()),
});
export type ChassisRestart = z.infer<typeof chassisRestartSchema>;
