/**
 * Evidence: marks, values that carry them, the ledger of facts, and a site's records of facts verified on its device.
 */

export { appendRecord } from './append.ts';
export {
  attachmentFolder,
  attachmentStates,
  checkAttachment,
  replaceAttachment,
  sealAttachment,
  unsealAttachment,
  writeAttachment,
} from './attachment.ts';
export { describeLedger } from './describe.ts';
export type { Disagreement, Fact } from './fact.ts';
export {
  type Basis,
  bases,
  basisOf,
  basisText,
  type FactBasis,
  factBases,
  type Mark,
  markRank,
  marks,
  markText,
  markTextDe,
  stronger,
} from './fact.ts';
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
  citeFact,
  type Known,
  known,
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
export type { EvidenceRecord } from './record.ts';
export { countingRecords, loadEvidenceFile, readEvidenceFile } from './record-file.ts';
export {
  type DeviceEvidence,
  type Reliance,
  relianceOn,
  supports,
} from './reliance.ts';
export {
  createEvidenceWatch,
  type EvidenceAdoption,
  type EvidenceSource,
  type EvidenceWatch,
  fixedEvidence,
  readAtStart,
} from './watch.ts';
