import { z } from 'zod';
import type { Clock } from '../../lifecycle/index.ts';
import type { Tablet } from '../adb/tablet.ts';
import type { KioskProfile } from '../profile.ts';

/** Context of a step. */
export interface StepContext {
  readonly tablet: Tablet;
  readonly profile: KioskProfile;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/** The value found, compared with the profile. */
export interface CheckResult {
  readonly verdict: 'ok' | 'differs' | 'not-checked';
  readonly found: string;
  readonly remedy?: string;
}

/** One requirement of the profile. */
export interface Step {
  readonly id: string;
  readonly title: string;
  /** The required value, for display. */
  readonly expected: string;
  /** Reads without changing. */
  check(context: StepContext): Promise<CheckResult>;
  /** Changes it. Absent: only possible by hand. */
  readonly apply?: (context: StepContext) => Promise<void>;
  /** Reads back after a change; `check` when absent. */
  readonly verify?: (context: StepContext) => Promise<CheckResult>;
  /** Remedy when the change has no effect. */
  readonly remedy: string;
}

/** Result of one step. */
export const stepOutcomeSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  expected: z.string().describe('The value required by the profile.'),
  found: z.string().nullable().describe('null: not read.'),
  state: z
    .enum(['ok', 'changed', 'differs', 'not-checked', 'failed', 'not-reached'])
    .describe('changed: changed now and read back. not-reached: an earlier step failed.'),
  byHand: z.boolean().describe('true: only a person at the tablet can change it.'),
  remedy: z.string().nullable(),
  error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
});
export type StepOutcome = z.infer<typeof stepOutcomeSchema>;
