import { z } from 'zod';

export const helpSchema = z.object({
  about: z.string().nullable().describe('The command or topic; null: all of them.'),
  text: z.string().describe('The help as it is printed; with --json without colours.'),
});

export type HelpResult = z.infer<typeof helpSchema>;
