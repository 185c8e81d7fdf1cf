import { z } from 'zod';

/** One thing that a check looked at. 'not-checked' is a value of its own and never green. */
export const findingSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  verdict: z.enum(['ok', 'wrong', 'not-checked']),
  detail: z.string(),
  remedy: z.string().nullable(),
  spec: z.string().nullable().describe('The place in the specification that demands it, where there is one.'),
});
export type Finding = z.infer<typeof findingSchema>;
