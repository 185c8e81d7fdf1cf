import { z } from 'zod';
import { bases, hereVerdicts, marks } from '../evidence/index.ts';
import { codeFields, featureKinds, jsonTypes, severities } from './kinds.ts';

/** The parts of results about overlays, and their types. Loaded for published schemas only. */

export const markSchema = z.enum(marks);
export const basisSchema = z.enum(bases).describe('The basis of the mark.');
export const kindSchema = z.enum(featureKinds);
export const codeFieldSchema = z.enum(codeFields);

const hereSchema = z
  .strictObject({ verdict: z.enum(hereVerdicts).exclude(['as-marked']), who: z.string(), when: z.string() })
  .nullable()
  .describe('The evidence record of this device; null without one.');

/** One reading of what a code means. */
export const readingSchema = z.strictObject({
  meaning: z.string().nullable().describe('null: unknown.'),
  mark: markSchema,
  basis: basisSchema,
  source: z.string(),
  fact: z.string(),
  here: hereSchema,
});
export type Reading = z.infer<typeof readingSchema>;

/**
 * A code with every reading of it, shared by all features with this code. Its mark is the best one where all readings
 * agree, otherwise the weakest among the readings with a meaning. Readings verified on this device take precedence,
 * contradicted ones do not count. OFFEN when no reading has a meaning. Project decision.
 */
export const meaningSchema = z.strictObject({
  field: codeFieldSchema,
  number: z.int(),
  mark: markSchema.describe('The mark of its meaning.'),
  basis: basisSchema,
  readings: z.array(readingSchema),
  disagreement: z.string().nullable().describe('Id in the ledger where the readings differ.'),
});
export type CodeMeaning = z.infer<typeof meaningSchema>;

export const findingSchema = z.strictObject({
  rule: z.string(),
  severity: z.enum(severities),
  features: z.array(z.int()).describe('Indices; empty when the finding concerns the map as a whole.'),
  detail: z.string(),
  remedy: z.string(),
  mark: markSchema.nullable().describe('Of the fact that the finding relies on; null: the JSON text alone.'),
  basis: basisSchema.nullable(),
});
export type OverlayFinding = z.infer<typeof findingSchema>;

/**
 * A charging station: an unordered pair of a charger and a docking point (BELEGT that it is a pair). Which two belong
 * together follows from the vendor's `dockingPointId` (HINWEIS) on either side. At least one of the two is present.
 */
export const pairSchema = z.strictObject({
  charger: z.int().nullable().describe('Index of the feature; null when no charger belongs to the docking point.'),
  dockingPoint: z.int().nullable().describe('Index of the feature; null when no docking point belongs to the charger.'),
  linkedBy: z
    .enum(['both', 'charger', 'docking-point', 'not-decided'])
    .nullable()
    .describe(
      'The side with the reference. not-decided: several items share the id that is referred to. null: no reference leads to a partner.',
    ),
  chargerReference: z.string().nullable().describe('dockingPointId of the charger.'),
  dockingPointReference: z.string().nullable().describe('dockingPointId of the docking point.'),
  distanceM: z.number().nullable().describe('Distance between the two in the overlays.'),
});
export type ChargerPair = z.infer<typeof pairSchema>;

/** A member that gw does not interpret and carries through unchanged. */
export const carriedSchema = z.strictObject({
  in: z.enum(['collection', 'feature', 'properties']),
  name: z.string(),
  count: z.int(),
  kinds: z.array(kindSchema).describe('Kinds of features with this member; empty for a member of the collection.'),
  types: z.array(z.enum(jsonTypes)),
});
export type CarriedMember = z.infer<typeof carriedSchema>;

/** One statement of the platform's specification about overlays, with the corresponding content of this map. */
export const knownRowSchema = z.strictObject({
  group: z.enum(['known', 'not-shown']),
  fact: z.string(),
  statement: z.string(),
  mark: markSchema,
  basis: basisSchema,
  source: z.string(),
  here: hereSchema,
  found: z.string().describe('The content of this map.'),
});
export type KnownRow = z.infer<typeof knownRowSchema>;

const jsonText = z.string().nullable().describe('JSON text of the source; null: missing.');
/** The JSON text of both sides. */
const fromTo = { fromJson: jsonText, toJson: jsonText };

const refKindSchema = z
  .enum(['point', 'lane', 'zone', 'other', 'no-feature'])
  .describe('no-feature: an entry that is not an object.');

/** A changed geometry. */
export const shapeSchema = z.strictObject({
  fromType: z.string().nullable(),
  toType: z.string().nullable(),
  movedM: z.number().nullable().describe('Displacement of the point, or of the mean of the corners.'),
  largestShiftM: z
    .number()
    .nullable()
    .describe(
      'Largest displacement of a corner, where both sides have the same number; for the order that minimises it.',
    ),
  isMovedAsWhole: z.boolean().describe('Every corner has the same displacement: moved, form unchanged.'),
  fromCorners: z.int().nullable(),
  toCorners: z.int().nullable(),
  fromLengthM: z.number().nullable().describe('Of a line.'),
  toLengthM: z.number().nullable(),
  fromAreaM2: z.number().nullable().describe('Of a zone, without its holes; null where a further ring is no hole.'),
  toAreaM2: z.number().nullable(),
  isReversed: z.boolean().describe('The order of the places of a line is reversed.'),
  isRewound: z.boolean().describe('The outline of a zone starts at another corner or has the opposite orientation.'),
  first: z
    .strictObject({ path: z.string(), ...fromTo })
    .nullable()
    .describe('The first difference of the geometries, where none of the values above shows it.'),
});
export type ShapeChange = z.infer<typeof shapeSchema>;

/** A reference to a feature in a difference. */
export const refSchema = z.strictObject({
  index: z.int().describe('Index in the collection of its side, from 0.'),
  id: z.string().nullable(),
  name: z.string().nullable(),
  kind: refKindSchema,
  xM: z.number().nullable().describe('Of a point, or of the mean of the corners.'),
  yM: z.number().nullable(),
});
export type FeatureRef = z.infer<typeof refSchema>;

/** A member that differs. */
const valueSchema = z.strictObject({
  in: z.enum(['collection', 'feature', 'properties', 'document']),
  name: z.string(),
  change: z
    .enum(['added', 'removed', 'value', 'type', 'duplicate-key'])
    .describe(
      'type: another JSON type. duplicate-key: one object has the key twice, so the applicable value is undefined.',
    ),
  ...fromTo,
});
export type ValueChange = z.infer<typeof valueSchema>;

/** A feature on both sides with a difference. */
const changedSchema = z.strictObject({
  from: refSchema,
  to: refSchema,
  pairedBy: z.enum(['id', 'geometry', 'nearness']).describe('How the two were matched. nearness is a guess.'),
  shape: shapeSchema.nullable().describe('null: the geometry is the same.'),
  turns: z.array(
    z.strictObject({
      field: z.enum(['yaw', 'iconYaw']),
      fromDeg: z.number().nullable().describe('null: missing, or not a number.'),
      toDeg: z.number().nullable(),
      turnedDeg: z.number().nullable().describe('The smaller rotation, counter-clockwise positive.'),
      ...fromTo,
    }),
  ),
  codes: z.array(
    z.strictObject({
      field: codeFieldSchema,
      from: z.int().nullable().describe('null: missing, or not a whole number.'),
      to: z.int().nullable(),
      ...fromTo,
    }),
  ),
  values: z.array(valueSchema).describe('Every other member that differs.'),
});
export type ChangedFeature = z.infer<typeof changedSchema>;
export type CodeChange = ChangedFeature['codes'][number];
export type TurnChange = ChangedFeature['turns'][number];

/**
 * The difference of two collections, the left one being the old one. Numbers are compared by value, integers beyond the
 * exact range digit by digit. Key order and whitespace are insignificant in JSON and ignored; the order of the features
 * counts.
 */
export const diffSchema = z.strictObject({
  same: z.boolean().describe('Equal features, order, values with JSON types, and members.'),
  sameText: z.boolean().describe('The texts are identical.'),
  counts: z.strictObject({
    from: z.int().describe('Entries on the old side.'),
    to: z.int(),
    unchanged: z.int(),
    changed: z.int(),
    moved: z.int().describe('Of the changed ones: another place or form.'),
    reshaped: z.int().describe('Of the moved ones: another form, size or direction, not only another place.'),
    turned: z.int().describe('Of the changed ones: another heading.'),
    recoded: z.int().describe('Of the changed ones: another code.'),
    otherwise: z.int().describe('Of the changed ones: anything else, such as id or JSON type.'),
    added: z.int(),
    removed: z.int(),
    reordered: z.int(),
  }),
  changed: z.array(changedSchema),
  added: z.array(refSchema).describe('Only on the new side.'),
  removed: z.array(refSchema).describe('Only on the old side.'),
  reordered: z
    .array(z.strictObject({ from: refSchema, to: refSchema }))
    .describe('The smallest set of features whose removal makes both orders equal.'),
  members: z
    .array(valueSchema)
    .describe('Members of the collection beside its features, and of the document around it.'),
  notation: z
    .strictObject({
      numbers: z.int(),
      examples: z.array(
        z.strictObject({
          index: z.int().nullable().describe('Index on the old side; null: a member of the collection.'),
          path: z.string(),
          fromJson: z.string(),
          toJson: z.string(),
        }),
      ),
    })
    .describe('Equal numbers in different notation, as 1.0 and 1: count and first examples.'),
});
export type OverlaysDiff = z.infer<typeof diffSchema>;
export type NumberNotation = OverlaysDiff['notation']['examples'][number];
