import { z } from 'zod';

/** The verdict of one step of a path with its detail, remedy and request to the customer's IT. */
export const pathOutcomeSchema = z.strictObject({
  verdict: z.enum(['ok', 'wrong', 'not-checked']),
  detail: z.string(),
  remedy: z.string().optional(),
  ask: z.string().optional().describe("What to ask the customer's IT."),
});
export type PathOutcome = Readonly<z.infer<typeof pathOutcomeSchema>>;
