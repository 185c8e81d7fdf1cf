import { z } from 'zod';
import { bases, marks } from '../../evidence/index.ts';
import { codeFieldSchema, fieldSchema, openedMapSchema, openedSourceSchema, readingSchema } from './inspect.result.ts';
import { fromTo, refKindSchema, shapeSchema } from './shape-change.result.ts';

const sideSchema = z.strictObject({ source: openedSourceSchema, map: openedMapSchema });

const refSchema = z.strictObject({
  index: z.int().describe('Its place in the collection of its side, from 0.'),
  id: z.string().nullable(),
  name: z.string().nullable(),
  kind: refKindSchema,
  xM: z.number().nullable().describe('Of a point, or of the middle between the corners.'),
  yM: z.number().nullable(),
});

const valueSchema = z.strictObject({
  in: z.enum(['collection', 'feature', 'properties', 'document']),
  name: z.string(),
  change: z
    .enum(['added', 'removed', 'value', 'type', 'doubled'])
    .describe('type: another JSON type. doubled: the key stands twice, so nobody can say which value counts.'),
  ...fromTo,
});

const diffSchema = z.strictObject({
  same: z.boolean().describe('Every feature, their order, every value with its JSON type, every member.'),
  sameText: z.boolean().describe('Character for character.'),
  counts: z.strictObject({
    from: z.int().describe('Entries on the old side.'),
    to: z.int(),
    unchanged: z.int(),
    changed: z.int(),
    moved: z.int().describe('Of the changed ones: another place or form.'),
    reshaped: z.int().describe('Of the moved ones: another form, size or direction, not only another place.'),
    turned: z.int().describe('Of the changed ones: another heading.'),
    recoded: z.int().describe('Of the changed ones: another code.'),
    otherwise: z.int().describe('Of the changed ones: anything else: the id, another JSON type.'),
    added: z.int(),
    removed: z.int(),
    reordered: z.int(),
  }),
  changed: z.array(
    z.strictObject({
      from: refSchema,
      to: refSchema,
      pairedBy: z
        .enum(['id', 'geometry', 'nearness'])
        .describe('How the two were found to be one feature. nearness is a guess.'),
      shape: shapeSchema.nullable().describe('null: the geometry is the same.'),
      turns: z.array(
        z.strictObject({
          field: z.enum(['yaw', 'iconYaw']),
          fromDeg: z.number().nullable().describe('null: not there, or no number.'),
          toDeg: z.number().nullable(),
          turnedDeg: z.number().nullable().describe('The short way round, growing as the angle grows.'),
          ...fromTo,
        }),
      ),
      codes: z.array(
        z.strictObject({
          field: codeFieldSchema,
          from: z.int().nullable().describe('null: not there, or no whole number.'),
          to: z.int().nullable(),
          ...fromTo,
        }),
      ),
      values: z.array(valueSchema).describe('Every other member that is not the same.'),
    }),
  ),
  added: z.array(refSchema).describe('Only on the new side.'),
  removed: z.array(refSchema).describe('Only on the old side.'),
  reordered: z
    .array(z.strictObject({ from: refSchema, to: refSchema }))
    .describe('The fewest features that stand elsewhere in the order.'),
  members: z
    .array(valueSchema)
    .describe('Members of the collection beside its features, and of what stands around it.'),
  notation: z
    .strictObject({
      numbers: z.int(),
      examples: z.array(
        z.strictObject({
          index: z.int().nullable().describe('Feature on the old side; null: a member of the collection.'),
          path: z.string(),
          fromJson: z.string(),
          toJson: z.string(),
        }),
      ),
    })
    .describe('Numbers that are equal and written differently, as 1.0 and 1: how many, and the first of them.'),
});

/** Shape of `gw overlays diff --json`. */
export const overlaysDiffSchema = z.strictObject({
  from: sideSchema.describe('The old side, named first.'),
  to: sideSchema.describe('The new side.'),
  diff: diffSchema,
  fields: z.record(z.string(), fieldSchema).describe('Unit, mark and source of every number with this name.'),
  codes: z
    .array(
      z.strictObject({
        field: codeFieldSchema,
        number: z.int(),
        mark: z.enum(marks).describe('How well its meaning is known.'),
        basis: z.enum(bases).describe('What the mark rests on.'),
        readings: z.array(readingSchema),
        disagreement: z.string().nullable().describe('Id in the ledger where the readings differ.'),
      }),
    )
    .describe('Every number that a code changed from or to, with all that is known of it.'),
  warnings: z.array(z.string()).describe('What a reader must know before trusting the comparison.'),
  document: z
    .string()
    .nullable()
    .describe('The document that was asked for; null where it was written to a file or none was asked for.'),
  written: z
    .strictObject({ format: z.enum(['svg', 'html']), path: z.string(), bytes: z.int() })
    .nullable()
    .describe('The file that was written; null when none was asked for.'),
});
export type OverlaysDiffResult = z.infer<typeof overlaysDiffSchema>;
