import { z } from 'zod';

const jsonText = z.string().nullable().describe('JSON text as it stands in the source; null: not there.');
/** What is written on either side. */
export const fromTo = { fromJson: jsonText, toJson: jsonText };

export const refKindSchema = z
  .enum(['point', 'lane', 'zone', 'other', 'no-feature'])
  .describe('no-feature: an entry that is no feature at all.');

/** A geometry that is not the same. */
export const shapeSchema = z.strictObject({
  fromType: z.string().nullable(),
  toType: z.string().nullable(),
  movedM: z.number().nullable().describe('Of the point, or of the middle between the corners.'),
  largestShiftM: z
    .number()
    .nullable()
    .describe(
      'Of the corner that moved most, where both sides have as many; read in the direction in which it is least.',
    ),
  isMovedAsWhole: z.boolean().describe('Every corner moved by the same way: another place and the same form.'),
  fromCorners: z.int().nullable(),
  toCorners: z.int().nullable(),
  fromLengthM: z.number().nullable().describe('Of a line.'),
  toLengthM: z.number().nullable(),
  fromAreaM2: z.number().nullable().describe('Of a zone, without its holes.'),
  toAreaM2: z.number().nullable(),
  isReversed: z.boolean().describe('A line runs the other way.'),
  isRewound: z.boolean().describe('The outline of a zone begins at another corner or is written the other way round.'),
  first: z
    .strictObject({ path: z.string(), ...fromTo })
    .nullable()
    .describe('The first place at which the geometries differ, where nothing above says what differs.'),
});
