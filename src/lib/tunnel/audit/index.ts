/** The audit of the records of support sessions. Apart from the daemon, which makes none. */
export { RECORDS_FOLDER } from '../model.ts';
export { auditRecords } from './audit.ts';
export { type AuditFacts, type AuditLimits, checkDetails, checkIds, findingCodes } from './model.ts';
