import { z } from 'zod';

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
