import type { SoftwareRead } from '../catalogue.ts';
import type { Section, Step } from '../file/step.ts';
import type { ChecklistResult, StepResult } from '../run.result.ts';
import type { Approval } from './answers.ts';
import type { AskingOptions } from './asking.ts';
import type { CheckingOptions } from './checking.ts';
import type { Outcome } from './outcome.ts';
import type { Selection } from './selection.ts';

/** Decision of the technician on a step that is not ok. */
export type Decision =
  | { readonly kind: 'leave' }
  | { readonly kind: 'again' }
  | ({ readonly kind: 'accept' } & Approval);

/** A completed step, with what a later session needs of it. */
export interface CompletedStep {
  readonly result: StepResult;
  /** Outcomes of the steps that read its result. */
  readonly readings: Readonly<Record<string, Outcome>>;
  readonly software: SoftwareRead | null;
  /** Whether the device is a simulator; null: the step did not read it. Absent in journals of older versions. */
  readonly simulated?: boolean | null | undefined;
}

export interface RunnerOptions extends AskingOptions, CheckingOptions {
  /** Whether the technician allowed movement (--robot-will-move). */
  readonly motionAllowed: boolean;
  /** After a wrong step nothing more runs, unless a person accepts it. */
  readonly failFast?: boolean | undefined;
  /** Says of each step what would happen, and does nothing. */
  readonly dryRun?: boolean | undefined;
  /** Asks what to do about a wrong step; absent: it stays wrong. */
  readonly decide?: (result: StepResult, signal: AbortSignal) => Promise<Decision>;
  /** Site and serial number of the robot. */
  readonly subject: ChecklistResult['subject'];
  /** The steps of this session; absent: all. */
  readonly selection?: Selection;
  /** Steps completed in earlier sessions of this run. */
  readonly earlier?: ReadonlyMap<string, CompletedStep>;
  /** How long steps took in earlier runs, in ms, by their ids. */
  readonly durations?: ReadonlyMap<string, number> | undefined;
  readonly onStep?: (event: {
    readonly step: Step;
    readonly section: Section | null;
    readonly index: number;
    readonly of: number;
    /** What the steps from this one on are expected to take; null where one of them was never timed. */
    readonly leftMs: number | null;
  }) => void;
  /** Awaited before the result is shown: it is written to disk here. */
  readonly onCompleted?: (completed: CompletedStep) => Promise<void>;
  readonly onResult?: (result: StepResult) => void;
}
