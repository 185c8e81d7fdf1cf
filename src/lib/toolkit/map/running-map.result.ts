import { z } from 'zod';
import { refSchema, shapeSchema } from '../../overlays/schemas.ts';

/** The difference of two texts of overlays, in numbers and in its first sentences. */
export const overlaysDifferenceSchema = z.strictObject({
  same: z.boolean().describe('Whether all features, their order and every value with its JSON type are equal.'),
  sameText: z.boolean().describe('Whether the texts are identical.'),
  counts: z
    .strictObject({
      from: z.int(),
      to: z.int(),
      changed: z.int(),
      moved: z.int().describe('Of the changed features: another position or shape.'),
      reshaped: z.int().describe('Of the moved features: another shape, size or direction.'),
      turned: z.int(),
      recoded: z.int(),
      otherwise: z.int(),
      added: z.int(),
      removed: z.int(),
      reordered: z.int(),
      members: z.int().describe('Members of the collection beside its features.'),
    })
    .nullable()
    .describe('null when the texts are identical or one is not readable.'),
  first: z.array(z.string()).describe('The first differences, a sentence each; text of the overlays is shortened.'),
  shapes: z
    .array(shapeSchema.extend({ id: z.string().nullable(), name: z.string().nullable(), kind: refSchema.shape.kind }))
    .describe('Position, shape and size of the first features with a changed geometry, in numbers.'),
  problem: z.string().nullable().describe('Why they cannot be compared.'),
});
export type OverlaysDifference = z.infer<typeof overlaysDifferenceSchema>;

/** Comparison of the running map with the stored one. */
export const runningMapSchema = z.strictObject({
  verdict: z
    .enum(['equal', 'differs', 'another-map', 'none-in-use', 'not-checked'])
    .describe(
      'equal: /map/info announces the overlays stored for the current map. differs: it announces others. another-map: it announces another map than the current one. not-checked: not decidable from what was received.',
    ),
  detail: z.string().describe('Reason of the verdict, as a clause.'),
  mapId: z.int().nullable().describe('The current map; null without one or it is unknown.'),
  uid: z.string().nullable(),
  name: z.string().nullable(),
  announced: z
    .strictObject({
      name: z.string(),
      uid: z.string(),
      mapVersion: z.int().nullable(),
      overlaysVersion: z.int().nullable(),
    })
    .nullable()
    .describe('The message of /map/info without its overlays; null when none was received.'),
  difference: overlaysDifferenceSchema
    .nullable()
    .describe('From the stored to the announced overlays; null when not compared.'),
  notes: z.array(z.string()).describe('Differences that do not concern the overlays.'),
});
export type RunningMapView = z.infer<typeof runningMapSchema>;
