import { z } from 'zod';
import { factBases, marks } from '../../evidence/index.ts';
import { overlaysDifferenceSchema } from './change/overlays-difference.result.ts';
import { runningMapSchema } from './change/running-map.result.ts';
import { mapAddressSchema, mapChassisSchema } from './contents/map.result.ts';

/** A fact of the ledger that a result relies on or leaves open. */
export const citedFactSchema = z.strictObject({
  id: z.string(),
  mark: z.enum(marks),
  basis: z.enum(factBases).describe('What the mark rests on.'),
  statement: z.string(),
  source: z.string(),
});
export type CitedFact = z.infer<typeof citedFactSchema>;

export const stillnessSchema = z.strictObject({
  verdict: z.enum(['still', 'moving', 'not-checked']).describe('not-checked: a person said that it stands still.'),
  detail: z.string(),
});

export const usedBackupSchema = z.strictObject({
  file: z.string(),
  bytes: z.int(),
  sha256: z.string(),
  createdAt: z.string(),
  complete: z.boolean(),
  software: z.string().nullable(),
  maps: z.int(),
});

/** The file that keeps what the chassis held before anything was sent. */
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
  wasInUse: z.boolean(),
  plan: z
    .enum(['same', 'overlays-differ', 'missing', 'conflict', 'cannot'])
    .describe(
      'overlays-differ: its overlays are replaced. missing: it is created. conflict: the chassis holds another map in its place.',
    ),
  matchedBy: z.enum(['uid', 'id', 'content']).nullable(),
  idOnChassis: z.int().nullable().describe('Number on the chassis now; null when it is not there or not known.'),
  picture: z.enum(['same', 'differs', 'not-compared']).nullable(),
  why: z.string().nullable().describe('Why it is a conflict, or cannot be.'),
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
      'put-back',
      'differs',
      'gone',
      'unknown',
    ])
    .describe(
      'put-back: the write came out differently, and the old overlays are there again. differs: it holds neither. gone: the chassis lists it no more.',
    ),
  holdsNow: z.string().describe('What the chassis holds of it now, or that this is not known.'),
  said: z.string().nullable().describe('What the chassis said against the write, or how the answer was lost.'),
  undone: z.boolean().describe('The old overlays were sent again.'),
  undoSaid: z.string().nullable(),
  afterWrite: overlaysDifferenceSchema.nullable().describe('From what was sent to what was read after the write.'),
  beforeToNow: overlaysDifferenceSchema.nullable().describe('From what it held before to what was read last.'),
  alsoChanged: z.array(z.string()).describe('What else of the map is not what it was or was sent.'),
  notCompared: z.array(z.string()),
});
export type RestoredMap = z.infer<typeof restoredMapSchema>;

/** Shape of `gw map restore --json`. */
export const mapRestoreSchema = z.strictObject({
  mode: z.enum(['dry-run', 'write']),
  verdict: z
    .enum(['nothing-to-do', 'to-do', 'restored', 'stored-only', 'obstacles', 'differs', 'unknown'])
    .describe(
      'to-do: a dry run that would write. stored-only: everything is stored as it is to be, and the robot drives by something else. obstacles: some map cannot be restored or was not started. differs: WRITE_DIFFERS. unknown: what the chassis holds is not known.',
    ),
  problem: z.strictObject({ code: z.literal('WRITE_DIFFERS'), title: z.string(), remedy: z.string() }).nullable(),
  address: mapAddressSchema,
  chassis: mapChassisSchema,
  backup: usedBackupSchema,
  stillness: stillnessSchema.nullable().describe('null when nothing was to be written.'),
  safetyBackup: safetyBackupSchema
    .nullable()
    .describe('What the chassis held before the first write; null when nothing was written, or when it held no map.'),
  maps: z.array(restoredMapSchema),
  others: z
    .array(z.strictObject({ id: z.int(), uid: z.string().nullable(), name: z.string() }))
    .describe('Maps of the chassis that the backup does not have: untouched.'),
  use: z
    .strictObject({
      id: z.int().nullable().describe('Number on the chassis; null when it is not known.'),
      archivedId: z.int(),
      outcome: z.enum(['dry-run', 'set', 'not-set', 'not-started', 'unknown']),
      why: z.string().nullable(),
    })
    .nullable()
    .describe('Taking a map into use again: only where it was in use at the backup and none is now.'),
  running: runningMapSchema.describe('What the robot drives by beside what is stored, after the writes if any.'),
  position: z
    .enum(['untouched', 'must-be-set-anew'])
    .describe('must-be-set-anew: the position is not expected to survive a change of the map in use.'),
  interrupted: z.boolean(),
  notes: z.array(z.string()).describe('What a person should know beside.'),
  facts: z.array(citedFactSchema),
  next: z.array(z.string()).describe('What to do next: sentences and commands.'),
});
export type MapRestore = z.infer<typeof mapRestoreSchema>;
