import { z } from 'zod';
import { overlaysContainers, overlaysForms, selectableKinds, severities } from '../../overlays/index.ts';
import {
  basisSchema,
  carriedSchema,
  codeFieldSchema,
  findingSchema,
  kindSchema,
  knownRowSchema,
  markSchema,
  meaningSchema,
  pairSchema,
  readingSchema,
} from '../../overlays/schemas.ts';
import { knownSchema } from '../finding.result.ts';
import { runningMapSchema } from '../map/running-map.result.ts';

const documentFormatSchema = z.enum(['geojson', 'svg', 'html', 'csv']);
export type DocumentFormat = z.infer<typeof documentFormatSchema>;

export const fieldSchema = z.strictObject({
  unit: z.string(),
  mark: markSchema,
  basis: basisSchema,
  source: z.string(),
  fact: z.string().describe('Id in the ledger of evidence.'),
});

const codeSchema = z.strictObject({
  field: codeFieldSchema,
  number: z.int().nullable().describe('null: the value is not a whole number.'),
  count: z.int().describe('Features of the whole map with this number.'),
  mark: markSchema.describe('The mark of its meaning: the weakest among disagreeing readings.'),
  basis: basisSchema,
  readings: z.array(readingSchema).describe('Every reading, best mark first. Several readings disagree.'),
  disagreement: meaningSchema.shape.disagreement,
});

const featureSchema = z.strictObject({
  index: z.int().describe('Index in the collection, from 0.'),
  id: z.string().nullable(),
  kind: kindSchema,
  name: z.string().nullable(),
  xM: z.number().nullable().describe('Of a point with one place; null for a MultiPoint of several.'),
  yM: z.number().nullable(),
  yawDeg: z.number().nullable().describe('null: missing, or not a number.'),
  iconYawDeg: z.number().nullable(),
  codes: z
    .array(z.strictObject({ field: codeFieldSchema, number: z.int().nullable(), mark: markSchema, basis: basisSchema }))
    .describe('The code of its kind first. The meanings are in `codes` of the result.'),
  feature: z
    .record(z.string(), z.unknown())
    .describe('The feature as received: geometry, properties and all other members, numbers with all digits.'),
});
export type InspectedFeature = z.infer<typeof featureSchema>;

export const openedSourceSchema = z.strictObject({
  label: z.string().describe('Source of the overlays as text.'),
  kind: z.enum(['live', 'file']),
  form: z.enum(overlaysForms).describe('The form in which the collection was received.'),
  container: z
    .enum(overlaysContainers)
    .describe('The container of the features. Anything but a feature-collection was read as one, with a finding.'),
  chassis: z
    .strictObject({ serial: z.string(), software: z.string().nullable() })
    .nullable()
    .describe('null when the source names none; then no evidence records apply.'),
});

export const openedMapSchema = z
  .strictObject({
    id: z.int().nullable(),
    uid: z.string().nullable(),
    name: z.string().nullable(),
    mapVersion: z.int().nullable(),
    overlaysVersion: z.int().nullable(),
  })
  .nullable()
  .describe('null for a bare collection.');

/** Shape of `gw overlays inspect --json`. */
export const overlaysInspectSchema = z.strictObject({
  source: openedSourceSchema,
  map: openedMapSchema,
  running: runningMapSchema
    .nullable()
    .describe('Comparison of the stored map with the running one; null unless the current map was read.'),
  picture: z
    .strictObject({
      originXM: z.number(),
      originYM: z.number(),
      resolutionM: z.number().describe('Metres per pixel.'),
      widthPx: z.int().nullable(),
      heightPx: z.int().nullable(),
    })
    .nullable()
    .describe('Position of the lower left pixel and scale of the map picture; null when the source has no valid grid.'),
  filter: z
    .strictObject({
      kinds: z.array(z.enum(selectableKinds)).nullable(),
      mark: markSchema.nullable(),
      near: z.strictObject({ xM: z.number(), yM: z.number(), radiusM: z.number() }).nullable(),
      withFindings: z.boolean(),
    })
    .nullable()
    .describe('The given filters; null: everything.'),
  summary: z.strictObject({
    features: z.int().describe('On the whole map.'),
    points: z.int(),
    lanes: z.int(),
    zones: z.int(),
    others: z.int().describe('Carried through, not interpreted.'),
    chargers: z.int().describe('Points that are read as chargers (HINWEIS), each counted once.'),
    chargingStations: z.int().describe('Pairs of a charger and a docking point; incomplete ones do not count.'),
    notFeatures: z.int().describe('Entries of the collection that are not objects.'),
    selected: z.int().describe('Features that passed the filter: those in `features`.'),
    findings: z.record(z.enum(severities), z.int()),
  }),
  fields: z
    .record(z.string(), fieldSchema)
    .describe('Unit, mark and source of every number with this key in the result.'),
  codes: z.array(codeSchema).describe('Every code of the whole map with all its readings.'),
  features: z.array(featureSchema).describe('The selected features in the order of the collection.'),
  chargers: z.strictObject({
    measuredOnce: knownSchema(z.number()).describe(
      'The one measured pair. Whether the distance is a constant is unknown.',
    ),
    pairs: z.array(pairSchema),
  }),
  icons: z
    .strictObject({ withBoth: z.int(), withOffset: z.int(), offsetDeg: z.number() })
    .describe('Features with both angles, and the number of those with the offset: reproducible, unexplained.'),
  carried: z
    .strictObject({
      members: z.array(carriedSchema),
      more: z.int().describe('Names beyond those listed.'),
    })
    .describe('Members that gw does not interpret and carries through unchanged.'),
  findings: z.array(findingSchema),
  known: z
    .array(knownRowSchema)
    .describe('Every statement of the specification about maps and overlays, open questions included.'),
  warnings: z.array(z.string()).describe('Parts that could not be read, with the consequence.'),
  document: z
    .string()
    .nullable()
    .describe('The requested document; null where it was written to a file or none was requested.'),
  written: z
    .strictObject({ format: documentFormatSchema, path: z.string(), bytes: z.int() })
    .nullable()
    .describe('The written file; null when none was requested.'),
});
export type OverlaysInspect = z.infer<typeof overlaysInspectSchema>;
