import { z } from 'zod';
import { factBases, marks, supports } from '../../../evidence/index.ts';

/** A fact that orders rely on, with its status on one chassis. */
export const reliedHereSchema = z.strictObject({
  fact: z.string(),
  mark: z.enum(marks),
  basis: z.enum(factBases).describe('Basis of the mark.'),
  orders: z.array(z.string()).describe('Kinds of orders that rely on it.'),
  support: z
    .enum(supports)
    .describe(
      'Origin of the evidence on this chassis. another-device: it was measured on another device or version, or is stated and supported by such a measurement. nothing: no order may rely on it.',
    ),
  usable: z.boolean(),
  contradictedHere: z.boolean(),
  detail: z.string(),
});
export type ReliedHere = z.infer<typeof reliedHereSchema>;
