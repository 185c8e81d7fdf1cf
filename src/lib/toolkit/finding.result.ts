import { z } from 'zod';
import { bases, marks } from '../evidence/index.ts';

/** Result of one point of a check. 'not-checked' is a value of its own and never green. */
export const findingSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  verdict: z.enum(['ok', 'wrong', 'not-checked']),
  detail: z.string(),
  remedy: z.string().nullable(),
  spec: z.string().nullable().describe('Section of the specification that requires it; null: none.'),
});
export type Finding = z.infer<typeof findingSchema>;

/** A finding that may not concern this machine, by its site file; that is neither ok nor open. */
export const lineSchema = findingSchema.extend({
  verdict: z.enum([...findingSchema.shape.verdict.options, 'not-applicable']),
});
export type Line = z.infer<typeof lineSchema>;

/** The same in every check: see verdict.ts. */
export const checkVerdictSchema = z
  .enum(['ok', 'wrong', 'not-checked'])
  .describe(
    'wrong: at least one line is wrong. not-checked: none is, and at least one was not checked or not decided.',
  );

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
