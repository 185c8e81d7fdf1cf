/**
 * Evidence: marks, values that carry them, the ledger of facts, and a site's records of facts verified on its device.
 */

export { appendRecord } from './append.ts';
export {
  attachmentFolder,
  attachmentStates,
  checkAttachment,
  writeAttachment,
} from './attachment.ts';
export {
  type Basis,
  bases,
  basisOf,
  basisText,
  type FactBasis,
  factBases,
  markText,
  markTextDe,
} from './basis.ts';
export { citeFact } from './cite.ts';
export { describeLedger } from './describe.ts';
export type { Disagreement, Fact } from './fact.ts';
export {
  compareWithFact,
  hereVerdicts,
  markHere,
  recordScopes,
  scopeOf,
  tableOf,
} from './here.ts';
export {
  type Actionable,
  actionableBases,
  chosen,
  type Known,
  known,
  stronger,
  type VerifiedHere,
} from './known.ts';
export {
  disagreementsAbout,
  type FactFilter,
  type FactId,
  type FactIdMarked,
  factById,
  facts,
  findFact,
  isDisagreement,
  sectionOf,
  sections,
  selectFacts,
} from './ledger.ts';
export { type Mark, markRank, marks } from './mark.ts';
export type { EvidenceRecord } from './record.ts';
export { loadEvidenceFile } from './record-file.ts';
export {
  type DeviceEvidence,
  type Reliance,
  relianceOn,
  supports,
} from './reliance.ts';
export { type EvidenceSource, fixedEvidence } from './source.ts';
export {
  createEvidenceWatch,
  type EvidenceAdoption,
  type EvidenceReport,
  type EvidenceWatch,
  readAtStart,
} from './watch.ts';
