import { z } from 'zod';
import { mapListItemSchema } from '../../chassis/index.ts';
import { checkVerdictSchema, evidenceSchema, lineSchema } from '../finding.result.ts';

/** Shared schemas of the map results. */

export const mapAddressSchema = z.strictObject({ host: z.string(), port: z.int(), way: z.string() });

export const mapChassisSchema = z.strictObject({
  serial: z.string(),
  software: z.string().nullable(),
  model: z.string().nullable(),
});

export const mapItemSchema = z.strictObject({
  ...mapListItemSchema.shape,
  isCurrent: z.boolean().describe('Whether it is the current map.'),
});

/** A map that the chassis returns damaged. */
export const damagedMapSchema = z.strictObject({
  entry: z
    .int()
    .nullable()
    .describe('Position in the list of the chassis, from 1, of a damaged entry; null where the map behind it is.'),
  id: z.int().nullable().describe('null where the entry gives none.'),
  uid: z.string().nullable(),
  name: z.string().nullable(),
  called: z.string().describe('Its name in messages: map 2 "Floor 2".'),
  why: z.string().describe('Error of the chassis, or problem of the received data.'),
});
export type DamagedMapView = z.infer<typeof damagedMapSchema>;

export const mapFieldsSchema = z.record(z.string(), evidenceSchema).describe('Evidence marks by field name.');

export const mapMissingSchema = z.array(
  z.strictObject({
    what: z.enum(['image', 'localisation']),
    why: z.string().describe('Error of the chassis, or problem of the received data.'),
  }),
);

export const mapOverlaysSchema = z.strictObject({
  form: z.enum(['text', 'object', 'none']).describe('JSON form of the overlays in the map.'),
  bytes: z.int(),
  count: z
    .strictObject({ point: z.int(), lane: z.int(), zone: z.int(), other: z.int() })
    .nullable()
    .describe('null when the overlays are not readable.'),
  problem: z.string().nullable().describe('Why they are not readable.'),
});
export type MapOverlays = z.infer<typeof mapOverlaysSchema>;

const filesSchema = z.array(z.strictObject({ name: z.string(), bytes: z.int(), sha256: z.string() }));

/** Shape of `gw map backup --json` and `gw map verify --json`: a verified backup file. */
export const mapArchiveSchema = z.strictObject({
  verdict: checkVerdictSchema,
  file: z.string(),
  bytes: z.int(),
  sha256: z.string().describe('SHA-256 of the whole file.'),
  createdAt: z.string().describe('UTC of the machine that ran the backup, for display.'),
  gwVersion: z.string(),
  chassis: mapChassisSchema,
  complete: z.boolean().describe('Whether every map of the chassis is included with all its files.'),
  maps: z.array(
    z.strictObject({
      ...mapItemSchema.shape,
      files: filesSchema,
      picture: z.strictObject({ width: z.int(), height: z.int() }).nullable().describe('Size in pixels.'),
      overlays: mapOverlaysSchema,
      missing: mapMissingSchema,
    }),
  ),
  damaged: z
    .array(z.strictObject({ ...damagedMapSchema.shape, isCurrent: z.boolean(), files: filesSchema }))
    .describe('Maps that could not be read: `files` are the answers of the chassis, kept as received.'),
  findings: z.array(lineSchema).describe('The line about restoring does not decide: no file can show it.'),
});
export type MapArchiveView = z.infer<typeof mapArchiveSchema>;

/** Shape of `gw map list --json`. */
export const mapListSchema = z.strictObject({
  address: mapAddressSchema,
  chassis: mapChassisSchema,
  maps: z.array(mapItemSchema),
  damaged: z.array(damagedMapSchema).describe('Entries of the list that cannot be read; a backup keeps their answers.'),
  currentProblem: z.string().nullable().describe('Why the current map is not known; null when it is.'),
  current: z
    .strictObject({
      id: z.int().describe('-1: set from data, not stored.'),
      uid: z.string().nullable(),
      name: z.string().nullable(),
      isStored: z.boolean().describe('Whether it is in the list, so that a backup contains it.'),
    })
    .nullable()
    .describe('The current map; null without one.'),
  fields: mapFieldsSchema,
});
export type MapList = z.infer<typeof mapListSchema>;

const content = { bytes: z.int(), sha256: z.string() };

/** Shape of `gw map show --json`. */
export const mapShowSchema = z.strictObject({
  address: mapAddressSchema,
  chassis: mapChassisSchema,
  map: mapItemSchema,
  data: z.strictObject(content).describe('GET /maps/<id>, byte for byte.'),
  frame: z
    .strictObject({
      originXM: z.number().describe('Position of the lower left pixel.'),
      originYM: z.number(),
      resolutionM: z.number().describe('Metres per pixel.'),
      widthM: z.number().nullable().describe('null without a picture.'),
      heightM: z.number().nullable(),
    })
    .nullable()
    .describe('null when the map has no valid grid.'),
  picture: z
    .strictObject({ ...content, width: z.int(), height: z.int() })
    .nullable()
    .describe('Size in pixels; null without a valid picture: see missing.'),
  localisation: z.strictObject(content).nullable().describe('Opaque data of the chassis.'),
  overlays: mapOverlaysSchema,
  missing: mapMissingSchema.describe('Files that a backup of this map would lack.'),
  fields: mapFieldsSchema,
});
export type MapShow = z.infer<typeof mapShowSchema>;
