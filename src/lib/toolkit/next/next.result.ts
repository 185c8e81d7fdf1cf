import { z } from 'zod';
import { checkVerdictSchema, lineSchema } from '../finding.result.ts';

const dayStepSchema = lineSchema.omit({ remedy: true, spec: true }).extend({
  command: z.string().nullable().describe('What to type for this step; null: nothing, or not by a command.'),
  atHand: z.array(z.string()).describe('What to have at hand, or to do by hand, before it is typed.'),
});
export type DayStep = z.infer<typeof dayStepSchema>;

/** `gw next --json` */
export const nextSchema = z.strictObject({
  verdict: checkVerdictSchema.describe('wrong: a step is open. not-checked: none is, and one could not be looked at.'),
  at: z.string().describe('UTC by the clock of this machine.'),
  site: z.string().describe('Path of the site file, whether or not it is there.'),
  serial: z.string().nullable().describe('Of the site file; null: it cannot be read.'),
  next: dayStepSchema
    .nullable()
    .describe('The first step that is wrong, else the first that is not checked and has a command; null: none.'),
  steps: z.array(dayStepSchema).describe('The steps of a commissioning, in their order, as they are now.'),
  unseen: z.array(z.string()).describe('What belongs to the day and gw has no way to look at.'),
});
export type Next = z.infer<typeof nextSchema>;
