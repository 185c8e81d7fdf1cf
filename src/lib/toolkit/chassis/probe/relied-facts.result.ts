import { z } from 'zod';
import { factBases, marks, supports } from '../../../evidence/index.ts';

/** A fact that orders rely on, as it stands on one very chassis. */
export const reliedHereSchema = z.strictObject({
  fact: z.string(),
  mark: z.enum(marks),
  basis: z.enum(factBases).describe('What the mark rests on.'),
  orders: z.array(z.string()).describe('Kinds of orders that rely on it.'),
  support: z
    .enum(supports)
    .describe(
      'What an order rests on here. another-device: it was measured on another device or version, or is stated and borne out by such a measurement. nothing: no order may rely on it.',
    ),
  usable: z.boolean(),
  contradictedHere: z.boolean(),
  detail: z.string(),
});
export type ReliedHere = z.infer<typeof reliedHereSchema>;
