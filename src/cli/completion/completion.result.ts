import { z } from 'zod';

export const completionSchema = z.strictObject({
  shell: z.enum(['bash', 'zsh', 'fish']),
  script: z.string(),
});
export type CompletionResult = z.infer<typeof completionSchema>;
