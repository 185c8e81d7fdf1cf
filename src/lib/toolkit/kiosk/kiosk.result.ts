import { z } from 'zod';
import {
  doubtIds,
  provenanceSchema,
  readers,
  recordedStepSchema,
  stepOutcomeSchema,
  tabletFactsSchema,
} from '../../kiosk/index.ts';
import { checkVerdictSchema, findingSchema } from '../finding.result.ts';

const address = z.strictObject({ host: z.string(), port: z.int() });

const portState = z
  .enum(['open', 'closed', 'silent'])
  .describe('closed: connections are refused. silent: no answer, which verifies nothing.');

const answeredBy = z
  .enum(['same', 'other', 'unknown'])
  .describe(
    'Whether the device that answered is the recorded tablet, by its connection or MAC address. unknown: not visible from this machine.',
  );

const redLine = z
  .strictObject({ id: z.literal('tablet-open'), title: z.string(), detail: z.string(), remedy: z.string() })
  .nullable()
  .describe('Red line of every report until the tablet is verified as closed; null: none.');

/** Shape of `gw kiosk plan --json`. */
export const kioskPlanSchema = z.strictObject({
  address,
  profile: z.string().describe('Name of the profile.'),
  tablet: tabletFactsSchema,
  verdict: z.enum(['as-planned', 'differs', 'not-checked']),
  steps: z.array(stepOutcomeSchema),
  differing: z.int().describe('Steps that differ or were refused.'),
  redLine,
  tookMs: z.number(),
});
export type KioskPlan = z.infer<typeof kioskPlanSchema>;

const readingPart = z
  .strictObject({
    verdict: z.enum(['as-profile', 'differs', 'not-checked']),
    steps: z.int(),
    differing: z.int(),
    unknown: z.int().describe('Steps not reported by the tablet.'),
  })
  .nullable();

const lockPart = z.strictObject({
  verdict: z
    .enum(['closed', 'open', 'not-verified', 'opens-again'])
    .describe('opens-again: closed now, but a restart of the tablet opened it or will open it.'),
  port: portState,
  wasOpen: z.boolean().describe('Whether the port accepted connections before.'),
  afterRestart: z.enum(['closed', 'open', 'not-checked']),
  afterRestartBasis: z
    .enum(['read-now', 'remembered', 'none'])
    .describe('read-now: this command watched a restart, or read a property that opens the port.'),
  keepsOpening: z.string().nullable().describe('Property of the tablet that opens the port at every start.'),
  answeredBy,
  wasRestarted: z.boolean().describe('Whether this command restarted the tablet.'),
  readAfterRestart: readingPart.describe(
    'Settings read after that restart, which is only possible over USB; null: not read.',
  ),
});

/** Shape of `gw kiosk setup --json`. */
export const kioskSetupSchema = z.strictObject({
  address,
  profile: z.string().describe('Name of the profile.'),
  tablet: tabletFactsSchema,
  verdict: z
    .enum(['done', 'not-done', 'not-locked'])
    .describe(
      'not-done: a step failed or differs. not-locked: the steps are done, but the port is not verified as closed, or not after the requested restart.',
    ),
  steps: z.array(stepOutcomeSchema),
  changed: z.int().describe('Steps changed now.'),
  lock: lockPart.nullable().describe('null: not locked, by request or because a step failed.'),
  redLine,
  tookMs: z.number(),
});
export type KioskSetup = z.infer<typeof kioskSetupSchema>;

/** Shape of `gw kiosk lock --json`. */
export const kioskLockSchema = lockPart.extend({
  address,
  reading: readingPart.describe('Settings read just before it was closed; null: not read.'),
  redLine,
  tookMs: z.number(),
});
export type KioskLock = z.infer<typeof kioskLockSchema>;
export type LockOutcome = z.infer<typeof lockPart>;

const verdict = z.enum(['ok', 'wrong', 'not-checked']);

/** A finding with its provenance. A value remembered as ok has the verdict not-checked. */
const kioskFindingSchema = findingSchema.extend({
  ...provenanceSchema.shape,
  remembered: verdict.nullable().describe('Verdict at the time of the reading; null: not a remembered value.'),
});
export type KioskFinding = z.infer<typeof kioskFindingSchema>;

const doubt = z.strictObject({
  id: z.enum([...doubtIds, 'profile-changed', 'profile-unreadable', 'address-changed', 'too-old', 'age-unknown']),
  detail: z.string(),
});

/** Shape of `gw kiosk status --json`. */
export const kioskStatusSchema = z.strictObject({
  address,
  verdict: checkVerdictSchema,
  port: portState,
  answeredBy,
  tablet: tabletFactsSchema.nullable().describe('The tablet of the last connection; null: none.'),
  setUp: z
    .strictObject({
      verdict: z
        .enum(['as-profile', 'differs', 'not-done', 'not-checked'])
        .describe('The newest reading. not-checked: none, incomplete, or in doubt. not-done: setup did not complete.'),
      atLastConnection: z
        .enum(['as-profile', 'differs', 'not-done', 'not-checked'])
        .describe(
          'The state at the last connection: as verdict, without the doubt of a restart by gw. Not the current state.',
        ),
      ...provenanceSchema.shape,
      by: z.enum(readers).nullable().describe('Command that read it.'),
      profile: z.string().nullable().describe('Name of the compared profile.'),
      steps: z.array(recordedStepSchema.extend({ id: z.string() })),
      doubts: z.array(doubt).describe('Reasons why the reading may no longer hold.'),
      notRead: z
        .strictObject({ code: z.string(), message: z.string() })
        .nullable()
        .describe('Error of an attempt to read it with this command; null: read, or not attempted.'),
    })
    .describe('Settings of the tablet compared with its profile.'),
  restart: z
    .strictObject({
      verdict: z.enum(['closed', 'open', 'not-checked']),
      ...provenanceSchema.shape,
    })
    .describe('Whether the port stayed closed at the last watched restart. Always remembered.'),
  findings: z.array(kioskFindingSchema),
  redLine,
  tookMs: z.number(),
});
export type KioskStatus = z.infer<typeof kioskStatusSchema>;
