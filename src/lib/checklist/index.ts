/**
 * Checklists: files that say, step by step, what must hold on a site, which check of gw proves it or which
 * question the technician answers, and what to do when it does not hold. The checks themselves are handed in as a
 * catalogue. A step comes out ok, wrong, skipped or not-checked, and only all ok is ok.
 */
export { type Answer, type Answers, loadAnswers, parseAnswers } from './answers.ts';
export type { Catalogue, CatalogueEntry, StepContext } from './catalogue.ts';
export { findChecklist, listChecklists } from './library.ts';
export {
  type Checklist,
  type ConfirmStep,
  loadChecklist,
  parseChecklist,
  type RunStep,
  type Step,
} from './load.ts';
export { compileMatcher, type Match, type Matcher, type MatcherProblem, matcherNames } from './matcher.ts';
export { type Looked, look, type PathPart, parsePath } from './path.ts';
export { type ChecklistResult, checklistResultSchema, type StepResult } from './run.result.ts';
export { type RunnerOptions, runSteps } from './runner.ts';
