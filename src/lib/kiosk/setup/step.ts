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
