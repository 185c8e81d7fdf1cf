import type { Clock } from '../lifecycle/index.ts';
import type { KioskProfile } from './profile.ts';
import type { Tablet } from './tablet.ts';

/** What a step works with. */
export interface StepScene {
  readonly tablet: Tablet;
  readonly profile: KioskProfile;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (text: string) => void;
}

/** What was found, against what the profile says. */
export interface Look {
  readonly verdict: 'ok' | 'differs' | 'not-checked';
  readonly found: string;
  readonly remedy?: string;
}

/** One thing that the profile says about the tablet. */
export interface Step {
  readonly id: string;
  readonly title: string;
  /** What the profile says, for people. */
  readonly expected: string;
  /** Looks and changes nothing. */
  check(scene: StepScene): Promise<Look>;
  /** Makes it so. Absent: only a person can. */
  readonly apply?: (scene: StepScene) => Promise<void>;
  /** Looks after a change, where that can tell other things than before it. `check` when absent. */
  readonly verify?: (scene: StepScene) => Promise<Look>;
  /** What it means when the change did not show. */
  readonly remedy: string;
}
