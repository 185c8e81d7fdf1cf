import type { Approval } from './answers.ts';
import type { AskingOptions } from './asking.ts';
import type { SoftwareRead } from './catalogue.ts';
import type { CheckingOptions } from './checking.ts';
import type { Section, Step } from './load.ts';
import type { Outcome } from './outcome.ts';
import type { ChecklistResult, StepResult } from './run.result.ts';
import type { Selection } from './selection.ts';

/** What a person says to a step that came out wrong. */
export type Decision =
  | { readonly kind: 'leave' }
  | { readonly kind: 'again' }
  | ({ readonly kind: 'accept' } & Approval);

/** A step that was taken, with what a later sitting needs to know of it. */
export interface CompletedStep {
  readonly result: StepResult;
  /** What came out for the steps that read its result. */
  readonly readings: Readonly<Record<string, Outcome>>;
  readonly software: SoftwareRead | null;
}

export interface RunnerOptions extends AskingOptions, CheckingOptions {
  /** The person's word that the robot may move now. */
  readonly motionAllowed: boolean;
  /** Asks what to do about a wrong step; absent: it is left so. */
  readonly decide?: (result: StepResult, signal: AbortSignal) => Promise<Decision>;
  /** Whose commissioning this is. */
  readonly subject: ChecklistResult['subject'];
  /** The steps of this sitting; all of them when absent. */
  readonly selection?: Selection;
  /** What an earlier sitting of this run took. */
  readonly earlier?: ReadonlyMap<string, CompletedStep>;
  readonly onStep?: (event: {
    readonly step: Step;
    readonly section: Section | null;
    readonly index: number;
    readonly of: number;
  }) => void;
  /** Told, and waited for, before anyone sees the result: here it goes to disk. */
  readonly onCompleted?: (taken: CompletedStep) => Promise<void>;
  readonly onResult?: (result: StepResult) => void;
}
