import { z } from 'zod';

/** Shape of `gw operator password --json`. */
export const operatorPasswordSchema = z.strictObject({
  file: z.string().describe('The file that holds the hash now.'),
  replaced: z.boolean().describe('Whether there was a password before.'),
});
export type OperatorPassword = z.infer<typeof operatorPasswordSchema>;
