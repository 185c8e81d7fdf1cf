import { z } from 'zod';
import { bases, marks } from '../evidence/index.ts';

/** A value with how well it is known, as every result of gw carries it. */
export function knownSchema<T extends z.ZodType>(value: T) {
  return z.strictObject({ value, ...evidenceShape });
}

const evidenceShape = {
  mark: z.enum(marks),
  basis: z.enum(bases).describe('What the mark rests on.'),
  source: z.string(),
  unit: z.string().optional().describe('Absent for names, numbers of kinds and structures.'),
};
export const evidenceSchema = z.strictObject(evidenceShape);
