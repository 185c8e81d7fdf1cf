import { z } from 'zod';
import { drawingsDifferenceSchema } from '../map/change/overlays-difference.result.ts';
import { runningMapSchema } from '../map/change/running-map.result.ts';
import { mapAddressSchema, mapChassisSchema } from '../map/contents/map.result.ts';
import { citedFactSchema, mapRestoreSchema, stillnessSchema, usedBackupSchema } from '../map/restore.result.ts';

/** Shape of `gw chassis restart --json`. */
export const chassisRestartSchema = z.strictObject({
  verdict: z
    .enum(['ok', 'brought-back', 'lost', 'changed', 'no-restart-seen', 'not-back', 'interrupted'])
    .describe(
      'brought-back: maps were lost, and the restore that followed brought them back. changed: every map is there, and something about them, about the map in use or about what the robot drives by is not as it must be.',
    ),
  address: mapAddressSchema,
  chassis: mapChassisSchema,
  softwareAfter: z.string().nullable().describe('null when the chassis is not back, or names none.'),
  backup: usedBackupSchema,
  stillness: stillnessSchema,
  order: z.enum(['accepted', 'lost']).describe('lost: no answer to the order came, as it may be with a restart.'),
  said: z.string().nullable(),
  restarted: z.boolean().describe('Whether the signs prove a restart.'),
  signs: z
    .array(z.enum(['start-time', 'starting', 'silence']))
    .describe('start-time: the start of the software is another one. starting: it answered so. silence: no answer.'),
  why: z.string().nullable().describe('Why the chassis is not back, as it last showed.'),
  tookMs: z.number(),
  maps: z
    .array(
      z.strictObject({
        id: z.int().describe('Number before the restart.'),
        uid: z.string().nullable(),
        name: z.string(),
        fate: z.enum(['there', 'changed', 'lost', 'not-checked']),
        idNow: z.int().nullable(),
        changes: z.array(z.string()),
        notes: z.array(z.string()),
        difference: drawingsDifferenceSchema.nullable().describe('From the drawings of before to those of now.'),
      }),
    )
    .describe('Every map of before. Compared: name, map_version, grid, drawings.'),
  notCompared: z.array(z.string()),
  mapInUse: z.strictObject({
    before: z.int().nullable(),
    now: z.int().nullable(),
    verdict: z.enum(['same', 'another', 'not-checked']),
  }),
  running: runningMapSchema
    .nullable()
    .describe('What the robot drives by after the restart, beside what is stored; null when it is not back.'),
  restoreCommand: z.string().nullable().describe('Brings back what is lost; null when nothing is.'),
  restore: mapRestoreSchema.nullable().describe('The restore that followed, where a person asked for it.'),
  facts: z.array(citedFactSchema),
  next: z.array(z.string()),
});
export type ChassisRestart = z.infer<typeof chassisRestartSchema>;
