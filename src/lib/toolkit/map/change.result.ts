import { z } from 'zod';
import { factBases, marks } from '../../evidence/index.ts';
import { damagedMapSchema, mapAddressSchema, mapChassisSchema } from './map.result.ts';
import { overlaysDifferenceSchema, runningMapSchema } from './running-map.result.ts';

/** A fact that a result relies on or leaves open. */
export const citedFactSchema = z.strictObject({
  id: z.string(),
  mark: z.enum(marks),
  basis: z.enum(factBases).describe('Basis of the mark.'),
  statement: z.string(),
  source: z.string(),
});
export type CitedFact = z.infer<typeof citedFactSchema>;

export const stillnessSchema = z.strictObject({
  verdict: z.enum(['still', 'moving', 'not-checked']).describe('not-checked: a person confirmed that it stands still.'),
  detail: z.string(),
});

export const usedBackupSchema = z.strictObject({
  file: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  createdAt: z.string(),
  complete: z.boolean().describe('Whether it has every map of the chassis with all its files.'),
  serial: z.string().describe('Chassis of the backup.'),
  software: z.string().nullable(),
  maps: z.int().describe('Readable ones.'),
  damaged: z
    .array(damagedMapSchema)
    .describe('Of the requested maps, those that were damaged at the backup: it cannot restore them.'),
});

/** Backup of the chassis before the first order. */
export const safetyBackupSchema = z.strictObject({
  file: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  maps: z.int(),
  lacks: z.array(z.string()),
});

const restoredMapSchema = z.strictObject({
  id: z.int().describe('Number at the time of the backup.'),
  uid: z.string().nullable(),
  name: z.string(),
  wasCurrent: z.boolean().describe('Whether it was the current map when the backup was made.'),
  plan: z
    .enum(['same', 'overlays-differ', 'missing', 'conflict', 'not-restorable'])
    .describe(
      'overlays-differ: its overlays are replaced. missing: it is created. conflict: the chassis has another map in its place.',
    ),
  matchedBy: z.enum(['uid', 'id', 'content']).nullable(),
  idOnChassis: z.int().nullable().describe('Current number on the chassis; null when not stored or unknown.'),
  picture: z.enum(['same', 'differs', 'not-compared']).nullable(),
  why: z.string().nullable().describe('Reason of a conflict or of not-restorable.'),
  notes: z.array(z.string()),
  difference: overlaysDifferenceSchema.nullable().describe('From the overlays on the chassis to those of the backup.'),
  outcome: z
    .enum([
      'dry-run',
      'untouched',
      'not-started',
      'not-sent',
      'written',
      'no-effect',
      'rolled-back',
      'differs',
      'gone',
      'unknown',
    ])
    .describe(
      'rolled-back: the read-back differed, and the old overlays are restored. differs: neither the new nor the old content. gone: no longer listed by the chassis.',
    ),
  contentNow: z.string().describe('Current content on the chassis, or that it is unknown.'),
  orderError: z.string().nullable().describe('Error of the order; null when the chassis accepted it.'),
  rolledBack: z.boolean().describe('Whether the old overlays were sent again.'),
  rollbackError: z.string().nullable().describe('Error of the rollback order.'),
  afterWrite: overlaysDifferenceSchema.nullable().describe('From the sent overlays to those read after the write.'),
  beforeToNow: overlaysDifferenceSchema.nullable().describe('From the old overlays to those read last.'),
  alsoChanged: z.array(z.string()).describe('Other differences of the map.'),
  notCompared: z.array(z.string()),
});
export type RestoredMap = z.infer<typeof restoredMapSchema>;

/** Shape of `gw map restore --json`. */
export const mapRestoreSchema = z.strictObject({
  mode: z.enum(['dry-run', 'write']),
  verdict: z
    .enum(['nothing-to-do', 'to-do', 'restored', 'stored-only', 'incomplete', 'differs', 'unknown'])
    .describe(
      'to-do: a dry run that would write. stored-only: everything is stored as in the backup, but the robot drives by other overlays. incomplete: a map cannot be restored or was not started. differs: WRITE_DIFFERS. unknown: the content on the chassis is unknown.',
    ),
  problem: z.strictObject({ code: z.literal('WRITE_DIFFERS'), title: z.string(), remedy: z.string() }).nullable(),
  address: mapAddressSchema,
  chassis: mapChassisSchema,
  backup: usedBackupSchema,
  fromAnotherRobot: z
    .strictObject({
      serial: z.string().describe('Robot of the backup, as a person named it.'),
      notCounting: z
        .array(z.string())
        .describe('Facts that it has recorded in the evidence file of this site: none of these records counts here.'),
      evidenceProblem: z.string().nullable().describe('Why the evidence file cannot be read; null when it was.'),
      trials: z
        .array(
          z.strictObject({
            kind: z.string(),
            facts: z.array(z.string()),
            recordedBefore: z.array(z.string()).describe('Of these, verified by this robot on the maps it had before.'),
          }),
        )
        .describe('To be repeated by this robot on the copied maps.'),
      places: z
        .array(z.string())
        .describe('Stations and dock of the site file on a copied map: this robot has not measured them there.'),
    })
    .nullable()
    .describe('What a copy from another robot leaves to do; null for a backup of this one.'),
  stillness: stillnessSchema.nullable().describe('null when nothing had to be written.'),
  safetyBackup: safetyBackupSchema
    .nullable()
    .describe('State before the first write; null when nothing was written, or the chassis had no maps.'),
  maps: z.array(restoredMapSchema),
  others: z
    .array(z.strictObject({ id: z.int(), uid: z.string().nullable(), name: z.string() }))
    .describe('Maps of the chassis that are not in the backup: unchanged.'),
  damaged: z.array(damagedMapSchema).describe('Maps of the chassis that cannot be read: unchanged.'),
  use: z
    .strictObject({
      id: z.int().nullable().describe('Number on the chassis; null when unknown.'),
      archivedId: z.int(),
      outcome: z.enum(['dry-run', 'set', 'not-set', 'not-started', 'unknown']),
      why: z.string().nullable(),
    })
    .nullable()
    .describe('Setting the current map: only when the backup has a current map and the chassis has none.'),
  running: runningMapSchema.describe('Comparison of running and stored map, after any writes.'),
  position: z
    .enum(['untouched', 'must-be-set'])
    .describe(
      'must-be-set: the position is expected to be lost with a change of the current map, and is not known on a copied one.',
    ),
  interrupted: z.boolean(),
  notes: z.array(z.string()).describe('Further notes.'),
  facts: z.array(citedFactSchema),
  next: z.array(z.string()).describe('Next steps: sentences and commands.'),
});
export type MapRestore = z.infer<typeof mapRestoreSchema>;

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
  before: listedMapSchema
    .nullable()
    .describe('The current map before; null without one, or while it is not known. id -1: set from data.'),
  beforeProblem: z.string().nullable().describe('Why the current map before is not known; null when it is.'),
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
