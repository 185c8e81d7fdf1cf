import { z } from 'zod';
import { refKindSchema, shapeSchema } from '../../overlays/shape-change.result.ts';

/** The difference of two texts of overlays, in numbers and in its first sentences. */
export const overlaysDifferenceSchema = z.strictObject({
  same: z.boolean().describe('Every feature, its order and every value with its JSON type are the same.'),
  sameText: z.boolean().describe('Character for character.'),
  counts: z
    .strictObject({
      from: z.int(),
      to: z.int(),
      changed: z.int(),
      moved: z.int().describe('Of the changed ones: another place or form.'),
      reshaped: z.int().describe('Of the moved ones: another form, size or direction.'),
      turned: z.int(),
      recoded: z.int(),
      otherwise: z.int(),
      added: z.int(),
      removed: z.int(),
      reordered: z.int(),
      members: z.int().describe('Members of the collection beside its features.'),
    })
    .nullable()
    .describe('null when the texts are the same, or when one of them cannot be read.'),
  first: z.array(z.string()).describe('The first differences, a sentence each; text of the overlays is shortened.'),
  shapes: z
    .array(shapeSchema.extend({ id: z.string().nullable(), name: z.string().nullable(), kind: refKindSchema }))
    .describe('Place, form and size of the first features whose geometry is not the same, in numbers.'),
  problem: z.string().nullable().describe('Why they cannot be compared.'),
});
export type OverlaysDifference = z.infer<typeof overlaysDifferenceSchema>;
