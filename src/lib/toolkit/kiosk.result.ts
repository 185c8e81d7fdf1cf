import { z } from 'zod';
import { tabletRecordSchema } from '../kiosk/index.ts';
import { findingSchema } from './finding.result.ts';

const facts = z
  .strictObject({
    model: z.string(),
    manufacturer: z.string(),
    serial: z.string(),
    android: z.string().describe('Version for people.'),
    sdk: z.int().describe('API level.'),
  })
  .describe('What the tablet says about itself.');

const address = z.strictObject({ host: z.string(), port: z.int() });

const portState = z
  .enum(['open', 'closed', 'silent'])
  .describe('closed: the tablet refuses, nothing listens. silent: nobody answers, which proves nothing.');

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

const lockPart = z.strictObject({
  verdict: z
    .enum(['closed', 'open', 'not-proven', 'opens-again'])
    .describe('opens-again: closed now, but a restart of the tablet opened it, or will.'),
  port: portState,
  wasOpen: z.boolean().describe('Whether the port took connections before.'),
  afterRestart: z.enum(['closed', 'open', 'not-checked']),
  keepsOpening: z.string().nullable().describe('A property of the tablet that opens the port at every start.'),
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
export const kioskLockSchema = lockPart.extend({ address, redLine, tookMs: z.number() });
export type KioskLock = z.infer<typeof kioskLockSchema>;
export type LockOutcome = z.infer<typeof lockPart>;

/** Shape of `gw kiosk status --json`. */
export const kioskStatusSchema = z.strictObject({
  address,
  port: portState,
  record: tabletRecordSchema.nullable().describe('What is remembered of the tablet; null: it was never touched.'),
  findings: z.array(findingSchema),
  redLine,
  tookMs: z.number(),
});
export type KioskStatus = z.infer<typeof kioskStatusSchema>;
