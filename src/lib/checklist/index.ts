/**
 * Checklists: files that say, step by step, what must hold on a site, which check of gw proves it or which
 * question the technician answers, and what to do when it does not hold. The checks themselves are handed in as a
 * catalogue. A step comes out ok, wrong, skipped or not-checked, and only all ok is ok. What was taken stands in a
 * journal before anyone sees it, so that a run goes on after a crash; its end is a protocol, one file that the key of
 * the device signs (the signer is handed in) and that anybody can verify.
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
export { look, type PathPart, parsePath } from './path.ts';
export {
  type Protocol,
  type ProtocolVerification,
  protocolSchema,
  protocolVerificationSchema,
  type RedLine,
  type RobotProtocol,
  redLineSchema,
} from './protocol.result.ts';
export { composeProtocol, type ProtocolRobot, protocolText } from './protocol.ts';
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
export type { Decision, RunnerOptions, TakenStep } from './runner-options.ts';
export { selectSteps, type Wanted } from './selection.ts';
export { mergeResults, runSession, type SessionRobot, type SessionRobotResult } from './session.ts';
export { type ProtocolSigner, signProtocol } from './signature.ts';
export { attachmentsDirOf, verifyProtocol, verifyProtocolFile } from './verify.ts';
