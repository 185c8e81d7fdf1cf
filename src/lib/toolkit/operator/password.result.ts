import { z } from 'zod';

/** Shape of `gw operator password --json`. */
export const operatorPasswordSchema = z.strictObject({
  file: z.string().describe('The file with the hash.'),
  replaced: z.boolean().describe('Whether a password was set before.'),
});
export type OperatorPassword = z.infer<typeof operatorPasswordSchema>;
