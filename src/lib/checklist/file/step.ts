import type { Mark } from '../../evidence/index.ts';
import type { CatalogueEntry, Given } from '../catalogue.ts';
import type { Expectation } from '../match/matcher.ts';
import type { PathPart } from '../match/path.ts';
import type { Template } from '../match/template.ts';
import type { Phase } from '../run.result.ts';

/** Something that must be ok before a step runs. */
export interface Requirement {
  /** Display name: `'address'`, `section 'network'`. */
  readonly name: string;
  readonly steps: readonly string[];
  /** own: the step needs it. section: its section does, or it is a precondition of it. */
  readonly of: 'own' | 'section';
}

/** A title in a language of its own, and in German where the checklist has it. */
export interface Titled {
  readonly title: string;
  /** Absent: the title has one form only. */
  readonly titleDe?: string;
}

export interface StepBase extends Titled {
  readonly id: string;
  readonly proves: string;
  /** Id of its section; null in a checklist without sections. */
  readonly section: string | null;
  /** Unless it is ok, its whole section is skipped. */
  readonly precondition: boolean;
  /** Steps and sections that it needs, as its file names them. */
  readonly needs: readonly string[];
  readonly requires: readonly Requirement[];
  /** Facts of the ledger that it relies on. */
  readonly facts: readonly string[];
  readonly moves: boolean;
  /** Empty where an own list names none. */
  readonly remedy: string;
}

/** A measured value for the record. */
export interface WantedValue {
  readonly name: string;
  readonly parts: readonly PathPart[];
  /** Used where the result has neither unit nor mark. */
  readonly unit: string | null;
  readonly mark: Mark | null;
}

/** gw checks it itself. */
export interface RunStep extends StepBase {
  readonly kind: 'run';
  readonly run: string;
  /** The step whose result this one reads instead of running a check. */
  readonly reads: string | null;
  readonly entry: CatalogueEntry;
  readonly options: unknown;
  readonly expectations: readonly Expectation[];
  /** The expectations as their file has them: path and matcher. */
  readonly expected: Readonly<Record<string, unknown>>;
  readonly shows: Template | null;
  readonly values: readonly WantedValue[];
  readonly withinMs: number;
  /** Further attempts until the step is ok, and the pause before each. */
  readonly retry: { readonly times: number; readonly everyMs: number };
}

/** Values of earlier steps that a question shows, by `{step.value}`; null: it shows none. */
export type QuestionTemplate = Template | null;

/** The technician answers a question. */
export interface ConfirmStep extends StepBase {
  readonly kind: 'confirm';
  readonly question: string;
  readonly template: QuestionTemplate;
  /** With this input gw runs the check instead of asking; null for a plain question. */
  readonly instead: Given | null;
  /** The answer holds only for the session in which it was given. */
  readonly expires: boolean;
  /** The check in whose place it is asked moves the robot, so the person does. */
  readonly personMoves: boolean;
  /** What gw can know of the answer: unless this is ok, no yes makes the step ok. null: nothing. */
  readonly known: RunStep | null;
  /** A yes without a remark leaves the step open. */
  readonly needsRemark: boolean;
}

/** The technician measures and gives a number. */
export interface MeasureStep extends StepBase {
  readonly kind: 'measure';
  readonly question: string;
  readonly template: QuestionTemplate;
  readonly unit: string;
  readonly mark: Mark;
  readonly tool: string | null;
  readonly expectations: readonly Expectation[];
}

/** A step that this version of gw cannot check. It is never ok, so no step may need it. */
export interface UnavailableStep extends StepBase {
  readonly kind: 'unavailable';
  /** What is lacking, as a sentence. */
  readonly lacking: string;
}

/** A step that a person answers. */
export type AskedStep = ConfirmStep | MeasureStep;
export type Step = RunStep | AskedStep | UnavailableStep;

export interface Section extends Titled {
  readonly id: string;
  readonly about: string | null;
  readonly needs: readonly string[];
}

/** A validated checklist: every check it names exists, every matcher is compiled. */
export interface Checklist extends Titled {
  /** Path as given. */
  readonly file: string;
  /** Of the bytes of the file, in hex. */
  readonly sha256: string;
  readonly name: string;
  readonly purpose: string;
  readonly phase: Phase | null;
  /** Empty when the file has plain steps. */
  readonly sections: readonly Section[];
  /** All steps in their order; the preconditions of a section stand before its steps. */
  readonly steps: readonly Step[];
}

/** The earlier step whose result a step reads, itself or beside its question. */
export function readBy(step: Step): string | null {
  if (step.kind === 'run') return step.reads;
  return step.kind === 'confirm' ? (step.known?.reads ?? null) : null;
}
