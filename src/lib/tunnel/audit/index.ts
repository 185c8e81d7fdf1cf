/** The audit of the records of support sessions. Apart from the daemon, which makes none. */
export { auditRecords } from './audit.ts';
export {
  type AuditCheck,
  type AuditFacts,
  type AuditFinding,
  type AuditLimits,
  type AuditOptions,
  type CheckDetail,
  type CheckId,
  checkDetails,
  checkIds,
  type FindingCode,
  findingCodes,
} from './model.ts';
