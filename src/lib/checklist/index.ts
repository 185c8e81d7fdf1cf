/**
 * Checklists: files that state, step by step, what must hold on a site, which check of gw proves it or which question
 * the technician answers, and the remedy. The catalogue of checks is passed in. A step is ok, wrong, skipped or
 * not-checked, and a run is ok only when every step is ok. Each result is in a journal before it is shown, so that a run
 * can be resumed after a crash. A run ends with a record: one file, signed with the device key (the signer is passed
 * in), that anyone with the CA certificate can verify.
 */
export { type Answer, loadAnswers, parseAnswers } from './answers.ts';
export type { AskContext } from './asking.ts';
export { readPhoto } from './attachment.ts';
export {
  type Catalogue,
  type CatalogueEntry,
  type Given,
  givens,
  type Missing,
  type StepContext,
} from './catalogue.ts';
export { INITIALS } from './initials.ts';
export { beginJournal, findJournal, type Journal, readJournal, resumeJournal } from './journal.ts';

export { findChecklist, listChecklists } from './library.ts';
export {
  type AskedStep,
  type Checklist,
  type ConfirmStep,
  loadChecklist,
  type MeasureStep,
  parseChecklist,
  type RunStep,
  type Step,
} from './load.ts';
export { compileMatcher, type Match, type MatcherProblem, matcherNames } from './matcher.ts';
export { lookUp, type PathPart, parsePath } from './path.ts';
export {
  type CheckRecord,
  type RecordVerification,
  type RedLine,
  type RobotRecord,
  recordSchema,
  recordVerificationSchema,
  redLineSchema,
} from './record.result.ts';
export { composeRecord, type RecordRobot, recordText } from './record.ts';
export {
  type ChecklistResult,
  type Counts,
  checklistResultSchema,
  countsSchema,
  type Deviation,
  type MeasuredValue,
  phases,
  type StepResult,
} from './run.result.ts';
export { runSteps } from './runner.ts';
export type { CompletedStep, Decision, RunnerOptions } from './runner-options.ts';
export { selectSteps, type Wanted } from './selection.ts';
export { mergeResults, runSession, type SessionRobot, type SessionRobotResult } from './session.ts';
export { type RecordSigner, signRecord } from './signature.ts';
export { attachmentsDirOf, verifyRecord, verifyRecordFile } from './verify.ts';
