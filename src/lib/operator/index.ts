/**
 * The operator server: one application on two sockets. The listener that accepted a connection sets its permissions;
 * the read-only socket is a constant, and its allow list is a column of the route table.
 */

export { answerSchemas, errorBodySchema, settingsSchema } from './answers/answers.ts';
export { neighboursSchema } from './answers/neighbours.ts';
export { type AnsweredCode, describeCode, requestSchemas } from './contract.ts';
export {
  type CertificateHealth,
  type ClockHealth,
  type DeviceHealth,
  type FolderHealth,
  type GatewayHealth,
  gatewayHealthSchema,
  isCertificateSound,
  isEndSound,
  isRenewalSound,
  type RenewalHealth,
} from './health.ts';
export { createJournal, journalEntrySchema } from './journal.ts';
export { type LogLevel, type LogSetting, logLevelSchema } from './log-level.ts';
export type { Neighbour, NeighboursView, OperatorOptions } from './model.ts';
export { createOperator, READ_ONLY_SOCKET } from './operator.ts';
export { robotAt } from './robot-at.ts';
export { ROBOT_HEADER, type Route, routes } from './routes.ts';
export {
  hashPassword,
  MAX_PASSWORD_LENGTH,
  MIN_PASSWORD_LENGTH,
  parsePasswordHash,
  verifyPassword,
} from './sign-in/password-hash.ts';
export { SESSION_COOKIE } from './sign-in/sessions.ts';
export { noSupport } from './support-handlers.ts';
