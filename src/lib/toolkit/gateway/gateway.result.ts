import { z } from 'zod';
import { gatewayHealthSchema, journalEntrySchema, type logLevelSchema } from '../../operator/index.ts';
import { checkVerdictSchema, findingSchema } from '../finding.result.ts';

/** As the running gateway reports it, which may be an older one. */
export type GatewayHealth = z.infer<typeof gatewayHealthSchema>;

/** `gw health --json` */
export const judgedHealthSchema = gatewayHealthSchema.extend({
  verdict: z
    .enum(['ok', 'wrong', 'not-checked'])
    .describe('wrong: degraded. not-checked: a part that the site file configures was not checked.'),
});
export type JudgedHealth = z.infer<typeof judgedHealthSchema>;

/** Results of the checks that only checklists run and that need the device password. */

const findings = z.array(findingSchema);

/** 'operator sign-in' */
export const signInCheckSchema = z.strictObject({ findings });
export type SignInCheck = z.infer<typeof signInCheckSchema>;

/** 'operator media' */
export const mediaCheckSchema = z.strictObject({
  bytes: z.int().describe('Size of the file that was stored.'),
  uploadMs: z.number().nullable().describe('null when it was not stored.'),
  downloadMs: z.number().nullable().describe('null when it was not read back unchanged.'),
  findings,
});
export type MediaCheck = z.infer<typeof mediaCheckSchema>;

const poseSchema = z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() });

/** 'pose read-back' */
export const poseCheckSchema = z.strictObject({
  before: poseSchema.describe('As reported before, and as restored at the end.'),
  set: poseSchema.describe('The same place with another heading.'),
  reported: poseSchema.nullable().describe('As reported afterwards; null when no pose was received.'),
  findings,
});
export type PoseCheck = z.infer<typeof poseCheckSchema>;

/** 'measured stop' */
export const stopCheckSchema = z.strictObject({
  tour: z.string(),
  answeredMs: z
    .number()
    .nullable()
    .describe('Time from sending the stop to its answer; null when it was not answered.'),
  standstillMs: z
    .number()
    .nullable()
    .describe('Time from sending the stop to the first pose at rest; null when rest was not observed.'),
  distanceM: z.number().nullable().describe('Distance from the position at the time of the stop to the rest position.'),
  findings,
});
export type StopCheck = z.infer<typeof stopCheckSchema>;

/** `gw log --json`, which is the answer of `GET /api/protokolle`. */
export const gatewayLogSchema = z.strictObject({
  entries: z.array(journalEntrySchema).describe('The last events of every kind, oldest first.'),
  audit: z
    .array(journalEntrySchema)
    .describe('The last acts of people and failed services of each kind, oldest first.'),
  clientAborts: z.int().min(0).describe('Requests aborted by their clients since the start.'),
});
/** Result of the check 'ssh sessions' of checklists. */
export const sshSessionsSchema = z.strictObject({ verdict: checkVerdictSchema, findings });
export type SshSessions = z.infer<typeof sshSessionsSchema>;

/** Result of the check 'gateway acts' of checklists. */
export const actsCheckSchema = z.strictObject({ verdict: checkVerdictSchema, findings: z.array(findingSchema) });
export type ActsCheck = z.infer<typeof actsCheckSchema>;
export type GatewayLogLevel = z.infer<typeof logLevelSchema>;
export type GatewayLog = z.infer<typeof gatewayLogSchema>;
