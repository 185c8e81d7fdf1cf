/** The audit of the records of support sessions. Apart from the daemon, which makes none. */
export { RECORDS_FOLDER } from '../model.ts';
export type { AuditFacts, CheckDetail, FindingCode, TunnelAudit } from './audit.result.ts';
export { auditRecords } from './audit.ts';
export type { AuditLimits } from './model.ts';
