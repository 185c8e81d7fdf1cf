import { z } from 'zod';

const jsonText = z.string().nullable().describe('JSON text of the source; null: missing.');
/** The JSON text of both sides. */
export const fromTo = { fromJson: jsonText, toJson: jsonText };

export const refKindSchema = z
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
  fromAreaM2: z.number().nullable().describe('Of a zone, without its holes.'),
  toAreaM2: z.number().nullable(),
  isReversed: z.boolean().describe('The order of the places of a line is reversed.'),
  isRewound: z.boolean().describe('The outline of a zone starts at another corner or has the opposite orientation.'),
  first: z
    .strictObject({ path: z.string(), ...fromTo })
    .nullable()
    .describe('The first difference of the geometries, where none of the values above shows it.'),
});
