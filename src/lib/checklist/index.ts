/**
 * Checklists: files that say, step by step, what must hold on a site, which check of gw proves it or which
 * question the technician answers, and what to do when it does not hold. The checks themselves are handed in as a
 * catalogue. A step comes out ok, wrong, skipped or not-checked, and only all ok is ok. What was taken stands in a
 * journal before anyone sees it, so that a run goes on after a crash; its end is a record, one file that the key of
 * the device signs (the signer is handed in) and that anybody can verify.
 */
export { type Answer, type Answers, type Approval, loadAnswers, parseAnswers } from './answers.ts';
export type { AskContext } from './asking.ts';
export { readPhoto } from './attachment.ts';
export {
  type Catalogue,
  type CatalogueEntry,
  type Given,
  givens,
  type Missing,
  type SoftwareRead,
  type StepContext,
} from './catalogue.ts';
export { beginJournal, findJournal, type Journal, readJournal, resumeJournal } from './journal.ts';
export type { JournalState } from './journal-lines.ts';
export { findChecklist, listChecklists } from './library.ts';
export {
  type AskedStep,
  type Checklist,
  type ConfirmStep,
  loadChecklist,
  type MeasureStep,
  parseChecklist,
  type RunStep,
  type Section,
  type Step,
} from './load.ts';
export { compileMatcher, type Match, type Matcher, type MatcherProblem, matcherNames } from './matcher.ts';
export { lookUp, type PathPart, type PathResult, parsePath } from './path.ts';
export {
  type Attachment,
  type AttachmentKind,
  type CheckRecord,
  type RecordVerification,
  type RedLine,
  type ReliedFact,
  type RobotRecord,
  recordSchema,
  recordVerificationSchema,
  redLineSchema,
  type VerificationFinding,
} from './record.result.ts';
export { composeRecord, type RecordRobot, recordText } from './record.ts';
export {
  type ChecklistResult,
  type Counts,
  checklistResultSchema,
  countsSchema,
  type Deviation,
  type MeasuredValue,
  type Phase,
  phases,
  type StepResult,
} from './run.result.ts';
export { runSteps } from './runner.ts';
export type { CompletedStep, Decision, RunnerOptions } from './runner-options.ts';
export { selectSteps, type Wanted } from './selection.ts';
export { mergeResults, runSession, type SessionRobot, type SessionRobotResult } from './session.ts';
export { type RecordSigner, signRecord } from './signature.ts';
export { attachmentsDirOf, type VerifyOptions, verifyRecord, verifyRecordFile } from './verify.ts';
