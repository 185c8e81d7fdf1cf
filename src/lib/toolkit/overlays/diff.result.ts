import { z } from 'zod';
import { bases, marks } from '../../evidence/index.ts';
import { codeFieldSchema, fieldSchema, openedMapSchema, openedSourceSchema, readingSchema } from './inspect.result.ts';
import { fromTo, refKindSchema, shapeSchema } from './shape-change.result.ts';

const sideSchema = z.strictObject({ source: openedSourceSchema, map: openedMapSchema });

const refSchema = z.strictObject({
  index: z.int().describe('Index in the collection of its side, from 0.'),
  id: z.string().nullable(),
  name: z.string().nullable(),
  kind: refKindSchema,
  xM: z.number().nullable().describe('Of a point, or of the mean of the corners.'),
  yM: z.number().nullable(),
});

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

const diffSchema = z.strictObject({
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
  changed: z.array(
    z.strictObject({
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
    }),
  ),
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

/** Shape of `gw overlays diff --json`. */
export const overlaysDiffSchema = z.strictObject({
  from: sideSchema.describe('The old side, the first argument.'),
  to: sideSchema.describe('The new side.'),
  diff: diffSchema,
  fields: z.record(z.string(), fieldSchema).describe('Unit, mark and source of every number with this key.'),
  codes: z
    .array(
      z.strictObject({
        field: codeFieldSchema,
        number: z.int(),
        mark: z.enum(marks).describe('The mark of its meaning.'),
        basis: z.enum(bases).describe('The basis of the mark.'),
        readings: z.array(readingSchema),
        disagreement: z.string().nullable().describe('Id in the ledger where the readings differ.'),
      }),
    )
    .describe('Every number that a code changed from or to, with all its readings.'),
  warnings: z.array(z.string()).describe('Limits of the comparison.'),
  document: z
    .string()
    .nullable()
    .describe('The requested document; null where it was written to a file or none was requested.'),
  written: z
    .strictObject({ format: z.enum(['svg', 'html']), path: z.string(), bytes: z.int() })
    .nullable()
    .describe('The written file; null when none was requested.'),
});
export type OverlaysDiffResult = z.infer<typeof overlaysDiffSchema>;
