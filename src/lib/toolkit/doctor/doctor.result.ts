import { z } from 'zod';
import { checkVerdictSchema, lineSchema } from '../finding.result.ts';

export const doctorGroups = ['runtime', 'files', 'clock', 'disk', 'ports', 'versions', 'unit', 'programs'] as const;

const doctorLineSchema = lineSchema.extend({
  group: z.enum(doctorGroups),
  need: z.enum(['needed', 'optional']).describe('An optional line does not decide, whatever its verdict.'),
});
export type DoctorLine = z.infer<typeof doctorLineSchema>;

/** `gw doctor --json` */
export const doctorSchema = z.strictObject({
  verdict: checkVerdictSchema,
  at: z.string().describe('UTC by the clock of this machine, for people.'),
  host: z.string().describe('Name of this machine.'),
  version: z.string().describe('Of this gw.'),
  site: z.string().describe('Path of the site file, whether or not it is there.'),
  lines: z.array(doctorLineSchema),
});
export type Doctor = z.infer<typeof doctorSchema>;
