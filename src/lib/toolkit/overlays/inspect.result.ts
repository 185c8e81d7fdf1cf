import { z } from 'zod';
import { bases, hereVerdicts, marks } from '../../evidence/index.ts';
import { jsonTypes, overlaysContainers, selectableKinds, severities } from '../../overlays/index.ts';
import { knownSchema } from '../known.result.ts';
import { runningMapSchema } from '../map/change/running-map.result.ts';

const markSchema = z.enum(marks);
const basisSchema = z.enum(bases).describe('What the mark rests on.');
export const kindSchema = z.enum(['point', 'lane', 'zone', 'other']);
export const codeFieldSchema = z.enum(['type', 'lineType', 'regionType', 'direction', 'startType', 'endType']);
const documentFormatSchema = z.enum(['geojson', 'svg', 'html', 'csv']);
export type DocumentFormat = z.infer<typeof documentFormatSchema>;

const hereSchema = z
  .strictObject({ verdict: z.enum(hereVerdicts).exclude(['as-marked']), who: z.string(), when: z.string() })
  .nullable()
  .describe('What was recorded on this very device; null when nothing was.');

export const fieldSchema = z.strictObject({
  unit: z.string(),
  mark: markSchema,
  basis: basisSchema,
  source: z.string(),
  fact: z.string().describe('Id in the ledger of evidence.'),
});

export const readingSchema = z.strictObject({
  meaning: z.string().nullable().describe('null: nobody knows.'),
  mark: markSchema,
  basis: basisSchema,
  source: z.string(),
  fact: z.string(),
  here: hereSchema,
});

const codeSchema = z.strictObject({
  field: codeFieldSchema,
  number: z.int().nullable().describe('null: what is written is no whole number.'),
  count: z.int().describe('Features of the whole map that carry it.'),
  mark: markSchema.describe('How well its meaning is known: the weakest mark among the readings that name one.'),
  basis: basisSchema,
  readings: z.array(readingSchema).describe('Every reading, the best known first. With several, they disagree.'),
  disagreement: z.string().nullable().describe('Id in the ledger where the readings differ.'),
});

const featureSchema = z.strictObject({
  index: z.int().describe('Its place in the collection, from 0.'),
  id: z.string().nullable(),
  kind: kindSchema,
  name: z.string().nullable(),
  xM: z.number().nullable().describe('Of a point.'),
  yM: z.number().nullable().describe('Of a point.'),
  yawDeg: z.number().nullable().describe('null: it has none, or what is written is no number.'),
  iconYawDeg: z.number().nullable(),
  codes: z
    .array(z.strictObject({ field: codeFieldSchema, number: z.int().nullable(), mark: markSchema, basis: basisSchema }))
    .describe('Its own kind first. What each number means stands once in `codes` of the result.'),
  feature: z
    .record(z.string(), z.unknown())
    .describe('The feature as it came: geometry, properties and everything else, numbers with all their digits.'),
});
export type InspectedFeature = z.infer<typeof featureSchema>;

export const openedSourceSchema = z.strictObject({
  label: z.string().describe('Where the features are from, for a person.'),
  kind: z.enum(['live', 'file']),
  form: z
    .enum(['collection', 'text-in-map', 'object-in-map', 'wrapped'])
    .describe('The form in which the collection came.'),
  container: z
    .enum(overlaysContainers)
    .describe('What held the features. Anything but a feature-collection was read as one, and a finding says so.'),
  chassis: z
    .strictObject({ serial: z.string(), software: z.string().nullable() })
    .nullable()
    .describe('null when the source names none; then nothing is known of this very device.'),
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
    .describe('What the robot drives by beside what is stored; null unless the map in use was read.'),
  picture: z
    .strictObject({
      originXM: z.number(),
      originYM: z.number(),
      resolutionM: z.number().describe('Metres per pixel.'),
      widthPx: z.int().nullable(),
      heightPx: z.int().nullable(),
    })
    .nullable()
    .describe('Where the picture of the map lies (its lower left pixel); null when the source does not say.'),
  filter: z
    .strictObject({
      kinds: z.array(z.enum(selectableKinds)).nullable(),
      mark: markSchema.nullable(),
      near: z.strictObject({ xM: z.number(), yM: z.number(), radiusM: z.number() }).nullable(),
      withFindings: z.boolean(),
    })
    .nullable()
    .describe('What was asked for; null: everything.'),
  summary: z.strictObject({
    features: z.int().describe('On the whole map.'),
    points: z.int(),
    lanes: z.int(),
    zones: z.int(),
    others: z.int().describe('Carried through, not understood.'),
    chargers: z.int().describe('Points among them that are read as chargers (HINWEIS), each counted once.'),
    chargingStations: z.int().describe('Pairs of a charger and a docking point; incomplete ones do not count.'),
    notFeatures: z.int().describe('Entries of the collection that are no features at all.'),
    selected: z.int().describe('Features that passed the filter: those in `features`.'),
    findings: z.record(z.enum(severities), z.int()),
  }),
  fields: z
    .record(z.string(), fieldSchema)
    .describe('Unit, mark and source of every number with this name in the result.'),
  codes: z.array(codeSchema).describe('Every code of the whole map with all that is known of it.'),
  features: z.array(featureSchema).describe('The selected features in their order.'),
  chargers: z.strictObject({
    measuredOnce: knownSchema(z.number()).describe('The one pair that was measured. Not known to be a constant.'),
    pairs: z.array(
      z.strictObject({
        charger: z
          .int()
          .nullable()
          .describe('Index of the feature; null when no charger belongs to the docking point.'),
        dockingPoint: z
          .int()
          .nullable()
          .describe('Index of the feature; null when no docking point belongs to the charger.'),
        namedBy: z
          .enum(['both', 'charger', 'docking-point', 'not-decided'])
          .nullable()
          .describe(
            'Which of the two carries the reference. not-decided: several items share the id that is referred to. null: no reference leads to a partner.',
          ),
        named: z.string().nullable().describe('dockingPointId of the charger.'),
        namedBack: z.string().nullable().describe('dockingPointId of the docking point.'),
        distanceM: z.number().nullable().describe('Between the two in the overlays.'),
      }),
    ),
  }),
  icons: z
    .strictObject({ withBoth: z.int(), withOffset: z.int(), offsetDeg: z.number() })
    .describe('Features with both angles, and how many show the offset: reproducible, unexplained.'),
  carried: z
    .strictObject({
      members: z.array(
        z.strictObject({
          in: z.enum(['collection', 'feature', 'properties']),
          name: z.string(),
          count: z.int(),
          kinds: z.array(kindSchema).describe('Kinds of features that have it; empty for a member of the collection.'),
          types: z.array(z.enum(jsonTypes)),
        }),
      ),
      more: z.int().describe('Names beyond those listed.'),
    })
    .describe('Members that gw gives no meaning and carries through untouched.'),
  findings: z.array(
    z.strictObject({
      rule: z.string(),
      severity: z.enum(severities),
      features: z.array(z.int()).describe('Their indices; empty when it is about the map as a whole.'),
      detail: z.string(),
      remedy: z.string(),
      mark: markSchema.nullable().describe('Of what the finding relies on; null: the feature speaks for itself.'),
      basis: basisSchema.nullable(),
    }),
  ),
  known: z
    .array(
      z.strictObject({
        group: z.enum(['known', 'not-shown']),
        fact: z.string(),
        statement: z.string(),
        mark: markSchema,
        basis: basisSchema,
        source: z.string(),
        here: hereSchema,
        found: z.string().describe('What this map has of it.'),
      }),
    )
    .describe('Every statement of the specification about maps and features, also what it leaves open.'),
  warnings: z.array(z.string()).describe('What could not be read, and what that means.'),
  document: z
    .string()
    .nullable()
    .describe('The document that was asked for; null where it was written to a file or none was asked for.'),
  written: z
    .strictObject({ format: documentFormatSchema, path: z.string(), bytes: z.int() })
    .nullable()
    .describe('The file that was written; null when none was asked for.'),
});
export type OverlaysInspect = z.infer<typeof overlaysInspectSchema>;
