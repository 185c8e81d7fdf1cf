/**
 * Checklists: files that state, step by step, what must hold on a site, which check of gw proves it or which question
 * the technician answers, and the remedy. The catalogue of checks is passed in. A step is ok, wrong, skipped or
 * not-checked, and a run is ok only when every step is ok. Each result is in a journal before it is shown, so that a run
 * can be resumed after a crash. A run ends with a record: one file, signed with the device key (the signer is passed
 * in), that anyone with the CA certificate can verify.
 */

export {
  type Catalogue,
  type CatalogueEntry,
  type Given,
  givens,
  type Missing,
} from './catalogue.ts';
export { findChecklist, listChecklists, loadChecklist, parseChecklist } from './file/load.ts';
export type { AskedStep, Checklist, ConfirmStep, MeasureStep, RunStep, Step } from './file/step.ts';
export { readPhoto } from './journal/attachment.ts';
export { beginJournal, findJournal, type Journal, readJournal, resumeJournal } from './journal/journal.ts';
export { compileMatcher, type Match, type MatcherProblem, matcherNames } from './match/matcher.ts';
export { lookUp, type PathPart, parsePath } from './match/path.ts';
export { composeRecord, type RecordRobot, recordText } from './record/record.ts';
export { attachmentsDirOf, verifyRecord, verifyRecordFile } from './record/verify.ts';
export { type RecordSigner, signRecord } from './record/verify-signature.ts';
export {
  type CheckRecord,
  type RecordVerification,
  type RedLine,
  type RobotRecord,
  recordSchema,
  recordVerificationSchema,
  redLineSchema,
} from './record.result.ts';
export { type Answer, INITIALS, loadAnswers, parseAnswers } from './run/answers.ts';
export type { AskContext } from './run/asking.ts';
export { expectationText } from './run/outcome.ts';
export { runSteps } from './run/runner.ts';
export type { CompletedStep, Decision, RunnerOptions } from './run/runner-options.ts';
export { selectSteps, type Wanted } from './run/selection.ts';
export { mergeResults, runSession, type SessionRobot, type SessionRobotResult } from './run/session.ts';
export {
  type ChecklistResult,
  checklistResultSchema,
  countsSchema,
  type Deviation,
  type MeasuredValue,
  phases,
  type StepResult,
} from './run.result.ts';
