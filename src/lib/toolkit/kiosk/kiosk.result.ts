import { z } from 'zod';
import { knowledgeSchema } from '../../kiosk/index.ts';
import { findingSchema } from '../finding.result.ts';

const facts = z
  .strictObject({
    model: z.string(),
    manufacturer: z.string(),
    serial: z.string(),
    android: z.string().describe('Version for people.'),
    sdk: z.int().describe('API level.'),
    bootId: z.string().nullable().describe('Of this start of the tablet; null: not reported.'),
    androidId: z.string().nullable().describe('Made anew by a reset to factory settings; null: not reported.'),
  })
  .describe('What the tablet reports about itself.');

const address = z.strictObject({ host: z.string(), port: z.int() });

const portState = z
  .enum(['open', 'closed', 'silent'])
  .describe('closed: the address refuses, nothing listens there. silent: no answer, which proves nothing.');

const answeredBy = z
  .enum(['same', 'other', 'unknown'])
  .describe(
    'Whether the device that answered is the tablet that is remembered: by the connection, or by its hardware address. unknown: that cannot be seen from here.',
  );

const step = z.strictObject({
  id: z.string(),
  title: z.string(),
  expected: z.string().describe('What the profile says.'),
  found: z.string().nullable().describe('null: it was not looked at.'),
  state: z
    .enum(['ok', 'changed', 'differs', 'not-checked', 'failed', 'not-reached'])
    .describe('changed: made so now, and read back. not-reached: a step before it failed.'),
  byHand: z.boolean().describe('true: only a person at the tablet can make it so.'),
  remedy: z.string().nullable(),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
});

const redLine = z
  .strictObject({ id: z.literal('tablet-open'), title: z.string(), detail: z.string(), remedy: z.string() })
  .nullable()
  .describe('What every report shows in red as long as the tablet is not proven closed; null: nothing.');

/** Shape of `gw kiosk plan --json`. */
export const kioskPlanSchema = z.strictObject({
  address,
  profile: z.string().describe('Name of the profile.'),
  tablet: facts,
  verdict: z.enum(['as-planned', 'differs', 'not-checked']),
  steps: z.array(step),
  differing: z.int().describe('How many steps differ or are refused.'),
  redLine,
  tookMs: z.number(),
});
export type KioskPlan = z.infer<typeof kioskPlanSchema>;

const readingPart = z
  .strictObject({
    verdict: z.enum(['as-profile', 'differs', 'not-checked']),
    steps: z.int(),
    differing: z.int(),
    unknown: z.int().describe('Steps that the tablet does not report.'),
  })
  .nullable();

const lockPart = z.strictObject({
  verdict: z
    .enum(['closed', 'open', 'not-proven', 'opens-again'])
    .describe('opens-again: closed now, but a restart of the tablet opened it, or will.'),
  port: portState,
  wasOpen: z.boolean().describe('Whether the port took connections before.'),
  afterRestart: z.enum(['closed', 'open', 'not-checked']),
  afterRestartBasis: z
    .enum(['read-now', 'remembered', 'none'])
    .describe('read-now: a restart was watched by this command, or a property was read that opens the port.'),
  keepsOpening: z.string().nullable().describe('A property of the tablet that opens the port at every start.'),
  answeredBy,
  wasRestarted: z.boolean().describe('Whether this command restarted the tablet.'),
  readAfterRestart: readingPart.describe(
    'Its settings, read after that restart, which only a cable allows; null: not read.',
  ),
});

/** Shape of `gw kiosk setup --json`. */
export const kioskSetupSchema = z.strictObject({
  address,
  profile: z.string().describe('Name of the profile.'),
  tablet: facts,
  verdict: z
    .enum(['done', 'not-done', 'not-locked'])
    .describe(
      'not-done: a step failed or differs. not-locked: the steps are done, the port is not proven closed, or not over the restart that was asked for.',
    ),
  steps: z.array(step),
  changed: z.int().describe('How many steps were changed now.'),
  lock: lockPart.nullable().describe('null: it was not locked, as asked for or because a step failed.'),
  redLine,
  tookMs: z.number(),
});
export type KioskSetup = z.infer<typeof kioskSetupSchema>;

/** Shape of `gw kiosk lock --json`. */
export const kioskLockSchema = lockPart.extend({
  address,
  reading: readingPart.describe('Its settings, read just before it was closed; null: not read.'),
  redLine,
  tookMs: z.number(),
});
export type KioskLock = z.infer<typeof kioskLockSchema>;
export type LockOutcome = z.infer<typeof lockPart>;

const verdict = z.enum(['ok', 'wrong', 'not-checked']);

/** A finding with what it rests on. What is remembered as ok is never ok now: its verdict is not-checked. */
const kioskFindingSchema = findingSchema.extend({
  ...knowledgeSchema.shape,
  remembered: verdict.nullable().describe('How it was when it was read; null: this line is not remembered.'),
});
export type KioskFinding = z.infer<typeof kioskFindingSchema>;

const doubt = z.strictObject({
  id: z.enum([
    'restarted-by-gw',
    'restarted',
    'opened',
    'reset',
    'other-device',
    'profile-changed',
    'profile-unreadable',
    'address-changed',
    'too-old',
    'age-unknown',
  ]),
  detail: z.string(),
});

/** Shape of `gw kiosk status --json`. */
export const kioskStatusSchema = z.strictObject({
  address,
  verdict: verdict.describe('The worst of the findings.'),
  port: portState,
  answeredBy,
  tablet: facts.nullable().describe('The tablet that was last connected to; null: none.'),
  setUp: z
    .strictObject({
      verdict: z
        .enum(['as-profile', 'differs', 'not-done', 'not-checked'])
        .describe(
          'The newest reading. not-checked: there is none, the tablet did not report everything, or a doubt stands against it. not-done: setup did not come to its end.',
        ),
      atLastConnection: z
        .enum(['as-profile', 'differs', 'not-done', 'not-checked'])
        .describe(
          'How it was when gw was last connected to it; as verdict, but a restart by gw itself does not count. Says nothing about now.',
        ),
      ...knowledgeSchema.shape,
      by: z.enum(['setup', 'plan', 'status', 'lock']).nullable().describe('The command that read it.'),
      profile: z.string().nullable().describe('Name of the profile that it was compared with.'),
      steps: z.array(
        z.strictObject({
          id: z.string(),
          title: z.string(),
          state: z.enum(['ok', 'differs', 'not-checked', 'failed', 'not-reached']),
          expected: z.string(),
          found: z.string().nullable(),
        }),
      ),
      doubts: z.array(doubt).describe('Why the tablet may be otherwise by now.'),
      notRead: z
        .strictObject({ code: z.string(), message: z.string() })
        .nullable()
        .describe('Why it was not read by this command although that was tried; null: it was read, or not tried.'),
    })
    .describe('The settings of the tablet against its profile.'),
  restart: z
    .strictObject({
      verdict: z.enum(['closed', 'open', 'not-checked']),
      ...knowledgeSchema.shape,
    })
    .describe('Whether the port stayed closed over a restart, as it was last proven. Always remembered.'),
  findings: z.array(kioskFindingSchema),
  redLine,
  tookMs: z.number(),
});
export type KioskStatus = z.infer<typeof kioskStatusSchema>;
