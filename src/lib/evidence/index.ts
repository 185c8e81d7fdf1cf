/**
 * How well a thing is known: marks, values that carry them, the ledger of facts, and a site's own records of
 * what was verified on its device.
 */
export {
  type Actionable,
  type Chosen,
  chosen,
  type Known,
  known,
  type Mark,
  markRank,
  marks,
  stronger,
  type VerifiedHere,
} from './known.ts';
export { type EvidenceRecord, evidenceRecordSchema, loadEvidenceFile, parseEvidenceFile } from './record.ts';
